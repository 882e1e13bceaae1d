"""Starts the real registry, Debian's docker-registry, on a free port of this machine."""

import atexit
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

PASSWORD = "open sesame"
HTPASSWD = "ali:$2b$04$abcdefghijklmnopqrstuu/LVz6MZlItEy42I2juLihZ66HnQx/cy\n"


def program(*names: str) -> str:
    """A program; where it cannot be had the test is skipped, but fails where CI has to have it."""
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        reason = f"needs {names[0]}: apt-get install {names[0]}"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


_kept: list[socket.socket] = []
atexit.register(lambda: [each.close() for each in _kept])


def free_port() -> int:
    """A port that no other program gets while this process runs: a socket keeps it, beside which a server can still listen."""
    probe = socket.socket()
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # Servers set it, too.
    probe.bind(("127.0.0.1", 0))
    number = probe.getsockname()[1]
    if sys.platform == "linux":  # Elsewhere, the port is for one of them only.
        _kept.append(probe)
    else:
        probe.close()
    return number


@contextlib.contextmanager
def refusing():
    """The `host:port` of an address that refuses connections; no other process can take it meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{bound.getsockname()[1]}"


@contextlib.contextmanager
def registry(folder: Path, *, delete: bool = True, http: str = "", auth: str = ""):
    """A running registry; gives its `host:port`."""
    binary = program("docker-registry", "registry")
    folder.mkdir(parents=True, exist_ok=True)
    for _ in range(5):
        port = free_port()
        config = folder / "config.yml"
        config.write_text(
            "version: 0.1\n"
            "log: {level: error, accesslog: {disabled: true}}\n"
            f"storage: {{delete: {{enabled: {str(delete).lower()}}}, "
            f"filesystem: {{rootdirectory: {folder / 'data'}}}}}\n"
            f"http:\n  addr: 127.0.0.1:{port}\n{textwrap.indent(http, '  ')}\n{auth}\n"
        )
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [binary, "serve", config],
                stdout=log,
                stderr=log,
                # Rare garbage collections in its memory save it a third of its time.
                env={**os.environ, "OTEL_TRACES_EXPORTER": "none", "GOGC": "800"},
            )
        try:
            if _answers(process, port):
                yield f"127.0.0.1:{port}"
                return
        finally:
            process.kill()
            process.wait()
    pytest.fail(f"docker-registry does not start: {(folder / 'log').read_text()}")


def collect_garbage(folder: Path) -> None:
    """Collects the garbage of the registry in a folder, which must not be written to meanwhile."""
    binary = program("docker-registry", "registry")
    command = [binary, "garbage-collect", folder / "config.yml"]
    subprocess.run(command, check=True, capture_output=True)


def _answers(process, port: int) -> bool:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        time.sleep(0.02)
    return False
