"""What commands print on a pseudo-terminal of some width, in a process of its own."""

import atexit
import fcntl
import functools
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import tempfile
import termios
from pathlib import Path

import pytest
import warm
from amounts import some_of

_STYLE = re.compile(r"\x1b\[[0-9;]*m")

MANY = "\n".join(f"  property{n:02}OfTheirSettings: {{type: string}}" for n in range(30))
TYPE = """\
title: {title}
type: object
properties:
  id: {{type: string}}
{properties}
required: [id]
"""


BETWEEN = "----- next\n"
RUN = f"""
import shlex
import sys
from trundle.cli._app import app

for line in sys.argv[1:]:
    print({BETWEEN.strip()!r}, flush=True)
    try:
        app(shlex.split(line))
    except SystemExit as done:
        code = done.code
sys.exit(code)
"""


@functools.cache
def _program():
    path = Path(tempfile.mkdtemp(prefix="terminal-"), "program.py")
    atexit.register(shutil.rmtree, path.parent)
    path.write_text(RUN)
    return path


def on_terminal(folder, width, *lines):
    """What commands print on a terminal, a line before each, and the exit code of the last."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    unset = ("COLUMNS", "LINES", "NO_COLOR")
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    process = subprocess.Popen(
        [*warm.script(_program()), *lines],
        cwd=folder,
        env={**environment, "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    read = b""
    while part := _part(ours):
        read += part
    os.close(ours)
    return read.decode().replace("\r\n", "\n"), process.wait()


def _part(ours):
    try:
        return os.read(ours, 65536)
    except OSError:  # the other side is closed
        return b""


def plain(text):
    return _STYLE.sub("", text)


@pytest.fixture
def project(line):
    """A project whose types have long names and many properties."""
    for version, more in (("2014-04-04", "levels"), ("2015-05-05", "grades")):
        properties = f"{MANY}\n  {more}: {{type: string}}"
        text = TYPE.format(title="Person", properties=properties)
        line.write(f"schemas/{version}.yaml", text)
    line.write("trundle.yaml", "package: crm\nsources: [schemas]\n")
    return line.folder


@pytest.mark.parametrize("width", some_of([80, 100, 140], 3))
def test_output_fits_the_terminal_and_breaks_no_word(project, width):
    whole = {
        "diff 2014-04-04 2015-05-05 --all": "property07OfTheirSettings",
        "explain Person": "property07OfTheirSettings",
        "map": "storage types",
        "check": "`trundle generate`",
    }
    printed, _ = on_terminal(project, width, *whole)
    texts = plain(printed).split(BETWEEN)[1:]
    for (command, words), text in zip(whole.items(), texts, strict=True):
        assert words in " ".join(text.split()), command
        lines = [each for each in text.splitlines() if str(project) not in each]  # paths stay whole
        assert max(map(len, lines)) <= width, command


def test_a_diff_on_a_terminal_folds_unchanged_rows_and_colours_the_others(project):
    text, _ = on_terminal(project, 100, "diff 2014-04-04 2015-05-05")
    coloured = {
        words.split()[1]: colour
        for colour, words in re.findall(r"^\x1b\[(\d+)m(\| .*)\x1b\[0m$", text, re.MULTILINE)
    }
    assert coloured == {"grades": "32", "levels": "31"}
    assert "property07" not in text
    assert "`--all` shows unchanged ones, too" in text


def test_a_diff_that_is_piped_is_the_whole_table_in_markdown(line, project):
    piped = line.run("diff", "2014-04-04", "2015-05-05").stdout
    assert "\x1b" not in piped
    assert piped == line.run("diff", "2014-04-04", "2015-05-05", "--all").stdout
    assert len([each for each in piped.splitlines() if each.startswith("| ")]) == 2 + 33


@pytest.mark.full
def test_a_check_on_a_terminal_shows_the_first_notes_of_each_kind(line):
    for n in range(8):
        text = TYPE.format(title=f"Thing{n}", properties="")
        line.write(f"schemas/thing{n}/2014-04-04.yaml", text)
    line.write("trundle.yaml", "package: crm\nsources: [schemas]\n")
    text, code = on_terminal(line.folder, 100, "check", "check --all")
    assert code == 3
    _, first, every = plain(text).split(BETWEEN)
    assert "4 more like these; `--all` shows them [lock]" in first
    assert "more like these" not in every
    assert every.count("[lock]") == line.run("check").stdout.count("[lock]") == 9


@pytest.mark.full
@pytest.mark.parametrize("width", some_of([80, 100, 140], 3))
def test_long_words_of_people_fit_the_terminal(empty, width):
    """Reasons, messages and changes are as long as publishers write them."""
    long = "a reason that goes on and on" + 20 * " and on"
    for version in ("1.0.0", "1.1.0", "2.0.0"):
        manifest = f"name: acme/db\nversion: {version}\nchanges: [{long}]\n"
        empty.write(f"{version}/app.yaml", manifest)
    to, of = "oci:registry//acme/db --channel stable", "oci:registry//acme/db"
    printed, _ = on_terminal(
        empty.folder,
        width,
        f"publish 1.0.0 --to {to}",
        f"install {of} --unsigned --state state",
        f"publish 1.1.0 --to {to}",
        f"publish 2.0.0 --to {to}",
        f"unpublish 1.0.0 --from {to} --reason '{long}'",
        f"deprecate 1.1.0 --in {to} --message '{long}'",
        f"channel show {to}",
        f"channel log {to}",
        *(f"{each} --state state" for each in ("status", "plan", "upgrade --check")),
        "upgrade --to 1.1.0 --now --dry-run --state state acme/db",
    )
    for text in plain(printed).split(BETWEEN)[7:]:
        assert text.strip()
        assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("width", some_of([80, 100, 140], 3))
def test_dates_stay_whole_in_narrow_columns(line, width):
    """Names of types and entries leave little for the versions."""
    for version in ("2014-04-04-preview", "2014-04-04", "2015-05-05", "2016-06-06"):
        more = "" if version == "2015-05-05" else "settingsOfTheirOldPlaces: {type: string}"
        text = TYPE.format(title="Person", properties=f"{MANY}\n  {more}")
        line.write(f"schemas/{version}.yaml", text)
    line.write("trundle.yaml", "package: crm\nsources: [schemas]\n")
    printed, _ = on_terminal(line.folder, width, "explain Person", "map")
    texts = plain(printed)
    assert max(map(len, texts.splitlines())) <= width
    assert "2014-04-04" in texts
    assert re.search(r"\b\d{4}-(\d\d)?-? *(\||$)", texts, re.MULTILINE) is None


@pytest.mark.full
def test_a_command_that_moves_nothing_shows_no_progress(empty):
    """Standard error is a terminal, too."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*warm.script(_program()), "list --state state", "status --state state"],
        cwd=empty.folder,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
    )
    os.close(theirs)
    read = b""
    while part := _part(ours):
        read += part
    os.close(ours)
    assert process.wait() == 0
    assert "nothing is installed" in read.decode()
    assert "bytes" not in read.decode()
    assert "\x1b[?25l" not in read.decode()


@pytest.mark.full
@pytest.mark.parametrize("width", some_of([0, 60, 100], 3))
@pytest.mark.parametrize("redirected", [False, True])
def test_messages_fit_the_terminal_that_they_go_to(empty, width, redirected):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    unset = ("COLUMNS", "LINES")
    process = subprocess.Popen(
        [*warm.script(_program()), "upgrade acme/db --state state", "list --state state"],
        cwd=empty.folder,
        stdin=theirs,
        stdout=subprocess.DEVNULL if redirected else theirs,
        stderr=theirs,
        env={name: value for name, value in os.environ.items() if name not in unset}
        | {"TERM": "xterm"},
    )
    os.close(theirs)
    read = b""
    while part := _part(ours):
        read += part
    os.close(ours)
    assert process.wait() == 0
    printed = plain(read.decode())
    assert "error: acme/db: expected an installed package" in printed
    assert "correct the name [not-installed]" in " ".join(printed.split())
    assert 40 < max(map(len, printed.splitlines())) <= (width or 80)


@pytest.mark.full
@pytest.mark.parametrize("width", some_of([80, 100, 140], 3))
def test_what_is_installed_fits_the_terminal_with_whole_digests(empty, width):
    empty.write("db/app.yaml", "name: acme/db\nversion: 1.0.0\ntitle: Database\n")
    printed, _ = on_terminal(
        empty.folder,
        width,
        "publish db --to oci:registry//acme/db --channel stable",
        "install oci:registry//acme/db --unsigned --state state",
        *(f"{each} --state state" for each in ("status", "plan", "list", "history")),
    )
    for text in plain(printed).split(BETWEEN)[3:]:
        assert "acme/db" in text
        assert max(map(len, text.splitlines())) <= width
    assert len(re.findall("sha256:[0-9a-f]{64}", plain(printed))) > 3


def coloured(text):
    """The words that have a colour, with it."""
    return {
        word: int(code) for code, word in re.findall(r"\x1b\[(\d+)m\x1b\[1m(\S+?)\x1b\[0m", text)
    }


def test_colours_say_what_is_well_what_waits_and_what_is_wrong(empty):
    """Green, yellow and red, for what an installation is and for what a plan does."""
    green, yellow, red, cyan = 32, 33, 31, 36
    for version in ("1.0.0", "1.0.1", "2.0.0"):
        empty.write(f"{version}/app.yaml", f"name: acme/db\nversion: {version}\n")
    of = "oci:registry//acme/db"
    to = f"--to {of} --channel stable"
    printed, _ = on_terminal(
        empty.folder,
        100,
        f"publish 1.0.0 {to}",
        f"install {of} --unsigned --state state",
        "status --state state",
        f"publish 1.0.1 {to}",
        f"publish 2.0.0 {to}",
        *(f"{each} --state state" for each in ("plan", "upgrade --check", "outdated")),
        f"unpublish 1.0.0 --yes --from {of} --channel stable --reason bad",
        "status --state state",
    )
    parts = printed.split(BETWEEN.strip())
    assert coloured(parts[3]) == dict.fromkeys(
        ("Installed", "ChannelUsable", "UpToDate", "Published"), green
    )
    plans, checked, late, gone = (coloured(parts[at]) for at in (6, 7, 8, 10))
    assert plans == checked == {"upgrade": green, "blocked": yellow, "announced": cyan}
    assert late == {"acme/db": green}
    assert gone["Published"] == red
    assert gone["UpToDate"] == yellow
    assert gone["target"] == green


@pytest.mark.full
def test_what_steers_a_terminal_is_escaped_in_data_as_well(empty):
    app = "name: acme/db\nversion: 1.0.0\ntitle: Database\n"
    empty.write("db/app.yaml", app)
    reason = "a\u202eb\u061c\u009bc"
    repository = "oci:registry//acme/db"
    show = f"channel show {repository} --channel stable -o"
    printed, _ = on_terminal(
        empty.folder,
        80,
        f"publish db --to {repository} --channel stable",
        f"unpublish 1.0.0 --yes --from {repository} --channel stable --reason {reason}",
        f"{show} json",
        f"{show} yaml",
    )
    *_, as_json, as_yaml = plain(printed).split(BETWEEN)
    assert json.loads(as_json)["unpublished"][0]["reason"] == reason
    for text in (as_json, as_yaml):
        assert r'"a\u202eb\u061c\u009bc"' in text
        assert text.isascii()


def test_a_version_that_is_not_there_is_a_finding_with_a_code(project):
    done = subprocess.run(
        [*warm.script(_program()), "map --as-of 2099-01-01"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 5
    assert "found '2099-01-01'" in done.stderr
    assert "[unknown-name]" in done.stderr
