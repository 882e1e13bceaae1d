"""What became of one document among many, and what was lost on its way.

A value is lost when it cannot be read back from the result. That is found without looking at any plan: the result is
converted back, and the result is compared with the document.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from trundle.runtime._documents import member_path, write_value
from trundle.runtime._errors import ConversionError
from trundle.runtime._lenience import Lenience, Tolerated
from trundle.runtime._matching import match
from trundle.runtime._objects import ABSENT, WRITTEN_WITH, GeneratedObject
from trundle.runtime._scalars import Unconverted, unconverted


class Lost(msgspec.Struct, frozen=True):
    """A value of a document that cannot be read back from what the document was converted to.

    Attributes:
        path: JSON path of the value in the document, starting with `$`.
        value: the value, as plain JSON.
        instead: what comes back in its place; absent for nothing.
    """

    path: str
    value: Any
    instead: Any = ABSENT

    def __str__(self) -> str:
        value = json.dumps(self.value, ensure_ascii=False)
        if self.instead is ABSENT:
            return f"lost: {value} - at {self.path}"
        back = json.dumps(self.instead, ensure_ascii=False)
        return f"changed: {value} comes back as {back} - at {self.path}"


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one document.

    Attributes:
        result: the converted document, in the form of the document; None where there is an error.
        error: why the document could not be converted; None where it could.
        lost: what cannot be read back from the result, in the order of its version's properties. Empty unless it was asked
            for, and for what a store keeps: its property bags lose nothing.
        tolerated: what was tolerated about the document, in the order in which it was met.
        unconverted: values that a named conversion has no counterpart for; a property bag keeps them.
    """

    result: Any = None
    error: ConversionError | None = None
    lost: tuple[Lost, ...] = ()
    tolerated: tuple[Tolerated, ...] = ()
    unconverted: tuple[Unconverted, ...] = ()

    def unwrap(self) -> Any:
        """The result.

        Raises:
            ConversionError: there is none, for this reason.
        """
        if self.error is not None:
            raise self.error
        return self.result


def outcome_of(
    convert: Callable[[Lenience], Any],
    lost: Callable[[Any], Iterator[Lost]],
    lenience: Lenience,
) -> Outcome:
    """What becomes of a document.

    Args:
        convert: converts it, given what is tolerated about it.
        lost: finds what was lost, given the result.
        lenience: what is tolerated; all of it is noted in the outcome as well.
    """
    noted: list[Tolerated] = []
    try:
        with unconverted() as notes:
            result = convert(replace(lenience, report=noted.append))
        outcome = Outcome(
            result=result,
            lost=_found(lost, result),
            tolerated=tuple(noted),
            unconverted=tuple(notes),
        )
    except ConversionError as error:
        outcome = Outcome(error=error, tolerated=tuple(noted))
    except Exception as error:  # noqa: BLE001 - one document must not block others
        unexpected = ConversionError(f"unexpected {type(error).__name__}: {error}")
        unexpected.__cause__ = error
        outcome = Outcome(error=unexpected, tolerated=tuple(noted))
    if lenience.report is not None:
        for each in outcome.tolerated:
            lenience.report(each)
    return outcome


def _found(lost: Callable[[Any], Iterator[Lost]], result: Any) -> tuple[Lost, ...]:
    try:
        return tuple(lost(result))
    except ConversionError as error:
        return (Lost("$", f"nothing can be read back: {error}"),)


def paired(values: Iterable[Any], bases: Iterable[Any] | None) -> Iterator[tuple[Any, Any]]:
    """Each document with its base.

    Raises:
        ValueError: there are more or fewer bases than documents.
    """
    if bases is None:
        return ((value, None) for value in values)
    return zip(values, bases, strict=True)


def lost_between(source: GeneratedObject, back: GeneratedObject) -> Iterator[Lost]:
    """What a source has that did not come back, value by value.

    Args:
        source: an object.
        back: what its conversion to another version becomes when it is converted back.
    """
    ours, theirs = (json.loads(write_value(each)) for each in (source, back))
    ours.pop(WRITTEN_WITH, None)
    yield from _lost(ours, theirs, "$")


def _lost(ours: Any, theirs: Any, path: str) -> Iterator[Lost]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name, value in ours.items():
            place = member_path(path, name)
            if name in theirs:
                yield from _lost(value, theirs[name], place)
            else:
                yield Lost(place, value)
    elif isinstance(ours, list) and isinstance(theirs, list):
        alike = len(ours) == len(theirs)
        places = range(len(ours)) if alike else match(ours, theirs)
        for number, (value, found) in enumerate(zip(ours, places, strict=True)):
            if found is None:
                yield Lost(f"{path}[{number}]", value)
            else:
                yield from _lost(value, theirs[found], f"{path}[{number}]")
    elif type(ours) is not type(theirs) or ours != theirs:
        yield Lost(path, ours, theirs)
