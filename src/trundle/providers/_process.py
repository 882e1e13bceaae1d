"""A provider that runs processes: those that the operator lists, for a limited time, with limited output."""

import contextlib
import os
import resource
import shlex
import subprocess
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO

from trundle.engine.effects import Effect, Plain, Provider, ProviderError, Record
from trundle.errors import Kind, expectation, listed
from trundle.providers._watched_groups import WatchedGroup

_CHUNK = 65536
_SHOWN = 2000
_UNENDED = "\\ no newline at the end of the input"
_LEFT = 1.0
"""Seconds for what a process has left behind to give its output up."""


class ProcessProvider(Provider):
    """Runs processes, without a shell, and keeps their exit code and output.

    A process runs again only where its arguments or input change; one that was interrupted is run again, so it must bear that. One that ends with an exit code that is not
    among the wanted ones has failed. On removal, `undo` runs, if there is one. What a process
    has started ends with it, and all of it when the run is killed, but for what leaves the group of the process.

    Args:
        commands: what may run: absolute paths of programs, by the name that packages use.
        folder: the working directory.
        environment: all environment variables that processes get.
        seconds: how long one may run.
        output: how many bytes of its output are kept, and as many of its errors.

    Raises:
        ValueError: a program has no absolute path.
    """

    kinds = ("process",)

    def __init__(
        self,
        commands: Mapping[str, str],
        folder: Path,
        *,
        environment: Mapping[str, str] | None = None,
        seconds: float = 300.0,
        output: int = 65536,
    ) -> None:
        for each in commands.values():
            if not Path(each).is_absolute():
                raise ValueError(expectation("an absolute path of a program", repr(each)))
        self._commands = dict(commands)
        self._folder = folder
        self._environment = dict(environment or {})
        self._seconds = seconds
        self._output = output

    def place(self, kind: str, wanted: Plain) -> str:
        del kind
        name = wanted["name"]
        if not name or not name.isprintable():
            raise ProviderError(expectation("a name of a process", repr(name)), Kind.REFUSED)
        return str(name)

    def check(self, effect: Effect, now: Record | None) -> None:
        del now
        for arguments in (effect.wanted["arguments"], effect.wanted.get("undo")):
            if arguments and arguments[0] not in self._commands:
                known = f"only {listed(self._commands)}" if self._commands else "none is listed"
                expected = f"{arguments[0]!r} among the programs that may run"
                raise ProviderError(
                    expectation(expected, known, "ask the operator to list it"), Kind.REFUSED
                )
            if arguments and not os.access(self._commands[arguments[0]], os.X_OK):
                found = f"{self._commands[arguments[0]]}, which is not one"
                message = expectation("a program that can be started", found)
                raise ProviderError(f"{arguments[0]}: {message}", Kind.REFUSED)
            if any("\0" in each for each in arguments or ()):
                raise ProviderError(expectation("arguments", "a zero byte in one"), Kind.REFUSED)

    def show(self, kind: str, wanted: Plain) -> str:
        del kind
        lines = [f"$ {shlex.join(wanted['arguments'])}\n"]
        if given := wanted.get("input"):
            lines.append(given if given.endswith("\n") else f"{given}\n{_UNENDED}\n")
        if wanted.get("codes") not in (None, [0]):
            lines.append(f"exit codes: {listed(map(str, wanted['codes']))}\n")
        if wanted.get("undo"):
            lines.append(f"undo: {shlex.join(wanted['undo'])}\n")
        return "".join(lines)

    def foresee(self, effect: Effect) -> Plain:
        del effect
        return dict.fromkeys(("exitCode", "stdout", "stderr", "truncated"))

    def apply(self, effect: Effect, before: Record | None) -> Plain:
        del before
        wanted = effect.revealed()
        codes = wanted.get("codes") or [0]
        return self._run(effect, wanted["arguments"], wanted.get("input"), codes)

    def remove(self, effect: Effect, outcome: Plain) -> None:
        del outcome
        if effect.wanted.get("undo"):
            self.check(effect, None)
            self._run(effect, effect.revealed()["undo"], None, [0])

    def _run(
        self, effect: Effect, arguments: list[str], text: str | None, codes: Iterable[int]
    ) -> Plain:
        longest = max((len(each.encode()) for each in effect.secrets.values()), default=0)
        with contextlib.ExitStack() as left:
            try:
                process = self._started(left.enter_context(WatchedGroup()), arguments)
            except OSError as error:
                message = expectation("a program that can be started", str(error))
                raise ProviderError(f"{arguments[0]}: {message}") from None
            kept = _Kept(process.stdout, self._output, longest)
            errors = _Kept(process.stderr, self._output, longest)
            _Given(process.stdin, (text or "").encode())
            try:
                code = process.wait(self._seconds)
            except subprocess.TimeoutExpired:
                expected = f"an end within {self._seconds:g} seconds"
                message = expectation(expected, "it still running", "raise the limit")
                raise ProviderError(f"{arguments[0]}: {message}") from None
        output, failures = effect.hidden(kept.text()), effect.hidden(errors.text())
        if code not in codes:
            wanted = f"one of the exit codes {listed(map(str, codes))}"
            message = f"{arguments[0]}: {expectation(wanted, str(code))}"
            raise ProviderError("\n".join([message, failures[-_SHOWN:]]).rstrip())
        return {
            "exitCode": code,
            "stdout": output,
            "stderr": failures,
            "truncated": kept.is_cut or errors.is_cut,
        }

    def _started(self, group: WatchedGroup, arguments: list[str]) -> subprocess.Popen[bytes]:
        return group.start(
            [self._commands[arguments[0]], *arguments[1:]],
            _lift_limit_of_memory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self._folder,
            env=self._environment,
        )


class _Kept:
    """The beginning of what a process writes; the rest is read and let go.

    Args:
        pipe: where it writes.
        most: how many bytes are kept.
        longest: how long a secret can be that the end may have a part of.

    Attributes:
        is_cut: whether there is a rest.
    """

    def __init__(self, pipe: IO[bytes] | None, most: int, longest: int) -> None:
        assert pipe is not None
        self.is_cut = False
        self._pipe, self._most, self._data = pipe, most, bytearray()
        self._longest = longest
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with self._pipe:
            while piece := os.read(self._pipe.fileno(), _CHUNK):
                room = self._most - len(self._data)
                self._data += piece[:room]
                self.is_cut = self.is_cut or len(piece) > room

    def text(self) -> str:
        """What was kept, as text; a process that outlives its group may hold the rest back."""
        self._thread.join(_LEFT)
        end = max(0, self._most - self._longest) if self.is_cut else None
        return bytes(self._data[:end]).decode(errors="replace")


class _Given:
    """What a process reads."""

    def __init__(self, pipe: IO[bytes] | None, data: bytes) -> None:
        assert pipe is not None
        self._pipe, self._data = pipe, data
        threading.Thread(target=self._write, daemon=True).start()

    def _write(self) -> None:
        with contextlib.suppress(OSError), self._pipe:
            self._pipe.write(self._data)


def _lift_limit_of_memory() -> None:
    """Lifts from a program the limit of memory that a run may have."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
