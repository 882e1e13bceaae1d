import json
from pathlib import Path

import jsonschema
import pytest

import trundle.project.config as module
from trundle.documents import compact, compose
from trundle.evolution import HookReference, NamedConversion, TypeChanges
from trundle.project.config import Config, config_schema, load_config
from trundle.project.errors import ConfigError, ConfigMissingError
from trundle.schema.readers import Source
from trundle.version import ApiVersion

FULL = """\
package: crm
output: gen
title: Customer records
sources:
  - schemas
  - {path: crds/person.yaml, format: crd, version: v1beta1, resources: [Person], group: example.org}
horizon: {ga: 4}
straight: 6
unknown: keep
changes:
  2014-04-04:
    Person:
      rename: {alphaKey: sortKey}
      renameType: Location
      values: {level: {Bronze: bronze}}
      wrap: {nodeType: nodeTypes}
      unwrap: [x]
      move: {street: address.street}
      convert: {port: integer-to-string}
      variant: {frontend: HttpFrontend}
      default:
        x: 1
        y: {a: [1.5, null]}
      keep: [nodeKinds]
hooks:
  - {type: Person, between: [2013-03-03, 2014-04-04], use: "crm_hooks.names:PersonNames"}
"""
BASE = "package: crm\nsources: [schemas]\n"


def write(folder, text):
    path = folder / "trundle.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def findings(folder, text):
    path = write(folder, text)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    prefix = f"{path}:"
    assert all(str(finding).startswith(prefix) for finding in caught.value.findings)
    return [str(finding).removeprefix(prefix) for finding in caught.value.findings]


def test_every_key_is_read(tmp_path, monkeypatch):
    write(tmp_path, FULL)
    monkeypatch.chdir(tmp_path)
    config = load_config(Path("trundle.yaml"))
    (changes,) = config.changes
    assert config == Config(
        path=Path("trundle.yaml"),
        package="crm",
        output=tmp_path / "gen",
        title="Customer records",
        sources=(
            Source(Path("schemas")),
            Source(Path("crds/person.yaml"), "crd", "v1beta1", ("Person",), "example.org"),
        ),
        horizon=4,
        straight=6,
        unknown="keep",
        changes=(changes,),
        hooks=(
            HookReference(
                "Person",
                ApiVersion.parse("2013-03-03"),
                ApiVersion.parse("2014-04-04"),
                "crm_hooks.names:PersonNames",
                "trundle.yaml:26",
            ),
        ),
    )
    assert changes == TypeChanges(
        version=ApiVersion.parse("2014-04-04"),
        type="Person",
        rename={"alphaKey": "sortKey"},
        rename_type="Location",
        values={"level": {"Bronze": "bronze"}},
        wrap={"nodeType": "nodeTypes"},
        unwrap={"x": "x"},
        move={"street": "address.street"},
        convert={"port": "integer-to-string"},
        variant={"frontend": "HttpFrontend"},
        default={"x": 1, "y": {"a": [1.5, None]}},
        keep=("nodeKinds",),
        where=changes.where,
    )


def test_every_rule_knows_its_line(tmp_path, monkeypatch):
    write(tmp_path, FULL)
    monkeypatch.chdir(tmp_path)
    (changes,) = load_config(Path("trundle.yaml")).changes
    assert changes.place("rename", "alphaKey") == "trundle.yaml:13"
    assert changes.place("rename_type") == "trundle.yaml:14"
    assert changes.place("default", "x") == "trundle.yaml:22"
    assert changes.place("default", "y") == "trundle.yaml:23"
    assert changes.place("keep", "nodeKinds") == "trundle.yaml:24"
    assert changes.place("unwrap", "unknown") == "trundle.yaml:17"
    assert changes.place("absent") == "trundle.yaml:12"


def test_what_is_absent_has_its_default(tmp_path):
    path = write(tmp_path, BASE)
    assert load_config(path) == Config(
        path=path,
        package="crm",
        output=tmp_path,
        sources=(Source(tmp_path / "schemas", folder=tmp_path),),
    )


def test_paths_are_relative_to_the_file_as_it_was_named(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub", BASE + "output: ../out\n")
    monkeypatch.chdir(tmp_path)
    config = load_config(Path("sub/trundle.yaml"))
    assert config.sources[0].path == Path("sub/schemas")
    assert config.output == tmp_path / "out"


def test_a_python_module_keeps_its_dotted_name(tmp_path):
    text = "package: crm\nsources: [{path: a.b, format: python}, {path: b.py, format: python}]\n"
    sources = load_config(write(tmp_path, text)).sources
    assert [source.path for source in sources] == [Path("a.b"), tmp_path / "b.py"]


def test_a_default_may_be_null(tmp_path):
    text = BASE + "changes: {v1: {A: {default: {x: null}}}}\n"
    assert load_config(write(tmp_path, text)).changes[0].default == {"x": None}


def test_names_may_swap_and_renamed_values_may_change(tmp_path):
    rules = "{rename: {a: b, b: a, c: d}, values: {a: {x: y}}, convert: {c: integer-to-string}}"
    text = BASE + f"changes: {{v1: {{A: {rules}}}}}\n"
    assert load_config(write(tmp_path, text)).changes[0].rename == {"a": "b", "b": "a", "c": "d"}


def test_a_missing_file_is_an_error_of_its_own(tmp_path):
    with pytest.raises(
        ConfigMissingError, match="expected a project file, found none; run `trundle init`"
    ):
        load_config(tmp_path / "trundle.yaml")


def test_a_file_that_cannot_be_read_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="expected a readable file, found Is a directory"):
        load_config(tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "1: expected one object, found an empty file; add `package:` and `sources:`"),
        (
            "# nothing\n",
            "1: expected one object, found an empty file; add `package:` and `sources:`",
        ),
        (BASE + "---\na: 1", "4: expected one object, found several documents; remove the others"),
        (b"package: \xff", "1: expected UTF-8 text, found the byte 0xff; save the file as UTF-8"),
        (
            "a: [",
            (
                "1: expected valid YAML, found a mistake: did not find expected node content "
                "while parsing a flow node; correct the indentation, quotes or brackets near this line"
            ),
        ),
        (
            "package: a\npackage: b\nsources: [x]",
            (
                "2: expected each key once in an object, found 'package' a second time; "
                "remove one of the two, or rename it"
            ),
        ),
        (
            BASE + "output: 12\n",
            "3: expected the folder to write into, found the value '12'; put it in quotes",
        ),
        (
            BASE + "output: ''\n",
            "3: expected the folder to write into, found empty text; write text",
        ),
        (BASE + "title: [a]\n", "3: expected a title, found a list; write text"),
        (
            "package: crm\nsources: []",
            "2: expected at least one source, found none; add the folder of the schemas",
        ),
        (
            "package: crm\nsources: schemas",
            (
                "2: expected a list of schema files and folders, found the text 'schemas'; "
                "write a list, or remove the key"
            ),
        ),
        (
            "sources: [a]",
            "1: expected the key package in a project file, found none; add `package:`",
        ),
        ("package: a", "1: expected the key sources in a project file, found none; add `sources:`"),
        (
            "package: crm\nsources: [{format: crd}]",
            "2: expected the key path in a source, found none; add `path:`",
        ),
        (
            BASE + "horizon: {ga: 0}\n",
            (
                "3: expected a positive integer, found the value '0'; "
                "write how many of the newest GA versions to serve, or remove `horizon`"
            ),
        ),
        (
            BASE + "straight: some\n",
            (
                "3: expected a whole number, found the text 'some'; "
                "write how many of the newest versions convert straight to each other, 0 for none"
            ),
        ),
        (
            BASE + "unknown: kep\n",
            "3: expected what unknown properties become: error, keep, found 'kep'; did you mean keep?",
        ),
        (
            BASE + "tittle: x\n",
            (
                "3: expected one of the keys package, output, title, groups, sources, exclude, horizon, hub, straight, unknown, changes, hooks, "
                "kubernetes, admission in a project file, found 'tittle'; did you mean title?"
            ),
        ),
        (
            BASE + "groups: {}\n",
            "3: expected at least one group, found none; name them, or remove `groups` to generate one package",
        ),
        (
            BASE + "groups: {a-b: A.B}\n",
            "3: expected the name of a Python subpackage, found 'a-b'; use letters, digits and underscores",
        ),
        (
            BASE + "groups: {class: A.B}\n",
            "3: expected the name of a Python subpackage, found 'class'; use letters, digits and underscores",
        ),
        (
            BASE + "groups: {scheme: A.B}\n",
            "3: expected a name that is free, found scheme, which the package itself offers; choose another name",
        ),
        (
            BASE + "groups: {a: 1.10}\n",
            (
                "3: expected a group of resources as Microsoft.Batch or example.com, "
                "found the value '1.10'; put it in quotes"
            ),
        ),
        (
            BASE + "changes: {1.10: {A: {}}}\n",
            "3: expected text as key, found the value '1.10'; quote the key",
        ),
        (
            BASE + "changes: {2014-13-04: {A: {}}}\n",
            (
                "3: expected an API version such as 2016-03-01 or v1beta1, found '2014-13-04'; "
                "write the version as the schemas name it"
            ),
        ),
        (
            BASE + "changes:\n",
            "3: expected changes by older version, found nothing; write an object, or remove the key",
        ),
    ],
)
def test_what_is_wrong_is_a_finding(tmp_path, text, expected):
    assert findings(tmp_path, text) == [expected]


@pytest.mark.parametrize(
    "name", ["class", "a.class", "1a", "a-b", "a..b", ".a", "a b", "json", "trundle.x"]
)
def test_a_package_that_python_cannot_import_is_a_finding(tmp_path, name):
    (finding,) = findings(tmp_path, f"package: {name}\nsources: [x]\n")
    assert finding.startswith("1: expected ")


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (
            "{rename: {a: c, b: c}}",
            "5: expected one property that becomes c, found b and, at FILE:5, a; keep one of the two",
        ),
        (
            "{rename: {a: c}, wrap: {b: c}}",
            "5: expected one property that becomes c, found b and, at FILE:5, a; keep one of the two",
        ),
        (
            "{rename: {a: b}, keep: [a]}",
            (
                "5: expected rules for a that agree, found `keep` beside `rename` at FILE:5; "
                "remove a from one of them"
            ),
        ),
        (
            "{rename: {a: as}, wrap: [a]}",
            (
                "5: expected rules for a that agree, found `wrap` beside `rename` at FILE:5; "
                "remove a from one of them; `wrap` and `unwrap` take the newer name themselves"
            ),
        ),
        (
            "{convert: {a: integer-to-string}, values: {a: {x: y}}}",
            (
                "5: expected rules for a that agree, found `convert` beside `values` at FILE:5; "
                "remove a from one of them"
            ),
        ),
        (
            "{rename: {a: a}}",
            "5: expected a name other than a, found the same name; remove it from `rename`",
        ),
        (
            "{renameType: A}",
            "5: expected a name other than A, found the same name; remove `renameType`",
        ),
        (
            "{convert: {a: map-to-list}}",
            "5: expected the key of the elements, found map-to-list; write {map-to-list: {key: name}}",
        ),
        (
            "{convert: {a: {map-to-list: {value: v}}}}",
            "5: expected the key key in the properties of an element, found none; add `key:`",
        ),
        (
            "{convert: {a: {string-to-integer: x}}}",
            (
                "5: expected one of the keys api-version-to-group, group-to-api-version, list-to-map, "
                "map-to-list in a conversion that has to know more, found 'string-to-integer'; remove it"
            ),
        ),
        (
            "{move: {a: b..c}}",
            (
                "5: expected a path, found 'b..c', no name after 'b'; write names with dots between, and "
                '`["like.this"]` for one with a dot in it'
            ),
        ),
        (
            "{keep: [a, a]}",
            "5: expected each property name once, found 'a' twice; remove one of them",
        ),
        (
            "{renam: {a: b}}",
            (
                "5: expected one of the keys rename, renameType, values, wrap, unwrap, move, convert, variant, "
                "default, keep in the rules of A, found 'renam'; did you mean rename?"
            ),
        ),
        (
            "{rename: {a: 1}}",
            "5: expected the newer name in `rename`, found the value '1'; put it in quotes",
        ),
        (
            "{rename: {'': a}}",
            "5: expected a name as key of `rename` by property, found empty text; write the name",
        ),
        (
            "{values: {a: b}}",
            "5: expected newer value by older value, found the text 'b'; write an object, or remove the key",
        ),
    ],
)
def test_a_rule_that_cannot_hold_is_a_finding(tmp_path, rules, expected):
    text = f"{BASE}changes:\n  v1:\n    A: {rules}\n"
    file = str(tmp_path / "trundle.yaml")
    assert findings(tmp_path, text) == [expected.replace("FILE", file)]


def test_conversions_may_have_to_know_more_than_their_name(tmp_path):
    rules = """
      convert:
        a: {api-version-to-group: v1beta2}
        b: api-version-to-group
        c: {map-to-list: {key: name, value: value}}
        d: {list-to-map: {key: id}}
    """
    config = load_config(write(tmp_path, f"{BASE}changes:\n  v1:\n    A: {rules}\n"))
    assert config.changes[0].convert == {
        "a": NamedConversion(name="api-version-to-group", version="v1beta2"),
        "b": "api-version-to-group",
        "c": NamedConversion(name="map-to-list", key="name", value="value"),
        "d": NamedConversion(name="list-to-map", key="id"),
    }


def test_an_unknown_conversion_is_a_finding_with_a_suggestion(tmp_path):
    (finding,) = findings(tmp_path, BASE + "changes: {v1: {A: {convert: {a: int-to-string}}}}\n")
    assert finding.endswith("found 'int-to-string'; did you mean integer-to-string?")


@pytest.mark.parametrize(
    ("hook", "expected"),
    [
        ("{type: A, between: [v1, v1], use: 'a:B'}", "the older version first"),
        ("{type: A, between: [v2, v1], use: 'a:B'}", "the older version first"),
        ("{type: A, between: [v1], use: 'a:B'}", "two versions"),
        ("{type: A, between: v1, use: 'a:B'}", "the older and the newer version"),
        ("{type: A, between: [v1, x], use: 'a:B'}", "an API version such as"),
        ("{type: A, between: [v1, v2], use: B}", "a class as package.module:Class"),
        (
            "{type: A, between: [v1, v2], use: a.b.}",
            "a class as package.module:Class, or one of the package as namespace.Class",
        ),
        (
            "{type: A, between: [v1, v2], use: a.B, writes: {assign: [x]}}",
            "one of the keys assign_to, assign_from",
        ),
        (
            "{type: A, between: [v1, v2], use: 'a:B', writes: {assign_to: [x]}}",
            "`writes` for static methods only",
        ),
        ("{type: A, between: [v1, v2]}", "the key use in a hook"),
        ("x", "a hook with the keys type, between, use"),
    ],
)
def test_a_hook_that_cannot_be_found_is_a_finding(tmp_path, hook, expected):
    (finding,) = findings(tmp_path, f"{BASE}hooks:\n  - {hook}\n")
    assert finding.startswith(f"4: expected {expected}")


def test_two_hooks_at_one_place_are_a_finding(tmp_path):
    hook = "  - {type: A, between: [v1, v2], use: 'a:%s'}\n"
    (finding,) = findings(tmp_path, BASE + "hooks:\n" + hook % "B" + hook % "C")
    assert finding.startswith("5: expected one hook for A from v1 to v2, found another at ")
    assert "or let one be a hook of the object around, by paths" in finding


def test_all_findings_are_listed_in_the_order_of_the_file(tmp_path):
    text = "package: 1\nhooks: 3\nunknown: x\nsources: []\nchanges: {x: {A: {keep: 1, convert: {p: q}}}}\n"
    lines = [finding.split(":")[0] for finding in findings(tmp_path, text)]
    assert lines == ["1", "2", "3", "4", "5", "5", "5"]


def test_the_published_schema_is_up_to_date():
    published = Path(module.__file__).with_name("trundle.schema.json").read_text()
    assert published == json.dumps(config_schema(), indent=2) + "\n"


def test_the_published_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(config_schema())


CHANGE = BASE + "changes: {v1: {A: %s}}\n"
ACCEPTED = [
    FULL,
    BASE,
    BASE + "changes: {2014-04-04-preview: {Person: {}}}\n",
    BASE + "changes: {}\nhooks: []\n",
    BASE + "hooks: [{type: A, between: [v1, v2], use: a.B, writes: {assign_to: [c.d]}}]\n",
    CHANGE % "{wrap: [a, b], unwrap: {c: d}}",
    CHANGE % "{default: {a: null, b: [1]}}",
    CHANGE % "{values: {a: {'': None, x: ''}}}",
    "package: a.b.c\nsources: [{path: x}, y]\n",
]
REFUSED = [
    "[]",
    "package: crm\n",
    "sources: [a]\n",
    "package: a-b\nsources: [a]\n",
    "package: crm\nsources: []\n",
    "package: crm\nsources: a\n",
    "package: crm\nsources: [{}]\n",
    "package: crm\nsources: [{path: a, formt: crd}]\n",
    "package: crm\nsources: [{path: a, version: 1.10}]\n",
    "package: crm\nsources: [{path: a, resources: A}]\n",
    "package: crm\nsources: [{path: a, resources: []}]\n",
    "package: crm\nsources: [{path: a, format: crds}]\n",
    *(BASE + line for line in ("output: ''", "output: 1", "title: 1", "unknown: no", "horizon: 4")),
    *(
        BASE + f"horizon: {value}"
        for value in ("{}", "{ga: 0}", "{ga: -1}", "{ga: 1.5}", "{ga: '1'}", "{x: 1}")
    ),
    *(BASE + f"straight: {value}" for value in ("-1", "1.5", "'1'", "[]")),
    *(
        BASE + f"changes: {value}"
        for value in ("", "[]", "{x: {}}", "{v1: 1}", "{v1: {'': {}}}", "{v01: {}}")
    ),
    *(
        CHANGE % rules
        for rules in (
            "[]",
            "{rename: [a]}",
            "{rename: {a: 1}}",
            "{rename: {a: ''}}",
            "{renameType: 1}",
            "{values: {a: b}}",
            "{values: {a: {b: 1}}}",
            "{wrap: a}",
            "{unwrap: [1]}",
            "{unwrap: [a, a]}",
            "{move: {a: .b}}",
            "{convert: {a: x}}",
            "{variant: {a: [x]}}",
            "{default: [a]}",
            "{keep: {a: b}}",
            "{unknown: {}}",
        )
    ),
    *(
        BASE + f"hooks: {value}"
        for value in (
            "{}",
            "[1]",
            "[{type: A}]",
            "[{type: A, between: [v1], use: 'a:B'}]",
            "[{type: A, between: [v1, v2, v3], use: 'a:B'}]",
            "[{type: A, between: [v1, v2], use: 'a'}]",
            "[{type: A, between: [v1, v2], use: 'a:B', x: 1}]",
        )
    ),
]


def obeys_schema(text):
    (root,), problems = compose(text, "trundle.yaml")
    assert not problems
    return jsonschema.Draft202012Validator(config_schema()).is_valid(json.loads(compact(root)))


@pytest.mark.parametrize("text", ACCEPTED)
def test_schema_and_reader_accept_the_same(tmp_path, text):
    assert load_config(write(tmp_path, text)).package
    assert obeys_schema(text)


@pytest.mark.parametrize("text", REFUSED)
def test_schema_and_reader_refuse_the_same(tmp_path, text):
    assert findings(tmp_path, text)
    assert not obeys_schema(text)


@pytest.mark.parametrize(
    ("second", "found"),
    [
        ("A: C.D", r"5: expected each subpackage once, found A again, as at .*trundle.yaml:4;"),
        ("b: a.b", r"5: expected one subpackage for a.b, found b beside a at .*trundle.yaml:4;"),
    ],
)
def test_a_group_has_one_subpackage_and_a_subpackage_one_group(tmp_path, second, found):
    path = tmp_path / "trundle.yaml"
    path.write_text(f"{BASE}groups:\n  a: A.B\n  {second}\n")
    with pytest.raises(ConfigError, match=found):
        load_config(path)
