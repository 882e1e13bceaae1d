"""Whatever is put, the quick way comes to the same bytes as the careful one, or leaves it to that."""

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from amounts import amount
from evolving import evolve, rules
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from trundle.runtime import DocumentError, Scheme

Document = dict[str, Any]
V1, V2, V3 = "2020-01-01", "2021-01-01", "2022-01-01"

_LEAF = {"Leaf": {"id!": "string", "x": "number"}}
_INNER = {"Inner": {"deep": "Deep", "a": "string", "n": "number"}}
_ITEM = {
    "name!": "string",
    "same": "number",
    "map": "{integer}",
    "leaves": "[Leaf;id]",
    "parts": "[Part;id,kind]",
}
_PART = {"id!": "string", "kind": "integer", "x": "string"}
_THING = {
    "text!": "string",
    "number": "number",
    "items": "[Item;name]",
    "plain": "[Plain]",
    "named": "{Item}",
    "one": "Item",
    "inner": "Inner",
    "need!": "Need",
    "either": "Item|string",
    "free": "any",
    "map": "{string}",
    "texts": "[string]",
    "maybe": "Item?",
    "nulls": "[Item?]",
}


def _version(deep: str, *, lacks: tuple[str, ...] = (), **others: Any) -> Mapping[str, Any]:
    """A version in which nested types have another property of their own, and lack some."""
    kept = {name: type_ for name, type_ in _ITEM.items() if name not in lacks}
    return {
        "Thing": {**_THING, **others},
        "Item": {**kept, f"only{deep}": "string", "inner": "Inner"},
        "Plain": {f"plain{deep}": "string", "value": "number"},
        "Need": {"must!": "string", f"need{deep}": "integer"},
        "Deep": {f"deep{deep}": "string", "items": "[Part;id]"},
        "Part": {**_PART, f"part{deep}": "string"},
        **_INNER,
        **_LEAF,
    }


def _growing() -> Scheme:
    """Nested types that differ in all versions, of which some elements are distinguished by what changes."""
    return evolve(
        {
            V1: _version("One", old="string"),
            V2: _version("Two", lacks=("same",), new="string"),
            V3: _version("Three", newer="[string]"),
        },
        rules(V1, rename={"old": "new"}),
        rules(V1, "Part", rename={"partOne": "partTwo"}),
        rules(V2, "Deep", rename={"deepTwo": "deepThree"}),
    )


def _moving() -> Scheme:
    """Properties that are moved into nested objects, renamed keys, changed numbers and mapped values."""
    one = {
        "Thing": {"a": "string", "b": "number", "list": "[Item;name]", "o": "Other"},
        "Other": {"x": "string"},
        "Item": {"name!": "string", "size": "integer", "mode": "string", "flat": "string"},
    }
    two = {
        "Thing": {"o": "Other", "list": "[Item;title]"},
        "Other": {"a": "string", "b": "number", "y": "string"},
        "Item": {"title!": "string", "size": "string", "mode": "string", "in": "In"},
        "In": {"flat": "string", "more": "string"},
    }
    return evolve(
        {V1: one, V2: two},
        rules(V1, move={"a": "o.a", "b": "o.b"}),
        rules(
            V1,
            "Item",
            rename={"name": "title"},
            move={"flat": "in.flat"},
            values={"mode": {"on": "yes"}},
        ),
    )


_TEXT = st.sampled_from(["", "a", "b", "é", "on", "yes", "1"])
_NUMBER = st.sampled_from([0, 1, 1.0, 2, -0.0, 2.5])
_INTEGER = st.integers(0, 2)


def _some(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[Document]:
    """An object with some of its members, in any order."""
    ordered = st.permutations(list(members))
    full = st.fixed_dictionaries({}, optional=members)
    return st.builds(
        lambda value, names: {name: value[name] for name in names if name in value}, full, ordered
    )


def _with(required: Mapping[str, st.SearchStrategy[Any]], **members: Any) -> Any:
    found = st.fixed_dictionaries(dict(required), optional=members)
    return st.builds(
        lambda value, turn: dict(sorted(value.items(), reverse=turn)), found, st.booleans()
    )


def _grown(deep: str, *, lacks: tuple[str, ...] = (), **others: Any) -> st.SearchStrategy[Document]:
    part = _with({"id": _TEXT}, kind=_INTEGER, x=_TEXT, **{f"part{deep}": _TEXT})
    inside = _some(**{f"deep{deep}": _TEXT}, items=st.lists(part, max_size=3))
    inner = _some(deep=inside, a=_TEXT, n=_NUMBER)
    leaf = _with({"id": _TEXT}, x=_NUMBER)
    members: dict[str, Any] = {
        "same": _NUMBER,
        "map": st.dictionaries(_TEXT, _INTEGER, max_size=3),
        "leaves": st.lists(leaf, max_size=3),
        "parts": st.lists(part, max_size=3),
        f"only{deep}": _TEXT,
        "inner": inner,
    }
    kept = {name: each for name, each in members.items() if name not in lacks}
    item = _with({"name": _TEXT}, **kept)
    return _with(
        {"text": _TEXT, "need": _with({"must": _TEXT}, **{f"need{deep}": _INTEGER})},
        number=_NUMBER,
        items=st.lists(item, max_size=4),
        plain=st.lists(_some(**{f"plain{deep}": _TEXT}, value=_NUMBER), max_size=4),
        named=st.dictionaries(_TEXT, item, max_size=3),
        one=item,
        inner=inner,
        either=st.one_of(item, _TEXT),
        free=st.one_of(_NUMBER, st.dictionaries(_TEXT, _NUMBER)),
        map=st.dictionaries(_TEXT, _TEXT, max_size=3),
        texts=st.lists(_TEXT, max_size=3),
        maybe=st.one_of(st.none(), item),
        nulls=st.lists(st.one_of(st.none(), item), max_size=3),
        **others,
    )


def _moved_one() -> st.SearchStrategy[Document]:
    item = _with({"name": _TEXT}, size=_INTEGER, mode=_TEXT, flat=_TEXT)
    return _some(a=_TEXT, b=_NUMBER, list=st.lists(item, max_size=3), o=_some(x=_TEXT))


def _moved_two() -> st.SearchStrategy[Document]:
    inside = _some(flat=_TEXT, more=_TEXT)
    item = _with({"title": _TEXT}, size=_TEXT, mode=_TEXT, **{"in": inside})
    return _some(o=_some(a=_TEXT, b=_NUMBER, y=_TEXT), list=st.lists(item, max_size=3))


_MADE: dict[str, tuple[Callable[[], Scheme], Mapping[str, st.SearchStrategy[Document]]]] = {
    "growing": (
        _growing,
        {
            V1: _grown("One", old=_TEXT),
            V2: _grown("Two", lacks=("same",), new=_TEXT),
            V3: _grown("Three", newer=st.lists(_TEXT, max_size=2)),
        },
    ),
    "moving": (_moving, {V1: _moved_one(), V2: _moved_two()}),
}


@pytest.fixture(scope="module")
def schemes() -> Mapping[str, Scheme]:
    return {name: made() for name, (made, _) in _MADE.items()}


def _document(version: str, members: Document) -> Document:
    return {"apiVersion": version, "kind": "Thing", **members}


def _compact(document: Document) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _holders(value: Any) -> list[Any]:
    """All objects and lists within a value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    own = [value] if isinstance(value, dict | list) else []
    return own + [each for item in inner for each in _holders(item)]


@st.composite
def _edits(draw: st.DrawFn, version: str, seen: Document, other: Document) -> Document:
    """What a writer makes of what it sees, with parts of another document."""
    edited = copy.deepcopy(seen)
    for _ in range(draw(st.integers(0, 3))):
        holder = draw(st.sampled_from(_holders(edited)))
        if isinstance(holder, list):
            if holder and draw(st.booleans()):
                holder.append(holder.pop(draw(st.integers(0, len(holder) - 1))))
            elif holder:
                del holder[draw(st.integers(0, len(holder) - 1))]
            continue
        names = [name for name in holder if name not in {"apiVersion", "kind"}]
        if names:
            name = draw(st.sampled_from(names))
            value = holder[name]
            if isinstance(value, str) and draw(st.booleans()):
                holder[name] = draw(_TEXT)
            elif type(value) in (int, float) and draw(st.booleans()):
                holder[name] = draw(_INTEGER)
            elif isinstance(value, dict):
                holder[name] = dict(sorted(value.items(), reverse=draw(st.booleans())))
            else:
                del holder[name]
    taken = draw(st.lists(st.sampled_from(sorted(other)), max_size=2)) if other else []
    return _document(version, {**edited, **{name: other[name] for name in taken}})


def _careful(scheme: Scheme, data: bytes, base: bytes) -> bytes:
    return scheme.encode(scheme.to_storage(scheme.decode(data), scheme.decode(base)))


@pytest.mark.full
@pytest.mark.parametrize("name", list(_MADE))
@settings(
    max_examples=amount(200),
    deadline=None,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
@given(st.data())
def test_both_ways_come_to_the_same_bytes(schemes, name, data):
    scheme, documents = schemes[name], _MADE[name][1]
    versions = st.sampled_from(list(documents))
    first = data.draw(versions)
    stored = scheme.convert_json(_compact(_document(first, data.draw(documents[first]))))
    for _ in range(data.draw(st.integers(1, 3))):
        version = data.draw(versions)
        seen = json.loads(scheme.convert_json(stored, version))
        written = _compact(data.draw(_edits(version, seen, data.draw(documents[version]))))
        try:
            expected = _careful(scheme, written, stored)
        except DocumentError:
            assert scheme._puts.put(written, stored) is None
            continue
        quick = scheme._puts.put(written, stored)
        assert quick == expected
        assert json.loads(scheme.convert_json(quick, version)) == json.loads(written)
        stored = quick
