"""Classes as schemas, compared with what loads and with the library `jsonschema`."""

import json

import jsonschema
import pytest
from engines import package
from hypothesis import given
from hypothesis import strategies as st

from trundle.engine import Engine, EngineError
from trundle.schema import ABSENT, FreeForm, ListOf, MapOf, Nullable, Ref, Scalar
from trundle.version import ApiVersion

APP = """
Namespaces: {=: a}
Extends: lib.Base
Properties:
  port: {Contract: $.int().notNull().check($ > 0), Default: 80}
  name: {Contract: $.string().notNull()}
  db: {Contract: $.class(Db)}
  all: {Contract: [$.class(Db).notNull(), 1, 3]}
  env: {Contract: {$.string().notNull(): $.int()}}
  config: {Contract: {host: $.string().notNull(), port: $.int(), kind: one}}
  any: {Contract: $, Default: $.name}
  state: {Usage: Runtime, Contract: $.string()}
  shared: {Usage: Static, Contract: $.string()}
"""
BASE = """
Properties:
  label: {Contract: $.string(), Default: none}
Methods:
  .init:
    Arguments: [{seed: {Contract: $.int()}}]
"""


@pytest.fixture(scope="module")
def app():
    lib = package("lib", "2.1.0", classes={"lib.Base": BASE})
    db = "Properties: {size: {Contract: $.int()}}"
    mine = package("app", "1.2.0-rc.1", {"lib": "2"}, {"a.App": APP, "a.Db": db})
    with Engine([lib, mine]).session() as session:
        yield session.type("a.App")


def test_a_class_is_a_schema_of_its_version(app):
    schema = app.schema
    assert schema.version == ApiVersion.parse("1.2.0-rc.1")
    assert schema.version.preview
    assert [(each.name, each.root) for each in schema.resources] == [("a.App", "a.App")]
    assert dict(schema.object("a.App").constraints) == {"extends": ["lib.Base/2.1.0@lib"]}


def test_its_properties_are_what_models_give_those_of_ancestors_included(app):
    found = {each.name: each for each in app.schema.object("a.App").properties}
    assert list(found) == ["all", "any", "config", "db", "env", "label", "name", "port", "seed"]
    text, number = Scalar("string"), Scalar("integer")
    assert found["port"].type == number
    assert found["name"].type == text
    assert found["label"].type == Nullable(text)
    assert found["db"].type == Nullable(Ref("reference to a.Db"))
    assert found["all"].type == ListOf(Ref("reference to a.Db"))
    assert found["env"].type == MapOf(Nullable(number))
    assert found["any"].type == found["seed"].type == FreeForm()
    assert [name for name, each in found.items() if each.required] == ["all", "config", "name"]


def test_contracts_and_defaults_are_kept_as_they_are_written(app):
    found = {each.name: each for each in app.schema.object("a.App").properties}
    assert found["port"].default == 80
    assert found["name"].default is ABSENT
    assert dict(found["port"].constraints) == {"contract": "$.int().notNull().check($ > 0)"}
    assert dict(found["any"].constraints) == {"contract": "$", "default": "an expression"}
    limits = dict(found["all"].constraints)
    assert (limits["minItems"], limits["maxItems"]) == (1, 3)


def test_a_map_with_named_keys_is_an_object_of_its_place(app):
    definition = app.schema.object("a.App.config")
    assert not definition.named
    kinds = {each.name: (each.type, each.required) for each in definition.properties}
    assert kinds["host"] == (Scalar("string"), True)
    assert kinds["port"] == (Nullable(Scalar("integer")), False)
    assert kinds["kind"] == (Ref("a.App.config.kind"), True)
    assert app.schema.definitions["a.App.config.kind"].values == ("one",)


@pytest.mark.parametrize("name", ["apiVersion", "classname"])
def test_a_property_called_like_what_names_an_object_is_noted(name):
    text = f"Properties: {{{name}: {{Contract: $.string()}}, b: {{Contract: $}}}}"
    with Engine([package("p", classes={"p.A": text})]).session() as session:
        schema = session.type("p.A").schema
    assert [each.name for each in schema.object("p.A").properties] == ["b"]
    assert name in schema.notes[0].what


# What loads and what is valid

_WHOLE = ["$.string()", "$.int()", "$.bool()", "$", "one", "5", "true"]
_LEAVES = [*_WHOLE, *(f"{each}.notNull()" for each in _WHOLE[:3])]
LEAVES = st.sampled_from(_LEAVES)
CONTRACTS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(
            lambda items, lengths: f"[{', '.join([*items, *map(str, lengths)])}]",
            st.lists(inner, max_size=2),
            st.sampled_from([[], [0], [1], [0, 2], [2, 3], [1, 1]]),
        ),
        st.builds(
            lambda named, others: (
                "{"
                + ", ".join(
                    [f"{name}: {each}" for name, each in named.items()]
                    + [f"$.string().notNull(): {each}" for each in others]
                )
                + "}"
            ),
            st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            st.lists(inner, max_size=1),
        ),
    ),
    max_leaves=5,
)
SCALARS = st.sampled_from([None, True, False, 0, 5, 1.5, "one", "5", " 7_0 ", "1.5", "x", ""])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=6,
)


def codes(session, model):
    """What is wrong with a model: nothing where it loads."""
    try:
        session.load({"?": {"type": "p.A"}, **model})
    except EngineError as error:
        return {each.code for each in error.errors}
    return set()


@pytest.mark.full
@given(CONTRACTS, st.one_of(VALUES.map(lambda each: {"x": each}), st.just({})))
def test_a_model_is_valid_where_it_loads_and_invalid_where_its_shape_is_refused(contract, model):
    text = f"Properties:\n  x: {{Contract: {contract}}}"
    with Engine([package("p", classes={"p.A": text})]).session() as session:
        schema = session.type("p.A").json_schema()
        wrong = codes(session, model)
    assert wrong <= {"contract"}
    jsonschema.Draft202012Validator.check_schema(schema)
    valid = jsonschema.Draft202012Validator(json.loads(json.dumps(schema))).is_valid(model)
    assert valid == (not wrong), (contract, model)


@pytest.mark.parametrize(
    ("model", "valid"),
    [
        ({"name": "n", "config": {"host": "h", "kind": "one"}, "all": ["id"]}, True),
        ({"name": "n", "config": {"host": "h", "kind": "one"}, "all": [{}]}, True),
        ({"name": "n", "config": {"host": "h", "kind": "one"}, "all": [5]}, False),
        ({"name": "n", "config": {"host": "h", "kind": "two"}, "all": ["id"]}, False),
        ({"name": "n", "config": {"kind": "one"}, "all": ["id"]}, False),
        ({"config": {"host": "h", "kind": "one"}, "all": ["id"]}, False),
        ({"name": "n", "config": {"host": "h", "kind": "one"}, "all": []}, False),
    ],
)
def test_objects_stand_as_maps_or_ids(app, model, valid):
    assert jsonschema.Draft202012Validator(app.json_schema()).is_valid(model) == valid


@pytest.mark.parametrize("header", [5, {"type": 7}, {"id": []}, {"name": 3}])
def test_a_header_that_is_none_is_invalid(app, header):
    found = jsonschema.Draft202012Validator(app.json_schema())
    paths = [list(each.absolute_path)[:1] for each in found.iter_errors({"?": header})]
    assert ["?"] in paths
