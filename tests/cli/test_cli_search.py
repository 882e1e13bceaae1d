"""Searching a registry, listing what is outdated, and the default registry."""

import json

import pytest
import serving
from amounts import full
from test_cli_install import Machine


@pytest.fixture(params=["directory", full("http")])
def machine(request, tmp_path):
    if request.param == "directory":
        yield Machine(tmp_path, "oci:registry//acme/crm")
        return
    with serving.registry(tmp_path / "server") as address:
        yield Machine(tmp_path, f"{address}/acme/crm")


def publish(machine, version, *, channel="stable", suffix="", **manifest):
    place = machine.folder / "package"
    place.mkdir(exist_ok=True)
    plain = {"name": "acme/crm", "version": version, "description": "Customers and Orders"}
    (place / "app.yaml").write_text(json.dumps(plain | manifest))
    (place / "content.txt").write_text(f"content of {version}\n")
    further = ("--suffix", suffix) if suffix else ()
    machine.run("publish", "package", "--to", machine.repository, "--channel", channel, *further)


def place_of(machine):
    return machine.repository.removesuffix("acme/crm").rstrip("/")


@pytest.mark.full
def test_search_lists_the_channels_of_a_registry(machine):
    publish(machine, "1.0.0")
    publish(machine, "1.1.0", channel="beta", suffix="-beta.1")
    registry = place_of(machine)
    found = json.loads(machine.run("search", registry, "-o", "json").stdout)
    assert [(each["package"], each["channel"], each["latest"]) for each in found] == [
        ("acme/crm", "beta", "1.1.0-beta.1"),
        ("acme/crm", "stable", "1.0.0"),
    ]
    assert {each["description"] for each in found} == {"Customers and Orders"}
    head, *rows = machine.run("search", registry, "ORDERS", "crm").stdout.splitlines()
    assert head.split() == ["PACKAGE", "CHANNEL", "LATEST", "REPOSITORY", "DESCRIPTION"]
    assert len(rows) == 2
    nothing = machine.run("search", registry, "billing")
    assert (nothing.stdout, "no channel found with billing" in nothing.stderr) == ("", True)
    for form in ("yaml", "json"):
        assert machine.run("search", registry, "billing", "-o", form).stdout.strip() == "[]"


@pytest.mark.full
def test_a_folder_that_is_not_there_is_no_registry(tmp_path):
    machine = Machine(tmp_path)
    refused = machine.run("search", "oci:nowhere", code=5).stderr
    assert "oci:nowhere: expected a folder with repositories, found no such folder" in refused
    machine.publish("1.0.0")
    assert "acme/crm" in machine.run("search", "oci:registry").stdout


@pytest.mark.full
@pytest.mark.parametrize("machine", ["directory", full("http")], indirect=True)
def test_outdated_lists_what_has_a_newer_version_and_what_changed(machine):
    publish(machine, "1.0.0")
    machine.run("install", machine.repository, "--unsigned")
    assert machine.run("outdated").stdout == ""
    publish(machine, "1.1.0", changes=["orders have notes"])
    publish(machine, "2.0.0", changes=["a new layout", "no old reports"], critical=True)
    listed = machine.run("outdated", code=10).stdout
    assert listed.splitlines()[1].split()[:3] == ["acme/crm", "1.0.0", "2.0.0"]
    (late,) = json.loads(machine.run("outdated", "-o", "json", code=10).stdout)
    assert late["changes"] == [
        {"version": "2.0.0", "changes": ["a new layout", "no old reports"]},
        {"version": "1.1.0", "changes": ["orders have notes"]},
    ]
    for command in (("plan",), ("upgrade", "--check")):
        text = machine.run(*command).stdout
        assert "changes in 2.0.0 (critical):\n    - a new layout" in text
        assert "changes in 1.1.0:\n    - orders have notes" in text
    (plan,) = json.loads(machine.run("plan", "-o", "json").stdout)
    assert [each["version"] for each in plan["changes"]] == ["2.0.0", "1.1.0"]


@pytest.mark.full
@pytest.mark.parametrize("machine", ["directory", full("http")], indirect=True)
def test_a_default_registry_completes_references(machine, monkeypatch):
    monkeypatch.setenv("TRUNDLE_REGISTRY", place_of(machine))
    machine.repository = "acme/crm"
    publish(machine, "1.0.0")
    machine.run("install", "acme/crm", "--unsigned")
    assert machine.text() == "content of 1.0.0"
    assert "acme/crm" in machine.run("search").stdout
    for words in (["customers"], ["crm", "orders"], [place_of(machine), "customers"]):
        assert "acme/crm" in machine.run("search", *words).stdout, words
    assert "no channel found" in machine.run("search", "billing").stderr
    assert "1.0.0" in machine.run("channel", "show", "acme/crm", "--channel", "stable").stdout
    monkeypatch.setenv("TRUNDLE_REGISTRY", "registry.example/team")
    refused = machine.run("install", "acme/crm", "--unsigned", code=2)
    assert "the default registry: expected a registry" in refused.stderr


@pytest.mark.full
def test_what_is_pinned_to_a_digest_shows_the_version_of_its_manifest(tmp_path):
    machine = Machine(tmp_path)
    publish(machine, "1.0.0")
    (found,) = json.loads(machine.run("search", "oci:registry", "-o", "json").stdout)
    assert found["latest"] == "1.0.0"
    shown = machine.run("channel", "show", machine.repository, "--channel", "stable", "-o", "json")
    digest = json.loads(shown.stdout)["versions"][0]["digest"]
    done = machine.run("install", f"{machine.repository}@{digest}")
    assert "installed acme/crm 1.0.0" in done.stdout
    for command in ("list", "plan", "history"):
        assert "acme/crm 1.0.0 " in machine.run(command).stdout.replace("\n", " ")
    assert f"installed  1.0.0 {digest}" in machine.run("status").stdout
    assert "uninstalled acme/crm 1.0.0" in machine.run("uninstall", "acme/crm").stdout
