"""`trundle kube webhook` as a process of its own."""

import contextlib
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import urllib3
import warm
from authorities import Authority


class Webhook:
    """A running webhook of a project.

    Attributes:
        folder: the project's folder.
        certificate: its certificate with the key.
        url: where it listens.
    """

    def __init__(
        self, folder: Path, authority: Authority, *options: str, name: str = "webhook"
    ) -> None:
        self.folder = folder
        self.certificate = authority.server(name)
        self.authority = authority.certificate
        self._errors = folder / f"{name}-errors.txt"
        command = [warm.TRUNDLE, "kube", "webhook", "--host", "127.0.0.1", "--port", "0"]
        given = ["--tls-cert", str(self.certificate), "--tls-key", str(self.certificate)]
        with self._errors.open("wb") as errors:
            self.process = subprocess.Popen([*command, *given, *options], cwd=folder, stderr=errors)
        deadline = time.monotonic() + 60
        while not (found := re.search(r"^serving on (\S+)\n", self.messages, re.MULTILINE)):
            assert self.process.poll() is None, self.messages
            assert time.monotonic() < deadline, self.messages
            time.sleep(0.02)
        self.url = found[1]

    @property
    def messages(self) -> str:
        """What it wrote to standard error."""
        return self._errors.read_text()

    def get(self, path: str) -> tuple[int, str]:
        """The status and the text of an answer, on a connection of its own."""
        with urllib3.PoolManager(ca_certs=str(self.authority), retries=False) as pool:
            answer = pool.request("GET", self.url + path)
            return answer.status, answer.data.decode()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ends it by a signal; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(60)


@contextlib.contextmanager
def running(folder: Path, authority: Authority, *options: str) -> Iterator[Webhook]:
    """A running webhook."""
    started = Webhook(folder, authority, *options)
    try:
        yield started
    finally:
        started.stop(signal.SIGKILL)
