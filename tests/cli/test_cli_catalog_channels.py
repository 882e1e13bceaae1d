"""The commands about the channels of a catalog: what they print, change and refuse, and how they end."""

import hashlib
import json

import pytest
from followed_channels import PACKAGE, Publisher
from listening_apps import listening
from publishing_support import WORD
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import JSONResponse

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
    assert data(line, "channels", "--search", "DB st", "--limit", "1") == data(line, "channels")
    assert "no channel with 'x' for the tenant" in ok(line, "channels", "--search", "x").stderr
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
    publisher.files.rename(publisher.files.with_name("away"))
    assert failed(line, 6, "refresh").stderr == tried  # Its place does not take that back.
    publisher.export()
    ok(line, "refresh")
    publisher.files.rename(publisher.files.with_name("gone"))
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
        assert data(line, "channels", "--server", url, "--search", "web") == []
        assert len(data(line, "channels", "--server", url, "--search", "DB", "--limit", "1")) == 1
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
    unsigned = failed(line, 6, "follow", *there, "--tenant", "new").stderr
    assert "unsigned-channel" in unsigned
    assert "--unsigned" not in unsigned


def test_what_was_verified_here_is_shown_for_what_a_server_says(line, publisher, tmp_path):
    """A server that gives the signed files as they are, and says of them what is not so."""
    follow(line, publisher)
    root = ("--root", str(publisher.keys / "root.json"))
    signed = json.loads((publisher.files / "timestamp.json").read_bytes())["signed"]["expires"]
    names = ["1.root.json", "all", "latest", "snapshot.json", "targets.json", "timestamp.json"]
    digests = {
        name: f"sha256:{hashlib.sha256((publisher.files / name).read_bytes()).hexdigest()}"
        for name in names
    }

    class Lying(BaseHTTPMiddleware):
        async def dispatch(self, request, call_next):
            answer = await call_next(request)
            if "/files/" in request.url.path:
                return answer
            document = json.loads(b"".join([each async for each in answer.body_iterator]))
            document |= {"state": "expired", "expires": "2999-01-01T00:00:00Z"}
            document["files"] = [{"name": "all", "digest": "sha256:00", "size": 1}]
            return JSONResponse(document)

    with (
        Catalog(tmp_path / "kept" / "catalog.db") as kept,
        listening(Lying(Starlette(routes=CatalogRoutes(kept).routes))) as url,
    ):
        believed = data(line, "channel", *THERE, "--server", url)
        found = data(line, "channel", *THERE, "--server", url, *root)
    assert (believed["state"], believed["expires"][:4]) == ("expired", "2999")
    assert found["state"] == "valid"
    assert found["expires"] == signed
    assert {each["name"]: each["digest"] for each in found["files"]} == digests
