"""Notifies others of what an agent did: runs a command, or calls a webhook, with a line of its log as JSON."""

import shlex
import subprocess
from collections.abc import Callable

import msgspec

from trundle.errors import Kind, TrundleError
from trundle.installation._agent import LogLine
from trundle.registry import HttpSettings, RegistryError, post

NOTIFIED = frozenset(("install", "upgrade", "downgrade", "blocked", "refused", "error"))
"""The events that others are notified of."""

_SECONDS = 30.0
_WEB = ("http://", "https://")


class NotificationError(TrundleError):
    """A notification did not arrive. What it was about has happened all the same."""

    kind = Kind.UNREACHABLE

    def __init__(self, target: str, expected: str, found: str) -> None:
        super().__init__(f"{target}: expected {expected}, found {found}")


def notifier(target: str, *, seconds: float = _SECONDS) -> Callable[[LogLine], None]:
    """What notifies a target of a line; it raises `NotificationError` where that fails.

    Args:
        target: a URL that the line is posted to, or a command that reads it from its standard input. The command is
            run without a shell.
        seconds: how long the target may take.

    Raises:
        NotificationError: the target is neither.
    """
    if target.startswith(_WEB):
        return lambda line: _post(target, msgspec.json.encode(line), seconds)
    try:
        command = shlex.split(target)
    except ValueError as error:
        raise NotificationError(target, "a command or a URL", str(error)) from None
    if not command:
        raise NotificationError("the notification", "a command or a URL", "nothing")
    return lambda line: _run(command, msgspec.json.encode(line), seconds)


def _post(url: str, content: bytes, seconds: float) -> None:
    try:
        post(url, content, settings=HttpSettings(request_time=seconds))
    except RegistryError as error:
        raise NotificationError(url, error.expected, error.found) from None


def _run(command: list[str], content: bytes, seconds: float) -> None:
    try:
        done = subprocess.run(command, input=content, timeout=seconds, check=False)  # noqa: S603 - the user's own
    except subprocess.TimeoutExpired:
        raise NotificationError(command[0], f"an end within {seconds:g} s", "none") from None
    except OSError as error:
        raise NotificationError(command[0], "a command", error.strerror or str(error)) from None
    if done.returncode:
        raise NotificationError(command[0], "exit code 0", str(done.returncode))
