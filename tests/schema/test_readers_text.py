import json

import pytest

from trundle.schema import SchemaError
from trundle.schema.readers import SchemaErrors
from trundle.schema.readers._builder import MOST_STEPS

GOOD = "title: R\nproperties: {a: {type: string}}\n"


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("v1.json", '{"a": 1', "expected valid JSON"),
        ("v1.json", "", "expected valid JSON"),
        ("v1.json", '{"a": NaN}', "NaN is not a JSON number"),
        ("v1.json", b'{"a": "\xff"}', "line 1: expected UTF-8 text, found the byte 0xff"),
        (
            "v1.json",
            '{\n"a": 1,\n"a": 2}',
            "line 3: expected each key once in an object, found 'a' a second",
        ),
        (
            "v1.json",
            '{"x": {"a": 1},\n"y": {"a": 1,\n"b": {"a": 1},\n"a": 2}}',
            "line 4: expected each key once",
        ),
        (
            "v1.json",
            '{"\\u0061": 1,\n"b": 1,\n"a": 2}',
            "line 3: expected each key once in an object, found 'a' a second",
        ),
        (
            "v1.json",
            '{"a": ' * 250 + '\n{"b": 1, "b": 2}' + "}" * 250,
            "line 2: expected each key once in an object, found 'b' a second",
        ),
        (
            "v1.json",
            '{"a": "\\ud800",\n"b": 1, "b": 2}',
            r"v1.json\W.*expected each key once in an object, found 'b' a second",
        ),
        ("v1.json", "[" * 10_000 + "]" * 10_000, "levels of lists and objects|nested too deeply"),
        ("v1.yaml", "a: [1", r"line \d: expected valid YAML"),
        ("v1.yaml", "", "empty file"),
        (
            "v1.yaml",
            "a: 1\nb:\n  c: 1\n  c: 2\n",
            "line 4: expected each key once in an object, found 'c'",
        ),
        ("v1.yaml", "a: *x", "undefined alias|expected an alias of an earlier, complete value"),
        (
            "v1.yaml",
            "a: &x [*x]",
            "undefined alias|expected an alias of an earlier, complete value",
        ),
        ("v1.yaml", "a: !!python/object:x.Y {}", "expected a value without a tag"),
        ("v1.yaml", "a: !x 1", "expected a value without a tag"),
        ("v1.yaml", "[" * 10_000 + "]" * 10_000, "levels of lists"),
        ("v1.yaml", "? [a]\n: 1", "expected a scalar as key"),
        ("v1.json", '{"a": 1e999}', "beyond the range"),
        ("v1.yaml", "a: 1e999", "line 1: expected a number in the range of numbers, found 1e999"),
        (
            "v1.yaml",
            "a: " + "1" * 5_000,
            "line 1: expected a value that can be read, found Exceeds the limit",
        ),
        ("v1.yaml", "a: \x00", "control characters are not allowed; correct"),
    ],
)
def test_broken_text_is_an_error_with_its_line(workspace, name, text, reason):
    with pytest.raises(SchemaError, match=reason) as caught:
        workspace.read(text, name)
    assert caught.value.file.endswith(name)


def test_deep_schemas_are_a_clean_error(workspace):
    parts = ['{"properties": {"a": '] * 10_000
    text = "".join(parts) + '{"type": "string"}' + "}}" * 10_000
    with pytest.raises(SchemaError, match=r"levels of lists and objects|nested too deeply"):
        workspace.read(text, "v1.json")


@pytest.mark.full
def test_long_chains_of_objects_are_no_problem(workspace):
    definitions = {
        f"D{i}": {"properties": {"next": {"$ref": f"#/$defs/D{i + 1}"}}} for i in range(3_000)
    }
    definitions["D3000"] = {"properties": {"end": {"type": "string"}}}
    text = json.dumps(
        {"title": "R", "properties": {"d": {"$ref": "#/$defs/D0"}}, "$defs": definitions}
    )
    assert len(workspace.read(text, "v1.json").definitions) == 3_002


def test_long_chains_of_lists_are_a_clean_error(workspace):
    definitions = {f"D{i}": {"items": {"$ref": f"#/$defs/D{i + 1}"}} for i in range(3_000)}
    definitions["D3000"] = {"type": "string"}
    text = json.dumps(
        {"title": "R", "properties": {"d": {"$ref": "#/$defs/D0"}}, "$defs": definitions}
    )
    with pytest.raises(SchemaError, match="nested too deeply"):
        workspace.read(text, "v1.json")


def test_long_chains_of_references_are_read_or_refused_cleanly(workspace):
    definitions = {f"D{i}": {"$ref": f"#/$defs/D{i + 1}"} for i in range(3_000)}
    definitions["D3000"] = {"type": "string"}
    text = json.dumps(
        {"title": "R", "properties": {"d": {"$ref": "#/$defs/D0"}}, "$defs": definitions}
    )
    with pytest.raises(SchemaError, match="too long a chain"):
        workspace.read(text, "v1.json")


def test_aliases_that_unfold_beyond_measure_are_refused(workspace):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    with pytest.raises(SchemaError, match="expected aliases that add at most"):
        workspace.read("\n".join(lines))


def test_aliases_that_nest_beyond_measure_are_refused(workspace):
    nested = "{a: " * 300 + "x" + "}" * 300
    text = f"a: &a {nested}\nb: &b {nested.replace('x', '*a')}\n"
    with pytest.raises(SchemaError, match="expected at most 500 levels"):
        workspace.read(text)


@pytest.mark.parametrize("steps", [10_000, pytest.param(MOST_STEPS, marks=pytest.mark.full)])
def test_schemas_that_unfold_beyond_measure_are_refused(workspace, monkeypatch, steps):
    monkeypatch.setattr("trundle.schema.readers._builder.MOST_STEPS", steps)
    definitions = {
        f"D{i}": {
            "oneOf": [
                {"type": "array", "items": {"$ref": f"#/$defs/D{i + 1}"}},
                {"type": "array", "items": {"items": {"$ref": f"#/$defs/D{i + 1}"}}},
                {"$ref": "#/$defs/D0"},
            ]
        }
        for i in range(20)
    }
    definitions["D20"] = {"type": "string"}
    text = json.dumps(
        {"title": "R", "properties": {"d": {"$ref": "#/$defs/D0"}}, "$defs": definitions}
    )
    with pytest.raises(SchemaError, match="expand to too many types"):
        workspace.read(text, "v1.json")


def test_yaml_scalars_are_those_of_the_core_schema(workspace):
    schema = workspace.read(
        GOOD
        + """x: &base {type: object}
$defs:
  A:
    x-resource: true
    <<: *base
    properties:
      p: {default: [yes, on, 1:30, 2011-01-01, 0x10, 0o17, 1_000, .5, "1", ~, !!str 2, <<]}
"""
    )
    assert schema.object("A").property("p").default == [
        *("yes", "on", "1:30", "2011-01-01", 16, 15, "1_000", 0.5, "1", None, "2", "<<")
    ]


def test_a_byte_order_mark_is_allowed(workspace):
    assert workspace.read(b"\xef\xbb\xbf" + GOOD.encode()).resources


def test_every_broken_file_of_a_folder_is_named(workspace):
    workspace.write("v1.json", "{")
    workspace.write("v2.yaml", "a: [")
    workspace.write("v3.yaml", GOOD)
    with pytest.raises(SchemaErrors) as caught:
        workspace.read_all()
    assert [each.file[-7:] for each in caught.value.errors] == ["v1.json", "v2.yaml"]


def test_files_that_are_too_large_are_refused(workspace, monkeypatch):
    monkeypatch.setattr("trundle.documents._values.LARGEST_FILE", 10)
    with pytest.raises(SchemaError, match="at most"):
        workspace.read(GOOD)
