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


@contextlib.contextmanager
def server(*, durable=False):
    """A running server; gives its URL up to the name of the database.

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
            port = serving.free_port()
            with Path(name, "log").open("wb") as log:
                process = subprocess.Popen(
                    [folder / "postgres", "-D", data, "-p", str(port), "-c", "listen_addresses=127.0.0.1",
                     "-c", "unix_socket_directories=", "-c", "shared_buffers=16MB", "-c", f"fsync={'on' if durable else 'off'}"],
                    stdout=log, stderr=log, cwd=name, **user,
                )  # fmt: skip
            try:
                if _answers(folder, process, port):
                    yield f"postgresql://trundle:{PASSWORD.replace(' ', '%20')}@127.0.0.1:{port}"
                    return
            finally:
                process.send_signal(signal.SIGINT)  # A fast shutdown: clients are disconnected.
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
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
