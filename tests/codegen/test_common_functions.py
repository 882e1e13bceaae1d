import importlib
import re

import pytest
from evolving import evolution, evolve, thing

from trundle.codegen import generate_package

THING = {"name": "string", "part": "Part"}
FOUR = {
    "v1": {"Thing": THING, "Part": {"a": "string"}},
    "v2": {"Thing": THING, "Part": {"a": "string"}},
    "v3": {"Thing": THING, "Part": {"a": "string"}},
    "v4": {"Thing": {**THING, "more": "string"}, "Part": {"a": "string", "b": "string"}},
}
"""Versions of which three have one resource that only goes along."""


def conversions(versions):
    """The source of all conversions between some versions."""
    files = generate_package(evolution(versions), package="made")
    return {path: data.decode() for path, data in files.items() if path.startswith("conversions/")}


@pytest.mark.full
def test_versions_that_differ_in_nothing_but_themselves_have_one_function():
    text = "".join(conversions(FOUR).values())
    for name, first in (("thing_to_storage", "version"), ("thing_from_storage", "made")):
        signatures = re.findall(rf"^def {name}(?:_\d)?\(\n?\s*(\w+)", text, re.MULTILINE)
        assert sorted(signatures) == sorted([first, "source"])
    assert "source: v1.Thing | v2.Thing | v3.Thing)" in text
    assert "written_with=version" in text


def test_a_function_for_several_versions_makes_what_each_of_them_wants():
    scheme = evolve(FOUR)
    document = {"name": "n", "part": {"a": "x"}}
    for version in FOUR:
        stored = scheme.to_storage(thing(version, **document))
        assert (stored.api_version, stored.written_with) == ("v4", version)
        for other in FOUR:
            module = importlib.import_module(f"{scheme.package}.{other}")
            assert type(scheme.from_storage(stored, other)) is module.Thing
            assert scheme.convert(thing(version, **document), other) == thing(other, **document)


@pytest.mark.parametrize("strict", [False, True])
def test_documents_go_straight_by_a_function_for_several_versions(strict):
    scheme = evolve(FOUR)
    for source in ("v1", "v2", "v3"):
        for target in ("v1", "v2", "v3", "v4"):
            data = f'{{"apiVersion":"{source}","kind":"Thing","name":"n","part":{{"a":"x"}}}}'
            made = scheme.convert_json(data.encode(), target, strict=strict)
            assert made == data.replace(source, target, 1).encode()


def test_a_text_that_only_looks_like_the_version_is_not_taken_for_it():
    same = {"made": "string", "version": "string", "free!": ("any", {"v2": "v2"})}
    versions = {"v1": {"Thing": same}, "v2": {"Thing": same}, "v3": {"Thing": {"x": "string"}}}
    assert "def thing_to_other(made: " in "".join(conversions(versions).values())
    scheme = evolve(versions)
    document = {**thing("v3"), "x": "v2"}
    for version in ("v1", "v2"):
        assert scheme.convert(document, version) == {**thing(version), "free": {"v2": "v2"}}
        there = {**thing(version), "made": "v2", "version": "v1", "free": "v2"}
        assert scheme.convert(scheme.convert(there), version) == there
