"""Publishing, and everything else that is done to channels, by the commands."""

import datetime as dt
import errno
import json
import shlex
import subprocess

import pytest
import warm
from amounts import some_of
from losing import lose_manifest

from trundle._clock import now
from trundle.registry import open_repository

REPOSITORY = "oci:packages//acme/db"
APP = "name: {name}\nversion: {version}\ntitle: Database\nchanges: [{change}]\n"
SHOW = ("channel", "show", REPOSITORY, "--channel", "stable")
REPAIR = ("channel", "repair", REPOSITORY, "--channel", "stable")
KEYS = ("--keys", "keys")


@pytest.fixture
def shop(empty, monkeypatch):
    """A folder with a package, and commands for its repository."""
    for name in ("TRUNDLE_KEYS", "TRUNDLE_KEY_PASSPHRASE"):
        monkeypatch.delenv(name, raising=False)
    return Shop(empty)


class Shop:
    def __init__(self, line):
        self.line = line

    def write(self, version, *, name="acme/db", change="something", folder="db"):
        self.line.write(f"{folder}/app.yaml", APP.format(name=name, version=version, change=change))

    def run(self, *arguments, code=0):
        result = self.line.run(*arguments)
        assert result.exit_code == code, result.output
        return result

    def publish(self, version, *further, channel="stable", code=0, **written):
        self.write(version, **written)
        arguments = ("publish", "db", "--to", REPOSITORY, "--channel", channel, *further)
        return self.run(*arguments, code=code)

    def unpublish(self, version, *further, code=0):
        arguments = ("unpublish", version, "--from", REPOSITORY, "--channel", "stable", *further)
        return self.run(*arguments, code=code)

    def shown(self, *further):
        return json.loads(self.run(*SHOW, "-o", "json", *further).stdout)

    def versions(self):
        return [each["version"] for each in self.shown()["versions"]]


def test_a_channel_lives_by_the_commands(shop):
    for version in ("1.0.3", "1.1.2", "1.2.3"):
        shop.publish(version)
    shop.unpublish("1.1.2", "--reason", "a flaw")
    result = shop.publish("1.1.3", "--critical")
    assert "joins the list below the latest version 1.2.3" in result.stderr
    shown = shop.shown()
    assert shown["latest"] == "1.2.3"
    assert shop.versions() == ["1.2.3", "1.1.3", "1.0.3"]
    assert shown["versions"][1]["critical"]
    assert shown["unpublished"][0]["reason"] == "a flaw"
    log = shop.run("channel", "log", REPOSITORY, "--channel", "stable").stdout
    assert "unpublish  1.1.2: a flaw" in log
    assert "    - something" in log


def test_dry_runs_change_nothing(shop):
    shop.publish("1.0.0")
    before = shop.shown()
    shop.publish("1.1.0", "--dry-run")
    shop.unpublish("1.0.0", "--reason", "x", "--dry-run")
    shop.run(
        "deprecate",
        "1.0.0",
        "--in",
        REPOSITORY,
        "--channel",
        "stable",
        "--message",
        "x",
        "--dry-run",
    )
    shop.run(
        "channel", "refresh", REPOSITORY, "--channel", "stable", "--valid-for", "P1D", "--dry-run"
    )
    shop.run("mirror", REPOSITORY, "oci:copy", "--dry-run")
    shop.run("channel", "export", REPOSITORY, "out", "--channel", "stable", "--dry-run")
    assert shop.shown() == before
    assert not (shop.line.folder / "out").exists()
    assert not (shop.line.folder / "copy" / "index.json").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (("--channel", "Stable"), 2, "invalid-channel-word"),
        (("--channel", "latest"), 2, "invalid-channel-word"),
        (("--channel", "stable", "--suffix", "beta.1"), 3, "not-in-channel"),
        (("--channel", "beta"), 3, "not-in-channel"),
        (("--channel", "beta", "--suffix", "alpha"), 3, "not-in-channel"),
        (("--channel", "beta", "--suffix", "beta..1"), 3, "invalid-version"),
        (("--channel", "beta", "--suffix", "beta." + "1" * 130), 3, "invalid-version"),
        (("--channel", "beta", "--suffix", "beta.1"), 4, "release-exists"),
        (("--channel", "stable"), 4, "version-exists"),
        (("--channel", "stable", "--valid-for", "soon"), 2, "expected a duration"),
        (("--channel", "beta", "--suffix", "beta", "--valid-for", "P99999W"), 2, "longer than"),
        (("--channel", "stable", "--keys", "nowhere"), 1, "expected keys"),
    ],
)
def test_what_publishing_refuses(shop, arguments, code, why):
    shop.publish("1.0.0")
    result = shop.run("publish", "db", "--to", REPOSITORY, *arguments, code=code)
    assert why in result.stderr
    assert shop.versions() == ["1.0.0"]


def test_what_publishing_refuses_for_the_sake_of_what_is_published(shop):
    shop.publish("1.0.0")
    assert "version-taken" in shop.publish("1.0.0", change="other", code=4).stderr
    shop.publish("1.0.0", "--skip-existing")
    assert "version-taken" in shop.publish("1.0.0", "--skip-existing", change="o", code=4).stderr
    assert "wrong-package" in shop.publish("2.0.0", name="acme/other", code=6).stderr
    shop.publish("1.1.0")
    shop.unpublish("1.0.0", "--reason", "a flaw")
    assert "version-unpublished" in shop.publish("1.0.0", code=3).stderr
    assert (
        "release-exists"
        in shop.publish("1.0.0", "--suffix", "beta.1", channel="beta", code=4).stderr
    )


def test_a_tag_that_another_publisher_set_is_not_moved(shop):
    shop.publish("1.0.0")
    shop.publish("1.1.0")
    from trundle.registry import open_repository

    repository = open_repository(REPOSITORY)
    digest = repository.resolve("1.0.0").digest
    repository.set_tag("2.0.0", digest)
    assert "tag-exists" in shop.publish("2.0.0", code=4).stderr
    repaired = shop.run("channel", "repair", REPOSITORY, "--channel", "stable", "--dry-run", code=3)
    assert "orphan-tag" in repaired.stdout
    shop.run("channel", "repair", REPOSITORY, "--channel", "stable")
    shop.publish("2.0.0")
    repository.set_tag("1.1.0", digest)
    assert "moved-tag" in shop.run("channel", "repair", REPOSITORY, "--channel", "stable").stdout
    assert repository.resolve("1.1.0").digest != digest


def test_the_latest_is_unpublished_only_when_that_is_meant(shop):
    shop.publish("1.0.0")
    assert "reason-missing" in shop.unpublish("1.0.0", code=2).stderr
    assert "confirmation-needed" in shop.unpublish("1.0.0", "--reason", "x", code=3).stderr
    shop.unpublish("1.0.0", "--reason", "x", "--yes")
    assert shop.shown()["latest"] is None
    assert "version-unpublished" in shop.unpublish("1.0.0", "--reason", "x", code=3).stderr
    assert "version-not-found" in shop.unpublish("3.0.0", "--reason", "x", code=5).stderr
    assert "not-unpublished" in shop.unpublish("3.0.0", "--undo", code=5).stderr
    shop.publish("0.9.0")
    assert shop.shown()["latest"] is None
    shop.run("promote", "0.9.0", "--in", REPOSITORY, "--channel", "stable")
    assert shop.shown()["latest"] == "0.9.0"


def test_unpublishing_takes_the_tag_and_undoing_brings_it_back(shop):
    from trundle.registry import open_repository

    repository = open_repository(REPOSITORY)
    shop.publish("1.0.0", "--suffix", "beta.1", channel="beta")
    shop.publish("1.0.0")
    shop.publish("1.1.0", change="more")
    digest = repository.resolve("1.0.0").digest
    assert repository.resolve("1.0.0-beta.1").digest == digest
    shop.unpublish("1.0.0", "--reason", "a flaw")
    assert repository.tags() == ["1.0.0-beta.1", "1.1.0", "channel.beta", "channel.stable"]
    shop.unpublish("1.0.0", "--undo")
    assert repository.resolve("1.0.0").digest == digest
    shop.unpublish("1.0.0", "--reason", "a flaw", "--keep-content")
    assert repository.resolve("1.0.0").digest == digest
    result = shop.run("channel", "repair", REPOSITORY, "--channel", "stable")
    assert "nothing to repair" in result.stderr


def test_content_that_is_gone_is_brought_back_from_the_folder(shop):
    from trundle.registry import open_repository

    repository = open_repository(REPOSITORY)
    shop.publish("1.0.0")
    shop.publish("1.1.0")
    digest = repository.resolve("1.0.0").digest
    shop.unpublish("1.0.0", "--reason", "a flaw")
    if repository.has_manifest(digest):
        lose_manifest(repository, digest)
    assert "content-missing" in shop.unpublish("1.0.0", "--undo", code=5).stderr
    assert "digest-changed" in shop.unpublish("1.0.0", "--undo", "--content", "db", code=6).stderr
    shop.write("1.0.0")
    shop.unpublish("1.0.0", "--undo", "--content", "db")
    assert repository.resolve("1.0.0").digest == digest


@pytest.fixture
def signed(shop):
    shop.run("keys", "init", "keys", "--no-passphrase")
    shop.publish("1.0.0", "--keys", "keys")
    return shop


@pytest.mark.full
def test_a_signed_channel_asks_for_its_keys(signed):
    assert "bad-signature" in signed.publish("1.1.0", code=6).stderr
    signed.run("keys", "init", "others", "--no-passphrase")
    assert signed.publish("1.1.0", "--keys", "others", code=6)
    signed.publish("1.1.0", "--keys", "keys")
    assert signed.shown("--root", "keys/root.json")["verified"]
    signed.run(*SHOW, "--root", "others/root.json", code=6)


def test_the_publisher_does_not_build_on_an_older_state(signed):
    folder = signed.line.folder
    packages = folder / "packages"
    subprocess.run(["cp", "-a", packages, folder / "old"], check=True)
    signed.publish("1.1.0", "--keys", "keys")
    packages.rename(folder / "new")
    (folder / "old").rename(packages)
    assert "stale-metadata" in signed.publish("1.2.0", "--keys", "keys", code=6).stderr


@pytest.mark.full
def test_what_others_add_to_the_ledger_of_a_signed_channel_does_not_count(signed):
    from trundle.channels import Unpublish, operation_to_json
    from trundle.channels.publishing import PublishedChannel
    from trundle.cli._channels import now
    from trundle.registry import open_repository
    from trundle.version import SemVer

    signed.publish("1.1.0", "--keys", "keys")
    channel = PublishedChannel(open_repository(REPOSITORY), "stable", clock=now)
    forged = Unpublish(version=SemVer.parse("1.1.0"), reason="forged", at=now(), seen=9)
    with channel.ledger.turn() as turn:
        turn.append(operation_to_json(forged))
    signed.publish("1.2.0", "--keys", "keys")
    assert signed.versions() == ["1.2.0", "1.1.0", "1.0.0"]
    arguments = ("channel", "repair", REPOSITORY, "--channel", "stable", "--keys", "keys")
    assert "ignored: " in signed.run(*arguments, code=3).stdout
    log = ("channel", "log", REPOSITORY, "--channel", "stable")
    for further in ((), ("--root", "keys/root.json")):
        found = json.loads(signed.run(*log, "-o", "json", *further).stdout)
        assert [each.get("refused", "") for each in found[:-1]] == ["", "", ""]
        assert "has not signed it" in found[-1]["refused"]
    with channel.ledger.turn() as turn:
        turn.append(b"rubbish")
    assert "rubbish" not in signed.run(*log, "--root", "keys/root.json").output
    signed.run("keys", "init", "others", "--no-passphrase")
    assert "bad-signature" in signed.run(*log, "--root", "others/root.json", code=6).stderr


def test_what_was_seen_once_is_not_taken_back_where_it_is_remembered(signed):
    folder = signed.line.folder
    packages = folder / "packages"
    log = ("channel", "log", REPOSITORY, "--channel", "stable")
    trusting = ("--root", "keys/root.json", "--seen", "seen")
    assert "expected --root" in signed.run(*SHOW, "--seen", "seen", code=2).stderr
    subprocess.run(["cp", "-a", packages, folder / "old"], check=True)
    signed.publish("1.1.0", "--keys", "keys")
    assert "1.1.0" in signed.run(*SHOW, *trusting).stdout
    packages.rename(folder / "new")
    (folder / "old").rename(packages)
    assert "1.1.0" not in signed.run(*SHOW, "--root", "keys/root.json").stdout
    for command in (SHOW, log):
        assert "stale-metadata" in signed.run(*command, *trusting, code=6).stderr


@pytest.mark.full
def test_what_is_not_signed_differs_from_what_was_not_verified(shop):
    shop.publish("1.0.0")
    log = ("channel", "log", REPOSITORY, "--channel", "stable")
    for command in (SHOW, log):
        assert shop.run(*command).stderr == "the channel is not signed\n"
    shop.run("keys", "init", "keys", "--no-passphrase")
    shop.publish("1.1.0", "--keys", "keys")
    for command in (SHOW, log):
        assert "were not verified" in shop.run(*command).stderr
        assert shop.run(*command, "--root", "keys/root.json").stderr == ""


def test_the_online_key_refreshes_and_no_more(signed):
    folder = signed.line.folder
    (folder / "online").mkdir()
    for name in ("online.pem", "1.root.json", "root.json"):
        (folder / "online" / name).write_bytes((folder / "keys" / name).read_bytes())
    before = signed.shown()
    signed.run("channel", "refresh", REPOSITORY, "--channel", "stable", "--keys", "online")
    assert signed.shown() == before
    assert "expected the targets key" in signed.publish("1.1.0", "--keys", "online", code=1).stderr
    assert signed.versions() == ["1.0.0"]
    signed.run("channel", "repair", REPOSITORY, "--channel", "stable", "--keys", "online")


@pytest.mark.parametrize("role", some_of(["root", "targets", "online"], 3))
def test_keys_are_replaced(signed, role):
    signed.run("keys", "rotate", role, "--keys", "keys", "--no-passphrase")
    signed.run("channel", "refresh", REPOSITORY, "--channel", "stable", "--keys", "keys")
    assert signed.shown("--root", "keys/1.root.json")["verified"]
    for old in signed.line.folder.glob("keys/*.pem"):
        if old.name in {"targets.pem", "online.pem"} and old.stem == role:
            old.unlink()
    signed.publish("1.1.0", "--keys", "keys")
    assert signed.shown("--root", "keys/1.root.json")["latest"] == "1.1.0"
    assert signed.shown("--root", "keys/root.json")["latest"] == "1.1.0"


@pytest.mark.full
def test_the_root_is_renewed_with_root_keys_from_elsewhere(signed):
    away = signed.line.folder / "away"
    away.mkdir()
    for path in signed.line.folder.glob("keys/root-*.pem"):
        path.rename(away / path.name)
    one, two = ("--root-key", "away/root-1.pem"), ("--root-key", "away/root-3.pem")
    renew = ("keys", "renew", "--keys", "keys")
    assert "expected 2 signatures" in signed.run(*renew, code=6).stderr
    assert "expected 2 signatures" in signed.run(*renew, *one, code=6).stderr
    signed.run(*renew, *one, *two, "--dry-run")
    assert not (signed.line.folder / "keys/2.root.json").exists()
    signed.run(*renew, *one, *two)
    signed.run("channel", "refresh", REPOSITORY, "--channel", "stable", "--keys", "keys")
    assert signed.shown("--root", "keys/1.root.json")["verified"]
    assert signed.shown("--root", "keys/2.root.json")["verified"]


def test_encrypted_keys_need_their_passphrase(shop, monkeypatch):
    assert "--no-passphrase" in shop.run("keys", "init", "keys", code=2).stderr
    monkeypatch.setenv("TRUNDLE_KEY_PASSPHRASE", "open sesame")
    shop.run("keys", "init", "keys")
    assert "expected a folder without keys" in shop.run("keys", "init", "keys", code=4).stderr
    shop.publish("1.0.0", "--keys", "keys")
    monkeypatch.setenv("TRUNDLE_KEY_PASSPHRASE", "wrong")
    shop.publish("1.1.0", "--keys", "keys", code=1)
    monkeypatch.delenv("TRUNDLE_KEY_PASSPHRASE")
    assert "TRUNDLE_KEY_PASSPHRASE" in shop.publish("1.1.0", "--keys", "keys", code=2).stderr
    assert shop.versions() == ["1.0.0"]


@pytest.mark.full
def test_a_mirror_shows_the_same_and_is_not_published_to(signed):
    signed.publish("1.1.0", "--keys", "keys")
    signed.unpublish("1.0.0", "--reason", "x", "--keep-content", "--keys", "keys")
    signed.run("mirror", REPOSITORY, "oci:copy")
    show = ("channel", "show", "oci:copy", "--channel", "stable", "--root", "keys/root.json")
    assert json.loads(signed.run(*show, "-o", "json").stdout) == signed.shown(
        "--root", "keys/root.json"
    )
    again = json.loads(signed.run("mirror", REPOSITORY, "oci:copy", "-o", "json").stdout)
    assert again["copied"] == []
    publish = ("publish", "db", "--to", "oci:copy", "--channel", "stable", "--keys", "keys")
    assert "stale-metadata" in signed.run(*publish, code=6).stderr
    signed.publish("1.2.0", "--keys", "keys")
    more = json.loads(signed.run("mirror", REPOSITORY, "oci:copy", "-o", "json").stdout)
    assert more["copied"] == ["1.2.0", "channel.stable"]
    signed.publish("1.3.0", "--keys", "keys")
    assert "stale-metadata" in signed.run("mirror", "oci:copy", REPOSITORY, code=6).stderr


@pytest.mark.full
def test_static_files_are_a_channel_too(signed):
    signed.run("channel", "export", REPOSITORY, "out", "--channel", "stable")
    show = ("channel", "show", "--channel", "./out", "--root", "keys/root.json")
    assert "1.0.0" in signed.run(*show).stdout
    latest = signed.line.folder / "out" / "latest"
    latest.write_bytes(latest.read_bytes().replace(b"something", b"anything!"))
    assert "content-mismatch" in signed.run(*show, code=6).stderr


def test_registries_that_do_not_answer_are_unreachable(shop, monkeypatch):
    monkeypatch.setattr("trundle.registry._transport.time.sleep", lambda _: None)
    shop.write("1.0.0")
    arguments = ("publish", "db", "--to", "http://127.0.0.1:9/acme/db", "--channel", "stable")
    assert "http://127.0.0.1:9" in shop.run(*arguments, code=7).stderr
    assert (
        "expected a repository without tag"
        in shop.run(
            "publish", "db", "--to", "oci:packages:1.0.0", "--channel", "stable", code=2
        ).stderr
    )
    assert "expected a channel, found none" in shop.run(*SHOW, code=5).stderr


@pytest.mark.full
@pytest.mark.parametrize(("answer", "code", "latest"), [("y", 0, None), ("n", 1, "1.0.0")])
def test_at_a_terminal_the_latest_is_unpublished_after_a_question(shop, answer, code, latest):
    import os
    import pty

    shop.publish("1.0.0")
    arguments = ("unpublish", "1.0.0", "--from", REPOSITORY, "--channel", "stable", "--reason", "x")
    master, terminal = pty.openpty()
    process = subprocess.Popen(
        [*warm.script(always=True), *arguments],
        cwd=shop.line.folder,
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.close(terminal)
    os.write(master, f"{answer}\n".encode())
    _, errors = process.communicate(timeout=120)
    os.close(master)
    assert b"1.0.0 is the latest version" in errors
    assert process.returncode == code, errors
    assert shop.shown()["latest"] == latest


def test_a_broken_file_gives_its_errors_and_not_its_warnings(shop):
    entry = '{"version": "1.0.0", "id": "0123456789ab", "createTime": "2019-09-2T4:39:04Z"}'
    head = '"name": "stable", "package": "acme/db"'
    shop.line.write("www/latest", f'{{{head}, "type": "channel", "latest": {entry}, "serial": -1}}')
    shop.line.write(
        "www/all", f'{{{head}, "type": "all", "latest": {entry}, "versions": [{entry}]}}'
    )
    found = shop.run("channel", "show", "--channel", "www", code=6).stderr
    assert "$.serial: expected an integer of at least 0, found -1" in found
    assert found.endswith("[invalid-file]\n")
    assert found.count("error: ") == 1
    assert "createTime" not in found


@pytest.mark.parametrize("further", [("--reason", "x"), ("--keep-content",)])
def test_what_does_not_go_with_undoing(shop, further):
    shop.publish("1.0.0")
    shop.publish("1.1.0")
    shop.unpublish("1.0.0", "--reason", "a flaw")
    found = shop.unpublish("1.0.0", "--undo", *further, code=2).stderr
    assert f"{further[0]}: expected no --undo" in found
    assert "--undo" in shop.unpublish("1.1.0", "--content", "db", code=2).stderr
    assert shop.versions() == ["1.1.0"]


@pytest.mark.full
def test_garbage_is_pruned(shop):
    shop.publish("1.0.0")
    shop.publish("1.1.0")
    shop.unpublish("1.0.0", "--reason", "a flaw")
    before = sorted((shop.line.folder / "packages").rglob("*"))
    young = shop.run("prune", REPOSITORY)
    assert (young.stdout, young.stderr) == ("", "removed 0 files with 0 bytes\n")
    prune = ("prune", REPOSITORY, "--older-than", "PT0.000001S")
    planned = json.loads(shop.run(*prune, "--dry-run", "-o", "json").stdout)
    assert sorted((shop.line.folder / "packages").rglob("*")) == before
    done = json.loads(shop.run(*prune, "-o", "json").stdout)
    assert done == planned | {"dryRun": False}
    assert done["bytes"] > 0
    assert shop.versions() == ["1.1.0"]
    assert "nothing to repair" in shop.run(*REPAIR).stderr
    undo = ("--undo",)
    assert "content-missing" in shop.unpublish("1.0.0", *undo, code=5).stderr
    shop.write("1.0.0")
    shop.unpublish("1.0.0", *undo, "--content", "db")


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (("oci:nowhere//acme/db",), 5, "expected a repository"),
        (("127.0.0.1:9/acme/db",), 2, "expected a repository in a folder"),
        ((REPOSITORY, "--older-than", "soon"), 2, "--older-than: expected a duration"),
        ((REPOSITORY, "--older-than", "PT0S"), 2, "--older-than: expected a duration"),
    ],
)
def test_what_pruning_refuses(shop, arguments, code, why):
    shop.publish("1.0.0")
    assert why in shop.run("prune", *arguments, code=code).stderr
    assert not (shop.line.folder / "nowhere").exists()


def test_an_expired_channel_is_reported(shop, monkeypatch):
    shop.publish("1.0.0", "--valid-for", "PT5M")
    later = now() + dt.timedelta(minutes=6)
    for module in ("publish", "channel", "_channels"):
        monkeypatch.setattr(f"trundle.cli.{module}.now", lambda: later)
    expired = "renew its validity period with `channel refresh --valid-for`"
    assert expired in shop.publish("1.1.0").stderr
    assert expired in shop.run(*SHOW).stderr
    refresh = ("channel", "refresh", REPOSITORY, "--channel", "stable")
    assert "expected --valid-for" in shop.run(*refresh, code=2).stderr
    shop.run(*refresh, "--valid-for", "P1D")
    assert expired not in shop.run(*SHOW).stderr
    assert "channel-not-found" in shop.run(*refresh[:2], "oci:no", *refresh[3:], code=5).stderr


def test_what_is_no_root_is_named(shop):
    shop.publish("1.0.0")
    found = shop.run(*SHOW, "--root", "db/app.yaml", code=6).stderr
    assert "db/app.yaml: expected a TUF root" in found
    assert "nowhere.json" in shop.run(*SHOW, "--root", "nowhere.json", code=5).stderr


@pytest.mark.full
def test_what_a_publisher_writes_does_not_steer_terminals(shop):
    shop.publish("1.0.0", change='"red \\e[2J \\u202e x"')
    shop.publish("1.1.0")
    shop.unpublish("1.0.0", "--reason", "a\x1b]0;flaw\nfake: line")
    log = shop.run("channel", "log", REPOSITORY, "--channel", "stable").stdout
    assert "    - red \\x1b[2J \\u202e x\n" in log
    assert "unpublish  1.0.0: a\\x1b]0;flaw fake: line\n" in log
    assert "unpublished: a\\x1b]0;flaw fake: line\n" in shop.run(*SHOW).stdout
    assert shop.shown()["unpublished"][0]["reason"] == "a\x1b]0;flaw\nfake: line"
    assert "\x1b" not in shop.publish("1.0.0", code=3).stderr
    shop.publish("1.2.0")
    shop.unpublish("1.1.0", "--reason", "\x1b[8mhidden\x1b[0m")
    assert "\\x1b[8mhidden" in shop.run(*SHOW).stdout


def test_nothing_is_pushed_without_the_keys(signed):
    (signed.line.folder / "keys" / "online.pem").rename(signed.line.folder / "online.pem")
    signed.write("1.1.0")
    for place in (REPOSITORY, "oci:other//acme/db"):
        for further in ((), ("--dry-run",)):
            arguments = ("publish", "db", "--to", place, "--channel", "stable", "--keys", "keys")
            found = signed.run(*arguments, *further, code=1).stderr
            assert "expected the online key" in found
            assert "trundle keys rotate online" in found
    assert not (signed.line.folder / "other").exists()


def test_dry_runs_of_keys_write_nothing_and_say_what_they_would(shop):
    folder = shop.line.folder
    init = ("keys", "init", "keys", "--no-passphrase")
    planned = shop.run(*init, "--dry-run")
    assert "would have written 7 files" in planned.stderr
    assert not (folder / "keys").exists()
    assert shop.run(*init).stdout == planned.stdout
    assert "expected a folder without keys" in shop.run(*init, "--dry-run", code=4).stderr
    before = sorted((folder / "keys").iterdir())
    keys = ("--keys", "keys", "--dry-run")
    assert "keys/2.root.json" in shop.run("keys", "renew", *keys).stdout
    assert "keys/online-2.pem" in shop.run("keys", "rotate", "online", *keys).stdout
    for number in (2, 3):
        (folder / "keys" / f"root-{number}.pem").unlink()
    assert shop.run("keys", "rotate", "online", *keys, code=6)
    assert len(list((folder / "keys").iterdir())) == len(before) - 2


@pytest.mark.full
def test_keys_in_a_folder_that_cannot_be_written_publish_with_another_one(signed, monkeypatch):
    """As secrets are mounted in CI."""
    from trundle.channels.reading import _trust_store as _store

    write = _store.write_durably

    def write_elsewhere(path, content, **further):
        if "keys" in path.parts:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        write(path, content, **further)

    monkeypatch.setattr(_store, "write_durably", write_elsewhere)
    refused = signed.publish("1.1.0", "--keys", "keys", code=1).stderr
    assert "--seen" in refused
    assert signed.versions() == ["1.0.0"]
    signed.publish("1.1.0", "--keys", "keys", "--seen", "ours")
    for command in (REPAIR, ("channel", "refresh", *REPAIR[2:])):
        assert "name another one with --seen" in signed.run(*command, *KEYS, code=1).stderr
    assert signed.versions() == ["1.1.0", "1.0.0"]
    arguments = ("channel", "repair", REPOSITORY, "--channel", "stable", "--seen", "ours")
    signed.run(*arguments, "--keys", "keys")
    assert "expected --keys" in signed.run(*arguments, code=2).stderr


@pytest.mark.full
def test_a_damaged_channel_is_repaired_by_the_command_that_the_refusal_names(signed):
    repository = open_repository(REPOSITORY)
    repository.remove_tag("channel.stable")
    refused = signed.publish("1.1.0", *KEYS, code=6).stderr
    assert "seen/" not in refused
    command = refused.partition("run: trundle ")[2].partition(" [")[0]
    found = signed.run(*shlex.split(command), "--dry-run", code=3).stdout
    assert found.count("channel.stable:") == 1
    signed.run(*shlex.split(command))
    signed.publish("1.1.0", *KEYS)
    assert signed.versions() == ["1.1.0", "1.0.0"]


def test_a_mirror_of_nothing_is_refused(shop):
    shop.publish("1.0.0")
    refused = shop.run("mirror", "oci:packages//acme/other", "oci:copy//acme/db", code=5)
    assert "expected a repository with content, found none" in refused.stderr
    assert not (shop.line.folder / "copy").exists()
