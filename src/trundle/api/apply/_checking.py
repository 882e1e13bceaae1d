"""Whether the elements of lists can be distinguished, as sets and lists with keys need it."""

import functools
from collections import Counter
from collections.abc import Iterator

from trundle.api.apply._fields import Json, Path, member, path_text
from trundle.api.apply._shapes import ElementError, ListShape, MapShape, Shape, element_of, keys_of
from trundle.errors import Code, Finding, Kind, Place, TrundleError

_SHAPES = 4096
"""For how many shapes is kept whether elements of lists within them are distinguished."""


class ListCode(Code):
    """What can be wrong with the elements of lists."""

    DUPLICATE = "duplicate-element"
    UNIDENTIFIED = "unidentified-element"


class ListError(TrundleError):
    """Elements of lists that cannot be distinguished; the findings name all of them."""

    kind = Kind.REFUSED

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        self.findings = findings
        super().__init__("\n".join(map(str, findings)))


def require_elements(shape: Shape, document: Json) -> None:
    """Checks that every element of a list that is a set, or has keys, is there once.

    Args:
        shape: the shape of the document.
        document: the document, such as a configuration that is applied.

    Raises:
        ListError: an element is there twice, or cannot be identified.
    """
    found = tuple(_findings(shape, document, ()))
    if found:
        raise ListError(found)


def _findings(shape: Shape | None, value: Json, path: Path) -> Iterator[Finding]:
    match None if shape is None else shape.handled(shape.form(value)):
        case ListShape() as listed if isinstance(value, list):
            yield from _of_list(listed, value, path)
        case MapShape() as mapped if isinstance(value, dict):
            for name, inner in value.items():
                yield from _findings(mapped.at(name), inner, (*path, member(name)))
        case _:
            pass


def _of_list(shape: ListShape, values: list[Json], path: Path) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, value in enumerate(values):
        here = f"i:{index}"
        if not shape.atomic:
            try:
                here = element_of(shape, value)
            except ElementError as error:
                place = Place(path=f"${path_text((*path, here))}")
                yield Finding(ListCode.UNIDENTIFIED, place, error.expected, error.found)
                continue
            if here in seen:
                place = Place(path=f"${path_text(path)}")
                text = path_text((here,))
                advice = "remove one of them, or merge them"
                yield Finding(ListCode.DUPLICATE, place, f"{text} once", "it several times", advice)
            seen.add(here)
        yield from _findings(shape.items, value, (*path, here))


def duplicates(shape: Shape | None, value: Json, place: str = "") -> Iterator[tuple[str, Json]]:
    """The elements that stand in a list again, although they are distinguished by their value or their keys.

    Args:
        shape: the shape of the value.
        value: the value.
        place: where it is, as Kubernetes writes places: `spec.parts[0]`.

    Yields:
        The place of each, and what makes it the same: the element of a set, the keys of one that has keys.
    """
    if shape is None or not _distinguishes(shape):
        return
    match shape.handled(shape.form(value)):
        case ListShape() as listed if isinstance(value, list):
            seen: Counter[str] = Counter()
            for index, each in enumerate(value):
                here = f"{place}[{index}]"
                element = _element(listed, each)
                if element is not None:
                    seen[element] += 1
                    if seen[element] == 2:  # noqa: PLR2004 - each is named once
                        yield here, _same(listed, each)
                if isinstance(each, list | dict):
                    yield from duplicates(listed.items, each, here)
        case MapShape() as mapped if isinstance(value, dict):
            for name, inner in value.items():
                if isinstance(inner, list | dict):
                    within = f"{place}.{name}" if place else name
                    yield from duplicates(mapped.at(name), inner, within)
        case _:
            pass


@functools.lru_cache(_SHAPES)
def _distinguishes(shape: Shape) -> bool:
    """Whether any list within a shape distinguishes its elements; most documents have none, or few."""
    seen: set[Shape] = set()
    waiting: list[Shape | None] = [shape]
    while waiting:
        each = waiting.pop()
        if each is None or each in seen:
            continue
        seen.add(each)
        if each.list is not None:
            if not each.list.atomic:
                return True
            waiting.append(each.list.items)
        if each.map is not None:
            waiting += [*each.map.fields.values(), each.map.others]
    return False


def _element(shape: ListShape, value: Json) -> str | None:
    """What distinguishes an element from others; None where nothing does."""
    if shape.atomic:
        return None
    try:
        return element_of(shape, value)
    except ElementError:
        return None


def _same(shape: ListShape, value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    return keys_of(shape, value)
