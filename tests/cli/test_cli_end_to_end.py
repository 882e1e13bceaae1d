import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import time

import pytest
from amounts import full
from warm import TRUNDLE, script

pytestmark = pytest.mark.skipif(not TRUNDLE.exists(), reason="the command is not installed")


@pytest.fixture
def trundle(line):
    def run(*arguments, stdin="", command=()):
        return subprocess.run(
            [*(command or script()), *arguments],
            cwd=line.folder,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_a_project_from_its_first_command_to_converted_documents(line, trundle):
    (line.folder / "trundle.yaml").unlink()
    begun = trundle("init", "schemas", "--package", "crm", command=[TRUNDLE])
    assert begun.returncode == 0
    assert trundle("generate").returncode == 0
    assert trundle("lock").returncode == 0
    assert trundle("check").returncode == 0
    document = '{"apiVersion": "2014-04-04", "kind": "Person", "id": "a", "level": "high"}'
    stored = trundle("convert", "-", "--to", "storage", stdin=document)
    assert stored.returncode == 0
    back = trundle("convert", "-", "--to", "2014-04-04", stdin=stored.stdout)
    assert json.loads(back.stdout) == json.loads(document)
    line.write(
        "schemas/2015-05-05.yaml",
        "title: Person\ntype: object\nproperties: {id: {type: integer}}\n",
    )
    refused = trundle("check")
    assert refused.returncode == 3
    assert "objects of Person that were stored in 2015-05-05" in refused.stdout
    assert "Traceback" not in refused.stderr


@pytest.mark.full
def test_a_hook_is_called_by_the_generated_package(line, trundle):
    line.write(
        "hooks.py",
        """\
        from trundle.runtime import hook

        class Levels:
            def convert_string_to_integer(self, level):
                return int(level)

            def convert_integer_to_string(self, level):
                return str(level)
        """,
    )
    text = (line.folder / "trundle.yaml").read_text()
    entry = "{type: Person, between: [2014-04-04, 2015-05-05], use: 'hooks:Levels'}"
    line.write("trundle.yaml", f"{text}hooks: [{entry}]\n")
    assert trundle("generate").returncode == 0
    document = '{"apiVersion": "2014-04-04", "kind": "Person", "id": "a", "level": "3"}'
    found = trundle("convert", "-", "--to", "2015-05-05", stdin=document)
    assert json.loads(found.stdout)["level"] == 3
    failed = trundle("convert", "-", "--to", "2015-05-05", stdin=document.replace("3", "x"))
    assert failed.returncode == 1
    assert "raised ValueError" in failed.stderr
    assert "Traceback" not in failed.stderr


def test_a_reader_that_leaves_early_is_no_error(line):
    command = f"{TRUNDLE} schema | head -c 10"
    result = subprocess.run(
        ["bash", "-c", command], cwd=line.folder, capture_output=True, text=True, check=False
    )
    assert len(result.stdout) == 10
    assert result.stderr == ""


@pytest.fixture
def interruptible():
    """Lets child processes be interrupted, which those of a background job inherit not to be."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("kind", "code"), [(signal.SIGINT, 130), full(signal.SIGTERM, 143)])
def test_an_interruption_is_quiet(line, kind, code):
    os.mkfifo(line.folder / "pipe")
    line.write("crm/__init__.py", "")
    with subprocess.Popen(
        [TRUNDLE, "convert", "pipe", "--to", "storage"],
        cwd=line.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        writer = opened_once_read(line.folder / "pipe")
        try:
            out, err = interrupted(process, kind)
        finally:
            process.kill()
            os.close(writer)
    assert (process.returncode, out, err) == (code, b"", b"")


OLD = "title: Person\ntype: object\nproperties: {id: {type: string}, level: {type: string}}\n"
NEW = "title: Person\ntype: object\nproperties: {id: {type: string}, level: {type: integer}}\n"
SLOW = """\
open("pipe").read()
class Names:
    def assign_to(self, source): ...
"""


@pytest.mark.usefixtures("interruptible")
@pytest.mark.full
def test_an_interruption_ends_all_workers_and_changes_nothing(line):
    for name in ("a", "b"):
        line.write(f"{name}/2014-04-04.yaml", OLD)
        line.write(f"{name}/2015-05-05.yaml", NEW)
    sources = "sources: [{path: a, group: a.org}, {path: b, group: b.org}]\n"
    config = f"package: crm\ngroups: {{a: a.org, b: b.org}}\n{sources}"
    line.write("trundle.yaml", config)
    generate = [TRUNDLE, "generate", "--jobs", "2"]
    subprocess.run(generate, cwd=line.folder, check=True, capture_output=True)
    before = files_below(line.folder / "crm")
    line.write("slow.py", SLOW)
    hook = "{type: Person, between: [2014-04-04, 2015-05-05], use: 'slow:Names'}"
    line.write("trundle.yaml", f"{config}hooks: [{hook}]\n")
    os.mkfifo(line.folder / "pipe")
    with subprocess.Popen(
        generate, cwd=line.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        writer = opened_once_read(line.folder / "pipe")
        try:
            out, err = interrupted(process, signal.SIGINT)
        finally:
            process.kill()
            os.close(writer)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert files_below(line.folder / "crm") == before


def files_below(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.full
def test_groups_are_generated_checked_locked_and_converted(line):
    line.write("a/2014-04-04.yaml", OLD)
    line.write("b/2014-04-04.yaml", OLD.replace("Person", "Animal"))
    sources = "sources: [{path: a, group: a.org}, {path: b, group: b.org}]\n"
    line.write("trundle.yaml", f"package: crm\ngroups: {{a: a.org, b: b.org}}\n{sources}")
    line.write("document.json", '{"apiVersion": "b.org/2014-04-04", "kind": "Animal", "id": "1"}')
    for command in ("generate -j 2", "lock -j 2", "check -j 2", "generate --check"):
        result = subprocess.run(
            [TRUNDLE, *command.split()],
            cwd=line.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
    stored = subprocess.run(
        [TRUNDLE, "convert", "document.json", "--to", "storage"],
        cwd=line.folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert '"$writtenWith": "2014-04-04"' in stored
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "crm/b/tests"],
        cwd=line.folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(line.folder), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout


def interrupted(process, kind):
    """What a process writes until its end, and that of its workers, which a signal asks for.

    One that comes just before it reads would only set Python's own flag, so another follows where it goes on for long.
    """
    for _ in range(6):
        process.send_signal(kind)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=20)
    return pytest.fail("the process does not end")


def opened_once_read(pipe):
    """A named pipe opened for writing, once a process that has read from it waits for more."""
    for _ in range(12_000):
        with contextlib.suppress(OSError):
            writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            break
        time.sleep(0.01)
    else:
        pytest.fail("the pipe is not opened")
    os.write(writer, b" ")
    for _ in range(12_000):
        if not any(fcntl.ioctl(writer, termios.FIONREAD, bytes(4))):
            return writer
        time.sleep(0.01)
    return pytest.fail("the pipe is not read")


def test_completion_is_there_for_the_usual_shells(trundle):
    for shell in ("bash", "zsh", "fish"):
        result = subprocess.run(
            [TRUNDLE],
            env={**os.environ, "_TRUNDLE_COMPLETE": f"source_{shell}"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert "trundle" in result.stdout
