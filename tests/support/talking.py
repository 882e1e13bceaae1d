"""A command on a pseudo-terminal with which a test talks as a person does: it waits for a question, and answers it."""

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

COMMAND = Path(sys.executable).with_name("trundle")
_SECONDS = 60


class Talk:
    """The installed command on a terminal; everything that it shows is in `shown`."""

    def __init__(self, folder, *arguments):
        self._ours, theirs = pty.openpty()
        environment = {**os.environ, "COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"}
        self.process = subprocess.Popen(
            [COMMAND, *arguments],
            cwd=folder,
            env=environment,
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=_take_terminal,  # noqa: PLW1509 - it only takes the terminal
        )
        os.close(theirs)
        self.shown = ""
        self._seen = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        os.close(self._ours)

    def until(self, text):
        """Reads until the command shows a text, after what was waited for before."""
        while (at := self.shown.find(text, self._seen)) < 0:
            if not self._read():
                raise AssertionError(f"no {text!r} in {self.shown!r}")
        self._seen = at + len(text)

    def answer(self, question, text):
        """Waits for a question, and types a line."""
        self.until(question)
        self.type(text + "\n")

    def type(self, text):
        """Types characters, such as that of Ctrl-C."""
        os.write(self._ours, text.encode())

    def ended(self):
        """Waits for the end; the exit code and standard output."""
        output = self.process.communicate(timeout=_SECONDS)[0].decode()
        while self._read(0.2):
            pass
        return self.process.wait(_SECONDS), output

    def leave(self, key):
        """Types a key until the command ends: Python sees a Ctrl-C that comes just before it reads only when it has read."""
        deadline = time.monotonic() + _SECONDS
        while self.process.poll() is None and time.monotonic() < deadline:
            self.type(key)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(2)
        return self.ended()

    def _read(self, seconds=_SECONDS):
        if not select.select([self._ours], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._ours, 65536)
        except OSError:  # The command has ended
            return False
        self.shown += data.decode(errors="replace").replace("\r\n", "\n")
        return bool(data)


def _take_terminal():
    """Makes the terminal the controlling one, so that Ctrl-C and questions for passwords reach it."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Tests that run in the background ignore it.
