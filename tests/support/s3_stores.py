"""A server of S3, by moto, in a process of its own, and what is in its buckets, asked without a client of S3."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest
import serving

FOLDER = Path(sys.prefix) / "s3"
"""What `make` installs apart: botocore wants a dateutil that is older than what a client of Kubernetes wants."""
_SIGNED = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"
"""The server reads who asks, and believes it."""
_LISTED = "{http://s3.amazonaws.com/doc/2006-03-01/}"


class S3Store:
    """A server with a bucket.

    Attributes:
        url: where it listens.
        environment: what programs need to use it.
    """

    bucket = "lake"

    def __init__(self, url: str) -> None:
        self.url = url
        account = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
        where = {"AWS_ENDPOINT_URL": url, "AWS_DEFAULT_REGION": "us-east-1"}
        self.environment = {**os.environ, **account, **where, "PYTHONPATH": str(FOLDER)}

    def ask(self, path: str, method: str = "GET", content: bytes | None = None) -> bytes:
        """What the server answers; a path begins with the bucket."""
        headers = {"Content-Type": "application/octet-stream", "Authorization": _SIGNED}
        request = urllib.request.Request(f"{self.url}/{path}", content, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            found: bytes = answer.read()
        return found

    def put(self, name: str, content: bytes) -> None:
        """Stores an object."""
        self.ask(f"{self.bucket}/{name}", "PUT", content)

    def names(self, folder: str) -> list[str]:
        """The names of all objects below a folder, in it."""
        listed = self.ask(f"{self.bucket}?list-type=2&max-keys=1000&prefix={folder}/")
        keys = ET.fromstring(listed).iter(f"{_LISTED}Key")
        return [(key.text or "").removeprefix(f"{folder}/") for key in keys]

    def objects(self, folder: str) -> dict[str, bytes]:
        """The content of all objects below a folder, by their names in it."""
        return {each: self.ask(f"{self.bucket}/{folder}/{each}") for each in self.names(folder)}


@contextlib.contextmanager
def s3_store() -> Iterator[S3Store]:
    """A server with an empty bucket; where it was not installed the test is skipped, but fails where CI has to have it."""
    if not (FOLDER / "moto").exists():
        reason = "needs moto and s3fs: make test-all installs them"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    port = serving.free_port()
    store = S3Store(f"http://127.0.0.1:{port}")
    command = [sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", str(port)]
    process = subprocess.Popen(
        command, env=store.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                store.ask(store.bucket, "PUT")
                break
            except urllib.error.URLError:
                assert process.poll() is None, "the server has ended"
                assert time.monotonic() < deadline, "the server does not answer"
                time.sleep(0.05)
        yield store
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
