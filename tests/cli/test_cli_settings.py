"""Settings: an option counts before the environment, that before the user's file, that before the default."""

import re
from pathlib import Path

import pytest

import trundle
from trundle.cli._installing import state_folder
from trundle.cli._settings import SettingsError, current, resolve
from trundle.errors import Kind


def settings(home, text=None, **environment):
    if text is not None:
        file = home / ".config" / "trundle" / "config.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return resolve(Path(), environment, home)


def test_defaults(tmp_path):
    found = settings(tmp_path)
    assert found.state == tmp_path / ".local" / "state" / "trundle"
    assert (found.registry, found.jobs, found.passphrase) == ("", None, None)


def test_the_file_counts_before_the_default(tmp_path):
    found = settings(tmp_path, "state: /srv/state\nregistry: registry.example\njobs: 3\n")
    assert (found.state, found.registry, found.jobs) == (Path("/srv/state"), "registry.example", 3)


def test_the_environment_counts_before_the_file(tmp_path):
    found = settings(
        tmp_path,
        "state: /srv/state\nregistry: registry.example\njobs: 3\n",
        TRUNDLE_STATE="/tmp/state",
        TRUNDLE_REGISTRY="localhost:5000",
        TRUNDLE_JOBS="2",
    )
    assert (found.state, found.registry, found.jobs) == (Path("/tmp/state"), "localhost:5000", 2)


def test_the_server_of_a_catalog_is_named_and_its_token_is_in_the_environment_alone(tmp_path):
    found = settings(tmp_path)
    assert (found.server, found.token) == ("", None)
    found = settings(tmp_path, "server: https://one\n", TRUNDLE_TOKEN="secret")
    assert (found.server, found.token) == ("https://one", "secret")
    assert (
        settings(tmp_path, "server: https://one\n", TRUNDLE_SERVER="https://two").server
        == "https://two"
    )


@pytest.mark.parametrize("token", ["secret\n", "sec\rret", "secr\u00e9t"])
def test_a_token_that_no_header_can_have_is_refused_and_not_printed(tmp_path, token):
    with pytest.raises(SettingsError, match="TRUNDLE_TOKEN: expected a token") as refused:
        settings(tmp_path, TRUNDLE_TOKEN=token)
    assert "sec" not in str(refused.value)


def test_the_catalog_is_in_the_state_directory_unless_it_is_named(tmp_path):
    found = settings(tmp_path)
    assert found.catalog == str(tmp_path / ".local" / "state" / "trundle" / "catalog.db")
    assert found.tenant == "default"
    found = settings(tmp_path, TRUNDLE_STATE="/srv/state")
    assert found.catalog == "/srv/state/catalog.db"
    found = settings(tmp_path, "catalog: /srv/c.db\ntenant: acme\n")
    assert (found.catalog, found.tenant) == ("/srv/c.db", "acme")
    variables = {"TRUNDLE_CATALOG": "postgresql://host/c", "TRUNDLE_TENANT": "other"}
    found = settings(tmp_path, **variables)
    assert (found.catalog, found.tenant) == ("postgresql://host/c", "other")


def test_an_option_counts_before_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("TRUNDLE_STATE", "/srv/state")
    assert state_folder(None) == Path("/srv/state")
    assert state_folder(tmp_path) == tmp_path


def test_folders_of_xdg_are_honoured(tmp_path):
    (tmp_path / "config" / "trundle").mkdir(parents=True)
    (tmp_path / "config" / "trundle" / "config.yaml").write_text("jobs: 5\n")
    folders = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_STATE_HOME": str(tmp_path / "s")}
    found = resolve(Path(), folders, tmp_path / "home")
    assert (found.jobs, found.state) == (5, tmp_path / "s" / "trundle")


def test_a_file_may_be_named(tmp_path, monkeypatch):
    (tmp_path / "mine.yaml").write_text("registry: registry.example\n")
    monkeypatch.setenv("TRUNDLE_CONFIG", str(tmp_path / "mine.yaml"))
    assert current().registry == "registry.example"
    monkeypatch.setenv("TRUNDLE_CONFIG", str(tmp_path / "none.yaml"))
    with pytest.raises(FileNotFoundError):
        current()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("registy: x\n", r"config\.yaml: \$\.registy: .*did you mean registry\?"),
        ("jobs: many\n", r"config\.yaml: \$\.jobs: expected a whole number above 0, found 'many'"),
        ("jobs: 0\n", "expected a whole number above 0, found 0"),
        ("state: [a]\n", "expected a text"),
        (
            "- a\n",
            "expected one document with the keys catalog, jobs, registry, server, state, store, tenant",
        ),
        ("a: b: c\n", r"config\.yaml:1"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_clear_error(tmp_path, text, message):
    with pytest.raises(SettingsError, match=message) as raised:
        settings(tmp_path, text)
    assert raised.value.kind is Kind.USAGE


def test_all_that_is_wrong_with_a_file_is_said(tmp_path):
    with pytest.raises(SettingsError) as raised:
        settings(tmp_path, "jobs: -1\ncolor: red\n")
    assert len(raised.value.messages) == 2


def test_a_number_of_processes_that_is_none(tmp_path):
    with pytest.raises(SettingsError, match="TRUNDLE_JOBS: expected a number of processes"):
        settings(tmp_path, TRUNDLE_JOBS="all")


SOURCES = sorted(Path(trundle.__file__).parent.rglob("*.py"))


@pytest.mark.full
@pytest.mark.parametrize(
    ("pattern", "only"),
    [
        (r"\b(datetime|date)\.(now|today|utcnow)\(|\btime\.time(_ns)?\(", {"_clock.py"}),
        (r"\bos\.(environ|getenv)\b", {"_environment.py"}),
    ],
    ids=["clock", "environment"],
)
def test_the_clock_and_the_environment_are_read_in_one_place(pattern, only):
    found = {path.name for path in SOURCES if re.search(pattern, path.read_text())}
    assert found == only
