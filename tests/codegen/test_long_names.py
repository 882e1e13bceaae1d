"""What schemas give long names has shorter ones in generated code, which depend on nothing else."""

import ast

import pytest
from evolving import Store, evolution, forget, hooked, load
from strictness import mypy

from trundle.codegen import attribute_names, class_name, generate_package, generate_tests
from trundle.evolution import LONGEST, fitting

V1, V2 = "2020-01-01", "2021-01-01"
DEEP = "ClusterPropertiesNetworkProfileLoadBalancerOutboundConfiguration"
SIZE = f"{DEEP[0].lower()}{DEEP[1:]}Size"


class Hook:
    def assign_to(self, source):
        return {"s": source.mode}

    def assign_from(self, source):
        return {"mode": source.s}


HOOKS = """
from typing import Any

class Hook:
    def assign_to(self, source: Any) -> Any: ...
    def assign_from(self, source: Any) -> Any: ...
"""


def version(size, inner, mode, held="string", **more):
    """Types, properties, enum texts and variants that differ behind their first sixty characters alone, or before their last."""
    return {
        "Thing": {
            "one": f"{DEEP}Settings",
            "two": f"[{DEEP}Options]",
            "all": "{" + DEEP + "Options}",
            "u": f"{DEEP}A|{DEEP}B",
            SIZE: "string",
            "held": held,
        },
        f"{DEEP}Settings": {
            SIZE: size,
            f"{DEEP}Count": "integer",
            mode: f"{DEEP}Mode",
            "n": f"{DEEP}{inner}",
        },
        f"{DEEP}{inner}": {"x": size, "o": f"{DEEP}Options", f"More{DEEP}": f"More{DEEP}"},
        f"More{DEEP}": {"x": "string"},
        f"{DEEP}Options": {"size": size, DEEP.lower(): "string", DEEP.upper(): "string"},
        f"{DEEP}A": {"kind!": "KA", "x": size},
        f"{DEEP}B": {"kind!": "KB", "x": size},
        "KA": ["a"],
        "KB": ["b"],
        f"{DEEP}Mode": ["a" * 80, "A" * 80, f"b{'a' * 80}"],
        **more,
    }


def long_names(hook=Hook, **more):
    return evolution(
        {
            V1: version("string", "Older", "mode", **more),
            V2: version("integer", "Newer", "s", **more),
        },
        hooked(V1, V2, hook, f"{DEEP}Settings", to=(("mode",), ("s",)), back=(("s",), ("mode",))),
    )


def identifiers(text):
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.keyword(arg=str(name)):
                yield name
            case ast.alias(name=name, asname=alias):
                yield alias or name.rpartition(".")[2]


def names_of(files):
    return {
        name for path, data in files.items() if path.endswith(".py") for name in identifiers(data)
    }


def test_no_identifier_is_longer_than_a_reader_takes_in():
    made = long_names()
    for files in (generate_package(made, package="made"), generate_tests(made, package="made")):
        assert [name for name in names_of(files) if len(name) > LONGEST] == []


@pytest.mark.full
def test_a_type_that_is_added_renames_no_other():
    more = {f"{DEEP}Added": {"x": "string"}, f"{DEEP}Setting": {"x": "string"}}
    holder = {"Holder": {"a": f"{DEEP}Added", "b": f"{DEEP}Setting"}}
    before = names_of(generate_package(long_names(), package="made"))
    grown = long_names(**more, **holder, held="Holder")
    assert before <= names_of(generate_package(grown, package="made"))


@pytest.mark.full
def test_code_with_shortened_names_is_strictly_typed_and_converts(tmp_path):
    made = long_names()
    for path, data in generate_package(made, package="made").items():
        target = tmp_path / "made" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    module = next(each for each in made.hooks).reference.use.partition(":")[0]
    (tmp_path / f"{module}.py").write_text(HOOKS)
    done = mypy(tmp_path, "-p", "made")
    assert done.returncode == 0, done.stdout + done.stderr
    scheme = load(made)
    properties = {
        "one": {SIZE: "1", f"{DEEP}Count": 2, "mode": "a" * 80, "n": {"x": "3"}},
        "two": [{"size": "1", DEEP.lower(): "l", DEEP.upper(): "U"}],
        "u": {"kind": "b", "x": "1"},
        SIZE: "s",
    }
    store = Store(scheme).put(V1, **properties)
    assert store.read(V1) == properties
    newer = store.read(V2)
    assert newer["one"] == {f"{DEEP}Count": 2, "s": "a" * 80}
    assert newer["two"] == [{DEEP.lower(): "l", DEEP.upper(): "U"}]
    assert newer[SIZE] == "s"
    forget(scheme)


@pytest.mark.parametrize("limit", [20, 48, 60])
@pytest.mark.parametrize(
    "name", [DEEP, DEEP.lower(), DEEP.upper(), f"a_{'1_' * 40}", "_" * 70, SIZE]
)
def test_a_name_that_is_too_long_is_a_shorter_identifier(name, limit):
    found = fitting(name, limit)
    assert len(found) <= limit
    assert found.isidentifier()
    assert fitting(found, limit) == found
    assert fitting(f"{name}x", limit) != found != fitting(f"x{name}", limit)


def test_a_name_that_is_not_too_long_stays():
    assert fitting("a" * 60, 60) == "a" * 60
    assert class_name(f"{'Abc' * 18}") == "Abc" * 18
    assert attribute_names(["a" * 56]) == {"a" * 56: "a" * 56}


@pytest.mark.full
def test_a_converter_between_types_with_long_names_has_a_short_one():
    names = names_of(generate_package(long_names(), package="made"))
    up, down = sorted(
        (each for each in names if each.startswith("convert_") and "newer" in each),
        key=lambda each: each.index("newer"),
        reverse=True,
    )

    class Converts(Hook):
        pass

    setattr(Converts, up, lambda self, value: {"x": int(value.x)})
    setattr(Converts, down, lambda self, value: {"x": str(value.x)})
    scheme = load(long_names(Converts))
    store = Store(scheme).put(V1, one={"n": {"x": "3"}})
    assert store.read(V2) == {"one": {"n": {"x": 3}}}
    assert store.edit(V2, one={"n": {"x": 4}}).read(V1) == {"one": {"n": {"x": "4"}}}
    forget(scheme)
