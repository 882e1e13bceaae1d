"""Small evolutions, one for each way in which a property or type may change, and random ones."""

import random
from collections.abc import Mapping
from typing import Any, NamedTuple

from evolving import Version, evolution, hooked, rules

from trundle.codegen import hooked_properties
from trundle.evolution import HookDeclaration, NamedConversion, TypeChanges

V1, V2, V3, V4 = "2020-01-01", "2021-01-01", "2022-01-01", "2023-01-01"
P2, P3, P4 = f"{V2}-preview", f"{V3}-preview", f"{V4}-preview"


class Case(NamedTuple):
    versions: Mapping[str, Version]
    more: tuple[TypeChanges | HookDeclaration, ...] = ()

    @property
    def hooks(self) -> bool:
        return any(isinstance(each, HookDeclaration) for each in self.more)

    @property
    def hooked(self) -> frozenset[str]:
        return hooked_properties(evolution(self.versions, *self.more))

    @property
    def renamed(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for each in self.more:
            if isinstance(each, TypeChanges):
                found |= {**each.rename, **each.wrap, **each.unwrap, **each.move}
        return {one.rpartition(".")[2]: other.rpartition(".")[2] for one, other in found.items()}


def thing(**properties: Any) -> Version:
    return {"Thing": properties}


def items(one: Mapping[str, str], other: Mapping[str, str], shape: str = "Item") -> Case:
    """An object type, somewhere in a property, that changes from one shape to another."""
    return Case(
        {V1: {"Thing": {"b": shape}, "Item": one}, V2: {"Thing": {"b": shape}, "Item": other}}
    )


A = {"A": {"kind!": "KA", "x": "string"}, "KA": ["a"]}
B = {"B": {"kind!": "KB", "y": "string"}, "KB": ["b"]}
A2 = {"A": {"kind!": "KA", "x": "string", "z": "string"}, "KA": ["a"]}
C = {"C": {"kind!": "KC", "y": "string"}, "KC": ["c"]}
LEVEL = {"L": ["Gold", "Silver"]}
ITEM, ITEM2 = {"Item": {"x": "string"}}, {"Item": {"x": "string", "y": "string"}}
KEYS = {"port!": "integer", "proto!": "string"}


class Names:
    def assign_to(self, source: Any) -> dict[str, Any]:
        return {"full": f"{source.first or ''} {source.last or ''}"}

    def assign_from(self, source: Any) -> dict[str, Any]:
        first, _, last = (source.full or "").partition(" ")
        return {"first": first, "last": last}


class Louder:
    def assign_to(self, source: Any) -> dict[str, Any]:
        return {"b": f"{source.a}!"}


class Lengths:
    def convert_string_to_integer(self, value: str) -> int:
        return len(value)

    def convert_integer_to_string(self, value: int) -> str:
        return "x" * (value % 50)


class LengthsUp:
    def convert_string_to_integer(self, value: str) -> int:
        return len(value)


def names_hook(older: str, newer: str, type_: str = "Thing") -> HookDeclaration:
    parts = ("first", "last")
    return hooked(older, newer, Names, type_, to=(parts, ("full",)), back=(("full",), parts))


def scalar(name: str) -> Case:
    older, _, newer = name.partition("-to-")
    kinds = {"seconds": "integer", "bytes": "integer"}
    kinds |= dict.fromkeys(("duration", "go-duration", "quantity"), "string")
    kinds |= dict.fromkeys(("disabled", "enabled"), "boolean")
    one, other = kinds.get(older, older), kinds.get(newer, newer)
    return Case({V1: thing(a=one), V2: thing(a=other)}, (rules(V1, convert={"a": name}),))


def keyed(name: str, key: str, value: str = "") -> NamedConversion:
    return NamedConversion(name=name, key=key, value=value)


CASES: dict[str, Case] = {
    "added": Case({V1: thing(a="string"), V2: thing(a="string", b="string")}),
    "removed": Case({V1: thing(a="string", b="integer"), V2: thing(a="string")}),
    "each its own": Case(
        {
            V1: thing(a="string", x="string"),
            V2: thing(a="string", y="string"),
            V3: thing(a="string", z="string"),
        }
    ),
    "required": Case(
        {
            V1: {"Thing": {"a!": "string", "b": "integer", "c!": "[string]"}},
            V2: {"Thing": {"a": "string", "b!": "integer", "c": "[string]", "d!": "{string}"}},
        }
    ),
    "all required": Case(
        {
            V1: {"Thing": {"a!": "string", "n!": "Item"}, "Item": {"x!": "string"}},
            V2: {"Thing": {"a!": "string", "n!": "Item"}, "Item": {"y!": "string"}},
        }
    ),
    "defaults": Case(
        {
            V1: thing(a="string", b="integer"),
            V2: {"Thing": {"a!": ("string", "dd"), "b!": ("integer", 5)}},
        }
    ),
    "configured default": Case(
        {V1: thing(a="string"), V2: {"Thing": {"a!": "string"}}},
        (rules(V2, default={"a": "zz"}),),
    ),
    "integer to number": Case({V1: thing(a="integer"), V2: thing(a="number")}),
    "number to integer": Case({V1: thing(a="number"), V2: thing(a="integer")}),
    "number to integer and back": Case(
        {V1: thing(a="number"), V2: thing(a="integer"), V3: thing(a="number")}
    ),
    "numbers in lists and maps": Case(
        {V1: thing(a="[number]", m="{number}"), V2: thing(a="[integer]", m="{integer}")}
    ),
    "enums and texts in lists and maps": Case(
        {
            V1: thing(a="[L]", m="{string}") | LEVEL,
            V2: thing(a="[string]", m="{L}") | LEVEL,
            V3: thing(a="[L]", m="{L}") | {"L": ["gold", "silver"]},
        }
    ),
    "enum and text": Case(
        {
            V1: thing(a="L") | LEVEL,
            V2: thing(a="string"),
            V3: thing(a="L") | {"L": ["gold", "silver"]},
        }
    ),
    "enums in lists": Case({V1: thing(a="[L]") | LEVEL, V2: thing(a="[string]")}),
    "enum of another name": Case(
        {V1: thing(a="L") | LEVEL, V2: thing(a="M") | {"M": ["Gold", "Silver"]}}
    ),
    "typed to free-form and back": Case(
        {
            V1: thing(a="string", b="any", c="Item") | ITEM,
            V2: thing(a="any", b="string", c="any"),
        }
    ),
    "changing objects to free-form": Case(
        {
            V1: thing(o="Item", l="[Item]", m="{Item}")
            | {"Item": {"name!": "string", "x": "string"}},
            V2: thing(o="Item", l="[Item]", m="{Item}")
            | {"Item": {"name!": "string", "y": "string", "z": "integer"}},
            V3: thing(o="any", l="[any]", m="{any}"),
        },
    ),
    "free-form to objects": Case(
        {
            V1: thing(c="any", d="any", e="any"),
            V2: thing(c="Item", d="[Item]", e="{Item}") | ITEM2,
        }
    ),
    "three shapes, the middle one stored": Case(
        {V1: thing(a="any"), V2: thing(a="string"), P3: thing(a="{string}")}
    ),
    "lists with a key property": items(
        {"name": "string", "x": "string"}, {"name": "string", "y": "string"}, "[Item]"
    ),
    "lists without keys": items(
        {"v": "string", "x": "string"}, {"v": "string", "y": "string"}, "[Item]"
    ),
    "lists with declared keys": items(
        {**KEYS, "x": "string"}, {**KEYS, "y": "string"}, "[Item;port,proto]"
    ),
    "maps": items({"name": "string", "x": "string"}, {"name": "string", "y": "string"}, "{Item}"),
    "objects in objects": Case(
        {
            V1: thing(b="Item") | {"Item": {"n": "Deep", "x": "string"}, "Deep": {"p": "string"}},
            V2: thing(b="Item") | {"Item": {"n": "Deep", "y": "string"}, "Deep": {"q": "string"}},
        }
    ),
    "object of another name": Case(
        {V1: thing(b="Item") | ITEM, V2: thing(b="Other") | {"Other": {"x": "string"}}}
    ),
    "unnamed object": Case(
        {
            V1: thing(b="Item") | ITEM,
            V2: thing(b="ThingB") | {"~ThingB": {"x": "string", "y": "string"}},
        }
    ),
    "scalars of other kinds": Case(
        {V1: thing(a="string"), V2: thing(a="integer"), V3: thing(a="boolean")}
    ),
    "single to list": Case({V1: thing(a="string"), V2: thing(a="[string]")}),
    "members of other kinds": Case(
        {
            V1: thing(a="Item") | {"Item": {"x": "string", "k": "integer"}},
            V2: thing(a="Item") | {"Item": {"x": "integer", "k": "integer"}},
            V3: thing(a="Item") | {"Item": {"x": "string", "k": "number"}},
        }
    ),
    "union": Case({V1: thing(u="A|B") | A | B, V2: thing(u="A|C") | A2 | C}),
    "list of unions": Case({V1: thing(u="[A|B]") | A | B, V2: thing(u="[A|C]") | A2 | C}),
    "object to union": Case({V1: thing(u="A") | A, V2: thing(u="A|C") | A2 | C}),
    "objects in lists and maps to unions": Case(
        {V1: thing(l="[A]", m="{A}") | A, V2: thing(l="[A|C]", m="{A|C}") | A2 | C}
    ),
    "object with any text to union": Case(
        {
            V1: thing(u="A") | {"A": {"kind": "string", "x": "string"}},
            V2: thing(u="A|C") | A2 | C,
            V3: thing(u="C") | {"C": {"kind": "string", "y": "string"}},
        }
    ),
    "object that another place distinguishes": Case(
        {V1: thing(w="A", l="[A]") | A, V2: thing(u="A|C", w="A", l="[A]") | A2 | C}
    ),
    "union to object": Case({V1: thing(u="A|B") | A | B, V2: thing(u="A") | A2}),
    "union by another property": Case(
        {
            V1: thing(u="A|B") | A | B,
            V2: thing(u="A|B")
            | {"A": {"kind!": "string", "type!": "KA", "x": "string"}, "KA": ["a"]}
            | {"B": {"kind!": "string", "type!": "KB", "y": "string"}, "KB": ["b"]},
        }
    ),
    "union of scalars": Case(
        {V1: thing(u="string|integer"), V2: thing(u="string|boolean"), V3: thing(u="string")}
    ),
    "nullable": Case(
        {
            V1: thing(a="string?", b="Item?") | ITEM,
            V2: thing(a="string", b="Item") | {"Item": {"y": "string"}},
        }
    ),
    "nullable and required": Case(
        {V1: {"Thing": {"a!": "string?"}}, V2: {"Thing": {"a!": "string"}}}
    ),
    "nullable in lists and maps": Case(
        {V1: thing(b="[string?]", m="{string?}"), V2: thing(b="[string]", m="{string}")}
    ),
    "rename": Case({V1: thing(a="string"), V2: thing(b="string")}, (rules(V1, rename={"a": "b"}),)),
    "renames in a row": Case(
        {V1: thing(a="string", b="integer"), V2: thing(b="string", c="integer")},
        (rules(V1, rename={"a": "b", "b": "c"}),),
    ),
    "rename, and the name returns": Case(
        {V1: thing(a="string"), V2: thing(b="string"), V3: thing(a="integer", b="string")},
        (rules(V1, rename={"a": "b"}),),
    ),
    "type rename": Case(
        {V1: thing(b="Item") | ITEM, V2: thing(b="Other") | {"Other": ITEM2["Item"]}},
        (rules(V1, "Item", rename_type="Other"),),
    ),
    "values": Case(
        {V1: thing(a="L") | LEVEL, V2: thing(a="M") | {"M": ["au", "ag"]}},
        (rules(V1, values={"a": {"Gold": "au", "Silver": "ag"}}),),
    ),
    "values of text": Case(
        {V1: thing(a="string"), V2: thing(a="string")},
        (rules(V1, values={"a": {"a": "b", "c": "b"}}),),
    ),
    "wrap": Case({V1: thing(a="string"), V2: thing(a="[string]")}, (rules(V1, wrap={"a": "a"}),)),
    "wrap what may be null": Case(
        {V1: thing(a="string?"), V2: thing(b="[string]"), V3: thing(b="[string]?")},
        (rules(V1, wrap={"a": "b"}),),
    ),
    "unwrap a list that may be null": Case(
        {V1: thing(a="[string]?"), V2: thing(b="string")}, (rules(V1, unwrap={"a": "b"}),)
    ),
    "wrap into a list that may be null": Case(
        {V1: thing(a="string?", c="string"), V2: thing(b="[string]?", d="[string]?")},
        (rules(V1, wrap={"a": "b", "c": "d"}),),
    ),
    "unwrap lists of integers": Case(
        {V1: thing(a="[integer]", c="[integer]?"), V2: thing(b="number?", d="number")},
        (rules(V1, unwrap={"a": "b", "c": "d"}),),
    ),
    "map that may be null to list": Case(
        {
            V1: thing(a="{string}?"),
            V2: thing(b="[Pair]") | {"Pair": {"name": "string", "value": "string"}},
        },
        (rules(V1, rename={"a": "b"}, convert={"a": keyed("map-to-list", "name", "value")}),),
    ),
    "null of an earlier version, and a number": Case(
        {V1: thing(a="integer?"), V2: thing(a="integer"), V3: thing(b="number")},
        (rules(V2, rename={"a": "b"}),),
    ),
    "move into an object that requires it": Case(
        {
            V1: thing(a="string", b="string?", c="integer"),
            V2: thing(o="O") | {"O": {"a!": "string", "b!": "string?", "c": "integer"}},
        },
        (rules(V1, move={"a": "o.a", "b": "o.b", "c": "o.c"}),),
    ),
    "wrap objects": Case(
        {V1: thing(a="Item") | ITEM, V2: thing(b="[Item]") | {"Item": {"y": "string"}}},
        (rules(V1, wrap={"a": "b"}),),
    ),
    "unwrap": Case(
        {V1: thing(a="[string]"), V2: thing(a="string")}, (rules(V1, unwrap={"a": "a"}),)
    ),
    "unwrap objects": Case(
        {
            V1: thing(a="[Item]") | {"Item": {"name": "string", "x": "string"}},
            V2: thing(b="Item") | {"Item": {"name": "string", "y": "string"}},
        },
        (rules(V1, unwrap={"a": "b"}),),
    ),
    "convert and move": Case(
        {
            V1: thing(a="string"),
            V2: thing(o="O") | {"O": {"b": "integer", "c": "string"}},
        },
        (rules(V1, move={"a": "o.b"}, convert={"a": "go-duration-to-seconds"}),),
    ),
    "convert at a path": Case(
        {
            V1: thing(o="O") | {"O": {"b": "string", "c": "string"}},
            V2: thing(o="O") | {"O": {"b": "integer", "d": "string"}},
        },
        (rules(V1, convert={"o.b": "duration-to-seconds"}),),
    ),
    "quantity or integer to number": Case(
        {V1: thing(a="string|integer"), V2: thing(a="number")},
        (rules(V1, convert={"a": "quantity-to-number"}),),
    ),
    "duration that may be null": Case(
        {V1: thing(a="string?"), V2: thing(a="integer?")},
        (rules(V1, convert={"a": "go-duration-to-seconds"}),),
    ),
    "map to list": Case(
        {
            V1: thing(a="{Item}") | {"Item": {"x": "string", "y": "string"}},
            V2: thing(a="[Named]") | {"Named": {"topic!": "string", "x": "string", "z": "string"}},
        },
        (rules(V1, convert={"a": keyed("map-to-list", "topic")}),),
    ),
    "map to list of values": Case(
        {
            V1: thing(a="{string}"),
            V2: thing(b="[Pair]") | {"Pair": {"name": "string", "value": "string"}},
        },
        (rules(V1, rename={"a": "b"}, convert={"a": keyed("map-to-list", "name", "value")}),),
    ),
    "list to map": Case(
        {
            V1: thing(a="[Named]") | {"Named": {"id": "string", "x": "string", "y": "string"}},
            V2: thing(a="{Item}") | {"Item": {"x": "string", "z": "string"}},
        },
        (rules(V1, convert={"a": keyed("list-to-map", "id")}),),
    ),
    "list to map of values": Case(
        {
            V1: thing(a="[Pair]") | {"Pair": {"name": "string", "value": "integer", "y": "string"}},
            V2: thing(a="{integer}"),
        },
        (rules(V1, convert={"a": keyed("list-to-map", "name", "value")}),),
    ),
    "list to map, and moves in its elements": Case(
        {
            V1: thing(a="[Named]") | {"Named": {"id": "string", "p": "P"}, "P": {"x": "string"}},
            V2: thing(a="{Item}") | {"Item": {"x": "string", "z": "string"}},
        },
        (
            rules(V1, convert={"a": keyed("list-to-map", "id")}),
            rules(V1, "Named", move={"p.x": "x"}),
        ),
    ),
    "values of what moves into an object of both": Case(
        {
            V1: thing(k="L", p="P") | {**LEVEL, "P": {"r": "string"}},
            V2: thing(p="P") | {"P": {"k": "M", "r": "string"}, "M": ["au", "ag"]},
        },
        (rules(V1, move={"k": "p.k"}, values={"k": {"Gold": "au", "Silver": "ag"}}),),
    ),
    "move, and a version without it": Case(
        {
            V1: thing(p="P") | {"P": {"k": "string"}},
            V2: thing(l="string", p="P") | {"P": {"k": "string", "m": "string"}},
            V3: thing(p="P") | {"P": {"k": "string", "l": "string", "m": "string"}},
        },
        (rules(V2, move={"l": "p.l"}),),
    ),
    "map to list, and moves in its elements": Case(
        {
            V1: thing(a="{Item}") | {"Item": {"x": "string", "y": "string"}},
            V2: thing(a="[Named]")
            | {"Named": {"id": "string", "o": "O"}, "O": {"x": "string", "k": "string"}},
        },
        (
            rules(V1, convert={"a": keyed("map-to-list", "id")}),
            rules(V1, "Item", move={"x": "o.x"}),
        ),
    ),
    "keep": Case({V1: thing(a="string"), V2: thing(a="string")}, (rules(V1, keep=("a",)),)),
    **{
        name: scalar(name)
        for name in (
            "boolean-to-string",
            "disabled-to-enabled",
            "duration-to-seconds",
            "go-duration-to-duration",
            "go-duration-to-seconds",
            "integer-to-string",
            "number-to-quantity",
            "number-to-string",
            "quantity-to-bytes",
            "seconds-to-duration",
            "string-to-boolean",
            "string-to-integer",
            "string-to-number",
        )
    },
    "gap": Case({V1: thing(a="string"), V2: thing(b="string"), V3: thing(a="string")}),
    "gap, objects": Case(
        {V1: thing(a="Item") | ITEM, V2: thing(b="string"), V3: thing(a="Item") | ITEM2}
    ),
    "gap, another shape between": Case(
        {V1: thing(a="Item") | ITEM, V2: thing(a="string"), V3: thing(a="Item") | ITEM2}
    ),
    "gaps, lists": Case(
        {
            V1: thing(a="[Item]") | {"Item": {"name": "string", "x": "string"}},
            V2: thing(b="string"),
            V3: thing(a="[Item]") | {"Item": {"name": "string", "y": "string"}},
            V4: thing(b="string"),
        }
    ),
    "gap, elements of another shape between": Case(
        {
            V1: thing(a="[Item]") | {"Item": {"id": "string", "k": "integer"}},
            V2: thing(a="[Item]") | {"Item": {"id": "string", "k": "string"}},
            V3: thing(a="[Item]") | {"Item": {"id": "string", "k": "integer"}},
        }
    ),
    "gap, another kind returns": Case(
        {V1: thing(a="string"), V2: thing(b="string"), V3: thing(a="integer")}
    ),
    "preview before": Case(
        {
            V1: thing(a="string"),
            P2: thing(a="string", p="integer"),
            V2: thing(a="string", p="number"),
            V3: thing(a="string"),
        }
    ),
    "preview after": Case(
        {
            V1: thing(a="string"),
            V2: thing(a="string", c="string"),
            P3: thing(a="integer", p="integer"),
        }
    ),
    "previews only": Case(
        {
            P2: thing(a="string", x="string"),
            P3: thing(a="integer", y="string"),
            P4: thing(a="string", z="string"),
        }
    ),
    "preview renamed": Case(
        {
            V1: thing(a="string"),
            P2: thing(a="string", p="string"),
            V2: thing(a="string", q="string"),
            V3: thing(q="string"),
        },
        (rules(P2, rename={"p": "q"}),),
    ),
    "additional": Case(
        {
            V1: {"Thing": {"a": "string", "*": "string"}},
            V2: {"Thing": {"a": "string", "b": "integer", "*": "string"}},
            V3: {"Thing": {"a": "string"}},
        }
    ),
    "additional objects": Case(
        {
            V1: {"Thing": {"a": "string", "*": "Item"}, "Item": {"x": "string"}},
            V2: {"Thing": {"a": "string", "*": "Item"}, "Item": {"y": "string"}},
        }
    ),
    "additional free-form": Case(
        {
            V1: {"Thing": {"a": "string", "*": "any"}},
            V2: {"Thing": {"a": "string", "*": "string"}},
        }
    ),
    "additional, nested": items({"a": "string", "*": "integer"}, {"a": "string"}),
    "odd names": Case(
        {
            V1: thing(
                **dict.fromkeys(
                    (
                        "two words",
                        "hy-phen",
                        "class",
                        "name",
                        "Name",
                        "1st",
                        "_x",
                        "unknown",
                        "self",
                        "$ref",
                        "é",
                        "propertyBag",
                        "@odd",
                    ),
                    "string",
                )
            ),
            V2: thing(
                **dict.fromkeys(("two words", "class", "name"), "integer"),
                **dict.fromkeys(("hy-phen", "Name", "source", "read", "target", "base"), "string"),
            ),
        }
    ),
    "recursion": Case(
        {
            V1: thing(n="Node")
            | {"Node": {"v": "string", "kids": "[Node]", "next": "Node", "x": "string"}},
            V2: thing(n="Node")
            | {"Node": {"v": "string", "kids": "[Node]", "next": "Node", "y": "string"}},
        }
    ),
    "hook": Case(
        {V1: thing(first="string", last="string"), V2: thing(full="string")},
        (names_hook(V1, V2),),
    ),
    "hook, one way": Case(
        {V1: thing(a="string"), V2: thing(a="string", b="string")},
        (hooked(V1, V2, Louder, to=(("a",), ("b",))),),
    ),
    "hook in a list": Case(
        {
            V1: thing(l="[Item]")
            | {"Item": {"name": "string", "first": "string", "last": "string"}},
            V2: thing(l="[Item]") | {"Item": {"name": "string", "full": "string"}},
        },
        (names_hook(V1, V2, "Item"),),
    ),
    "hook, versions later": Case(
        {
            V1: thing(first="string", last="string"),
            V2: thing(full="string"),
            V3: thing(full="string", z="string"),
            V4: thing(legal="string"),
        },
        (names_hook(V1, V2), rules(V3, rename={"full": "legal"})),
    ),
    "converters": Case({V1: thing(a="string"), V2: thing(a="integer")}, (hooked(V1, V2, Lengths),)),
    "converter, one way": Case(
        {V1: thing(a="string"), V2: thing(a="integer")}, (hooked(V1, V2, LengthsUp),)
    ),
}

_TYPES = (
    *("string", "integer", "number", "boolean", "any", "[string]", "{string}", "L", "Item"),
    *("[Item]", "{Item}", "string?", "Item?", "[L]", "[number]", "[integer]"),
)


def invented(seed: int) -> Case:
    """Two to four versions of a small type, each a random change of the one before."""
    return _Inventing(random.Random(seed)).case()


class _Inventing:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.item = {"v": "string", "x": "integer"}
        if chance.random() < 0.5:
            self.item = {"name": "string", "x": chance.choice(["string", "integer"])}
        self.thing = {f"p{n}": chance.choice(_TYPES) for n in range(chance.randint(1, 3))}
        self.level = ["Red", "Blue"]

    def case(self) -> Case:
        versions: dict[str, Version] = {}
        changes: list[TypeChanges] = []
        previous = ""
        for date in (V1, V2, V3, V4)[: self.chance.randint(2, 4)]:
            if previous:
                renamed = self.step()
                if renamed:
                    changes.append(rules(previous, rename=renamed))
            previous = date + ("-preview" if self.chance.random() < 0.3 else "")
            versions[previous] = self.version()
        return Case(versions, tuple(changes))

    def version(self) -> Version:
        used = " ".join(self.thing.values())
        return {
            "Thing": dict(self.thing),
            **({"Item": dict(self.item)} if "Item" in used else {}),
            **({"L": list(self.level)} if "L" in used else {}),
        }

    def step(self) -> dict[str, str]:
        self.thing, renamed = self.changed(self.thing, _TYPES)
        self.item = self.changed(self.item, ("string", "integer", "number"))[0] or self.item
        if self.chance.random() < 0.2:
            self.level = self.chance.choice([["Red", "Blue"], ["red", "Green"]])
        return renamed

    def changed(
        self, properties: dict[str, str], types: tuple[str, ...]
    ) -> tuple[dict[str, str], dict[str, str]]:
        found: dict[str, str] = {}
        renamed: dict[str, str] = {}
        for name, type_ in properties.items():
            luck = self.chance.random()
            if luck < 0.5:
                found[name] = type_
            elif 0.65 <= luck < 0.85:
                found[name] = self.chance.choice(types)
            elif 0.85 <= luck < 0.93:
                other = f"r{self.chance.randint(0, 3)}"
                free = other not in found and other not in properties
                found[other if free else name] = type_
                renamed.update({name.rstrip("!"): other} if free else {})
            elif luck >= 0.93:
                found[name.rstrip("!") if name.endswith("!") else f"{name}!"] = type_
        if self.chance.random() < 0.4:
            added = f"p{self.chance.randint(0, 3)}"
            if added not in found and f"{added}!" not in found:
                found[added] = self.chance.choice(types)
        if len({name.rstrip("!") for name in found}) != len(found):
            return properties, {}
        return found, renamed
