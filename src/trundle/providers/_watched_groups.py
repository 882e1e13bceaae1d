"""Groups of processes that are killed when the process ends that has started them, however that happens."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

_WATCH = 'read -r group && { read -r _; kill -KILL "-$group"; }'
"""What a shell does: it reads the number of the group, and then nothing until the pipe is closed."""


class WatchedGroup:
    """A process with all that it starts, in a group that is killed at the end of the block, and when this process dies before.

    A shell outside of the group reads a pipe that this process alone can write, and that the system closes when this process dies, also when it is killed.
    What leaves the group is not found.

    Raises:
        OSError: the shell cannot be started.
    """

    def __init__(self) -> None:
        self._leader: subprocess.Popen[bytes] | None = None
        reads, self._pipe = os.pipe()
        try:
            self._shell = subprocess.Popen(  # noqa: S603 - it has no input of others
                ["/bin/sh", "-c", _WATCH],
                stdin=reads,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                start_new_session=True,
            )
        except OSError:
            os.close(self._pipe)
            raise
        finally:
            os.close(reads)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Kills what is left of the group."""
        if self._leader is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._leader.pid, signal.SIGKILL)
            self._leader.wait()
        self._shell.kill()
        self._shell.wait()
        os.close(self._pipe)

    def start(
        self, command: Sequence[str], before: Callable[[], None], **options: Any
    ) -> subprocess.Popen[bytes]:
        """Starts the process of the group.

        Args:
            command: the program and its arguments.
            before: what the process does before it becomes the program; it takes no locks.
            options: further ones of `subprocess.Popen`.

        Raises:
            OSError: it cannot be started.
        """

        def begin() -> None:
            os.write(self._pipe, b"%d\n" % os.getpid())
            before()

        self._leader = subprocess.Popen(  # noqa: S603 - the caller says what may run
            command,
            start_new_session=True,
            preexec_fn=begin,  # noqa: PLW1509 - it takes no locks
            **options,
        )
        return self._leader
