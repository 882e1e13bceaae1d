"""The story of docs/roll-a-package-forward.md, on one machine or on a cluster: what all versions show of all objects, step by step.

The guide is the script: a cluster runs its own blocks in place of some, and all others are the same. Beside it a client edits a
site of its own by kubectl at v1, as long as the story goes on.
"""

import contextlib
import json
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

import guides
from killed_commands import LONG, Commands

GUIDE = guides.ROOT / "docs" / "roll-a-package-forward.md"
CLUSTER = "on a cluster"
GROUP = "sites.example.com"
VERSIONS = ("v1", "v2", "v3")
_TELLING = ("trundle env ", "kubectl ")
ENVIRONMENTS = r"; trundle env (deploy|upgrade|rollback) "
OTHERS = r"; trundle (upgrade|store roll) "
"""What goes on where it is run again after it was killed."""

Acting = Callable[[], contextlib.AbstractContextManager[None]]


class Moment(NamedTuple):
    """What there is after a command that all stages have.

    Attributes:
        line: the command.
        seen: what each version shows, by version and name; None for a version that is not served.
    """

    line: str
    seen: dict[str, dict[str, Any] | None]


class Story:
    """A run of the guide.

    Args:
        folder: where it runs.
        stage: the stage; empty for one machine.
        names: what stands in the guide, with what is meant here.
        variables: further variables of the environment.
        programs: a folder with kubectl; that of the machine where None.
        kills: whether the commands that can go on are killed at their writes: those of environments at each, others at
            each 25th, with `LONG=1` at each, too.
        beside: what goes on beside each block of the stage.

    Attributes:
        edits: how often the client has edited its site.
    """

    def __init__(
        self,
        folder: Path,
        *,
        stage: str = "",
        names: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
        programs: Path | None = None,
        kills: bool = False,
        beside: Acting = contextlib.nullcontext,
    ) -> None:
        self.folder = folder.resolve()
        self.stage = stage
        self.edits = 0
        self._names = names
        self._commands = Commands(
            self.folder,
            programs=() if programs is None else (programs,),
            variables=variables,
            killed={ENVIRONMENTS: 1, OTHERS: 1 if LONG else 25} if kills else {},
        )
        self._kills = kills
        self._beside = beside
        self._client = _Client(self._kubectl)

    @property
    def deaths(self) -> int:
        """How many commands were killed."""
        return self._commands.deaths.total()

    def run(self) -> list[Moment]:
        """Runs it; what was there after each command that all stages have."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = GUIDE.read_text(encoding="utf-8")
        shared = _shared(text)
        moments: list[Moment] = []
        with self._client:
            running = guides.run_guide(
                text, self.folder, stage=self.stage, names=self._names, run=self._run
            )
            for command, real in running:
                if not self._kills:
                    assert guides.fits(command.output, real), f"$ {command.line}\n{real}"
                if command.line in shared and command.line.startswith(_TELLING):
                    moments.append(Moment(command.line, self._seen(len(moments))))
        self.edits = self._client.edits
        return moments

    def _run(self, line: str, folder: Path, *, warmed: bool) -> tuple[str, int]:
        if self.stage and f"\n# {self.stage}\n" in line:
            with self._beside():
                return self._commands.printed(line, folder, warmed=warmed), 0
        return self._commands.run(line, folder, warmed=warmed)

    def _kubectl(self, *arguments: str, text: str = "", check: bool = True) -> str:
        done = subprocess.run(
            ["kubectl", "--kubeconfig", "kubeconfig", *arguments],
            cwd=self.folder, env=self._commands.environment(warmed=False), input=text, text=True,
            capture_output=True, timeout=300, check=False,
        )  # fmt: skip
        assert not check or done.returncode == 0, (arguments, done.stderr)
        return done.stdout if done.returncode == 0 else ""

    def _seen(self, number: int) -> dict[str, dict[str, Any] | None]:
        """What each version shows, while the client waits."""
        with self._client.waiting(f"after {number}"):
            return {each: self._listed(each) for each in VERSIONS}

    def _listed(self, version: str) -> dict[str, Any] | None:
        path = f"/apis/{GROUP}/{version}/namespaces/default/sites"
        text = self._kubectl("get", "--raw", path, check=False)
        if not text:
            return None
        return {each["metadata"]["name"]: _shown(each) for each in json.loads(text)["items"]}


class _Client(threading.Thread):
    """Somebody who edits a site of their own by kubectl at v1, and reads after each write what was written.

    Attributes:
        edits: how often they did.
    """

    def __init__(self, kubectl: Callable[..., str]) -> None:
        super().__init__(daemon=True)
        self.edits = 0
        self._kubectl = kubectl
        self._turn = threading.Lock()
        self._ended = threading.Event()
        self._error: BaseException | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self.is_alive():
            self.join()

    @contextlib.contextmanager
    def waiting(self, note: str) -> Iterator[None]:
        """They write a note, and wait as long as the block lasts. The first time, they make their site."""
        with self._turn:
            if self._error is not None:
                raise self._error
            if not self.is_alive():
                self._make()
                self.start()
            self._edit(note)
            yield

    def run(self) -> None:
        """Edits again and again."""
        while not self._ended.wait(0.1):
            with self._turn:
                try:
                    self._edit(f"turn {self.edits}")
                except Exception as error:  # noqa: BLE001 - the story raises it
                    self._error = error
                    return

    def _make(self) -> None:
        head = {"apiVersion": f"{GROUP}/v1", "kind": "Site", "metadata": {"name": "docs"}}
        site = {**head, "host": "docs.example.com"}
        self._kubectl("create", "-n", "default", "-f", "-", text=json.dumps(site))

    def _edit(self, note: str) -> None:
        name = (f"sites.v1.{GROUP}", "docs", "-n", "default")
        self._kubectl("patch", *name, "--type", "merge", "-p", json.dumps({"note": note}))
        assert self._kubectl("get", *name, "-o", "jsonpath={.note}") == note
        self.edits += 1


def _shared(text: str) -> set[str]:
    """The commands that all stages have."""
    one, other = (
        {each.line for each in guides.read_guide(text, stage) if isinstance(each, guides.Command)}
        for stage in ("", CLUSTER)
    )
    return one & other


def _shown(found: dict[str, Any]) -> dict[str, Any]:
    """An object without what differs from run to run."""
    metadata = found.pop("metadata")
    annotations = {
        key: value
        for key, value in (metadata.get("annotations") or {}).items()
        if key != f"{GROUP}/carrier"
    }
    return {**found, "metadata": {"labels": metadata.get("labels"), "annotations": annotations}}


def has_kubectl() -> bool:
    """Whether this machine has kubectl."""
    return shutil.which("kubectl") is not None
