"""What happens to a run from outside while it goes on: objects are collected, and users interrupt it."""

import signal
import subprocess
import sys

import pytest
from programs import method, opened, run

PROGRAM = """
import asyncio
import signal
from trundle.engine import Engine
from trundle.packages import Package

MANIFEST = "{Format: 1.4, Type: Library, FullName: app, Version: 1.0.0, Classes: {a.App: App.yaml}}"
BODY = "{Name: a.App, Methods: {run: {Scope: Public, Body: [endless()]}}}"


async def endless():
    print("waiting", flush=True)
    await asyncio.sleep(3600)


signal.signal(signal.SIGINT, signal.default_int_handler)  # It may be ignored here.
package = Package.from_files({"manifest.yaml": MANIFEST, "Classes/App.yaml": BODY})
with Engine([package], functions={"endless": endless}).session() as session:
    session.call(session.load({"?": {"type": "a.App"}}), "run")
"""


def test_an_interrupt_ends_what_waits_for_a_coroutine():
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) != 0
    finally:
        process.kill()
        process.communicate()


COLLECT = "type('io.murano.system.GC').collect()"


@pytest.mark.parametrize(
    "held", ["$o", "$map.o", "$list[0]"], ids=["variable", "within a map", "within a list"]
)
def test_an_object_that_only_a_variable_has_is_not_collected(held):
    head = "Properties: {n: {Contract: $.int(), Default: 4}}"
    name = held.partition(".")[0].partition("[")[0]
    body = f"""
    - $o: new(A)
    - $map: {{o: $o}}
    - $list: [$o]
    - $kept: {name}
    - $o: null
    - $map: null
    - $list: null
    - {name}: $kept
    - $kept: null
    - {COLLECT}
    - Return: {held}.n
    """
    assert run(body, head=head) == 4


def test_an_object_that_only_a_calling_method_has_is_not_collected():
    head = "Properties: {n: {Contract: $.int(), Default: 4}}"
    body = "- $o: new(A)\n- $.f()\n- Return: $o.n"
    assert run(body, head=head, methods=f"f:\n  Body:\n    - {COLLECT}") == 4


def test_an_object_that_nothing_has_any_longer_is_collected():
    body = method("run", f"- $o: new(A)\n- $o: null\n- {COLLECT}")
    with opened({"a.A": f"Methods:\n{body}"}) as (session, root):
        session.call(root, "run", internal=True)
        assert list(session.objects) == [root.id]
