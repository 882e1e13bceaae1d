"""Runs the bodies of methods: statements, calls, exceptions, and what the engine offers to them."""

from trundle.engine.running._calls import Calls
from trundle.engine.running._core import core_natives
from trundle.engine.running._coverage import Branch, Coverage
from trundle.engine.running._destroying import destroy
from trundle.engine.running._found import Found
from trundle.engine.running._functions import signatures
from trundle.engine.running._mocks import Mocks
from trundle.engine.running._natives import as_function
from trundle.engine.running._room import room_for
from trundle.engine.running._routine import Routines
from trundle.engine.running._watching import CallTrace, WatchedCall, Watcher, watch, watching

__all__ = [
    "Branch",
    "CallTrace",
    "Calls",
    "Coverage",
    "Found",
    "Mocks",
    "Routines",
    "WatchedCall",
    "Watcher",
    "as_function",
    "core_natives",
    "destroy",
    "room_for",
    "signatures",
    "watch",
    "watching",
]
