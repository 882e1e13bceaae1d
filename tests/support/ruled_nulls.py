"""Rules over one property that may be null, and what each side has to show: written down apart from all planning."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from cases import V1, V2
from evolving import Version, hooked, rules

from trundle.evolution import HookDeclaration, NamedConversion, TypeChanges
from trundle.runtime import ABSENT

Shown: TypeAlias = list[tuple[Any, Any]]
"""Values of one side, each with what the other shows of it; `ABSENT` where that is nothing."""
Rules: TypeAlias = Callable[[Mapping[str, str]], list[TypeChanges | HookDeclaration]]
"""What is configured for some properties of the type `In`, newer names or paths by older ones."""
NOTHING: Mapping[str, Any] = {}


class Ruled(NamedTuple):
    """A rule, the types of both sides, and plain values; the properties are `a` and `b`, or stand in objects.

    Attributes:
        older: the older type.
        newer: the newer type.
        up: what the newer side shows.
        down: what the older side shows.
        rules: what is configured.
        names: where the property stands on both sides.
        types: further types of both sides.
        zero: what each side shows of a required property without a value, that cannot be null.
    """

    older: str
    newer: str
    up: Shown
    down: Shown
    rules: Rules
    names: tuple[str, str] = ("a", "b")
    types: tuple[Mapping[str, Any], Mapping[str, Any]] = (NOTHING, NOTHING)
    zero: tuple[Any, Any] = (ABSENT, ABSENT)


def _named(rule: str) -> Rules:
    return lambda pairs: [rules(V1, "In", **{rule: dict(pairs)})]


def _renamed(rule: str, says: Any) -> Rules:
    return lambda pairs: [rules(V1, "In", rename=dict(pairs), **{rule: dict.fromkeys(pairs, says)})]


def _keyed(name: str, key: str, value: str = "") -> Rules:
    return _renamed("convert", NamedConversion(name=name, key=key, value=value))


def _moved(**more: Any) -> Rules:
    return lambda pairs: [
        rules(
            V1,
            "In",
            move=dict(pairs),
            **{rule: dict.fromkeys(pairs, says) for rule, says in more.items()},
        )
    ]


def _none(_: Mapping[str, str]) -> list[TypeChanges | HookDeclaration]:
    return []


def _assigned(pairs: Mapping[str, str]) -> list[TypeChanges | HookDeclaration]:
    ways = {"assign_to": dict(pairs), "assign_from": {b: a for a, b in pairs.items()}}

    def method(name: str) -> Callable[[Any, Any], dict[str, Any]]:
        def assign(_: Any, source: Any) -> dict[str, Any]:
            found = {to: getattr(source, name_) for name_, to in ways[name].items()}
            return {to: each for to, each in found.items() if isinstance(each, str)}

        return assign

    names = tuple(pairs), tuple(pairs.values())
    class_ = type("Assigned", (), {name: method(name) for name in ways})
    return [hooked(V1, V2, class_, "In", to=names, back=names[::-1])]


class Lengths:
    """Converters that leave out null."""

    def convert_string_to_integer(self, value: Any) -> Any:
        return ABSENT if value is None else len(value)

    def convert_integer_to_string(self, value: Any) -> Any:
        return ABSENT if value is None else "x" * value


def _converted(pairs: Mapping[str, str]) -> list[TypeChanges | HookDeclaration]:
    return [rules(V1, "In", rename=dict(pairs)), hooked(V1, V2, Lengths, "In")]


def same(*values: Any) -> Shown:
    return [(each, each) for each in values]


def turned(shown: Shown) -> Shown:
    return [(other, one) for one, other in shown]


TEXT, NUMBER = "string", "integer"
LEVELS, METALS = {"L": ["gold"]}, {"M": ["au"]}
ITEM = {"X": {"name": "string", "p": "string"}}
PAIR = {"P": {"name": "string", "value": "string"}}
A = {"A": {"kind!": "KA", "x": "string"}, "KA": ["a"]}
C = {"C": {"kind!": "KC", "y": "string"}, "KC": ["c"]}
ONE_A, ONE_C = {"kind": "a", "x": "1"}, {"kind": "c", "y": "1"}
SECONDS = ([("90s", 90), ("soon", ABSENT)], [(5, "PT5S")])
PAIRED: Shown = [({"k": "1"}, [{"name": "k", "value": "1"}]), ({}, [])]
FIRST: Shown = [(["x"], "x"), (["y", "z"], "y"), ([], ABSENT)]

RULED: dict[str, Ruled] = {
    "copy": Ruled(TEXT, TEXT, same("x"), same("x"), _none, ("a", "a"), zero=("", "")),
    "rename": Ruled(TEXT, TEXT, same("x"), same("x"), _named("rename"), zero=("", "")),
    "number": Ruled(
        NUMBER, "number", same(1), [(1, 1), (1.5, ABSENT)], _none, ("a", "a"), zero=(0, 0)
    ),
    "enum": Ruled(
        "L", TEXT, same("gold"), same("gold"), _none, ("a", "a"), (LEVELS, NOTHING), (ABSENT, "")
    ),
    "values": Ruled(
        "L",
        "M",
        [("gold", "au")],
        [("au", "gold")],
        _renamed("values", {"gold": "au"}),
        types=(LEVELS, METALS),
    ),
    "convert": Ruled(
        TEXT, NUMBER, *SECONDS, _renamed("convert", "duration-to-seconds"), zero=("", 0)
    ),
    "map to list": Ruled(
        "{string}",
        "[P]",
        PAIRED,
        turned(PAIRED),
        _keyed("map-to-list", "name", "value"),
        types=(NOTHING, PAIR),
        zero=({}, []),
    ),
    "list to map": Ruled(
        "[P]",
        "{string}",
        turned(PAIRED),
        PAIRED,
        _keyed("list-to-map", "name", "value"),
        types=(PAIR, NOTHING),
        zero=([], {}),
    ),
    "wrap": Ruled(TEXT, "[string]", [("x", ["x"])], FIRST, _named("wrap"), zero=("", [])),
    "wrap objects": Ruled(
        "X",
        "[X]",
        [({"p": "1"}, [{"p": "1"}])],
        [([{"p": "2"}], {"p": "2"}), ([], ABSENT)],
        _named("wrap"),
        types=(ITEM, ITEM),
        zero=({}, []),
    ),
    "unwrap": Ruled("[string]", TEXT, FIRST, [("x", ["x"])], _named("unwrap"), zero=([], "")),
    "unwrap nulls": Ruled(
        "[string?]", TEXT, FIRST, [("x", ["x"])], _named("unwrap"), zero=([], "")
    ),
    "unwrap integers": Ruled(
        "[integer]",
        "number",
        [([1], 1), ([], ABSENT)],
        [(1, [1]), (1.5, ABSENT)],
        _named("unwrap"),
        zero=([], 0),
    ),
    "union": Ruled(
        "A", "(A|C)", same(ONE_A), [(ONE_A, ONE_A), (ONE_C, ABSENT)], _none, ("a", "a"), (A, A | C)
    ),
    "variant": Ruled(
        "A",
        "(A|C)",
        same(ONE_A),
        [(ONE_A, ONE_A), (ONE_C, ABSENT)],
        _renamed("variant", "A"),
        types=(A, A | C),
    ),
    "variant in lists": Ruled(
        "[A]",
        "[A|C]",
        same([ONE_A], []),
        [([ONE_A], [ONE_A]), ([ONE_C], [])],
        _renamed("variant", "A"),
        types=(A, A | C),
        zero=([], []),
    ),
    "converter": Ruled(TEXT, NUMBER, [("xx", 2)], [(3, "xxx")], _converted, zero=("", 0)),
    "assign": Ruled(TEXT, TEXT, same("x"), same("x"), _assigned, zero=("", "")),
    "move in": Ruled(TEXT, TEXT, same("x"), same("x"), _moved(), ("a", "o.b"), zero=("", "")),
    "move out": Ruled(TEXT, TEXT, same("x"), same("x"), _moved(), ("o.a", "b"), zero=("", "")),
    "move deep": Ruled(TEXT, TEXT, same("x"), same("x"), _moved(), ("o.a", "q.r.b"), zero=("", "")),
    "move and convert": Ruled(
        TEXT,
        NUMBER,
        *SECONDS,
        _moved(convert="duration-to-seconds"),
        ("a", "o.b"),
        zero=("", 0),
    ),
}
"""The rules by what they do. A hook gives nothing of null, all else null where both sides admit it."""
HOOKS = {"converter", "assign"}


def versions(ruled: Ruled, nulls: tuple[str, str], required: tuple[str, str]) -> dict[str, Version]:
    """Two versions of a type with two such properties, in an object, a list and a map."""
    found: dict[str, Version] = {}
    for side, version in enumerate((V1, V2)):
        types: dict[str, dict[str, Any]] = {
            "Thing": {"n": "integer", "o": "In", "l": "[In]", "m": "{In}"},
            "In": {"name": "string"},
        }
        for path in paths(ruled, side):
            at = types["In"]
            *holders, last = path
            for name in holders:
                at[name] = f"Held{name}"
                at = types.setdefault(f"Held{name}", {})
            type_ = (ruled.older, ruled.newer)[side]
            at[last + required[side]] = type_ + nulls[side]
        found[version] = {**types, **ruled.types[side]}
    return found


def paths(ruled: Ruled, side: int) -> list[tuple[str, ...]]:
    """Where the two properties stand on a side."""
    return [tuple(f"{ruled.names[side]}{each}".split(".")) for each in "12"]


def configured(ruled: Ruled) -> list[TypeChanges | HookDeclaration]:
    """What is configured for the two properties."""
    older, newer = ([".".join(each) for each in paths(ruled, side)] for side in (0, 1))
    return ruled.rules(dict(zip(older, newer, strict=True)))
