"""A Dask cluster on loopback: a scheduler and workers, each a process that can be killed and started again."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import serving


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
        self._port = serving.free_port()
        self._started = 0

    def start(self, workers=2):
        """Starts what does not run, and waits until the scheduler knows the workers."""
        if self.scheduler is None or self.scheduler.poll() is not None:
            for each in self.workers:  # They end soon without the scheduler that they had.
                _kill(each)
            self._start_scheduler()
        self.workers = [each for each in self.workers if each.poll() is None]
        new = [self._start_worker() for _ in range(workers - len(self.workers))]
        for worker, log in new:
            deadline = time.monotonic() + 120
            while "Registered to:" not in log.read_text():
                assert worker.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.05)
            self.workers.append(worker)
        return self

    def end(self):
        """Kills all processes, by their ids."""
        for each in [*self.workers, self.scheduler]:
            if each is not None:
                _kill(each)

    def _start_scheduler(self):
        note = self.folder / "scheduler.json"
        note.unlink(missing_ok=True)
        self.scheduler, log = self._process(
            "scheduler",
            "scheduler",
            *("--host", "127.0.0.1", "--port", str(self._port), "--no-dashboard", "--no-show"),
            *("--scheduler-file", str(note)),
        )
        deadline = time.monotonic() + 120
        while not (written := _whole(note)):
            assert self.scheduler.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        self.address = written["address"]

    def _start_worker(self):
        self._started += 1
        options = ("--no-nanny", "--nthreads", "1", "--no-dashboard")
        options += ("--local-directory", str(self.folder))
        return self._process("worker", f"worker-{self._started}", self.address, *options)

    def _process(self, kind, name, *arguments):
        """A program of Dask, and the file with what it says."""
        path = self.folder / f"{name}.log"
        with path.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments],
                cwd=self.folder,
                env={**os.environ, **self.environment},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        return process, path


def _kill(process):
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGKILL)
    process.wait()


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
