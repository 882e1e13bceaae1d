"""Small evolutions in which properties move into nested objects, out of them, and between them."""

from typing import Any

from cases import P3, V1, V2, V3, Case, thing
from evolving import hooked, rules

from trundle.runtime import ABSENT

INNER = {"Inner": {"x": "string", "y": "string"}}


class Sizes:
    def assign_to(self, source: Any) -> dict[str, Any]:
        return {"r__l__max": ABSENT if source.s__size is ABSENT else source.s__size + 1}

    def assign_from(self, source: Any) -> dict[str, Any]:
        return {"s__size": source.r__l__max - 1}


MOVES: dict[str, Case] = {
    "by a hook": Case(
        {
            V1: thing(s="S") | {"S": {"size": "integer", "k": "string"}},
            V2: thing(r="R", s="S")
            | {"R": {"l": "L", "z": "string"}, "L": {"max": "integer"}, "S": {"k": "string"}},
        },
        (hooked(V1, V2, Sizes, to=(("s.size",), ("r.l.max",)), back=(("r.l.max",), ("s.size",))),),
    ),
    "into an object": Case(
        {V1: thing(a="string", b="integer"), V2: thing(o="O") | {"O": {"a": "string"}}},
        (rules(V1, move={"a": "o.a"}),),
    ),
    "several into one object": Case(
        {
            V1: thing(a="string", b="integer", o="O") | {"O": {"c": "string"}},
            V2: thing(o="O") | {"O": {"a": "string", "b": "integer", "c": "string"}},
        },
        (rules(V1, move={"a": "o.a", "b": "o.b"}),),
    ),
    "several into one object that both know more of": Case(
        {
            V1: thing(a="string", b="string", o="O") | {"O": {"x": "string"}},
            V2: thing(o="O") | {"O": {"a": "string", "b": "string", "y": "string"}},
        },
        (rules(V1, move={"a": "o.a", "b": "o.b"}),),
    ),
    "several out of an object that goes": Case(
        {
            V1: thing(o="O") | {"O": {"a": "string", "b": "[integer]"}},
            V2: thing(a="string", c="[integer]"),
        },
        (rules(V1, move={"o.a": "a", "o.b": "c"}),),
    ),
    "out of an object that stays": Case(
        {
            V1: thing(o="O") | {"O": {"a": "string", "x": "string", "k": "integer"}},
            V2: thing(a="string", o="O") | {"O": {"x": "string", "k": "string"}},
        },
        (rules(V1, move={"o.a": "a"}),),
    ),
    "places swapped": Case(
        {
            V1: thing(a="string", o="O") | {"O": {"b": "string", "c": "string"}},
            V2: thing(b="string", o="O") | {"O": {"a": "string", "c": "string"}},
        },
        (rules(V1, move={"a": "o.a", "o.b": "b"}),),
    ),
    "out of an object that becomes free-form data": Case(
        {
            V1: thing(o="O") | {"O": {"a": "string", "b": "string", "c": "[integer]"}},
            V2: thing(o="any", x="string", c="[integer]"),
        },
        (rules(V1, move={"o.a": "x", "o.c": "c"}),),
    ),
    "what is required out of an object that becomes free-form data": Case(
        {
            V1: thing(o="O") | {"O": {"a!": "string", "b": "string"}},
            V2: thing(o="any", x="integer"),
            V3: thing(o="any", x="integer", y="string"),
        },
        (rules(V1, move={"o.a": "x"}, convert={"o.a": "string-to-integer"}),),
    ),
    "into an object that was free-form data": Case(
        {
            V1: thing(o="any", x="string"),
            V2: thing(o="O") | {"O": {"a": "string", "b": "string"}},
            V3: thing(o="O") | {"O": {"a": "string", "b": "string", "d": "string"}},
        },
        (rules(V1, move={"x": "o.a"}),),
    ),
    "one name for two meanings": Case(
        {
            V1: thing(r="integer", v2="S") | {"S": {"r": "integer"}},
            V2: thing(r="integer", old="Old") | {"Old": {"v1": "S"}, "S": {"r": "integer"}},
        },
        (rules(V1, move={"r": "old.v1.r", "v2.r": "r"}),),
    ),
    "deep into what is there": Case(
        {
            V1: thing(m="integer", t="T") | {"T": {"x": "string", "s": "S"}, "S": {"y": "string"}},
            V2: thing(t="T")
            | {"T": {"x": "string", "s": "S"}, "S": {"y": "string", "m": "integer"}},
        },
        (rules(V1, move={"m": "t.s.m"}),),
    ),
    "deep from one object to others": Case(
        {
            V1: thing(s="S")
            | {"S": {"r": "R", "p": "string"}, "R": {"a": "integer", "b": "string"}},
            V2: thing(o="O", d="D")
            | {"O": {"q": "Q"}, "Q": {"a": "integer", "p": "string"}, "D": {"b": "string"}},
        },
        (rules(V1, move={"s.r.a": "o.q.a", "s.r.b": "d.b", "s.p": "o.q.p"}),),
    ),
    "with a conversion and with values": Case(
        {
            V1: thing(t="string", l="L") | {"L": ["Gold", "Silver"]},
            V2: thing(o="O") | {"O": {"seconds": "integer", "l": "M"}, "M": ["au", "ag"]},
        },
        (
            rules(
                V1,
                move={"t": "o.seconds", "l": "o.l"},
                convert={"t": "go-duration-to-seconds"},
                values={"l": {"Gold": "au", "Silver": "ag"}},
            ),
        ),
    ),
    "a conversion in its place": Case(
        {
            V1: thing(o="O") | {"O": {"t": "string", "x": "string"}},
            V2: thing(o="O") | {"O": {"t": "integer", "x": "string"}},
        },
        (rules(V1, convert={"o.t": "string-to-integer"}),),
    ),
    "objects and lists of objects": Case(
        {
            V1: thing(a="Inner", l="[Inner]") | INNER,
            V2: thing(o="O")
            | {"O": {"a": "Inner", "l": "[Inner]"}, "Inner": {"x": "string", "z": "string"}},
        },
        (rules(V1, move={"a": "o.a", "l": "o.l"}),),
    ),
    "an object, and out of it": Case(
        {
            V1: thing(s="S") | {"S": {"x": "string", "p": "string", "k": "integer"}},
            V2: thing(o="O", d="D")
            | {"O": {"s": "S"}, "S": {"x": "string", "k": "string"}, "D": {"p": "string"}},
        },
        (rules(V1, move={"s": "o.s", "s.p": "d.p"}),),
    ),
    "null is new with the object": Case(
        {
            V1: thing(a="string", o="O") | {"O": {"b": "string"}},
            V2: thing(o="O?") | {"O": {"a": "string", "b": "string"}},
        },
        (rules(V1, move={"a": "o.a"}),),
    ),
    "null is new in an object that is new": Case(
        {
            V1: thing(a="string"),
            V2: thing(o="O") | {"O": {"a": "string", "b": "string"}},
            V3: thing(o="O?") | {"O": {"a": "string", "b": "string"}},
        },
        (rules(V1, move={"a": "o.a"}),),
    ),
    "null is new before the move": Case(
        {
            V1: thing(a="string", o="O") | {"O": {"b": "string", "h": "string"}},
            V2: thing(a="string", o="O?") | {"O": {"b": "string"}},
            V3: thing(o="O?") | {"O": {"a": "string", "b": "string"}},
        },
        (rules(V2, move={"a": "o.a"}),),
    ),
    "nullable": Case(
        {
            V1: thing(a="string?", o="O?") | {"O": {"b": "string"}},
            V2: thing(o="O?") | {"O": {"a": "string", "b": "string?"}},
        },
        (rules(V1, move={"a": "o.a"}),),
    ),
    "required": Case(
        {
            V1: {"Thing": {"a!": "string", "o": "O"}, "O": {"b!": "string"}},
            V2: {"Thing": {"o!": "O"}, "O": {"a!": "string", "b": "string", "c!": "integer"}},
        },
        (rules(V1, move={"a": "o.a"}),),
    ),
    "a move, then a rename": Case(
        {
            V1: thing(a="string"),
            V2: thing(o="O") | {"O": {"a": "string", "c": "string"}},
            V3: thing(p="O") | {"O": {"b": "string", "d": "string"}},
        },
        (
            rules(V1, move={"a": "o.a"}),
            rules(V2, rename={"o": "p"}),
            rules(V2, "O", rename={"a": "b"}),
        ),
    ),
    "in and out again": Case(
        {
            V1: thing(a="string"),
            V2: thing(o="O") | {"O": {"a": "string", "c": "string"}},
            V3: thing(a="string", o="O") | {"O": {"c": "string"}},
        },
        (rules(V1, move={"a": "o.a"}), rules(V2, move={"o.a": "a"})),
    ),
    "of another type before": Case(
        {
            V1: thing(o="O") | {"O": {"a": "integer", "c": "string"}},
            V2: thing(o="O") | {"O": {"a": "string", "c": "string"}},
            V3: thing(a="string", o="O") | {"O": {"c": "string"}},
        },
        (rules(V2, move={"o.a": "a"}),),
    ),
    "gone after the move": Case(
        {
            V1: thing(a="string", o="O") | {"O": {"c": "string"}},
            V2: thing(o="O") | {"O": {"a": "string", "c": "string"}},
            V3: thing(b="string"),
        },
        (rules(V1, move={"a": "o.a"}),),
    ),
    "what one side lacks stands in the same object": Case(
        {
            V1: thing(a="string"),
            V2: thing(a="string", b="[integer]"),
            V3: thing(o="O") | {"O": {"p": "P"}, "P": {"a": "string", "b": "[integer]"}},
        },
        (rules(V2, move={"a": "o.p.a", "b": "o.p.b"}),),
    ),
    "over a gap": Case(
        {
            V1: thing(a="string", n="string"),
            V2: thing(n="string"),
            V3: thing(o="O", n="string") | {"O": {"a": "string", "c": "string"}},
        },
        (rules(V1, move={"a": "o.a"}),),
    ),
    "a preview moves": Case(
        {
            V1: thing(a="string", o="O") | {"O": {"c": "string"}},
            V2: thing(a="string", o="O") | {"O": {"c": "string"}},
            P3: thing(o="O") | {"O": {"a": "string", "c": "string", "d": "string"}},
        },
        (rules(V2, move={"a": "o.a"}),),
    ),
    "then on, by a rule of the object": Case(
        {
            V1: thing(a="string", b="string"),
            V2: thing(o="O", b="string") | {"O": {"a": "string", "z": "string"}},
            V3: thing(o="O", b="string")
            | {"O": {"i": "I", "z": "string"}, "I": {"n": "integer", "w": "string"}},
        },
        (
            rules(V1, move={"a": "o.a"}),
            rules(V2, "O", move={"a": "i.n"}, convert={"a": "string-to-integer"}),
        ),
    ),
    "first by a rule of the object": Case(
        {
            V1: thing(o="O") | {"O": {"a": "string", "q": "string"}},
            V2: thing(o="O") | {"O": {"i": "I", "q": "string"}, "I": {"c": "string"}},
            V3: thing(a="string", o="O") | {"O": {"i": "I", "q": "string"}, "I": {"y": "string"}},
        },
        (rules(V1, "O", move={"a": "i.c"}), rules(V2, move={"o.i.c": "a"})),
    ),
    "with an object that a later rule takes apart": Case(
        {
            V1: thing(r="R", s="string") | {"R": {"a": "string", "k": "string"}},
            V2: thing(t="T", s="string") | {"T": {"r": "R"}, "R": {"a": "string", "k": "string"}},
            V3: thing(t="T", s="string") | {"T": {"u": "U"}, "U": {"g": "string", "k": "string"}},
        },
        (
            rules(V1, move={"r": "t.r"}),
            rules(V2, move={"t.r.a": "t.u.g", "t.r.k": "t.u.k"}),
        ),
    ),
    "with an object that a rule of its holder takes apart": Case(
        {
            V1: thing(r="R", s="string") | {"R": {"a": "string", "k": "string"}},
            V2: thing(t="T", s="string") | {"T": {"r": "R"}, "R": {"a": "string", "k": "string"}},
            V3: thing(t="T", s="string") | {"T": {"u": "U"}, "U": {"g": "string", "k": "string"}},
        },
        (
            rules(V1, move={"r": "t.r"}),
            rules(V2, "T", move={"r.a": "u.g", "r.k": "u.k"}),
        ),
    ),
    "into an object in an object": Case(
        {
            V1: thing(s="integer", r="R") | {"R": {"l": "L"}, "L": {"z": "string"}},
            V2: thing(r="R")
            | {"R": {"b": "string", "l": "L"}, "L": {"m": "integer", "z": "string"}},
        },
        (rules(V1, move={"s": "r.l.m"}),),
    ),
    "a preview hides something": Case(
        {
            V1: thing(a="string", o="O") | {"O": {"c": "string"}},
            V2: thing(o="O") | {"O": {"a": "string", "c": "string"}},
            P3: thing(o="O") | {"O": {"a": "string", "c": "string", "d": "string"}},
        },
        (rules(V1, move={"a": "o.a"}),),
    ),
}
"""What moves, by name."""
