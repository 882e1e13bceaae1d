"""Kills deploys at every write of the journal and of providers, each time in a fresh copy of the world; run as a program.

Prints a line of JSON for each kill: what is wrong afterwards; nothing, if all is well.
"""

import json
import os
import shutil
import sys
from pathlib import Path

from engines import package

from trundle.engine import Engine
from trundle.providers import FileJournal, FolderProvider, ProcessProvider

DEPLOYING = """
Namespaces: {=: a, t: io.trundle}
Name: Deploying
Properties:
  documents: {Contract: {$.string().notNull(): $}, Default: {}}
  files: {Contract: {$.string().notNull(): $.string()}, Default: {}}
  processes: {Contract: {$.string().notNull(): $.string()}, Default: {}}
Methods:
  deploy:
    Scope: Public
    Body:
      - For: name
        In: $.documents.keys()
        Do:
          - new(t:Document, name => $name, content => $.documents.get($name)).deploy()
      - For: path
        In: $.files.keys()
        Do:
          - new(t:File, path => $path, text => $.files.get($path)).deploy()
      - For: name
        In: $.processes.keys()
        Do:
          - $made: format('made-{0}', $name)
          - new(t:Process, name => $name, arguments => [tee, $made], input => $.processes.get($name), undo => [rm, '-f', $made]).deploy()
"""
PACKAGE = package("a", "1.0.0", {"io.trundle": "1"}, {"a.Deploying": DEPLOYING})
MODELS = [
    {
        "documents": {"web": {"replicas": 1}, "gone/soon": {"x": [1]}, "same": {}},
        "files": {"etc/motd": "Hello\n", "etc/rc": "x" * 3000},
        "processes": {"init": "first\n", "leaves": "y"},
    },
    {
        "documents": {"new": None, "web": {"replicas": 2}, "same": {}},
        "files": {"etc/motd": "Hello again, {{secret:pw}}\n"},
        "processes": {"init": "second\n"},
    },
    {},
]
"""What is deployed, one after the other."""
_WRITES = frozenset(
    ("os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.truncate", "subprocess.Popen")
)


class World:
    """A folder with all that deploys change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def deploy(self, model, **options):
        """Deploys a model.

        Returns:
            The changes.
        """
        engine = Engine(
            [PACKAGE],
            providers={
                "folder": FolderProvider(self.folder / "out"),
                "process": ProcessProvider(
                    {each: shutil.which(each) for each in ("tee", "rm")}, self.folder / "run"
                ),
            },
        )
        with (
            FileJournal(self.folder / "journal") as journal,
            engine.session(journal=journal, secrets={"pw": "hush"}, **options) as session,
        ):
            root = session.load({"?": {"type": "a.Deploying"}, **model})
            session.call(root, "deploy")
            session.finish()
            session.settle()
            return session.changes

    def content(self):
        """The files that are there."""
        return {
            str(each.relative_to(self.folder)): each.read_text() if each.is_file() else None
            for part in ("out", "run")
            for each in sorted((self.folder / part).rglob("*"))
        }

    def records(self):
        """What the journal has."""
        with FileJournal(self.folder / "journal") as journal:
            return [each.to_plain() for each in journal.records()]


class Death:
    """Ends this process at its n-th write: before it, or halfway through what it writes."""

    def __init__(self, at: int, *, halfway: bool) -> None:
        self.left, self.halfway = at, halfway
        self.write, self.fsync = os.write, os.fsync
        os.write, os.fsync = self.see_write, self.see_fsync
        sys.addaudithook(self.see)

    def see(self, event, arguments):
        writes = event == "open" and (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR)
        if event in _WRITES or writes:
            self.step()

    def see_write(self, descriptor, data):
        if self.left == 0 and self.halfway:
            self.write(descriptor, bytes(data)[: len(data) // 2])
        self.step()
        return self.write(descriptor, data)

    def see_fsync(self, descriptor):
        self.step()
        self.fsync(descriptor)

    def step(self):
        if self.left == 0:
            os._exit(9)
        self.left -= 1


def dies(world, model, step, *, halfway):
    """Deploys in a child that dies at a write; whether it died."""
    child = os.fork()
    if child == 0:
        try:
            Death(step, halfway=halfway)
            world.deploy(model)
        except BaseException as error:  # noqa: BLE001 - the parent sees the exit code
            print(json.dumps([repr(error)]))  # noqa: T201
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9), code
    return code == 9


def faults(world, model, before, after):
    """What is wrong in a world where a deploy died, and what is wrong after the next one.

    Args:
        world: the world.
        model: what was being deployed.
        before: a world before the deploy.
        after: a world after it.
    """
    found = []
    known = {each["key"] for each in world.records()}
    for path, text in world.content().items():
        if text is None or ".trundle-" in path:
            continue
        if path.startswith("out/"):
            key = f"folder/{path.removeprefix('out/')}"
            if text not in (before.content().get(path), after.content().get(path)):
                found.append(f"{path} is neither old nor new")
        else:
            key = f"process/{path.removeprefix('run/made-')}"
        if key not in known:
            found.append(f"{path} is not in the journal")
    world.deploy(model)
    if world.content() != after.content():
        found.append(f"{world.content()} differs from {after.content()}")
    if world.records() != after.records():
        found.append(f"{world.records()} differs from {after.records()}")
    again = {each.action for each in world.deploy(model)}
    if again - {"unchanged"}:
        found.append(f"the next deploy does {again}")
    return found


def main(folder: Path, part: int, parts: int) -> None:
    worlds = [World(folder / "0")]
    (folder / "0" / "run").mkdir(parents=True)
    for at, model in enumerate(MODELS, 1):
        shutil.copytree(worlds[-1].folder, folder / f"{at}")
        worlds.append(World(folder / f"{at}"))
        worlds[-1].deploy(model)
    for model, before, after in zip(MODELS, worlds[:-1], worlds[1:], strict=True):
        for halfway in (False, True):
            step, died = part, True
            while died:
                world = World(folder / "dying")
                shutil.copytree(before.folder, world.folder)
                died = dies(world, model, step, halfway=halfway)
                print(json.dumps(faults(world, model, before, after)), flush=True)  # noqa: T201
                shutil.rmtree(world.folder)
                step += parts


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
