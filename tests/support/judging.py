"""Stories: kubectl commands that run against several servers, and what they show without times, uids and addresses."""

import json
import os
import re
import select
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_LONGEST = 120
_PLAIN = (
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "UID"),
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( ?(Z|\+0000))?", "TIME"),
    (r"((?i:resource ?version)\"?: +)\"?\d+\"?", r"\1NUMBER"),
    (r"https?://127\.0\.0\.1:\d+", "SERVER"),
    (r"\bgenerated-[a-z0-9]{5}\b", "generated-LETTERS"),
    (r"(/[\w.-]+)+/((LIVE|MERGED)-|kubectl-edit-)\d+", r"/tmp/\2NUMBER"),
    (r"^E\d{4} [\d:.]+ .*\bFailed to watch\b.*\bcontext deadline exceeded\b.*\n", ""),
    (r"^[WE]\d{4} [\d:.]+ +\d+ ", ""),
    (r"^I\d{4} [\d:.]+ .*\n", ""),
    (r"(?<= )\d+[sm](\d+s)?\b", "AGE"),
    (r"(?<= AGE) +", " "),
    (r" +$", ""),
)  # fmt: skip
"""What differs from run to run, and what stands for it."""


@dataclass(frozen=True)
class Server:
    """A server that stories run against.

    Attributes:
        name: what failures call it.
        kubectl: the program.
        folder: where its kubeconfig and the files of stories are.
        read: reads a path, as values.
    """

    name: str
    kubectl: Path
    folder: Path
    read: Callable[[str], Any]


@dataclass(frozen=True)
class Story:
    """Commands that follow each other, in a namespace of their own.

    Attributes:
        name: what it is about.
        steps: kubectl commands as in a shell, perhaps after variables. `start: COMMAND` runs on: `seen: NUMBER` waits until it has
            written so many lines, and `lines: NUMBER` ends it then.
        files: the files that the commands name.
    """

    name: str
    steps: tuple[str, ...]
    files: Mapping[str, str]

    @property
    def namespace(self) -> str:
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")


@dataclass(frozen=True)
class Difference:
    """Something that differs on purpose.

    Attributes:
        stories: the stories that show it.
        command: a pattern of the commands that show it.
        real: a pattern of what the real server has and the other has not.
        trundle: a pattern of what the other has and the real server has not.
        reason: why.
    """

    stories: tuple[str, ...]
    reason: str
    command: str = ""
    real: str = ""
    trundle: str = ""

    def without(self, step: str, real: str, trundle: str) -> tuple[str, str]:
        """What both servers show at a step, without what differs."""
        if not re.search(self.command, step):
            return real, trundle
        if self.real:
            real = re.sub(self.real, "", real, flags=re.MULTILINE)
        if self.trundle:
            trundle = re.sub(self.trundle, "", trundle, flags=re.MULTILINE)
        return real, trundle


def stories(folder: Path) -> list[Story]:
    """The stories in the files of a folder."""
    found = []
    for path in sorted(folder.glob("*.yaml")):
        given = yaml.safe_load(path.read_text())
        files = given.get("files", {})
        found += [
            Story(name, tuple(steps.splitlines()), files)
            for name, steps in given["stories"].items()
        ]
    return found


def differences(path: Path) -> list[Difference]:
    """The differences that a file lists."""
    listed = yaml.safe_load(path.read_text()) or ()
    return [Difference(**{**each, "stories": tuple(each["stories"])}) for each in listed]


def plain(text: str) -> str:
    """What a command shows, without what differs from run to run."""
    for pattern, replaced in _PLAIN:
        text = re.sub(pattern, replaced, text, flags=re.MULTILINE)
    return text.strip() + "\n"


@dataclass
class Telling:
    """Runs a story against one server.

    Attributes:
        shown: what each step shows: the command, and its outcome.
    """

    server: Server
    story: Story
    shown: list[tuple[str, str]] = field(default_factory=list)
    _running: Any = None
    _started: str = ""
    _written: bytes = b""

    def run(self, lists: Iterable[str]) -> list[tuple[str, str]]:
        """What each step shows, and what is there at the end at the paths of lists."""
        folder = self.server.folder / self.story.namespace
        folder.mkdir()
        self._finish("create namespace {namespace}", folder)
        for name, text in self.story.files.items():
            (folder / name).write_text(text)
        try:
            for step in self.story.steps:
                self._step(step, folder)
        finally:
            if self._running is not None:
                self._running.kill()
                self._running.communicate()
        for path in lists:
            found = self.server.read(path.format(namespace=self.story.namespace))
            self.shown.append((f"objects of {path}", plain(_text(found))))
        return self.shown

    def _step(self, step: str, folder: Path) -> None:
        first, _, rest = step.partition(": ")
        if first == "start":
            self._running, self._started, self._written = self._process(rest, folder), rest, b""
        elif first == "seen":
            self._read(int(rest))
        elif first == "lines":
            self._read(int(rest))
            self._running.kill()
            self._running.communicate()
            self._running = None
            self.shown.append((self._started, plain(self._written.decode())))
        else:
            self.shown.append((step, self._finish(step, folder)))

    def _finish(self, step: str, folder: Path) -> str:
        """What a command shows until its end."""
        process = self._process(step, folder)
        try:
            out, err = process.communicate(timeout=_LONGEST)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # Its editor, too.
            out, err = process.communicate()
            err += "it did not end\n"
        # kubectl prints warnings as they come, so that their order is none.
        err = "".join(sorted(err.splitlines(keepends=True)))
        if re.search(r"-o json( |$)", step) and out:
            out = _text(json.loads(out))
        return plain(f"exit code {process.returncode}\n{out}{err}")

    def _read(self, number: int) -> None:
        """Reads what runs until it has written so many lines, or ended."""
        descriptor = self._running.stdout.fileno()
        deadline = time.monotonic() + _LONGEST
        while self._written.count(b"\n") < number and time.monotonic() < deadline:
            if select.select([descriptor], [], [], 0.1)[0]:
                part = os.read(descriptor, 4096)
                if not part:
                    return
                self._written += part

    def _process(self, command: str, folder: Path) -> subprocess.Popen[str]:
        words = shlex.split(command.replace("{namespace}", self.story.namespace))
        variables = {}
        while re.match(r"[A-Z_]+=", words[0]):
            name, _, value = words.pop(0).partition("=")
            variables[name] = value
        home = self.server.folder
        environment = {
            **os.environ,
            **variables,
            "KUBECONFIG": str(home / "kubeconfig"),
            "HOME": str(home),
        }
        return subprocess.Popen(
            [self.server.kubectl, "-n", self.story.namespace, *words], cwd=folder, env=environment, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip


def _text(found: Any) -> str:
    """An object or a list as lines; owners, which stand in the order of their times, in one of their own."""
    for each in found.get("items", [found]):
        owners = each.get("metadata", {}).get("managedFields")
        if owners is not None:
            owners.sort(key=lambda owner: json.dumps({**owner, "time": ""}, sort_keys=True))
    return json.dumps(found, indent=1, sort_keys=True) + "\n"
