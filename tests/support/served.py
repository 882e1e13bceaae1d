"""`trundle serve` and `trundle ui` as processes of their own, and clients that call them."""

import contextlib
import http.client
import json
import re
import signal
import subprocess
import time
import urllib.parse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import warm
from said import saying

from trundle._tls import verifying


class Answer(NamedTuple):
    """What a server answers to a request."""

    status: int
    body: Any
    headers: http.client.HTTPMessage

    def ok(self) -> Any:
        """The body, of an answer that is no refusal."""
        assert self.status < 300, self.body
        return self.body


class Served:
    """A server of a project in a process of its own.

    Attributes:
        folder: the project's folder.
        process: the process.
        url: where it listens.
        authority: the certificate of the authority that clients trust.
        headers: what every request has.
        client: the certificate that clients show, with its key.
    """

    def __init__(
        self,
        folder: Path,
        *options: str | Path,
        environment=None,
        program: Path | None = None,
        command: str = "serve",
    ) -> None:
        self.folder = folder
        self.authority: Path | None = None
        self.client: Path | None = None
        self.headers: dict[str, str] = {}
        called = warm.script() if program is None else warm.script(program)
        arguments = [*called, command, "--port", "0", *map(str, options)]
        self._errors = folder / f"errors-{time.monotonic_ns()}.txt"
        with self._errors.open("wb") as errors:
            self.process = subprocess.Popen(arguments, cwd=folder, stderr=errors, env=environment)
        deadline = time.monotonic() + 60
        while not (found := re.search(r"^serving on (\S+)\n", self.messages, re.MULTILINE)):
            assert self.process.poll() is None, self.messages
            assert time.monotonic() < deadline, self.messages
            time.sleep(0.02)
        self.url = found[1].removesuffix("/ui/")

    @classmethod
    def elsewhere(cls, url: str, authority: Path, client: Path | None) -> "Served":
        """A server that something else has started; it can be called, and not stopped."""
        found = cls.__new__(cls)
        found.url, found.authority, found.client, found.headers = url, authority, client, {}
        return found

    @property
    def messages(self) -> str:
        """What the server wrote to standard error."""
        return self._errors.read_text()

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def connect(self, timeout: float = 60) -> http.client.HTTPConnection:
        """A connection to the server."""
        if self.url.startswith("http:"):
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        context = verifying(self.authority)
        if self.client is not None:
            context.load_cert_chain(self.client)
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=context)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: dict[str, str] | None = None,
        media_type: str = "application/json",
        **query: str,
    ) -> Answer:
        """Sends a request on a connection of its own."""
        body = saying(method, path, body, media_type)
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        given = {"content-type": media_type, **self.headers, **(headers or {})}
        connection = self.connect()
        try:
            called = path + (f"?{urllib.parse.urlencode(query)}" if query else "")
            connection.request(method, called, data, given)
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        is_json = "json" in answer.headers.get("content-type", "") and not (
            "watch" in query and answer.status == 200
        )
        return Answer(
            answer.status, json.loads(text) if is_json and text else text.decode(), answer.headers
        )

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Stops the server; its exit code."""
        self.process.send_signal(number)
        return self.process.wait(60)

    def kill(self) -> None:
        """Ends the server at once."""
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def both_serving(
    cluster: Any, crds: Sequence[Any], project: Path
) -> Iterator[tuple[Served, Served]]:
    """The API server of a cluster that has some CRDs, and `trundle serve` in a project of the same resource types."""
    for each in crds:
        cluster.define(each)
    ours = Served(project)
    try:
        yield Served.elsewhere(cluster.url, cluster.authority, cluster.certificate), ours
    finally:
        ours.kill()
        for each in crds:
            cluster.undefine(each["metadata"]["name"])
