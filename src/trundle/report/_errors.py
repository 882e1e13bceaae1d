"""What can be wrong with a question to a report."""

import difflib
from collections.abc import Iterable


class ReportError(Exception):
    """A question that names something the schemas do not have.

    Attributes:
        kind: what was asked for: `version`, `type`, `property` or `resource`.
        name: the name that nothing has.
        suggestions: names that are there and look like it, the likeliest first.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], place: str = "") -> None:
        self.kind = kind
        self.name = name
        self.suggestions = alike(name, known)
        where = f" in {place}" if place else ""
        hint = f"; did you mean {_either(self.suggestions)}?" if self.suggestions else ""
        super().__init__(f"there is no {kind} {name!r}{where}{hint}")


def alike(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """At most three of some names that look like another; letter case does not count."""
    spelled = {each.casefold(): each for each in sorted(known, reverse=True)}
    wanted = name.casefold()
    found = difflib.get_close_matches(wanted, sorted(spelled), n=3, cutoff=0.6)
    if not found:
        found = sorted(each for each in spelled if wanted and wanted in each)[:3]
    return tuple(spelled[each] for each in found)


def _either(names: tuple[str, ...]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
