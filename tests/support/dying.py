"""Kills an upgrade at every single write, each time in a fresh copy of an installation; run as a program.

Prints a line of JSON for each write: what the dead process left, and what the next one made of it.
"""

import json
import os
import shutil
import sys
from pathlib import Path

from sites import Site
from sqlalchemy import event
from sqlalchemy.engine import Engine

from trundle.installation import upgrade

_WRITES = frozenset(("os.rename", "os.mkdir", "os.symlink", "os.remove", "os.rmdir", "os.truncate"))
_WRITING = os.O_WRONLY | os.O_RDWR


class Death:
    """Ends this process without any tidying before its n-th write."""

    def __init__(self, at: int) -> None:
        self.left = at
        sys.addaudithook(self.see)
        event.listen(Engine, "before_cursor_execute", self.see_statement)

    def see_statement(self, _connection, _cursor, statement, *_):
        if statement.startswith(("INSERT", "UPDATE", "DELETE")):
            self.step()

    def see(self, event, arguments):
        if event in _WRITES or (event == "open" and (arguments[2] or 0) & _WRITING):
            self.step()

    def step(self):
        if self.left == 0:
            os._exit(9)
        self.left -= 1


def die_at(step: int, site: Site) -> bool:
    """Upgrades in a child that dies before a write; whether it died."""
    child = os.fork()
    if child == 0:
        Death(step)
        with site.installation() as installation:
            upgrade(installation)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def main(folder: Path) -> None:
    site = Site(folder)
    for name in ("acme/core", "acme/crm"):
        site.publish("1.0.0", name)
        site.install(name)
        site.publish("1.0.1", name)
    first = folder / "state"
    step, died = 0, True
    while died:
        site.state = folder / f"state-{step}"
        shutil.copytree(first, site.state, symlinks=True)
        died = die_at(step, site)
        current = site.state / "current" / "packages"
        names = ("acme+core", "acme+crm")
        left = [(current / each / "content.txt").read_text().split()[1] for each in names]
        with site.installation() as installation:
            known = [str(each.version) for each in installation.packages()]
            upgrade(installation)
        after = [(current / each / "content.txt").read_text().split()[1] for each in names]
        rest = sorted(each.name for each in site.state.rglob("*.partial"))
        shutil.rmtree(site.state)
        print(json.dumps({"left": left, "known": known, "after": after, "rest": rest}))  # noqa: T201
        step += 1


if __name__ == "__main__":
    main(Path(sys.argv[1]))
