"""Makes a counterexample small: whatever can go while the same law stays broken goes."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from trundle.verify._broken import Number, spoken, tree
from trundle.verify._case import Case, Write

Fails = Callable[[Case], bool]
Path = tuple[str | int, ...]
_TRIES = 1500
_NAMING = frozenset({"apiVersion", "kind", "type", "$writtenWith"})
_PARTS = ("document", "edited", "touched", "earlier")


def shrink(case: Case, fails: Fails, *, tries: int = _TRIES) -> Case:
    """The smallest case that is found which still fails.

    Writes are left out, members and elements removed, scalars made plain; the largest parts first.

    Args:
        case: a case that fails.
        fails: whether a case still breaks the same law; false where it is no case any more.
        tries: how often that is asked at most.
    """
    return _Shrinking(fails, tries).shrink(case)


class _Shrinking:
    def __init__(self, fails: Fails, tries: int) -> None:
        self.fails = fails
        self.left = tries

    def holds_on(self, case: Case) -> bool:
        self.left -= 1
        return self.left >= 0 and self.fails(case)

    def shrink(self, case: Case) -> Case:
        while self.left > 0:
            smaller = self.documents(self.writes(case))
            if smaller == case:
                break
            case = smaller
        return case

    def writes(self, case: Case) -> Case:
        place = 0
        while place < len(case.writes) and len(case.writes) > 1:
            fewer = msgspec.structs.replace(
                case, writes=case.writes[:place] + case.writes[place + 1 :]
            )
            if self.holds_on(fewer):
                case = fewer
            else:
                place += 1
        return case

    def documents(self, case: Case) -> Case:
        for place in range(len(case.writes)):
            case = self.document(case, place)
        for name in _PARTS:
            if getattr(case, name) is not None:
                case = self.document(case, name)
        return case

    def document(self, case: Case, at: int | str) -> Case:
        """A case with one of its documents made small: that of a write, or one of its parts."""
        own = case.writes[at].document if isinstance(at, int) else getattr(case, at)
        value = tree(bytes(own))
        waiting: list[Path] = [()]
        while waiting and self.left > 0:
            path = waiting.pop(0)
            if not _exists(value, path):
                continue  # a part of what has gone by now
            for simpler in _simpler(value, path):
                smaller = _with(case, at, msgspec.Raw(spoken(simpler).encode()))
                if self.holds_on(smaller):
                    case, value = smaller, simpler
                    break
            else:
                waiting.extend((*path, each) for each in _parts(_at(value, path), root=not path))
                continue
            if isinstance(path[-1], int):
                waiting.insert(0, path)  # the next element stands there now
        return case


def _with(case: Case, at: int | str, document: msgspec.Raw) -> Case:
    if isinstance(at, str):
        return msgspec.structs.replace(case, **{at: document})
    changed = Write(case.writes[at].version, document)
    writes = (*case.writes[:at], changed, *case.writes[at + 1 :])
    return msgspec.structs.replace(case, writes=writes)


def _parts(value: Any, *, root: bool) -> Iterator[str | int]:
    if isinstance(value, dict):
        yield from (name for name in value if not root or name not in _NAMING)
    elif isinstance(value, list):
        yield from range(len(value))


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def _exists(value: Any, path: Path) -> bool:
    try:
        _at(value, path)
    except (KeyError, IndexError, TypeError):
        return False
    return True


def _simpler(value: Any, path: Path) -> Iterator[Any]:
    """The whole value with the part at a path removed, or made plain."""
    if not path:
        return
    yield _replaced(value, path, None, remove=True)
    part = _at(value, path)
    plain: tuple[Any, ...] = ()
    if isinstance(part, Number):
        plain = (Number("0"), Number("1"))
    elif isinstance(part, str):
        plain = ("", "a", "b")
    elif isinstance(part, list) and part:
        plain = ([],)
    elif isinstance(part, dict) and part:
        plain = ({},)
    for each in plain:
        if each == part:
            return
        yield _replaced(value, path, each, remove=False)


def _replaced(value: Any, path: Path, part: Any, *, remove: bool) -> Any:
    copy: Any = list(value) if isinstance(value, list) else dict(value)
    first, rest = path[0], path[1:]
    if rest:
        copy[first] = _replaced(copy[first], rest, part, remove=remove)
    elif remove:
        del copy[first]
    else:
        copy[first] = part
    return copy
