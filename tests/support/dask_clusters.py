"""A Dask cluster on loopback: a scheduler and workers, each a process that can be killed and started again."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


class DaskCluster:
    """A scheduler and its workers.

    Args:
        folder: for their logs and notes.
        environment: what workers see beside the present environment.
    """

    def __init__(self, folder, environment=None):
        self.folder = Path(folder)
        self.environment = environment or {}
        self.address = None
        self.scheduler = None
        self.workers = []

    def start(self, workers=2):
        """Starts what does not run."""
        if self.scheduler is None or self.scheduler.poll() is not None:
            self._start_scheduler()
        self.workers = [each for each in self.workers if each.poll() is None]
        while len(self.workers) < workers:
            self.workers.append(self.worker())
        return self

    def worker(self, *options):
        """Starts a further worker."""
        return self._process(
            "worker", self.address, "--no-nanny", "--nthreads", "1", "--no-dashboard", *options
        )

    def end(self):
        """Kills all processes, by their ids."""
        for each in [*self.workers, self.scheduler]:
            if each is not None:
                with contextlib.suppress(ProcessLookupError):
                    each.send_signal(signal.SIGKILL)
                each.wait()

    def _start_scheduler(self):
        note = self.folder / "scheduler.json"
        note.unlink(missing_ok=True)
        port = self.address.rpartition(":")[2] if self.address else "0"
        self.scheduler = self._process(
            "scheduler",
            *("--host", "127.0.0.1", "--port", port, "--no-dashboard", "--no-show"),
            *("--scheduler-file", str(note)),
        )
        deadline = time.monotonic() + 60
        while not (written := _whole(note)):
            assert self.scheduler.poll() is None, (self.folder / "scheduler.log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        self.address = written["address"]

    def _process(self, kind, *arguments):
        with (self.folder / f"{kind}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments],
                cwd=self.folder,
                env={**os.environ, **self.environment},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


def _whole(note):
    """What a scheduler has written, or None while the file is missing or half-written."""
    try:
        return json.loads(note.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None


@contextlib.contextmanager
def running(folder, workers=2, environment=None):
    """A cluster that ends with the block."""
    cluster = DaskCluster(folder, environment)
    try:
        yield cluster.start(workers)
    finally:
        cluster.end()
