"""Static methods in processes of their own: what a package does there harms nobody else."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from endless import LIMIT_REACHED
from processes import ends, runs

from trundle.project import _methods_apart
from trundle.project._method_errors import StaticMethodError
from trundle.project._methods_apart import MethodsApart

CLASS = """
Name: a.Methods
Methods:
  double:
    Usage: Static
    Scope: Public
    Arguments:
      - value: {Contract: $.int()}
    Body:
      Return: $value * 2
  forever:
    Usage: Static
    Scope: Public
    Arguments:
      - value: {Contract: $.int()}
    Body:
      - $x: 1
      - While: $x > 0
        Do:
          - $x: $x + 1
  greedy:
    Usage: Static
    Scope: Public
    Body:
      - $all: []
      - While: $all.len() >= 0
        Do:
          - $all: $all + [str($all.len()) * 1000000]
  large:
    Usage: Static
    Scope: Public
    Body:
      Return: range(30).select(str($) * 1000000)
"""
FILES = {
    "manifest.yaml": json.dumps(
        {
            "Format": "1.4",
            "FullName": "a",
            "Version": "0.0.0",
            "Classes": {"a.Methods": "Methods.yaml"},
        }
    ),
    "Classes/Methods.yaml": CLASS,
}


def memory_of(number: int) -> int:
    """The most bytes that a process has had in memory."""
    text = Path(f"/proc/{number}/status").read_text()
    (line,) = [each for each in text.splitlines() if each.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


@pytest.fixture
def methods():
    made = MethodsApart(FILES)
    yield made
    for each in made._idle:
        each.end()


def double(methods, value):
    return methods.compute("a.Methods", "double", {"value": value})


def process(methods):
    (found,) = methods._idle
    return found._process.pid


def test_one_process_answers_many_calls(methods):
    assert [double(methods, each) for each in range(50)] == [2 * each for each in range(50)]
    assert process(methods)


@pytest.mark.full
def test_a_call_that_does_not_end_is_ended_and_not_tried_again_at_once(methods):
    with pytest.raises(StaticMethodError, match=LIMIT_REACHED):
        methods.compute("a.Methods", "forever", {"value": 1})
    number = process(methods)
    os.kill(number, signal.SIGSTOP)  # What is asked now is not answered.
    with pytest.raises(StaticMethodError, match=LIMIT_REACHED):
        methods.compute("a.Methods", "forever", {"value": 1})
    os.kill(number, signal.SIGCONT)
    assert double(methods, 2) == 4


def test_such_a_call_is_tried_again_after_a_while():
    now = [0.0]
    methods = MethodsApart(FILES, clock=lambda: now[0])
    answers = []

    class Counting:
        def ask(self, request):
            answers.append(request)
            return b'["limit", "too long"]'

        def end(self):
            pass

    methods._idle.append(Counting())
    methods._count = 1
    for at, asked in ((0, 1), (59, 1), (61, 2)):
        now[0] = at
        with pytest.raises(StaticMethodError, match="too long"):
            double(methods, 1)
        assert len(answers) == asked


def test_a_package_whose_calls_reach_limits_too_often_is_not_called_for_a_while():
    now = [0.0]
    methods = MethodsApart(FILES, clock=lambda: now[0])
    asked = []

    class Slow:
        def ask(self, request):
            asked.append(request)
            time.sleep(0.06)
            return b'["limit", "too long"]'

        def end(self):
            pass

    methods._idle.append(Slow())
    methods._count = 1
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_methods_apart, "_SPENT", 0.2)
        for value in range(20):
            with pytest.raises(StaticMethodError):
                double(methods, value)
        assert len(asked) <= 4
        with pytest.raises(StaticMethodError, match="reached limits too often"):
            double(methods, 100)
        now[0] = 61
        with pytest.raises(StaticMethodError, match="too long"):
            double(methods, 100)


def test_a_call_does_not_wait_for_ever_where_all_processes_are_busy(monkeypatch):
    methods = MethodsApart(FILES)
    methods._count = _methods_apart._MOST
    monkeypatch.setattr(_methods_apart, "_LONGEST_WAIT", 0.1)
    with pytest.raises(StaticMethodError, match="are busy"):
        double(methods, 1)


@pytest.mark.full
def test_what_is_closed_keeps_no_process(methods):
    assert double(methods, 1) == 2
    child = Path(f"/proc/{process(methods)}")
    methods.close()
    assert not child.exists()
    assert double(methods, 2) == 4  # A request that came before may need it once more.
    assert methods._idle == []
    assert methods._count == 0


@pytest.mark.full
def test_a_limit_names_what_to_do_in_a_hook(methods):
    with pytest.raises(StaticMethodError, match="let it do less") as caught:
        methods.compute("a.Methods", "forever", {"value": 3})
    assert "raise `steps`" not in str(caught.value)


@pytest.mark.full
def test_memory_is_that_of_the_other_process_and_bounded(methods):
    assert double(methods, 1) == 2
    before = memory_of(os.getpid())
    child = process(methods)
    for name in ("greedy", "large"):
        with pytest.raises(StaticMethodError):
            methods.compute("a.Methods", name, {})
    assert memory_of(os.getpid()) - before < 100 * 1024 * 1024
    if process(methods) == child:
        assert memory_of(child) < 600 * 1024 * 1024
    assert double(methods, 2) == 4


@pytest.mark.full
def test_a_process_that_hangs_or_dies_is_one_error_and_the_next_call_has_another(
    methods, monkeypatch
):
    assert double(methods, 1) == 2
    monkeypatch.setattr(_methods_apart, "_CALL", 0.5)
    first = process(methods)
    os.kill(first, signal.SIGSTOP)
    with pytest.raises(StaticMethodError, match="more time or memory than a hook may"):
        double(methods, 2)
    assert not Path(f"/proc/{first}").exists()
    monkeypatch.setattr(_methods_apart, "_CALL", 60)
    assert double(methods, 3) == 6
    os.kill(process(methods), signal.SIGKILL)
    with pytest.raises(StaticMethodError):
        double(methods, 4)
    assert double(methods, 5) == 10


@pytest.mark.full
def test_a_call_that_takes_long_holds_up_no_other_for_good(methods, monkeypatch):
    monkeypatch.setattr(_methods_apart, "_PATIENCE", 0.1)
    assert double(methods, 1) == 2
    os.kill(process(methods), signal.SIGSTOP)
    failed = []

    def stuck():
        try:
            double(methods, 2)
        except StaticMethodError as error:
            failed.append(error)

    thread = threading.Thread(target=stuck)
    thread.start()
    while methods._idle:  # Until the thread has taken the one that hangs.
        time.sleep(0.01)
    assert double(methods, 3) == 6
    thread.join()
    assert failed


@pytest.mark.full
def test_nothing_is_left_when_the_server_is_killed():
    code = (
        "import json, sys, time\n"
        "from trundle.project._methods_apart import MethodsApart\n"
        "methods = MethodsApart(json.loads(sys.argv[1]))\n"
        "methods.compute('a.Methods', 'double', {'value': 1})\n"
        "print(methods._idle[0]._process.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    command = [sys.executable, "-c", code, json.dumps(FILES)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        child = server.stdout.readline().strip()
        assert runs(child)
        server.kill()
    assert ends(child)


@pytest.mark.full
def test_what_nobody_uses_any_more_ends_its_processes():
    methods = MethodsApart(FILES)
    assert double(methods, 1) == 2
    child = Path(f"/proc/{process(methods)}")
    del methods
    assert not child.exists()
