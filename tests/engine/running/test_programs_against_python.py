"""Random programs of loops, conditions and assignments: what they return equals what the same program returns as Python."""

import json
import textwrap

import pytest
from amounts import amount
from engines import package
from hypothesis import given, settings
from hypothesis import strategies as st

from trundle.engine import Engine

NAMES = ("a", "b", "c")


@st.composite
def values(draw, depth=2):
    """A number, as an expression of the package language and as one of Python."""
    kind = draw(st.integers(0, 5 if depth else 1))
    if kind == 0:
        number = draw(st.integers(0, 9))
        return str(number), str(number)
    if kind == 1:
        name = draw(st.sampled_from(NAMES))
        return f"${name}", name
    (ours, theirs), (more, others) = draw(values(depth - 1)), draw(values(depth - 1))
    operator = draw(st.sampled_from(["+", "-", "*"]))
    return f"({ours} {operator} {more})", f"wrap({theirs} {operator} {others})"


@st.composite
def conditions(draw):
    (ours, theirs), (more, others) = draw(values(1)), draw(values(1))
    operator, python = draw(st.sampled_from([("<", "<"), ("=", "=="), ("!=", "!="), (">=", ">=")]))
    return f"{ours} {operator} {more}", f"{theirs} {python} {others}"


@st.composite
def statements(draw, depth, *, is_in_loop=False):
    """A statement as a part of a class file, and as lines of Python."""
    kinds = ["set", "set", "key"]
    if is_in_loop:
        kinds += ["break", "continue"]
    if depth:
        kinds += ["if", "for", "repeat", "while", "match", "switch", "return", "try"]
    kind = draw(st.sampled_from(kinds))

    def block(*, is_in_loop=is_in_loop):
        made = draw(st.lists(statements(depth - 1, is_in_loop=is_in_loop), min_size=1, max_size=3))
        python = "\n".join(each for _, each in made)
        return [each for each, _ in made], textwrap.indent(python, "    ")

    if kind in ("set", "return"):
        ours, theirs = draw(values())
        if kind == "return":
            condition, python = draw(conditions())
            return (
                {"If": f"!{condition}", "Then": [{"Return": f"!{ours}"}]},
                f"if {python}:\n    return wrap({theirs}), m",
            )
        name = draw(st.sampled_from(NAMES))
        return {f"!${name}": f"!{ours} mod 1000"}, f"{name} = ({theirs}) % 1000"
    if kind == "key":
        ours, theirs = draw(values(1))
        key, inner = draw(st.sampled_from("xyz")), draw(st.sampled_from("pq"))
        return (
            {f"!$m.{key}.{inner}": f"!{ours}"},
            f"m = {{**m, {key!r}: {{**m.get({key!r}, {{}}), {inner!r}: wrap({theirs})}}}}",
        )
    if kind in ("break", "continue"):
        condition, python = draw(conditions())
        return (
            {"If": f"!{condition}", "Then": [{kind.capitalize(): None}]},
            f"if {python}:\n    {kind}",
        )
    if kind == "if":
        condition, python = draw(conditions())
        (then, ours), (otherwise, theirs) = block(), block()
        return (
            {"If": f"!{condition}", "Then": then, "Else": otherwise},
            f"if {python}:\n{ours}\nelse:\n{theirs}",
        )
    if kind == "for":
        name, items = draw(st.sampled_from(NAMES)), draw(st.lists(st.integers(0, 9), max_size=3))
        inner, python = block(is_in_loop=True)
        return {"For": name, "In": items, "Do": inner}, f"for {name} in {items}:\n{python}"
    if kind == "repeat":
        count = draw(st.integers(0, 3))
        inner, python = block(is_in_loop=True)
        return {"Repeat": count, "Do": inner}, f"for _ in range({count}):\n{python}"
    if kind == "while":
        limit, n = draw(st.integers(1, 4)), f"n{depth}"
        inner, python = block(is_in_loop=True)
        return (
            {
                "Do": [
                    {f"!${n}": 0},
                    {"While": f"!${n} < {limit}", "Do": [{f"!${n}": f"!${n} + 1"}, *inner]},
                ]
            },
            f"{n} = 0\nwhile {n} < {limit}:\n    {n} = {n} + 1\n{python}",
        )
    if kind == "match":
        ours, theirs = draw(values(1))
        (one, first), (two, second), (other, third) = block(), block(), block()
        return (
            {"Match": {0: one, 1: two}, "Value": f"!{ours} mod 3", "Default": other},
            f"v = wrap({theirs}) % 3\nif v == 0:\n{first}\nelif v == 1:\n{second}\nelse:\n{third}",
        )
    if kind == "switch":
        (one, python), (two, theirs) = draw(conditions()), draw(conditions())
        met = f"met{depth}"
        (first, ours), (second, others), (default, third) = block(), block(), block()
        return (
            {"Switch": {f"!{one}": first, f"!({two}) and true": second}, "Default": default},
            (
                f"{met} = False\nif {python}:\n    {met} = True\n{ours}\nif {theirs}:\n    {met} = True\n{others}\n"
                f"if not {met}:\n{third}"
            ),
        )
    (body, ours), (caught, theirs), (last, finally_) = block(), block(), block(is_in_loop=False)
    condition, python = draw(conditions())
    thrown = {"If": f"!{condition}", "Then": [{"Throw": "Bad"}]}
    return (
        {"Try": [*body, thrown], "Catch": {"With": "Bad", "Do": caught}, "Finally": last},
        f"try:\n{ours}\n    if {python}:\n        raise Bad\nexcept Bad:\n{theirs}\nfinally:\n{finally_}",
    )


def text_of(part, indent=0):
    """A part of a class file as YAML; texts that start with `!` are expressions."""
    pad = "  " * indent
    if isinstance(part, list):
        lines = [f"{pad}- {text_of(each, indent + 1).lstrip()}" for each in part]
        return "\n".join(lines) if lines else f"{pad}[]"
    if isinstance(part, dict):
        return "\n".join(_entry(key, value, indent) for key, value in part.items())
    if isinstance(part, str) and part.startswith("!"):
        return f"{pad}!yaql {json.dumps(part[1:])}"
    return f"{pad}{json.dumps(part)}"


def _entry(key, value, indent):
    pad = "  " * indent
    is_plain = not isinstance(key, str) or not key.startswith("!")
    name = str(key) if is_plain else f"!yaql {json.dumps(key[1:])}"
    shown = f"? {name}\n{pad}" if not is_plain else name
    if isinstance(value, list | dict) and value:
        return f"{pad}{shown}:\n{text_of(value, indent + 1)}"
    return f"{pad}{shown}: {text_of(value).strip()}"


def wrap(number):
    return number


class BadError(Exception):
    pass


@pytest.mark.full
@settings(max_examples=amount(150))
@given(
    program=st.lists(statements(3), min_size=1, max_size=5),
    start=st.tuples(*[st.integers(0, 9)] * 3),
)
def test_a_program_does_what_the_same_program_does_in_python(program, start):
    ours = [each for each, _ in program]
    body = [*ours, {"Return": ["!$a", "!$b", "!$c", "!$m"]}]
    python = textwrap.indent("\n".join(each for _, each in program), "    ")
    space = {"wrap": wrap, "Bad": BadError}
    source = f"def run(a, b, c, m):\n{python}\n    return [a, b, c, m]"
    exec(source, space)
    expected = space["run"](*start, {})
    arguments = ", ".join(f"{name}: {{Contract: $.int()}}" for name in NAMES)
    text = (
        f"Methods:\n  run:\n    Scope: Public\n    Arguments: {{{arguments}, m: {{Contract: {{}}}}}}\n"
        f"    Body:\n{text_of(body, 3)}\n"
    )
    with Engine([package("app", Format=1.4, classes={"a.App": text})]).session() as session:
        root = session.load({"?": {"type": "a.App"}})
        found = session.call(root, "run", [*start, {}])
    assert found == (expected[0] if isinstance(expected, tuple) else expected)
