"""Runs the commands of a guide, and kills some of them again and again before they come to their end."""

import itertools
import os
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import guides
import warm

LONG = bool(os.environ.get("LONG"))
"""Whether commands are killed at each of their writes, however many they have."""

_DYING = Path(__file__).with_name("dying_command.py")


class Commands:
    """Runs commands in a folder.

    Args:
        folder: the folder.
        programs: folders with programs that come before those of the machine.
        variables: further variables of the environment.
        killed: which commands are killed before each n-th of their writes until they come to their end: a pattern, and n.

    Attributes:
        deaths: how often each was killed.
    """

    def __init__(
        self,
        folder: Path,
        *,
        programs: tuple[Path, ...] = (),
        variables: Mapping[str, str] | None = None,
        killed: Mapping[str, int] | None = None,
    ) -> None:
        self.folder = folder
        self.deaths: Counter[str] = Counter()
        self._programs = [str(each) for each in programs]
        self._variables = {**(variables or {}), "HOME": str(folder)}
        self._killed = killed or {}

    def run(self, line: str, folder: Path, *, warmed: bool) -> tuple[str, int]:
        """Runs a command to its end, as `guides.print_of` does."""
        for pattern, step in self._killed.items():
            if re.search(pattern, line):
                for write in itertools.count(step=step):
                    printed = self.dying(line, write)
                    if printed is not None:
                        return printed, 0
                    self.deaths[line] += 1
        return self.printed(line, folder, warmed=warmed), 0

    def printed(self, line: str, folder: Path, *, warmed: bool = False) -> str:
        """What a command prints that is not killed, and succeeds."""
        more = self.environment(warmed=warmed)
        printed, code = guides.print_of(line, folder, warmed=warmed, more=more)
        assert not code, (line, printed)
        return printed

    def environment(self, *, warmed: bool) -> dict[str, str]:
        """The variables that commands are run with."""
        kept = guides.environment(warmed=warmed)
        path = os.pathsep.join([*self._programs, kept["PATH"]])
        return {**kept, **self._variables, "PATH": path}

    def dying(self, line: str, write: int) -> str | None:
        """What a command prints that is killed before its n-th write, counted from zero; None where it was."""
        folder = self.folder / "dying"
        folder.mkdir(exist_ok=True)
        program = folder / "trundle"
        if not program.exists():
            program.symlink_to(warm.client(_DYING))
        deaths = folder / "deaths"
        deaths.write_bytes(b"")
        more = self.environment(warmed=False)
        more |= {"PATH": f"{folder}{os.pathsep}{more['PATH']}"}
        more |= {"DIES_AT": str(write), "DEATHS": str(deaths)}
        printed, code = guides.print_of(line, self.folder, warmed=False, more=more)
        if deaths.read_bytes():
            return None
        assert not code, (line, printed)
        return printed
