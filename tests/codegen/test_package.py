import importlib
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from evolving import evolution, evolve, hooked, load, rules, thing
from strictness import mypy

from trundle.codegen import generate_package
from trundle.codegen._classes import MODULE_LIMIT
from trundle.codegen._helpers import LINE_LIMIT
from trundle.codegen._hooks import PLACE_LIMIT

V1 = {
    "Thing": {
        "name!": "string",
        "old": "string",
        "fullName": "string",
        "size": "string",
        "mode": "Mode",
        "tag": "string",
        "street": "string",
        "count": "integer",
        "in": "In",
        "many": "[In;x]",
        "by": "{In}",
        "shape": "Circle|Square",
        "either": "string|integer|[string]",
        "free": "any",
        "null": "string?",
        "tree": "Node",
        "odd name": "string",
        "odd-name": "string",
        "class": "string",
        "type": "string",
        "list": "[string]",
        "self": "string",
        "read": "string",
        "source": "string",
    },
    "In": {"x!": "string", "y": "integer", "*": "string"},
    "Circle": {"kind!": "CircleKind", "radius!": "integer"},
    "Square": {"kind!": "SquareKind", "side": "In"},
    "CircleKind": ["circle"],
    "SquareKind": ["square"],
    "Mode": ["on", "off", "", "class", "1st", "on-off", "onOff"],
    "Level": [1, 2],
    "Node": {"nodes": "[Node]", "by": "{Node}", "next": "Node?", "in": "In", "level": "Level"},
    "Same": {"a": "string", "same": "Same"},
}
V1["Thing"]["same"] = "Same"
V2 = {
    **V1,
    "Thing": {
        **{
            name: type_
            for name, type_ in V1["Thing"].items()
            if name not in {"old", "fullName", "tag", "street"}
        },
        "size": "integer",
        "mode": "string",
        "tags": "[string]",
        "first": "string",
        "last": "string",
        "count": "number",
        "address": "Address",
        "required!": "string",
    },
    "In": {"x!": "string", "z": "integer", "*": "string"},
    "Address": {"street": "string"},
    "Node": {**V1["Node"], "leaf": "string"},
}
TRIED = {**V2, "Thing": {**V2["Thing"], "trial": "string"}}
V3 = {**V2, "Thing": {**V2["Thing"], "old": "string", "shape": "Circle"}}


class Names:
    def assign_to(self, source):
        first, _, last = source.full_name.partition(" ")
        return {"first": first, "last": last}

    def assign_from(self, source):
        return {"full_name": f"{source.first} {source.last}"}


def everything():
    return evolution(
        {"v1": V1, "v2alpha1": TRIED, "v2": V2, "v3": V3},
        rules(
            "v1",
            values={"mode": {"on": "enabled"}},
            convert={"size": "string-to-integer"},
            wrap={"tag": "tags"},
            move={"street": "address.street"},
        ),
        rules("v1", "In", rename={"y": "z"}),
        hooked(
            "v1",
            "v2",
            Names,
            to=(("fullName",), ("first", "last")),
            back=(("first", "last"), ("fullName",)),
        ),
    )


def written(files, folder, package="made"):
    for path, data in files.items():
        target = folder / package / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder / package


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """A package with every feature, its hooks in a module beside it."""
    folder = tmp_path_factory.mktemp("everything")
    made = everything()
    files = generate_package(made, package="made", horizon=2)
    module = made.hooks[0].reference.use.partition(":")[0]
    written(files, folder)
    (folder / f"{module}.py").write_text(HAND_WRITTEN)
    return folder


HAND_WRITTEN = """
from made.hooks.v1_to_v2 import ThingNewer, ThingNewerOutputs, ThingOlder, ThingOlderOutputs
from trundle.runtime import ABSENT, hook


class Names:
    @hook(reads=("full_name",), writes=("first", "last"))
    def assign_to(self, source: ThingOlder) -> ThingNewerOutputs:
        if source.full_name is ABSENT:
            return {}
        first, _, last = source.full_name.partition(" ")
        return {"first": first, "last": last}

    @hook(reads=("first", "last"), writes=("full_name",))
    def assign_from(self, source: ThingNewer) -> ThingOlderOutputs:
        return {"full_name": f"{source.first} {source.last}"}
"""


def run(*arguments, cwd):
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )


@pytest.mark.full
def test_generating_twice_gives_the_same_files():
    one, other = (generate_package(everything_once(), package="made") for _ in range(2))
    assert one == other
    assert list(one) == sorted(one)


def everything_once():
    return evolution({"v1": V1, "v2": V2, "v3": V3})


def test_every_file_says_that_it_is_generated():
    for path, data in generate_package(everything_once(), package="made").items():
        if path.endswith(".py"):
            assert data.startswith(b"# Generated by Trundle"), path
            assert data.endswith(b"\n")
            assert not data.endswith(b"\n\n")


@pytest.mark.full
def test_generated_code_is_formatted_and_clean(generated):
    for arguments in (
        ("format", "--check", "--isolated", "--line-length", "100"),
        ("check", "--isolated", "--select", "E,F", "--line-length", "100"),
    ):
        found = run("-m", "ruff", *arguments, "--no-cache", "made", cwd=generated)
        assert found.returncode == 0, found.stdout + found.stderr


def test_generated_code_and_a_hand_written_hook_are_strictly_typed(generated):
    (hooks,) = (each.stem for each in generated.glob("hooks_of_*.py"))
    (generated / "use.py").write_text(
        "from made.hooks.v1_to_v2 import (\n"
        "    ThingNewer, ThingNewerOutputs, ThingOlder, ThingOlderOutputs\n)\n"
        "from trundle.runtime import AssignFrom, AssignTo\n"
        f"from {hooks} import Names\n\n"
        "to: AssignTo[ThingOlder, ThingNewerOutputs] = Names()\n"
        "back: AssignFrom[ThingNewer, ThingOlderOutputs] = Names()\n"
    )
    found = mypy(generated, "made", "use.py")
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.full
def test_a_hook_of_the_wrong_types_does_not_fit_its_protocol(generated):
    (generated / "misuse.py").write_text(
        "from made.hooks.v1_to_v2 import ThingNewerOutputs, ThingOlder\n"
        "from trundle.runtime import AssignTo\n\n\n"
        "class Wrong:\n"
        "    def assign_to(self, source: ThingOlder) -> ThingNewerOutputs:\n"
        '        return {"first": 5}\n\n\n'
        "class Missing:\n    pass\n\n\n"
        "to: AssignTo[ThingOlder, ThingNewerOutputs] = Missing()\n"
    )
    found = mypy(generated, "misuse.py")
    assert found.returncode == 1
    assert "misuse.py:7: error" in found.stdout
    assert "misuse.py:14: error" in found.stdout


def test_a_type_without_properties_or_documentation_is_a_class(tmp_path):
    made = evolution(
        {
            version: {"Thing": {"in": "Empty", version: "string"}, "Empty": {}}
            for version in ("v1", "v2")
        }
    )
    written(generate_package(made, package="made"), tmp_path)
    found = run("-c", "from made import v1; print(v1.Thing(in_=v1.Empty()).in_)", cwd=tmp_path)
    assert found.stdout.startswith("Empty("), found.stderr


@pytest.mark.full
def test_a_required_object_that_derives_from_no_other_version_is_strictly_typed(tmp_path):
    made = evolution(
        {
            "v1": {"Thing": {"part!": "Part"}, "Part": {"text!": "string"}},
            "v2": {"Thing": {"part!": "Other"}, "Other": {"number!": "integer"}},
            "v3": {"Thing": {"name": "string"}},
        }
    )
    written(generate_package(made, package="made"), tmp_path)
    found = mypy(tmp_path, "made")
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.full
def test_the_package_converts_with_everything_at_once():
    scheme = load(everything(), horizon=2)
    document = thing(
        "v1",
        **{
            "name": "n",
            "old": "o",
            "fullName": "Ada Lovelace",
            "size": "5",
            "mode": "on",
            "tag": "t",
            "street": "s",
            "count": 3,
            "in": {"x": "1", "more": "m"},
            "many": [{"x": "1", "y": 1}],
            "by": {"k": {"x": "2"}},
            "shape": {"kind": "square", "side": {"x": "3"}},
            "either": ["a"],
            "free": {"z": [1.5]},
            "null": None,
            "tree": {"nodes": [{"nodes": []}], "next": None, "level": 1},
            "odd name": "a",
            "odd-name": "b",
            "class": "c",
            "type": "d",
            "list": ["e"],
            "self": "f",
            "read": "g",
            "source": "h",
            "same": {"a": "x", "same": {"a": "y"}},
        },
    )
    stored = scheme.convert(document)
    assert scheme.convert(stored, "v1") == document
    newer = scheme.convert(stored, "v3")
    assert newer["required"] == ""
    assert (newer["first"], newer["last"], newer["size"]) == ("Ada", "Lovelace", 5)
    assert (newer["tags"], newer["mode"], newer["address"]) == (["t"], "enabled", {"street": "s"})
    assert (newer["many"], newer["old"]) == ([{"x": "1", "z": 1}], "o")
    assert "shape" not in newer
    for version in ("v1", "v2alpha1", "v2", "v3"):
        assert scheme.convert(scheme.convert(stored, version), base=stored) == stored


def test_a_rule_does_not_reach_a_preview_in_between():
    scheme = evolve(
        {
            "v1": {"Thing": {"size": "string"}},
            "v2alpha1": {"Thing": {"size": "string"}},
            "v2": {"Thing": {"size": "integer"}},
        },
        rules("v1", convert={"size": "string-to-integer"}),
    )
    stored = scheme.convert(thing("v1", size="5"))
    assert scheme.convert(stored, "v1") == thing("v1", size="5")


@pytest.mark.full
def test_importing_one_version_imports_no_other(generated):
    code = (
        "import sys, {module}\n"
        "print(*sorted(n for n in sys.modules if n.partition('.')[0] == 'made'))"
    )
    for module, others in (
        ("made.v3", r"made\.(v2|compat|storage|conversions|hooks)"),
        ("made.compat.v1", r"made\.(v2|v3|storage|conversions|hooks)"),
        ("made", r"made\."),
    ):
        found = run("-c", code.format(module=module), cwd=generated)
        assert found.returncode == 0, found.stderr
        assert [each for each in found.stdout.split() if re.match(others, each)] == []


def test_versions_beyond_the_horizon_live_on_in_compat():
    files = generate_package(everything_once(), package="made", horizon=1)
    assert {"compat/v1/types.py", "compat/v2/types.py", "v3/types.py"} <= set(files)
    assert "v1/types.py" not in files
    assert b"It is no longer served." in files["compat/v1/__init__.py"]


def imported(scheme, module):
    return importlib.import_module(f"{scheme.package}.{module}")


@pytest.mark.full
def test_types_that_are_the_same_in_several_versions_are_one_class():
    scheme = evolve({"v1": V1, "v2": V2, "v3": V3})
    one, two = imported(scheme, "v1"), imported(scheme, "v2")
    assert one.Same is two.Same is imported(scheme, "v3").Same
    assert one.In is not two.In
    assert one.Thing is not two.Thing


def test_a_root_is_a_class_of_its_own_in_every_version():
    scheme = evolve({"v1": {"Thing": {"a": "string"}}, "v2": {"Thing": {"a": "string"}}})
    assert imported(scheme, "v1").Thing is not imported(scheme, "v2").Thing


def test_enums_are_classes_of_known_values():
    scheme = evolve({"v1": V1})
    mode, level = imported(scheme, "v1").Mode, imported(scheme, "v1").Level
    assert set(map(str, mode)) == set(V1["Mode"])
    assert len(mode) == len(V1["Mode"])
    assert mode.ON == "on"
    assert level == frozenset({1, 2})


def test_tags_distinguish_the_variants_of_unions():
    scheme = evolve({"v1": V1})
    types = imported(scheme, "v1")
    for shape, class_ in (
        ({"kind": "circle", "radius": 1}, "Circle"),
        ({"kind": "square"}, "Square"),
    ):
        value = scheme.decode(json.dumps(thing("v1", name="n", shape=shape)).encode())
        assert type(value.shape) is getattr(types, class_)


@pytest.mark.full
def test_modules_are_bounded():
    many = {f"T{n}": {"a": "string", "b": f"T{n + 1}"} for n in range(300)}
    changed = {name: {**each, "c": "string"} for name, each in many.items()}
    versions = {
        version: {"Thing": {"first": "T0"}, **types, "T300": {"a": "string"}}
        for version, types in (("v1", many), ("v2", changed))
    }
    files = generate_package(evolution(versions), package="made")
    classes = {
        path: data.count(b"\nclass ")
        for path, data in files.items()
        if path.endswith(".py") and not path.startswith("hooks/")
    }
    assert max(classes.values()) <= MODULE_LIMIT
    assert sum(classes.values()) > 600
    places = [
        data.count(b"(TypedDict") for path, data in files.items() if path.startswith("hooks/")
    ]
    assert max(places) <= 2 * PLACE_LIMIT
    conversions = [
        len(data.splitlines()) for path, data in files.items() if path.startswith("conversions/")
    ]
    assert max(conversions) < 8 * LINE_LIMIT


def test_python_names_of_every_kind_survive():
    names = [
        "class", "None", "self", "cls", "source", "read", "target", "base", "stash", "carry",
        "a b", "a-b", "a_b", "aB", "@a", "$a", "1", "ä", "日本", "name", "Name", "NAME", "",
        "'", "a#b", "{x}", "%s", "convertToStorage", "propertyBag", "unknown", "writtenWith",
        "additionalProperties", "msgspec", "Any", "ABSENT", "__init__", "_x", "str", "int",
    ]  # fmt: skip
    newer = [*names[::2], "extra"]
    scheme = evolve(
        {
            "v1": {"Thing": {"in": "In"}, "In": dict.fromkeys(names, "string")},
            "v2": {"Thing": {"in": "In"}, "In": dict.fromkeys(newer, "string")},
        }
    )
    document = thing("v1", **{"in": {name: name for name in names}})
    stored = scheme.convert(document)
    assert scheme.convert(stored, "v1") == document
    assert scheme.convert(stored, "v2")["in"] == {name: name for name in newer[:-1]}


@pytest.mark.parametrize("name", ['a"b', 'a"""b', "a\\b", "a\nb", "\x00"])
def test_names_msgspec_refuses_are_an_error_of_the_schema_and_not_of_the_import(name):
    from trundle.evolution import ChangeError

    try:
        scheme = evolve({"v1": {"Thing": {name: "string"}}})
    except ChangeError:
        return
    assert scheme.convert(thing("v1", **{name: "x"}), "v1") == thing("v1", **{name: "x"})


@pytest.mark.parametrize("name", ["api_version", "Kind", "Metadata", "ApiVersion"])
def test_a_property_of_a_root_may_be_called_almost_like_the_envelope(name):
    scheme = evolve(
        {"v1": {"Thing": {name: "string"}}, "v2": {"Thing": {name: "string", "b": "string"}}}
    )
    document = thing("v1", **{name: "x"})
    assert scheme.convert(scheme.convert(document), "v1") == document


@pytest.mark.parametrize(
    "name", ["Any", "BAG", "ClassVar", "Literal", "Protocol", "StrEnum", "type"]
)
def test_a_type_may_be_called_like_what_modules_import(name):
    scheme = evolve(
        {
            "v1": {
                "Thing": {"in": name, "many": "[In;x]"},
                name: {"a": "string"},
                "In": {"x": "string"},
            },
            "v2": {
                "Thing": {"in": name, "many": "[In;x]"},
                name: {"a": "string", "keyed": "[In;x]"},
                "In": {"x": "string", "y": "string"},
            },
        }
    )
    document = thing("v1", **{"in": {"a": "x"}, "many": [{"x": "1"}]})
    assert scheme.convert(scheme.convert(document), "v1") == document


def test_documentation_that_breaks_naive_quoting_is_only_documentation(tmp_path):
    import msgspec
    from evolving import parse_schema

    from trundle.evolution import Evolution

    doc = 'Ends """ with \\ and "quote"\x00 \\N{x} ' + "word" * 40 + '\n\n"""'
    plain = parse_schema("v1", {"Thing": {"a": "string"}})
    definition = plain.object("Thing")
    changed = msgspec.structs.replace(
        definition,
        doc=doc,
        properties=tuple(msgspec.structs.replace(each, doc=doc) for each in definition.properties),
    )
    schema = msgspec.structs.replace(plain, definitions={"Thing": changed})
    scheme = load(Evolution((schema,)), title=doc)
    assert "word" * 40 in imported(scheme, "v1").Thing.__doc__
    assert scheme.convert(thing("v1", a="x"), "v1") == thing("v1", a="x")


def test_nothing_of_the_environment_is_in_the_files():
    files = generate_package(everything_once(), package="made")
    text = b"".join(files.values()).decode()
    assert str(Path.cwd()) not in text
    assert importlib.util.find_spec("trundle").origin not in text


def test_storage_types_that_are_the_same_in_several_versions_are_one_class():
    part, more = {"a": "string"}, {"a": "string", "b": "string"}
    versions = {
        version: {"Thing": {"part": "Part"}, "Part": each}
        for version, each in (("v1", part), ("v2", part), ("v3", more))
    }
    files = generate_package(evolution(versions), package="made")
    stored = {
        path: re.findall(rb"^class (\w+)", data, re.MULTILINE)
        for path, data in files.items()
        if path.startswith("storage/v")
    }
    assert stored == {
        "storage/v1.py": [b"Thing"],
        "storage/v2.py": [b"Part", b"Thing"],
        "storage/v3.py": [b"Part", b"Thing"],
    }


def test_what_conversions_of_several_modules_do_alike_is_written_once():
    tagged = {
        "Round": {"kind!": "IsRound", "size": "integer"},
        "Long": {"kind!": "IsLong", "size": "integer"},
        "IsRound": ["round"],
        "IsLong": ["long"],
    }
    more = {**tagged, "Round": {**tagged["Round"], "ripe": "boolean"}}
    versions = {
        version: {"Thing": {"fruit": "Round|Long", name: "string"}, **each}
        for version, name, each in (("v1", "a", tagged), ("v2", "b", tagged), ("v3", "c", more))
    }
    files = generate_package(evolution(versions), package="made")
    shared = files["conversions/shared_v1_to_v2.py"]
    assert shared.count(b"\ndef fruit_to_storage(value: v1_to_v3.Long | v1_to_v2.Round)") == 1
    for path in ("conversions/v1.py", "conversions/v2.py"):
        assert b"v1_to_v2_conversions.fruit_to_storage(source.fruit)" in files[path]
    assert b"def _fruit_to_storage" not in files["conversions/v2.py"]


@pytest.mark.parametrize(
    ("older", "changes"),
    [
        ({"Mode": ["on", "off"]}, ()),
        ({"Mode": ["on", "off", "idle"]}, (rules("v1", "Part", values={"text": {"a": "b"}}),)),
    ],
    ids=["other values of an enum", "a rule"],
)
def test_storage_types_whose_values_differ_are_not_one_class(older, changes):
    part = {"Part": {"mode": "Mode", "text": "string"}, "Mode": ["on", "off", "idle"]}
    more = {"Part": {**part["Part"], "more": "string"}, "Mode": part["Mode"]}
    versions = {
        version: {"Thing": {"part": "Part"}, **each}
        for version, each in (("v1", {**part, **older}), ("v2", part), ("v3", more))
    }
    files = generate_package(evolution(versions, *changes), package="made")
    assert b"\nclass Part(" in files["storage/v1.py"]
    assert b"\nclass Part(" in files["storage/v2.py"]
