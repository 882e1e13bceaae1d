"""What lenient reading makes of a custom resource is what an API server makes of it.

The oracle is the API server's own order of things over the schema as it is written: unknown properties are pruned,
then nulls that cannot be and have no default, then defaults are filled in where their parents are.
"""

import copy

import pytest
import yaml
from amounts import amount
from hypothesis import given, settings
from hypothesis import strategies as st

from trundle.runtime import Lenience
from trundle.verify import examples

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gates.example.com}
spec:
  group: example.com
  names: {kind: Gate, plural: gates}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [name, mode]
              properties:
                name: {type: string}
                mode: {type: string, enum: [open, shut], default: open}
                weight: {type: integer, default: 1}
                maybe: {type: string, nullable: true, default: x}
                none: {type: boolean, nullable: true}
                port: {x-kubernetes-int-or-string: true, default: 80}
                limits:
                  type: object
                  default: {cpu: 2}
                  properties:
                    cpu: {type: integer}
                    memory: {type: string, default: 1Gi}
                rules:
                  type: array
                  items:
                    type: object
                    required: [path]
                    properties:
                      path: {type: string, default: /}
                      retry:
                        type: object
                        properties: {times: {type: integer, default: 3}, wait: {type: string}}
                byName:
                  type: object
                  additionalProperties:
                    type: object
                    properties: {up: {type: boolean, default: true}, tags: {type: array, items: {type: string}}}
                labels: {type: object, additionalProperties: {type: string}}
                open:
                  type: object
                  x-kubernetes-preserve-unknown-fields: true
                  properties: {known: {type: integer, default: 5}}
                free: {x-kubernetes-preserve-unknown-fields: true}
"""
SPEC = yaml.safe_load(CRD)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]


@pytest.fixture(scope="module")
def scheme(install):
    return install({"gates.yaml": CRD}).scheme


def _inner(schema, name):
    """The schema of a member; None where the schema says nothing of it."""
    found = schema.get("properties", {}).get(name)
    more = schema.get("additionalProperties")
    return found or (more if isinstance(more, dict) else None)


def _each(value, schema):
    """The parts of a value that a schema says something of."""
    if isinstance(value, dict):
        found = [(value[name], _inner(schema, name)) for name in value]
        return [(each, inner) for each, inner in found if inner is not None]
    items = schema.get("items")
    return [(each, items) for each in value] if items and isinstance(value, list) else []


def prune(value, schema):
    if isinstance(value, dict) and not schema.get("x-kubernetes-preserve-unknown-fields"):
        for name in [each for each in value if _inner(schema, each) is None]:
            del value[name]
    for each, inner in _each(value, schema):
        prune(each, inner)


def drop_nulls(value, schema):
    if isinstance(value, dict):
        for name in list(value):
            inner = _inner(schema, name)
            if inner is None or "default" in inner or inner.get("nullable"):
                continue
            if value[name] is None and "type" in inner:  # free-form data is carried verbatim
                del value[name]
    for each, inner in _each(value, schema):
        drop_nulls(each, inner)


def fill_in(value, schema):
    if isinstance(value, dict):
        for name, inner in schema.get("properties", {}).items():
            missing = name not in value or (value[name] is None and not inner.get("nullable"))
            if "default" in inner and missing:
                value[name] = copy.deepcopy(inner["default"])
    for each, inner in _each(value, schema):
        fill_in(each, inner)


def drawn(schema):
    """Values of a schema, with nulls, gaps and strangers in them."""
    if schema.get("x-kubernetes-int-or-string"):
        return st.sampled_from([1, "50%"])
    match schema.get("type"):
        case "string":
            found = st.sampled_from(schema.get("enum", ["a", "b"]))
        case "integer":
            found = st.integers(0, 9)
        case "boolean":
            found = st.booleans()
        case "array":
            found = st.lists(drawn(schema["items"]), max_size=2)
        case "object":
            found = drawn_object(schema)
        case _:
            found = st.sampled_from([{"f": None}, [None], 1])
    return st.none() | found if schema.get("nullable") else found


def drawn_object(schema):
    members = {
        name: st.none() | drawn(inner) for name, inner in schema.get("properties", {}).items()
    }
    more = schema.get("additionalProperties")
    if isinstance(more, dict):
        return st.dictionaries(st.sampled_from("ab"), st.none() | drawn(more), max_size=2)
    return st.fixed_dictionaries({}, optional={**members, "stranger": st.just({"x": None})})


@given(spec=drawn(SPEC))
@settings(examples, max_examples=amount(300))
def test_it_is_read_as_an_api_server_reads_it(scheme, spec):
    document = {"apiVersion": "example.com/v1", "kind": "Gate", "spec": spec}
    expected = copy.deepcopy(spec)
    prune(expected, SPEC)
    drop_nulls(expected, SPEC)
    fill_in(expected, SPEC)
    noted = []
    lenience = Lenience(
        missing=True, nulls=True, defaults=True, unknown="prune", report=noted.append
    )
    found = scheme.convert(document, "v1", lenience=lenience)
    assert found["spec"] == expected
    said = {each.path for each in noted if each.done != "left absent"}
    assert bool(said) == (spec != expected)


def test_without_a_spec_nothing_is_filled_in(scheme):
    document = {"apiVersion": "example.com/v1", "kind": "Gate", "metadata": {"name": "g"}}
    assert scheme.convert(document, "v1", lenience=Lenience(defaults=True)) == document


def test_a_required_property_with_a_default_is_not_missing(scheme):
    document = {
        "apiVersion": "example.com/v1",
        "kind": "Gate",
        "spec": {"name": "g", "rules": [{}]},
    }
    found = scheme.convert(document, "v1", lenience=Lenience(defaults=True))
    assert (found["spec"]["mode"], found["spec"]["rules"]) == ("open", [{"path": "/"}])
