"""Sets of fields, as `managedFields` of Kubernetes has them in `fieldsV1`.

A path leads from the root of an object to a field or to an element of a list. Its elements are spelt as in `fieldsV1`:

- `f:NAME` is the member of an object;
- `k:{"KEY":VALUE,...}` the element of a list of objects that these keys identify;
- `v:VALUE` the element of a list that is a set;
- `i:INDEX` the element at a place; servers write none, but read them;
- `b:` and `w:` are members that `_lineage_words` keeps.

A set of fields is a set of paths. A path in it says nothing about the paths that it begins or that begin it.
"""

import json
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

import msgspec

from trundle.api._recent import Recent
from trundle.errors import Kind, TrundleError, expectation

Path: TypeAlias = tuple[str, ...]
FieldSet: TypeAlias = frozenset[Path]
Json: TypeAlias = Any

EMPTY: FieldSet = frozenset()
_ITSELF = "."
_ESCAPED = re.compile('[\x00-\x1f"\\\\<>&\u2028\u2029]')
_SMALL, _LARGE = 1e-6, 1e21
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}

_ENCODE = msgspec.json.Encoder(decimal_format="number").encode
_READ: Recent[FieldSet] = Recent(1024 * 1024)
"""Sets that were read lately, by their text: each write reads those of an object several times, and most objects have the same few."""


class UnreadableFieldsError(TrundleError):
    """An entry of `managedFields` that cannot be read; the message says what is wrong."""

    kind = Kind.REFUSED


def member(name: str) -> str:
    """The path element of an object's member."""
    return f"f:{name}"


def keyed(keys: Mapping[str, Json]) -> str:
    """The path element of a list's element with these keys."""
    return f"k:{_object(keys)}"


def valued(value: Json) -> str:
    """The path element of a set's element."""
    return f"v:{json_text(value)}"


def name_of(element: str) -> str | None:
    """The name of the member that a path element is; none where it is an element of a list."""
    return element[2:] if element.startswith("f:") else None


def decode(document: Json) -> FieldSet:
    """The set of fields that a `fieldsV1` says.

    Raises:
        UnreadableFieldsError: it is no such set; the message says what is wrong.
    """
    text = _ENCODE(document)
    known = _READ.get(text)
    if known is None:
        found: set[Path] = set()
        _collect(document, (), found)
        known = frozenset(found)
        _READ.keep(text, known, len(text) + size_of(known))
    return known


def size_of(fields: FieldSet) -> int:
    """How many bytes a set of fields holds, about, its translation included."""
    return sum(2 * sys.getsizeof(each) for path in fields for each in (path, *path))


def encode(fields: Collection[Path]) -> dict[str, Any]:
    """A set of fields as `fieldsV1`, in alphabetical order."""
    tree: dict[str, Any] = {}
    for element, under in sorted(branches(fields).items()):
        inner = encode(under - {()})
        tree[element] = {_ITSELF: {}, **inner} if inner and () in under else inner
    return tree


def branches(fields: Collection[Path]) -> dict[str, FieldSet]:
    """What of a set is under each first path element; the element itself is there as the empty path."""
    found: defaultdict[str, set[Path]] = defaultdict(set)
    for path in fields:
        if path:
            found[path[0]].add(path[1:])
    return {element: frozenset(under) for element, under in found.items()}


def outside(fields: FieldSet, places: Collection[Path]) -> FieldSet:
    """What of a set is neither at nor under one of these places."""
    if not places:
        return fields
    return frozenset(
        path for path in fields if not any(path[: len(place)] == place for place in places)
    )


def json_text(value: Json) -> str:
    """JSON in the spelling of Kubernetes' servers, which decides whether two path elements are the same."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float() | Decimal():
            return _number(float(value))
        case str():
            return _text(value)
        case list():
            return f"[{','.join(map(json_text, value))}]"
        case _:
            return _object(value)


def path_text(path: Path) -> str:
    """A path for people, as Kubernetes writes it: `.spec.ports[name="web"].number`."""
    return "".join(map(_element_text, path))


def _element_text(element: str) -> str:
    kind, _, rest = element.partition(":")
    match kind:
        case "f":
            return f".{rest}"
        case "k":
            keys = json.loads(rest)
            return f"[{','.join(f'{name}={_shown(value)}' for name, value in keys.items())}]"
        case "v":
            return f"[={_shown(json.loads(rest))}]"
        case _:
            return f"[{rest}]"


def _shown(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def _collect(document: Json, path: Path, found: set[Path]) -> None:
    if not isinstance(document, dict):
        where = path_text(path) or "the top"
        raise UnreadableFieldsError(expectation(f"an object at {where}", repr(document)))
    for written, inner in document.items():
        if written == _ITSELF:
            found.add(path)
            continue
        here = (*path, _read(written))
        if inner == {}:
            found.add(here)
        else:
            _collect(inner, here, found)


def _read(written: str) -> str:
    """A path element in the one spelling that all its spellings have here."""
    kind, colon, rest = written.partition(":")
    try:
        match kind if colon else None:
            case "f" | "b" | "w":
                return written
            case "k" if isinstance(keys := json.loads(rest), dict):
                return keyed(keys)
            case "v":
                return valued(json.loads(rest))
            case "i":
                return f"i:{int(rest)}"
    except ValueError:  # What follows is no JSON, or no number.
        pass
    raise UnreadableFieldsError(expectation("a path element such as 'f:spec'", repr(written)))


def _object(members: Mapping[str, Json]) -> str:
    parts = (f"{_text(name)}:{json_text(members[name])}" for name in sorted(members))
    return f"{{{','.join(parts)}}}"


def _number(value: float) -> str:
    """A number without an exponent, unless it is very small or large, and an integer where it is one."""
    if value == 0 or _SMALL <= abs(value) < _LARGE:
        plain = format(Decimal(repr(value)), "f")
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    return repr(value)


def _text(value: str) -> str:
    return f'"{_ESCAPED.sub(_escaped, value)}"'


def _escaped(found: re.Match[str]) -> str:
    return _SHORT.get(found[0], f"\\u{ord(found[0]):04x}")
