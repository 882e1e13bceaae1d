"""What clients do in the last chapter of the demo: each step by kubectl where it is on the PATH, else by the same request over HTTP."""

import contextlib
import http.client
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Generator, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

GROUP = "crm.example.com"
APPLY, MERGE = "application/apply-patch+yaml", "application/merge-patch+json"
_FILE = "donald.json"


class Step(NamedTuple):
    """A step, as kubectl and as HTTP have it.

    Attributes:
        words: the arguments of kubectl.
        method: the method of the request.
        path: its path and query.
        body: what is sent; kubectl finds it in a file, too.
        media_type: what the body is.
    """

    words: tuple[str, ...]
    method: str
    path: str
    body: Any = None
    media_type: str = "application/json"


def applied(document: Mapping[str, Any], manager: str) -> Step:
    """A manager applies the configuration of a person."""
    version, name = document["apiVersion"].rpartition("/")[2], document["metadata"]["name"]
    words = ("apply", "--server-side", "--field-manager", manager, "-f", _FILE)
    return Step(words, "PATCH", f"{_path(version, name)}?fieldManager={manager}", document, APPLY)


def edited(version: str, name: str, changes: Mapping[str, Any], manager: str) -> Step:
    """A manager changes properties of a person at a version."""
    words = ("patch", f"person.{version}.{GROUP}", name, "--field-manager", manager)
    patch = ("--type", "merge", "--patch", json.dumps(changes))
    path = f"{_path(version, name)}?fieldManager={manager}"
    return Step((*words, *patch), "PATCH", path, changes, MERGE)


def watched(version: str, name: str) -> Step:
    """A client watches a person at a version."""
    words = ("get", f"person.{version}.{GROUP}", name, "--watch", "--output-watch-events")
    path = f"{_path(version)}?watch=true&fieldSelector=metadata.name={name}"
    return Step((*words, "--output", "json"), "GET", path)


def _path(version: str, name: str = "") -> str:
    path = f"/apis/{GROUP}/{version}/namespaces/default/people"
    return f"{path}/{name}" if name else path


class Runner:
    """Runs steps against a server on this machine.

    Args:
        port: where the server listens.
        folder: a folder for the files of kubectl.

    Attributes:
        note: how steps are run.
    """

    def __init__(self, port: int, folder: Path) -> None:
        self._port = port
        self._folder = folder
        self._kubectl = shutil.which("kubectl")
        self._environment = {**os.environ, "KUBECONFIG": "kubeconfig", "HOME": str(folder)}
        self.note = "No `kubectl` is on the `PATH`, so these are the requests that it would send."
        if self._kubectl is not None:
            words = ("kubeconfig", "--port", str(port))
            text = self._output([sys.executable, "-m", "trundle", *words])
            (folder / "kubeconfig").write_text(text, encoding="utf-8")
            self.note = f"`trundle {' '.join(words)} > kubeconfig` gives `kubectl` access."

    def shown(self, step: Step) -> str:
        """A step as it is written down."""
        if self._kubectl is None:
            return f"{step.method} {step.path}"
        return f"$ kubectl {shlex.join(step.words)}"

    def run(self, step: Step) -> str:
        """Does a step; returns it with what is answered."""
        if self._kubectl is not None:
            (self._folder / _FILE).write_text(json.dumps(step.body), encoding="utf-8")
            answer = self._output([self._kubectl, *step.words])
        else:
            with self._requested(step) as response:
                found = json.loads(response.read())
                message = found["message"] if response.status >= http.HTTPStatus.BAD_REQUEST else ""
                answer = f"{response.status} {response.reason}\n{message}"
        return f"{self.shown(step)}\n{answer}".rstrip()

    def events(self, step: Step) -> Generator[Any, None, None]:
        """The events of a watch, as they come."""
        if self._kubectl is None:
            with self._requested(step) as response:
                yield from _documents(response)
            return
        command = [self._kubectl, *step.words]
        with subprocess.Popen(  # noqa: S603 - kubectl, without a shell
            command, cwd=self._folder, env=self._environment, stdout=subprocess.PIPE
        ) as process:
            try:
                assert process.stdout is not None
                yield from _documents(process.stdout)
            finally:
                process.terminate()

    def _output(self, command: list[str]) -> str:
        """What a command prints."""
        return subprocess.run(  # noqa: S603 - kubectl and trundle, without a shell
            command, cwd=self._folder, env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, encoding="utf-8", check=False,
        ).stdout  # fmt: skip

    @contextlib.contextmanager
    def _requested(self, step: Step) -> Generator[http.client.HTTPResponse, None, None]:
        """The response to a request."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self._port)) as connection:
            text = None if step.body is None else json.dumps(step.body)
            connection.request(step.method, step.path, text, {"Content-Type": step.media_type})
            yield connection.getresponse()


def _documents(lines: Iterable[bytes]) -> Generator[Any, None, None]:
    """JSON documents, each on one line or on several."""
    text = b""
    for line in lines:
        text += line
        with contextlib.suppress(ValueError):
            found = json.loads(text)
            text = b""
            yield found
