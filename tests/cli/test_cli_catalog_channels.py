"""The commands about the channels of a catalog: what they print, change and refuse, and how they end."""

import json

import pytest
from followed_channels import PACKAGE, Publisher
from listening_apps import listening
from publishing_support import WORD
from starlette.applications import Starlette

from trundle.api.catalogs import CatalogRoutes
from trundle.catalog import Catalog

THERE = (PACKAGE, WORD)


@pytest.fixture
def line(empty, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(empty.folder / "home"))
    monkeypatch.setenv("TRUNDLE_CATALOG", "kept/catalog.db")
    monkeypatch.setenv("TRUNDLE_TENANT", "acme")
    return empty


@pytest.fixture
def publisher(empty):
    found = Publisher(empty.folder / "publisher")
    found.publish("1.0.0", "1.1.0")
    return found


def follow(line, publisher, *further):
    root = str(publisher.keys / "root.json")
    return ok(line, "follow", "--channel", str(publisher.files), "--root", root, *further)


def ok(line, *arguments):
    result = line.run("catalog", *arguments)
    assert result.exit_code == 0, result.output
    return result


def failed(line, code, *arguments):
    result = line.run("catalog", *arguments)
    assert result.exit_code == code, result.output
    return result


def data(line, *arguments):
    return json.loads(ok(line, *arguments, "-o", "json").stdout)


def test_a_channel_is_followed_listed_shown_read_again_and_unfollowed(line, publisher):
    assert "would have followed acme/db stable" in follow(line, publisher, "--dry-run").stderr
    assert data(line, "channels") == []
    assert "followed acme/db stable" in follow(line, publisher, "--public").stderr
    (listed,) = data(line, "channels", "--tenant", "other")
    assert (listed["package"], listed["latest"]["version"], listed["public"]) == (
        PACKAGE, "1.1.0", True,
    )  # fmt: skip
    row = ok(line, "channels").stdout.splitlines()[1].split()
    assert row[:4] == ["acme/db", "stable", "1.1.0", "valid"]
    publisher.publish("1.2.0")
    assert ok(line, "refresh").stderr == "read 1 channel\n"
    found = data(line, "channel", *THERE)
    assert [each["version"] for each in found["versions"]] == ["1.2.0", "1.1.0", "1.0.0"]
    text = ok(line, "channel", *THERE).stdout
    assert text.startswith("acme/db stable\n  state    valid\n  verified 2")
    assert f"  source   {publisher.files}\n" in text
    assert "  version  1.2.0  " in text
    assert data(line, "unfollow", *THERE, "--dry-run")["channel"] == WORD
    assert ok(line, "unfollow", *THERE).stderr == "unfollowed acme/db stable\n"
    assert "no channel for the tenant acme" in ok(line, "channels").stderr


def test_what_is_refused_is_said_everywhere(line, publisher):
    follow(line, publisher)
    content = (publisher.files / "all").read_bytes()
    (publisher.files / "all").write_bytes(content.replace(b"1.1.0", b"6.6.6"))
    tried = failed(line, 6, "refresh", "--dry-run").stderr
    assert "error: acme/db stable is refused: " in tried
    assert data(line, "channels")[0]["state"] == "valid"
    assert failed(line, 6, "refresh").stderr == tried
    for arguments in (("channels",), ("channel", *THERE)):
        done = ok(line, *arguments)
        assert "refused" in done.stdout
        assert "acme/db stable is refused: " in done.stderr
        assert "6.6.6" not in done.stdout
    (publisher.files / "timestamp.json").rename(publisher.files / "away")
    publisher.files.rename(publisher.files.with_name("away"))
    assert "could not be read: " in failed(line, 3, "refresh").stderr


def test_bytes_are_verified_here_by_the_root_of_the_publisher(line, publisher, tmp_path):
    follow(line, publisher)
    root = ("--root", str(publisher.keys / "root.json"))
    seen = ("--seen", str(tmp_path / "seen"))
    with (
        Catalog(tmp_path / "kept" / "catalog.db") as kept,
        listening(Starlette(routes=CatalogRoutes(kept).routes)) as url,
    ):
        for place in ((), ("--server", url)):
            done = ok(line, "channel", *THERE, *root, *seen, *place)
            assert "the signed bytes were verified here" in done.stderr
            assert "1.1.0" in done.stdout
        assert [each["state"] for each in data(line, "channels", "--server", url)] == ["valid"]
        files = f"{url}/v2/tenants/acme/channels/{PACKAGE}/{WORD}/files"
        done = line.run("channel", "show", "--channel", files, *root, "-o", "json")
        assert json.loads(done.stdout)["verified"] is True
    other = Publisher(tmp_path / "other")
    found = failed(line, 6, "channel", *THERE, "--root", str(other.keys / "root.json"))
    assert "bad-signature" in found.stderr
    assert found.stdout == ""


def test_what_is_not_possible_is_said(line, publisher):
    follow(line, publisher)
    root = ("--root", str(publisher.keys / "root.json"))
    there = ("--channel", str(publisher.files), *root)
    assert "does not follow yet" in failed(line, 4, "follow", *there).stderr
    assert "channel-not-followed" in failed(line, 5, "channel", "no.App", "beta").stderr
    assert "channel-not-followed" in failed(line, 5, "unfollow", "no.App", "beta").stderr
    assert "--root with it" in failed(line, 2, "channel", *THERE, "--seen", "x").stderr
    nowhere = ("--channel", "nowhere/there", *root)
    assert "channel-not-found" in failed(line, 5, "follow", *nowhere).stderr
    for arguments in (("follow", *there), ("unfollow", *THERE), ("refresh",)):
        found = failed(line, 2, *arguments, "--server", "http://localhost:1").stderr
        assert "expected the database of the catalog" in found
    (publisher.files / "timestamp.json").unlink()
    assert "unsigned-channel" in failed(line, 6, "follow", *there, "--tenant", "new").stderr
