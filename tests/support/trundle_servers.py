"""`trundle serve` as a process of its own: started, ended in any way, and started again where it was."""

import contextlib
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import serving
import urllib3
from said import saying

TRUNDLE = Path(sys.executable).with_name("trundle")


@dataclass
class TrundleServer:
    """A server of a project on a port that stays the same.

    Attributes:
        folder: the project's folder.
        options: further options of `trundle serve`.
        port: where it listens.
    """

    folder: Path
    options: tuple[str, ...] = ()
    port: int = field(default_factory=serving.free_port)
    process: subprocess.Popen | None = None
    pool: urllib3.PoolManager = field(
        default_factory=lambda: urllib3.PoolManager(retries=False, timeout=60, maxsize=40)
    )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Starts the process, and waits until it answers."""
        command = [TRUNDLE, "serve", "--quiet", "--port", str(self.port), *self.options]
        # No server outlives the tests, even where these are killed.
        bound = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
        log = self.folder / f"serve-{self.port}.txt"
        with log.open("wb") as errors:
            self.process = subprocess.Popen(
                [*bound, *command], cwd=self.folder, stdout=errors, stderr=errors
            )
        deadline = time.monotonic() + 60
        while not re.search(r"^serving on ", log.read_text(), re.MULTILINE):
            assert self.process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.02)

    def end(self, number: int = signal.SIGKILL) -> None:
        """Ends the process by a signal."""
        assert self.process is not None
        self.process.send_signal(number)
        self.process.wait(60)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        kind: str = "application/json",
        **query: str,
    ) -> Any:
        """The status and the body of an answer, read as JSON where it is."""
        body = saying(method, path, body, kind)
        answer = self.pool.request(
            method, self.url + path, body=None if body is None else json.dumps(body), fields=None,
            headers={"Content-Type": kind, "Accept": "application/json"},
        ) if not query else self.pool.request(
            method, f"{self.url}{path}?{'&'.join(f'{key}={value}' for key, value in query.items())}",
            body=None if body is None else json.dumps(body),
            headers={"Content-Type": kind, "Accept": "application/json"},
        )  # fmt: skip
        with contextlib.suppress(ValueError):
            return answer.status, json.loads(answer.data)
        return answer.status, answer.data.decode()


@contextlib.contextmanager
def running(folder: Path, *options: str) -> Iterator[TrundleServer]:
    """A running server of a project."""
    server = TrundleServer(folder, options)
    server.start()
    try:
        yield server
    finally:
        server.end()
        server.pool.clear()
