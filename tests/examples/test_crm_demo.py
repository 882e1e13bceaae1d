"""The demo runs on any terminal, in short time, and leaves nothing behind."""

import os
import sys
from pathlib import Path

import crm_demo
import pytest
from amounts import full
from crm_demo import run
from releases import CRM


def tree() -> set[Path]:
    """All files of the example, but what Python itself caches."""
    return {path for path in CRM.rglob("*") if "__pycache__" not in path.parts}


@pytest.mark.parametrize("columns", [full(each) for each in ("1", "40", "80", "200")])
def test_it_ends_well_on_a_terminal_of_any_width(columns: str) -> None:
    ran = run(COLUMNS=columns, PYTHONIOENCODING="utf-8")
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    assert "\x1b" not in ran.stdout


@pytest.mark.full
def test_it_shows_the_whole_story() -> None:
    ran = run(COLUMNS="120", PYTHONIOENCODING="utf-8")
    assert (ran.returncode, ran.stderr) == (0, "")
    printed = ran.stdout
    assert "\x1b" not in printed
    for part in (
        "1. The map",
        "hub ◀",
        "2. Generate",
        "3. One object, many versions",
        "4. The property bag",
        "5. A client of 2011-01-01 edits",
        "◀ changed",
        "6. What a preview stored",
        "George Geef",
        "2011-01-01 reads Goofy Geef",
        "7. Nothing lost",
        "100 objects x 10 versions: nothing lost",
        "8. A control plane",
        "1 Killmotor Hill, Duckburg",
        'conflicts with "clerk" using crm.example.com/v20160606',
    ):
        assert part in printed
    assert "Service Fabric" not in printed


@pytest.mark.full
def test_without_kubectl_clients_send_the_same_over_http(tmp_path: Path) -> None:
    ran = run(COLUMNS="200", PYTHONIOENCODING="utf-8", PATH=str(tmp_path))
    assert (ran.returncode, ran.stderr) == (0, "")
    chapter = ran.stdout[ran.stdout.index("8. A control plane") :]
    donald = "/apis/crm.example.com/{}/namespaces/default/people/donald?fieldManager={}\n  {}\n"
    for part in (
        "No kubectl is on the PATH",
        "PATCH " + donald.format("v20190909", "team", "201 Created"),
        "PATCH " + donald.format("v20160606", "clerk", "200 OK"),
        "GET /apis/crm.example.com/v20190909/namespaces/default/people?watch=true",
        "PATCH " + donald.format("v20190909", "team", "409 Conflict"),
    ):
        assert part in chapter
    crm_demo.require_outcome(chapter)


@pytest.mark.full
def test_it_leaves_nothing_behind() -> None:
    before = tree()
    run()
    assert tree() == before


@pytest.mark.full
def test_an_encoding_without_arrows_is_no_obstacle() -> None:
    ran = run(sys.executable, PYTHONIOENCODING="ascii")
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.full
def test_a_corpus_that_is_not_there_is_said_and_no_failure(tmp_path: Path) -> None:
    ran = run(CORPUS=str(tmp_path), COLUMNS="200", PYTHONIOENCODING="utf-8")
    assert ran.returncode == 0
    assert "this chapter is left out" in ran.stdout


@pytest.mark.skipif("CORPUS" not in os.environ, reason="CORPUS names no folder of Azure's schemas")
def test_the_change_table_of_service_fabric_is_the_published_one() -> None:
    printed = run(CORPUS=os.environ["CORPUS"], COLUMNS="160", PYTHONIOENCODING="utf-8").stdout
    table = printed[printed.index("8. A real service") :]
    assert table.count("Copy value") == 8
    assert table.count("Skip") == 3
    assert table.count("Property Removed") == 1
    assert table.count("Change of Type") == 3
