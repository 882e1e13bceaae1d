"""The commands that install, upgrade and go back, in a folder of their own."""

import datetime as dt
import json
import os
import subprocess

import pytest
import serving
import warm
import yaml
from amounts import full

from trundle.errors import duration_text
from trundle.registry import open_repository

REPOSITORY = "oci:registry//acme/crm"
HEAD = "channel.stable"
ANY = None
"""Where it does not matter which exit code a command has."""
FAR = dt.datetime.now(dt.UTC) + dt.timedelta(days=180)
"""The window opens on this day, so it is closed now."""
DAY = f"0 2 {FAR.day} {FAR.month} *"
POLICY = f"""\
upgrade:
  patch: immediate
  minor: window
  windows:
    - {{start: "{DAY}", duration: PT4H, timezone: Europe/Berlin, levels: [minor]}}
"""


class Machine:
    """Runs the installed command in a fresh folder."""

    def __init__(self, folder, repository=REPOSITORY):
        self.folder = folder
        self.repository = repository

    def run(self, *arguments, code=0):
        environment = {
            **os.environ,
            "NO_COLOR": "1",
            "TRUNDLE_STATE": "state",
            "DOCKER_CONFIG": str(self.folder / "docker"),
        }
        done = subprocess.run(
            [*warm.script(always=True), *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert code in (ANY, done.returncode), done.stdout + done.stderr
        return done

    def publish(self, version, name="acme/crm"):
        place = self.folder / "package"
        place.mkdir(exist_ok=True)
        (place / "app.yaml").write_text(f"name: {name}\nversion: {version}\n")
        (place / "content.txt").write_text(f"content of {version}\n")
        self.run("publish", "package", "--to", self.repository, "--channel", "stable")

    def text(self):
        return (self.folder / "state/current/packages/acme+crm/content.txt").read_text().strip()


@pytest.fixture(scope="module")
def registry(tmp_path_factory):
    with serving.registry(tmp_path_factory.mktemp("registry")) as address:
        yield address


@pytest.fixture(params=["directory", pytest.param("http", marks=pytest.mark.full)])
def machine(request, tmp_path):
    if request.param == "directory":
        return Machine(tmp_path)
    return Machine(tmp_path, f"{request.getfixturevalue('registry')}/acme/crm")


@pytest.fixture
def plain(tmp_path):
    return Machine(tmp_path)


def test_the_scenario(machine):
    machine.publish("1.0.3")
    machine.publish("1.1.2")
    (machine.folder / "policy.yaml").write_text(POLICY)
    refused = machine.run("install", machine.repository, code=6)
    assert "[unsigned-channel]" in refused.stderr
    machine.run("install", machine.repository, "--unsigned", "--policy", "policy.yaml")
    machine.publish("1.2.3")
    place = ("--from", machine.repository, "--channel", "stable")
    machine.run("unpublish", "1.1.2", *place, "--reason", "a vulnerability")
    machine.publish("1.1.3")

    checked = machine.run("upgrade", "--check", code=10)
    assert "upgrade to 1.1.3 now" in checked.stdout
    assert "upgraded acme/crm 1.1.2 -> 1.1.3" in machine.run("upgrade").stdout
    assert machine.text() == "content of 1.1.3"
    waiting = machine.run("upgrade")
    assert (waiting.stdout, "scheduled acme/crm 1.2.3" in waiting.stderr) == ("", True)
    (plan,) = json.loads(machine.run("plan", "-o", "json").stdout)
    assert plan["target"] is None
    opening = plan["nextChange"]
    assert opening[:10] == f"{FAR:%Y-%m-%d}"
    (plan,) = json.loads(machine.run("plan", "--at", opening, "-o", "json").stdout)
    assert plan["target"]["version"] == "1.2.3"
    machine.run("policy", "set", "acme/crm")
    (machine.folder / "policy.yaml").write_text(POLICY.replace(DAY, "* * * * *"))
    machine.run("policy", "set", "acme/crm", "policy.yaml")
    assert "upgraded acme/crm 1.1.3 -> 1.2.3" in machine.run("upgrade").stdout
    assert machine.text() == "content of 1.2.3"
    machine.run("upgrade", "--check")


@pytest.mark.full
def test_status_in_every_format(plain):
    plain.publish("1.0.0")
    plain.run("install", REPOSITORY, "--unsigned")
    plain.publish("1.1.0")
    plain.publish("2.0.0")
    text = plain.run("status").stdout
    assert "blocked    2.0.0: the policy says never for major upgrades" in text
    (found,) = json.loads(plain.run("status", "-o", "json").stdout)
    assert yaml.safe_load(plain.run("status", "-o", "yaml").stdout) == [found]
    assert [each["type"] for each in found["conditions"]] == [
        "Installed",
        "ChannelUsable",
        "UpToDate",
        "Published",
        "Held",
    ]
    assert found["announced"] == "2.0.0"
    assert {each["version"] for each in found["blocked"]} == {"2.0.0", "1.1.0"}


@pytest.mark.full
def test_words_of_people(plain):
    plain.publish("1.0.0")
    plain.run("install", REPOSITORY, "--unsigned")
    plain.publish("1.1.0")
    plain.run("hold", "acme/crm", "--reason", "year end", "--until", "2999-01-01T00:00:00Z")
    plain.run("upgrade", "acme/crm", "--to", "1.1.0", "--now", code=3)
    plain.run("unhold", "acme/crm", "--dry-run")
    plain.run("unhold", "acme/crm")
    plain.run("unhold", "acme/crm", code=5)
    plain.run("approve", "acme/crm", "1.1.0", "--dry-run")
    plain.run("approve", "acme/crm", "7.0.0", code=5)
    plain.run("approve", "acme/crm", "1.1.0")
    plain.run("unapprove", "acme/crm", "1.1.0", "--dry-run")
    (approved,) = json.loads(plain.run("status", "-o", "json").stdout)[0]["approvals"]
    assert (approved["version"], bool(approved["by"])) == ("1.1.0", True)
    assert f"approved   1.1.0 by {approved['by']}, " in plain.run("status").stdout
    assert "1.1.0" in plain.run("unapprove", "acme/crm", "1.2.0", code=5).stderr
    plain.run("unapprove", "acme/crm", "1.1.0")
    plain.run("unapprove", "acme/crm", "1.1.0", code=5)
    assert "approved" not in plain.run("status").stdout
    plain.run("approve", "acme/crm", "1.1.0")
    plain.run("upgrade", "--now", "--dry-run")
    assert plain.text() == "content of 1.0.0"
    plain.run("upgrade", "--now")
    plain.run("rollback", "acme/crm", "--dry-run")
    assert plain.text() == "content of 1.1.0"
    back = plain.run("rollback", "acme/crm")
    assert "warning: 1.1.0 is held" in back.stderr
    assert plain.text() == "content of 1.0.0"
    actions = [e["action"] for e in json.loads(plain.run("history", "-o", "json").stdout)]
    assert actions == ["rollback", "upgrade", "install"]
    plain.run("uninstall", "acme/crm")
    assert plain.run("list").stdout == ""
    plain.run("rollback", "acme/crm", code=5)


@pytest.mark.full
def test_a_pinned_installation_says_that_the_channel_is_ignored(plain):
    plain.publish("1.0.0")
    plain.publish("1.1.0")
    done = plain.run("install", f"{REPOSITORY}:1.0.0", "--channel", "stable")
    assert "the channel stable is ignored" in done.stderr
    assert "no updates are looked for" in plain.run("upgrade", "--check").stdout
    (found,) = json.loads(plain.run("list", "-o", "json").stdout)
    assert found["pinned"].endswith("//acme/crm:1.0.0")


@pytest.mark.full
def test_policies_are_linted_set_and_shown(plain):
    (plain.folder / "good.yaml").write_text(POLICY.replace(DAY, "0 2 * * SUN"))
    plain.run("policy", "lint", "good.yaml")
    (plain.folder / "poor.yaml").write_text("upgrade: {minor: window}\n")
    assert "warning" in plain.run("policy", "lint", "poor.yaml", code=3).stdout
    (plain.folder / "bad.yaml").write_text("upgrade: {patch: sometimes}\n")
    assert "sometimes" in plain.run("policy", "lint", "bad.yaml", code=3).stderr
    (plain.folder / "none.yaml").write_text("patch: never\n")
    assert "the keys patch" in plain.run("policy", "lint", "none.yaml", code=3).stderr
    (plain.folder / "torn.yaml").write_text("upgrade: [\n")
    plain.run("policy", "lint", "torn.yaml", code=3)
    plain.publish("1.0.0")
    plain.run("install", REPOSITORY, "--unsigned")
    plain.run("policy", "set", "acme/crm", "good.yaml")
    shown = yaml.safe_load(plain.run("policy", "show", "acme/crm").stdout)
    assert shown["upgrade"]["windows"][0]["start"] == "0 2 * * SUN"


def test_findings_about_a_policy_name_the_line(plain):
    (plain.folder / "policy.yaml").write_text(
        "# ours\nupgrade:\n  minr: window\n  minor: window\n  exclusions:\n    - start: x\n"
    )
    printed = plain.run("policy", "lint", "policy.yaml", code=3).stderr
    assert "policy.yaml:3: upgrade.minr: expected one of the keys" in printed
    assert "policy.yaml:6: upgrade.exclusions[0].start: expected a time" in printed
    assert "policy.yaml:6: upgrade.exclusions[0].end: expected a time" in printed
    (plain.folder / "policy.yaml").write_text("upgrade:\n  patch: immediate\n  minor: window\n")
    assert (
        "warning: policy.yaml:3: upgrade.minor"
        in plain.run("policy", "lint", "policy.yaml", code=3).stdout
    )


@pytest.mark.full
def test_a_signed_channel_is_followed_by_its_root(plain):
    plain.run("keys", "init", "keys", "--no-passphrase")
    (plain.folder / "package").mkdir()
    (plain.folder / "package/app.yaml").write_text("name: acme/crm\nversion: 1.0.0\n")
    place = ("--to", REPOSITORY, "--channel", "stable", "--keys", "keys")
    plain.run("publish", "package", *place)
    plain.run("install", REPOSITORY, code=6)
    plain.run("install", REPOSITORY, "--root", "keys/root.json", "--unsigned", code=2)
    folder = plain.run("install", REPOSITORY, "--root", "keys", code=2).stderr
    assert "--root keys: expected the publisher's root.json, found a folder" in folder
    unverified = plain.run("install", REPOSITORY, "--unsigned", "--dry-run").stderr
    assert "has signatures, which are not verified" in unverified
    trusted = plain.run("install", REPOSITORY, "--root", "keys/root.json")
    assert "signatures" not in trusted.stderr
    plain.run("upgrade", "--check")
    unverified = plain.run("install", REPOSITORY, "--unsigned", "--upgrade").stderr
    assert "has signatures, which are not verified" in unverified


def delete_the_head(repository, earlier):
    repository.remove_tag(HEAD)


def roll_the_head_back(repository, earlier):
    repository.set_tag(HEAD, earlier)


def lose_the_files_of_the_head(repository, earlier):
    for layer in repository.get_manifest(HEAD).document.layers:
        repository.blob_file(layer).unlink()


@pytest.mark.full
@pytest.mark.parametrize(
    ("damage", "signed"),
    [
        (delete_the_head, True),
        full(roll_the_head_back, True),
        full(lose_the_files_of_the_head, True),
        full(delete_the_head, False),
        full(lose_the_files_of_the_head, False),
    ],
)
def test_an_installation_follows_a_channel_that_was_repaired(plain, damage, signed):
    """Without `trundle forget`, whatever the installation saw of the channel before."""
    keys = ("--keys", "keys") if signed else ()
    place = ("--channel", "stable", *keys)
    if signed:
        plain.run("keys", "init", "keys", "--no-passphrase")

    def publish(version):
        (plain.folder / "package").mkdir(exist_ok=True)
        (plain.folder / "package/app.yaml").write_text(f"name: acme/crm\nversion: {version}\n")
        (plain.folder / "package/content.txt").write_text(f"content of {version}\n")
        plain.run("publish", "package", "--to", REPOSITORY, *place)

    publish("1.0.0")
    repository = open_repository(REPOSITORY.replace("oci:", f"oci:{plain.folder}/"))
    earlier = repository.resolve(HEAD).digest
    plain.run("install", REPOSITORY, *(("--root", "keys/root.json") if signed else ("--unsigned",)))
    publish("1.0.1")
    plain.run("status")
    damage(repository, earlier)
    assert plain.run("plan", code=ANY).returncode > 0
    plain.run("channel", "repair", REPOSITORY, *place)
    assert "1.0.1" in plain.run("upgrade", "--check", code=10).stdout
    publish("1.0.2")
    assert "upgraded acme/crm 1.0.0 -> 1.0.2" in plain.run("upgrade").stdout
    assert plain.text() == "content of 1.0.2"


@pytest.mark.full
def test_what_a_publisher_writes_does_not_steer_terminals_of_users(plain):
    for version in ("1.0.0", "1.0.1", "1.0.2"):
        (plain.folder / "package").mkdir(exist_ok=True)
        change = f'changes: ["{version} \\e[2J \\u202e x"]'
        text = f"name: acme/crm\nversion: {version}\n{change}\n"
        (plain.folder / "package/app.yaml").write_text(text)
        plain.run("publish", "package", "--to", REPOSITORY, "--channel", "stable")
        if version == "1.0.0":
            plain.run("install", REPOSITORY, "--unsigned")
    steering = "\x1b]0;title\x07 \u202e\nfake: line"
    of = ("--channel", "stable")
    plain.run("deprecate", "1.0.2", "--in", REPOSITORY, *of, "--message", steering)
    plain.run("unpublish", "1.0.0", "--from", REPOSITORY, *of, "--reason", steering)
    plain.run("hold", "acme/crm", "--version", "1.0.1", "--reason", steering)
    for command in ("plan", "status", "outdated", "list", "upgrade", "history"):
        done = plain.run(command, code=ANY)
        for text in (done.stdout, done.stderr):
            assert "\x1b" not in text
            assert "\u202e" not in text
            assert not any(each.startswith("fake:") for each in text.splitlines())


@pytest.mark.full
def test_looking_makes_no_installation(plain):
    for command in ("list", "status", "plan", "upgrade", "history"):
        assert "nothing is installed in state" in plain.run(command).stderr
    plain.publish("1.0.0")
    plain.run("install", plain.repository, "--unsigned", "--dry-run")
    assert not (plain.folder / "state").exists()


@pytest.mark.full
def test_a_dry_run_of_a_rollback_holds_nothing(plain):
    plain.publish("1.0.0")
    plain.run("install", plain.repository, "--unsigned")
    plain.publish("1.0.1")
    plain.run("upgrade")
    done = plain.run("rollback", "acme/crm", "--dry-run")
    assert "would have rolled back acme/crm 1.0.1 -> 1.0.0" in done.stdout
    assert "held" not in done.stderr


@pytest.mark.full
def test_an_agent_that_cannot_notify_does_not_start(plain):
    plain.publish("1.0.0")
    plain.run("install", plain.repository, "--unsigned")
    said = plain.run("agent", "--once", "--notify", "no-such-command x", code=2).stderr
    assert "--notify: no-such-command: expected a command or a URL, found no such command" in said


@pytest.mark.full
def test_a_file_is_no_state(plain):
    file = plain.folder / "state"
    file.write_text("text")
    for command in ("list", "status", "plan", "upgrade", "history", "agent"):
        said = plain.run(command, code=1).stderr
        assert "state: expected a folder, found a file; name the folder with --state" in said
    file.unlink()
    assert "in state, which does not exist" in plain.run("upgrade").stderr


@pytest.mark.full
def test_a_check_reports_only_what_can_be_had(plain):
    plain.publish("1.0.0")
    (plain.folder / "policy.yaml").write_text("upgrade: {minor: never, major: approval}")
    plain.run("install", plain.repository, "--unsigned", "--policy", "policy.yaml")
    plain.publish("1.1.0")
    assert "blocked 1.1.0" in plain.run("upgrade", "--check").stdout
    plain.publish("2.0.0")
    plain.run("upgrade", "--check", code=10)
    plain.run("hold", "acme/crm", "--reason", "audit")
    plain.run("upgrade", "--check")
    refused = plain.run("upgrade", "acme/crm", "--to", "2.0.0", code=3)
    assert "[held]" in refused.stderr
    plain.run("unhold", "acme/crm")
    printed = plain.run("upgrade", "acme/crm", "--to", "1.1.0", "--dry-run").stderr
    assert "nothing was fetched" in printed


@pytest.mark.full
def test_a_check_that_is_refused_says_so_once(plain):
    plain.publish("1.0.0")
    plain.run("install", plain.repository, "--unsigned")
    (plain.folder / "registry").rename(plain.folder / "gone")
    checked = plain.run("upgrade", "--check", code=5)
    assert (checked.stdout + checked.stderr).count("[channel-not-found]") == 1
    (found,) = json.loads(plain.run("status", "-o", "json").stdout)
    reasons = {each["type"]: each["reason"] for each in found["conditions"]}
    assert reasons["Published"] == reasons["UpToDate"] == "ChannelRefused"


@pytest.mark.full
def test_a_package_is_found_by_its_repository_too(plain):
    plain.publish("1.0.0")
    plain.run("install", plain.repository, "--unsigned")
    assert "nothing to do now" in plain.run("plan", plain.repository).stdout
    plain.run("plan", "oci:elsewhere//acme/crm", code=5)


@pytest.mark.full
def test_an_approval_that_no_policy_asks_for_is_a_warning(plain):
    plain.publish("1.0.0")
    plain.run("install", plain.repository, "--unsigned")
    plain.publish("2.0.0")
    printed = plain.run("approve", "acme/crm", "2.0.0").stderr
    assert "the policy says never for major upgrades" in printed


@pytest.mark.full
def test_content_that_no_rollback_needs_is_removed(plain):
    plain.publish("1.0.0")
    plain.run("install", plain.repository, "--unsigned")
    plain.publish("1.0.1")
    plain.run("upgrade")
    assert "removed 0 versions" in plain.run("tidy").stderr
    assert "would have removed 1 version" in plain.run("tidy", "--keep", "0", "--dry-run").stderr
    done = json.loads(plain.run("tidy", "--keep", "0", "-o", "json").stdout)
    assert [each["name"] for each in done["removed"]] == ["acme/crm 1.0.0"]
    assert done["bytes"] > 0
    plain.run("rollback", "acme/crm", code=5)
    plain.run("tidy", "--keep", "-1", code=2)
    assert plain.text() == "content of 1.0.1"


@pytest.mark.full
def test_what_was_seen_is_forgotten_when_that_is_asked_for(plain):
    assert "nothing to forget" in plain.run("forget", "clock").stderr
    plain.publish("1.0.0")
    plain.run("install", plain.repository, "--unsigned", "--to", "1.0.0")
    plain.publish("1.0.1")
    plain.run("status")
    assert "would have forgotten" in plain.run("forget", "clock", "--dry-run").stderr
    assert "forgotten that it was" in plain.run("forget", "clock").stderr
    assert "nothing to forget" in plain.run("forget", "clock").stderr
    assert "forgotten serial 2" in plain.run("forget", "channel", "acme/crm").stderr
    assert "nothing to forget" in plain.run("forget", "channel", "acme/crm").stderr
    printed = plain.run("forget", "digest", "acme/crm", "1.0.1").stderr
    assert "forgotten that acme/crm 1.0.1 is sha256:" in printed
    plain.run("forget", "digest", "acme/crm", "1.0.1", code=5)
    plain.run("forget", "digest", "acme/crm", "1.0.0", code=4)


@pytest.mark.full
def test_what_cannot_be_understood_is_a_matter_of_usage(plain):
    (plain.folder / "policy.yaml").write_bytes(b"upgrade: \xff")
    assert "expected UTF-8 text" in plain.run("policy", "lint", "policy.yaml", code=3).stderr
    plain.run("hold", "acme/crm", "--reason", " ", code=2)
    plain.run("hold", "acme/crm", "--reason", "x", "--until", "2020-01-01T00:00:00Z", code=2)
    plain.run("upgrade", "--to", "1.0.0", code=2)
    plain.run("plan", "--at", "yesterday", code=2)
    plain.run("install", "crm", code=2)
    plain.run("agent", "--interval", "soon", code=2)
    plain.run("upgrade", "acme/crm", code=5)


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (dt.timedelta(seconds=13.48891), "14 s"),
        (dt.timedelta(hours=1, minutes=5), "1 h 5 min"),
        (dt.timedelta(days=1, seconds=1), "1 d 1 s"),
        (dt.timedelta(), "0 s"),
    ],
)
def test_durations_are_said_in_words(duration, text):
    assert duration_text(duration) == text
