"""Documentation that breaks naive quoting is still only documentation, wherever a schema has it."""

import ast
import inspect
from typing import Any

import pytest
from amounts import some_of
from people import TEXT, known
from projects import Installation, Installer
from proving import prove

LINE_SEPARATORS = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"
TEXTS = {
    "three quotes": 'Say """hello""" to """',
    "single quotes": "It's '''quoted'''",
    "a quote at the end": 'the so-called "hub"',
    "quotes alone": '""""',
    "a backslash at the end": "C:\\",
    "escapes": r"\n \t \x00 \u2028 \N{BULLET} \d+ \\server\share",
    "a backslash before quotes": '\\"""',
    "control characters": "a\x00b\x07c\x1b[31md\x7f",
    "line separators": LINE_SEPARATORS.join("abcdefghi"),
    "line ends": "one\r\ntwo\rthree\n\n\nfour\n",
    "a long line": "word " * 400,
    "a long word": "https://example.com/" + "x" * 3000,
    "restructured text": ":param x: `y` *z*\n\n.. code-block:: python\n\n    import os; os.system('x')\n",
    "markdown": "# Title\n\n- *a*\n- [b](c)\n\n```python\nraise SystemExit\n```\n\n| a | b |\n|---|---|\n",
    "html": "<p>a &amp; b</p><script>alert(1)</script>",
    "code": "\n\nimport sys\nsys.exit(1)\n",
    "braces and per cents": "{x} {{y}} {0!r} %s %(a)s ${HOME} $VAR f'{1}'",
    "headings of our own": "Attributes:\n    x: y\n\nRaises:\n    Z: a",
    "other scripts": "日本語 \u202eright to left\u202c e\u0301 👩‍👩‍👧 \ufeff",
    "spaces": "   \t  ",
    "a number sign": "# type: ignore  # noqa",
}


def schema(text: str, *more: str) -> dict[str, Any]:
    """A resource that is documented by a text wherever that is possible."""
    doc = {"description": text, "title": text}
    level = {"type": "string", "enum": ["Gold", "Silver"], **doc}
    item = {"type": "object", "properties": {key: {**TEXT, **doc} for key in ("x", *more)}, **doc}
    shapes = {
        name: {
            "type": "object",
            "required": ["kind"],
            "properties": {"kind": {"const": name.lower(), **doc}},
            **doc,
        }
        for name in ("Round", "Square")
    }
    union = {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in shapes], **doc}
    return {
        "title": "Person",
        "type": "object",
        "description": text,
        "properties": {
            "name": {**TEXT, **doc},
            "level": {"$ref": "#/$defs/Level"},
            "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}, **doc},
            "shape": union,
            "map": {"type": "object", "additionalProperties": {**TEXT, **doc}, **doc},
        },
        "$defs": {"Level": level, "Item": item, **shapes},
    }


def docs(installed: Installation, version: str) -> str:
    """All documentation of the classes of a version, in one row of words."""
    module = installed.module(version)
    found = (inspect.getdoc(getattr(module, name)) or "" for name in ("Person", "Item", "Level"))
    return " ".join(" ".join(found).split())


@pytest.mark.parametrize("name", some_of(TEXTS, 3))
def test_odd_documentation_changes_nothing(install: Installer, name: str) -> None:
    text = TEXTS[name]
    plain = install({"v1.json": schema("plain"), "v2.json": schema("plain", "y")})
    odd = install({"v1.json": schema(text), "v2.json": schema(text, "y")})
    document = known(
        "v1", level="Gold", items=[{"x": "1"}], shape={"kind": "round"}, map={"a": "b"}
    )
    for each in (plain, odd):
        assert each.convert(document, "v2") == {**document, "apiVersion": "v2"}
        assert each.read(each.put(document), "v1") == document
    for file in (odd.project.folder / odd.scheme.package).rglob("*.py"):
        source = file.read_bytes()
        ast.parse(source)
        assert not any(letter in source.decode() for letter in f"\x00\x07\x1b\r{LINE_SEPARATORS}")
        twin = (
            plain.project.folder
            / plain.scheme.package
            / file.relative_to(odd.project.folder / odd.scheme.package)
        )
        assert code(source, odd) == code(twin.read_bytes(), plain)


def code(source: bytes, installed: Installation) -> str:
    """A module without its documentation, and whatever the package is called."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(body=[ast.Expr(ast.Constant(str())) | ast.Pass(), *rest]):
                node.body = rest
            case _:
                pass
    return ast.dump(tree).replace(installed.scheme.package, "package")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("three quotes", 'Say """hello""" to """'),
        ("a quote at the end", 'the so-called "hub"'),
        ("a backslash at the end", "C:\\"),
        ("escapes", r"\n \t \x00 \u2028 \N{BULLET} \d+ \\server\share"),
        ("line separators", "a b c d e f g h i"),
        ("line ends", "one two three four"),
        ("code", "import sys sys.exit(1)"),
        ("other scripts", "日本語"),
    ],
)
def test_odd_documentation_is_still_there(install: Installer, name: str, words: str) -> None:
    installed = install({"v1.json": schema(TEXTS[name])})
    assert docs(installed, "v1").count(words) >= 3


def test_odd_documentation_keeps_the_laws(install: Installer) -> None:
    text = "\n\n".join(TEXTS.values())
    installed = install({"v1.json": schema(text), "v2.json": schema(text[::-1], "y")})
    prove(installed.scheme, "Person")


def test_documentation_that_changes_alone_is_no_other_type(install: Installer) -> None:
    installed = install({"v1.json": schema("one"), "v2.json": schema("two")})
    assert installed.module("v1").Item is not None
    document = known("v1", items=[{"x": "1"}])
    assert installed.kept(document) == {**document, "apiVersion": "v2", "$writtenWith": "v1"}
