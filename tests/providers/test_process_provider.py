"""Processes that the operator lists."""

import os
import sys
import time
from pathlib import Path

import pytest
from engines import package
from processes import ends, runs

from trundle.engine import Engine, EngineError
from trundle.engine.effects import MemoryJournal
from trundle.providers import ProcessProvider

PACKAGE = package(
    "a",
    "1.0.0",
    {"io.trundle": "1"},
    {
        "a.Running": """
Namespaces: {=: a, t: io.trundle}
Properties:
  process: {Contract: {$.string().notNull(): $}, Usage: InOut, Default: {}}
Methods:
  deploy:
    Scope: Public
    Body:
      - If: $.process
        Then:
          - Return: new(t:Process, $.process).deploy()
"""
    },
)


class Runner:
    def __init__(self, folder, commands=None, **options):
        self.folder, self.journal = folder, MemoryJournal()
        commands = commands or {"python": sys.executable, "missing": "/no/such/program"}
        provider = ProcessProvider(commands, folder, **options)
        self.engine = Engine([PACKAGE], providers={"process": provider})

    def run(self, code=None, *arguments, secrets=None, program="python", **more):
        """Runs code of Python as an effect; removes it where there is none."""
        process = {}
        if code is not None:
            process = {"name": "it", "arguments": [program, "-c", code, *arguments], **more}
        with self.engine.session(journal=self.journal, secrets=secrets) as session:
            root = session.load({"?": {"type": "a.Running"}, "process": process})
            found = session.call(root, "deploy")
            session.settle()
            return found


@pytest.fixture
def runner(tmp_path):
    return Runner(tmp_path, seconds=60)


COUNTING = "from pathlib import Path; p = Path('count'); p.write_text((p.read_text() if p.exists() else '') + 'x')"


@pytest.mark.full
def test_a_process_runs_once_and_again_where_it_changes(runner):
    for text in ("", "", ";1", ";1"):
        runner.run(COUNTING + text)
    assert (runner.folder / "count").read_text() == "xx"


def test_its_outcome_is_the_answer_again(runner):
    code = "import sys; print(sys.stdin.read(), end=''); print('!', file=sys.stderr); sys.exit(3)"
    wanted = {"exitCode": 3, "stdout": "given\r\n", "stderr": "!\n", "truncated": False}
    for _ in range(2):
        assert runner.run(code, input="given\r\n", codes=[0, 3]) == wanted


def test_there_is_no_shell(runner):
    text = "$HOME; echo `id` > x | * \n \"'"
    assert runner.run("import sys; print(sys.argv[1], end='')", text)["stdout"] == text


@pytest.mark.full
def test_it_gets_no_variables_but_those_of_the_operator(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_OF_TRUNDLE", "x")
    runner = Runner(tmp_path, environment={"GIVEN": "y"})
    found = runner.run("import os; print(sorted(os.environ))")["stdout"]
    assert "GIVEN" in found
    assert "SECRET_OF_TRUNDLE" not in found


@pytest.mark.parametrize("program", ["sh", "/bin/sh", sys.executable, "../python", ""])
def test_what_is_not_listed_does_not_run(runner, program):
    with pytest.raises(
        EngineError, match="among the programs that may run, found only missing, python"
    ):
        runner.run("", program=program)
    with pytest.raises(EngineError, match="among the programs that may run"):
        runner.run("", undo=[program])
    assert runner.journal.records() == ()


def test_a_program_that_is_not_there(runner):
    with pytest.raises(EngineError, match="missing: expected a program that can be started"):
        runner.run("", program="missing")


def test_programs_have_absolute_paths(tmp_path):
    with pytest.raises(ValueError, match="an absolute path of a program"):
        ProcessProvider({"x": "bin/x"}, tmp_path)


def test_another_exit_code_is_a_failure_and_runs_again(runner):
    code = "import sys, os; print('oh', file=sys.stderr); sys.exit(not os.path.exists('now'))"
    with pytest.raises(EngineError, match=r"exit codes 0, found 1\noh"):
        runner.run(code)
    (runner.folder / "now").touch()
    assert runner.run(code)["exitCode"] == 0


def test_one_that_is_killed_is_a_failure(runner):
    with pytest.raises(EngineError, match="found -9"):
        runner.run("import os; os.kill(os.getpid(), 9)")


@pytest.mark.full
def test_undo_runs_when_it_is_no_longer_wanted(runner):
    remove = "import os; os.path.exists('count') and os.remove('count')"
    runner.run(COUNTING, undo=["python", "-c", remove])
    runner.run()
    assert not (runner.folder / "count").exists()
    assert runner.journal.records() == ()


def test_without_undo_nothing_runs(runner):
    runner.run(COUNTING)
    runner.run()
    assert (runner.folder / "count").read_text() == "x"
    assert runner.journal.records() == ()


@pytest.mark.parametrize(
    ("given", "shown"), [("x\n", ["+x"]), ("x", ["+x", "+\\ no newline at the end of the input"])]
)
def test_a_dry_run_shows_a_line_and_knows_no_outcome(runner, given, shown):
    with runner.engine.session(dry_run=True) as session:
        process = {"name": "it", "arguments": ["python", "a b"], "input": given, "codes": [0, 3]}
        process["undo"] = ["python", "-c", "1"]
        root = session.load({"?": {"type": "a.Running"}, "process": process})
        assert set(session.call(root, "deploy").values()) == {None}
        (change,) = session.changes
    assert [each for each in change.diff.splitlines() if each[0] == "+"][1:] == [
        "+$ python 'a b'",
        *shown,
        "+exit codes: 0, 3",
        "+undo: python -c 1",
    ]


def test_output_beyond_the_limit_is_let_go(tmp_path):
    runner = Runner(tmp_path, output=1000)
    found = runner.run("print('x' * 1_000_000); import sys; print('y' * 10, file=sys.stderr)")
    assert (len(found["stdout"]), found["stderr"], found["truncated"]) == (
        1000,
        "yyyyyyyyyy\n",
        True,
    )


@pytest.mark.full
def test_the_cut_leaves_no_part_of_a_secret(tmp_path):
    runner = Runner(tmp_path, output=1000)
    code = "import sys; print('x' * 995 + sys.argv[1] + 'rest', end='')"
    found = runner.run(code, "{{secret:pw}}", secrets={"pw": "hush-hush"})
    assert set(found["stdout"]) == {"x"}
    code = "import sys; print(sys.argv[1] * 5 + 'x' * 1973, file=sys.stderr); sys.exit(1)"
    with pytest.raises(EngineError) as caught:
        Runner(tmp_path).run(code, "{{secret:pw}}", secrets={"pw": "hush-hush"})
    assert "ush" not in str(caught.value)


def test_output_that_is_no_text_is_kept_as_far_as_it_is(runner):
    assert runner.run("import os; os.write(1, b'a\\xff\\x00b')")["stdout"] == "a\ufffd\x00b"


def test_input_that_is_not_read(runner):
    assert runner.run("print(1)", input="x" * 1_000_000)["exitCode"] == 0


STARTING = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open("pids.part", "w").write(f"{os.getpid()} {child.pid}")
os.rename("pids.part", "pids")
time.sleep(600)
"""


@pytest.mark.full
def test_after_its_time_it_is_ended_with_all_that_it_started(tmp_path):
    for seconds in (1, 10, 60):  # A busy machine starts programs slowly.
        with pytest.raises(EngineError, match=f"an end within {seconds} seconds"):
            Runner(tmp_path, seconds=seconds).run(STARTING)
        if (tmp_path / "pids").exists():
            break
    pids = (tmp_path / "pids").read_text().split()
    assert [ends(pid) for pid in pids] == [True, True]


def test_what_it_leaves_behind_does_not_hold_the_run_up(runner):
    code = (
        "import subprocess, sys;"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); print('done')"
    )
    assert runner.run(code)["stdout"] == "done\n"


@pytest.mark.full
def test_it_ends_with_the_run_as_does_all_that_it_started(tmp_path):
    child = os.fork()
    if child == 0:
        Runner(tmp_path).run(STARTING)
        os._exit(0)
    while not (tmp_path / "pids").exists():
        assert runs(child)
        time.sleep(0.01)
    pids = (tmp_path / "pids").read_text().split()
    os.kill(child, 9)
    os.waitpid(child, 0)
    assert [ends(pid) for pid in pids] == [True, True]


@pytest.mark.full
def test_nothing_is_left_after_a_process(runner, tmp_path):
    def state():
        tasks = [each.read_text() for each in Path("/proc/self/task").glob("*/children")]
        return {*Path("/proc/self/fd").iterdir(), *" ".join(tasks).split()}

    runner.run("print(1)")
    before = state()
    for number in range(3):
        runner.run(f"print({number})")
    broken = tmp_path / "broken"
    broken.touch(0o755)
    with pytest.raises(EngineError, match="a program that can be started"):
        Runner(tmp_path, commands={"python": str(broken)}).run("")
    assert state() <= before  # What earlier tests left may go meanwhile.
