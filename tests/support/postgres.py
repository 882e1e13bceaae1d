"""Starts a real server of PostgreSQL on a free port of this machine, in a temporary folder."""

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
import serving

PASSWORD = "open sesame"


def binaries() -> Path:
    """The folder with the newest server's programs; else the test is skipped, but fails where CI has to have them."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda each: int(each.parts[4])
    )
    if found:
        return found[-1].parent
    return Path(serving.program("postgres", "initdb")).resolve().parent


class Postgres:
    """A server that is ended and started again, on a port that stays the same.

    Attributes:
        url: its URL up to the name of the database.
    """

    def __init__(self, folder: Path, user: dict, port: int, *, durable: bool) -> None:
        self._folder, self._user, self._port = folder, user, port
        self._fsync = "on" if durable else "off"
        self._process: subprocess.Popen | None = None
        self.url = f"postgresql://trundle:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{port}"

    def start(self) -> bool:
        """Starts it; whether it answers."""
        programs = binaries()
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [programs / "postgres", "-D", self._folder / "data", "-p", str(self._port), "-c", "listen_addresses=127.0.0.1",
                 "-c", "unix_socket_directories=", "-c", "shared_buffers=16MB", "-c", f"fsync={self._fsync}"],
                stdout=log, stderr=log, cwd=self._folder, **self._user,
            )  # fmt: skip
        return _answers(programs, self._process, self._port)

    def end(self, number: int = signal.SIGINT) -> None:
        """Ends it by a signal: SIGINT disconnects clients, SIGQUIT leaves everything as it is, as a crash does."""
        assert self._process is not None
        self._process.send_signal(number)
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextlib.contextmanager
def server(*, durable=False):
    """A running server; gives its URL up to the name of the database.

    Args:
        durable: whether commits wait for the disk.
    """
    with restartable(durable=durable) as found:
        yield found.url


@contextlib.contextmanager
def restartable(*, durable=False):
    """A running server that can be ended and started again.

    Args:
        durable: whether commits wait for the disk.
    """
    folder = binaries()
    with tempfile.TemporaryDirectory(prefix="trundle-postgres-") as name:
        data, secret = Path(name, "data"), Path(name, "password")
        secret.write_text(PASSWORD)
        user = _user(Path(name), secret)
        subprocess.run(
            [folder / "initdb", "-D", data, "-U", "trundle", f"--pwfile={secret}", "--no-sync",
             "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8"],
            check=True, capture_output=True, cwd=name, **user,
        )  # fmt: skip
        for _ in range(5):  # Another process may take the port first.
            found = Postgres(Path(name), user, serving.free_port(), durable=durable)
            try:
                if found.start():
                    yield found
                    return
            finally:
                found.end()
        pytest.fail(f"PostgreSQL does not start: {Path(name, 'log').read_text()}")


def _user(*paths: Path) -> dict:
    """The user that the server runs as: it refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    entry = pwd.getpwnam("postgres")
    for each in paths:
        shutil.chown(each, entry.pw_uid, entry.pw_gid)
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


def _answers(folder: Path, process, port: int) -> bool:
    deadline = time.monotonic() + 60
    command = [folder / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]
    while time.monotonic() < deadline and process.poll() is None:
        if subprocess.run(command, check=False).returncode == 0:
            return True
        time.sleep(0.05)
    return False
