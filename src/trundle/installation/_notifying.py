"""Notifies others of what an agent did: runs a command, or calls a webhook, with a line of its log as JSON."""

import contextlib
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator

import msgspec

from trundle.errors import Code, ExpectationError, Kind
from trundle.installation._agent import LogLine
from trundle.registry import HttpSettings, RegistryError, post, require_url

NOTIFIED = frozenset(("install", "upgrade", "downgrade", "blocked", "refused", "error"))
"""The events that others are notified of."""

_SECONDS = 30.0
_EXPECTED = "a command or a URL"
_WEB = ("http://", "https://")


class NotificationCode(Code):
    """What can go wrong with notifications."""

    FAILED = "notification-failed"


class NotificationError(ExpectationError):
    """A notification did not arrive. What it was about has happened all the same."""

    kind = Kind.UNREACHABLE
    code = NotificationCode.FAILED


def notifier(target: str, *, seconds: float = _SECONDS) -> Callable[[LogLine], None]:
    """What notifies a target of a line; it raises `NotificationError` where that fails.

    Args:
        target: a URL that the line is posted to, or a command that reads it from its standard input. The command is
            run without a shell.
        seconds: how long the target may take.

    Raises:
        NotificationError: the target is neither, or the command is not there.
    """
    if target.lower().startswith(_WEB):
        with _as_notification(target):
            require_url(target, target)
        return lambda line: _post(target, msgspec.json.encode(line), seconds)
    try:
        command = shlex.split(target)
    except ValueError as error:
        raise NotificationError(target, _EXPECTED, str(error), "close the quotes") from None
    if not command:
        raise NotificationError("the notification", _EXPECTED, "nothing", "write one of both")
    if shutil.which(command[0]) is None:
        found, advice = "no such command", "check the path, and the right to run it"
        raise NotificationError(command[0], _EXPECTED, found, advice)
    return lambda line: _run(command, msgspec.json.encode(line), seconds)


def _post(url: str, content: bytes, seconds: float) -> None:
    with _as_notification(url):
        post(url, content, settings=HttpSettings(request_time=seconds))


@contextlib.contextmanager
def _as_notification(url: str) -> Iterator[None]:
    """Raises errors of servers as those of notifications."""
    try:
        yield
    except RegistryError as error:
        raise NotificationError(url, error.expected, error.found, error.advice) from None


def _run(command: list[str], content: bytes, seconds: float) -> None:
    try:
        done = subprocess.run(command, input=content, timeout=seconds, check=False)  # noqa: S603 - the user's own
    except subprocess.TimeoutExpired:
        advice = "let the command end sooner, and work on in the background"
        raise NotificationError(
            command[0], f"an end within {seconds:g} s", "none", advice
        ) from None
    except OSError as error:
        found, advice = error.strerror or str(error), "check the path, and the right to run it"
        raise NotificationError(command[0], "a command", found, advice) from None
    if done.returncode:
        advice = "see what the command says"
        raise NotificationError(command[0], "exit code 0", str(done.returncode), advice)
