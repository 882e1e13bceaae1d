"""Packages that an earlier Trundle generated still run: one of each interface that this runtime runs.

A new interface gets a file of its own in `interfaces`: what `generate_package(made(), package="made")` gives, as
JSON. A file goes when `OLDEST` rises above it, and is never written anew.
"""

import json
from pathlib import Path

import pytest
from evolving import evolution, rules, thing

from trundle.codegen import generate_package
from trundle.runtime import INTERFACE, OLDEST
from trundle.verify._hops import forget_packages, imported

FILES = Path(__file__).parent / "interfaces"


def made():
    """What the packages are generated from: values that the bag keeps, unions, lists, rules, a move."""
    shapes = {
        "Circle": {"kind!": "IsCircle", "radius": "integer"},
        "Square": {"kind!": "IsSquare", "side": "integer"},
        "IsCircle": ["circle"],
        "IsSquare": ["square"],
        "Mode": ["On", "Off"],
    }
    older = {"name": "string", "mode": "Mode", "gone": "string", "parts": "[Part;x]", "a": "string"}
    newer = {
        "title": "string",
        "mode": "string",
        "parts": "[Part;x]",
        "shape": "Circle|Square",
        "in": "In",
    }
    return evolution(
        {
            "v1": {
                **shapes,
                "Thing": {**older, "shape": "Circle"},
                "Part": {"x": "string", "y": "string"},
            },
            "v2": {**shapes, "Thing": newer, "Part": {"x": "string"}, "In": {"a": "string"}},
        },
        rules(
            "v1", rename={"name": "title"}, move={"a": "in.a"}, values={"mode": {"On": "enabled"}}
        ),
    )


@pytest.mark.parametrize("interface", range(OLDEST, INTERFACE + 1))
def test_a_package_of_an_interface_that_is_still_run_keeps_its_word(interface):
    files = json.loads((FILES / f"interface_{interface}.json").read_text(encoding="utf-8"))
    package = f"made_for_{interface}"
    try:
        scheme = imported(package, {path: text.encode() for path, text in files.items()})
        document = thing(
            "v1",
            name="n",
            mode="On",
            gone="g",
            a="x",
            parts=[{"x": "1", "y": "2"}],
            shape={"kind": "circle", "radius": 1},
        )
        stored = scheme.convert(document)
        assert scheme.convert(stored, "v1") == document
        newer = scheme.convert(stored, "v2")
        assert (newer["title"], newer["mode"], newer["in"]) == ("n", "enabled", {"a": "x"})
        edited = scheme.convert(
            {**newer, "title": "other", "shape": {"kind": "square", "side": 2}}, base=stored
        )
        back = scheme.convert(edited, "v1")
        assert (back["name"], back["gone"], back["parts"]) == ("other", "g", document["parts"])
        assert scheme.convert(document, "v2") == newer
    finally:
        forget_packages({package})


def test_the_newest_interface_is_that_of_what_is_generated():
    text = generate_package(made(), package="made")["__init__.py"].decode()
    assert f"interface={INTERFACE}," in text
    assert (FILES / f"interface_{INTERFACE}.json").exists()
