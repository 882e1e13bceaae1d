"""How the names of people were written before 2014-04-04, and how they are written since."""

from typing import TYPE_CHECKING

from trundle.runtime import ABSENT, Absent, hook

if TYPE_CHECKING:
    from crm.hooks.v2013_03_03_to_v2014_04_04 import (
        PersonNewer,
        PersonNewerOutputs,
        PersonOlder,
        PersonOlderOutputs,
    )


class PersonNames:
    """First, middle and last name on the one side; legal name, family name and sort key on the other."""

    @hook(
        reads=("first_name", "middle_name", "last_name"),
        writes=("alpha_key", "family_name", "known_as", "legal_name"),
    )
    def assign_to(self, source: "PersonOlder", /) -> "PersonNewerOutputs":
        """Names the person after the first name, and sorts them by the last.

        The legal name is all names in the order first, middle, last; those that are missing or empty
        leave no gap.
        """
        return {
            "alpha_key": source.last_name,
            "family_name": source.last_name,
            "known_as": source.first_name,
            "legal_name": _joined(source.first_name, source.middle_name, source.last_name),
        }

    @hook(
        reads=("family_name", "known_as", "legal_name"),
        writes=("first_name", "last_name", "middle_name"),
    )
    def assign_from(self, source: "PersonNewer", /) -> "PersonOlderOutputs":
        """Calls the person as they like to be called.

        A person known by another name than the legal one has no middle name that could be found:
        Mickey's legal name is Michael Theodore Mouse, and he is not Mickey Theodore.
        """
        return {
            "first_name": source.known_as,
            "last_name": source.family_name,
            "middle_name": _between(source.known_as, source.legal_name, source.family_name),
        }


def _joined(*names: str | Absent) -> str | Absent:
    """Some names in a row, without those that are missing; absent where all are."""
    words = [word for name in names if name is not ABSENT for word in name.split()]
    return " ".join(words) or ABSENT


def _between(first: str | Absent, whole: str | Absent, last: str | Absent) -> str | Absent:
    """What stands between the first and the last name in the whole; absent where that cannot be found."""
    if first is ABSENT or whole is ABSENT or last is ABSENT:
        return ABSENT
    begin, words, end = first.split(), whole.split(), last.split()
    middle = words[len(begin) : len(words) - len(end)]
    return " ".join(middle) if [*begin, *middle, *end] == words else ABSENT
