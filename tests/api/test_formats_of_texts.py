"""Formats and patterns of texts, and bounds that are excluded, as API servers know them; `tests/cluster` holds the same to the real one."""

import pytest
from apis import Client
from projects import installer

from trundle.api import Api, served_kinds
from trundle.store import Store

FORMATS = {
    "bsonobjectid": (["507f1f77bcf86cd799439011"], ["x", ""]),
    "byte": (["aGk=", "YQ=="], ["", "aGk", "!!", "aGk=\n"]),
    "cidr": (["10.0.0.1/8", "::/0"], ["1.2.3.4", "1.2.3.4/33", ""]),
    "datetime": (
        ["2020-01-01T00:00:00Z", "2020-01-01t00:00:00.5z", "2020-01-01T00:00:00+01:00"],
        ["2020-01-01T00:00:00", "2020-01-01", "2020-01-01T24:00:00Z", "2020-01-01T00:00:60Z"],
    ),
    "duration": (
        ["1h30m", "-1.5h", "0", "PT1H", "P1Y", "1d", "1 day", "2 weeks", "1h 30m", "3 minutes"],
        ["", "5", "soon", "1 month"],
    ),
    "hexcolor": (["#fff", "FFFFFF"], ["#ffff", "#ggg", ""]),
    "k8s-long-name": (["a.b", "a-b"], ["A.b", "a" * 254, ""]),
    "k8s-short-name": (["a", "a-1"], ["a.b", "A", "-a", "a" * 64, ""]),
    "mac": (["00:11:22:33:44:55", "00-11-22-33-44-55", "0011.2233.4455"], ["00:11:22", "x", ""]),
    "ssn": (["111-11-1111", "111 11 1111"], ["111111111", ""]),
    "uuid": (
        ["a8098c1a-f86e-11da-bd1a-00112444be1e", "A8098C1AF86E11DABD1A00112444BE1E"],
        ["{a8098c1a-f86e-11da-bd1a-00112444be1e}", "x", ""],
    ),
    "uuid4": (
        ["a8098c1a-f86e-41da-8d1a-00112444be1e"],
        ["a8098c1a-f86e-11da-bd1a-00112444be1e", "a8098c1a-f86e-41da-0d1a-00112444be1e"],
    ),
}
NUMBERS = {
    "whole": ({"type": "integer"}, [2**63 - 1, -(2**63)], [2**63, -(2**63) - 1]),
    "above": ({"type": "number", "minimum": 0, "exclusiveMinimum": True}, [0.5], [0, -1]),
    "below": ({"type": "integer", "maximum": 3, "exclusiveMaximum": True}, [2], [3]),
    "from": ({"type": "number", "minimum": 0, "exclusiveMinimum": False}, [0], [-1]),
}
PATTERNS = {
    "class": (r"^[[:alpha:]_]+$", ["a_B"], ["a1", ":"]),
    "notclass": (r"^[^[:space:]]+$", ["a:b"], ["a b"]),
    "literal": (r"^\Qa.b[\E$", ["a.b["], ["aab["]),
    "braces": (r"^a{,3}$", ["a{,3}"], ["aa"]),
    "brackets": (r"^[][]+$", ["[]"], ["a"]),
    "escapes": (r"^\[[^\]:]+\]$", ["[a]"], ["[:]"]),
    "plain": (r"^([a-z]{1,3}|[0-9])$", ["abc"], ["abcd"]),
}
"""Patterns in the syntax of API servers."""


@pytest.fixture(scope="module")
def create(tmp_path_factory):
    """Creates an object with one property, without storing it; the status, and the places that are wrong."""
    properties = {name.replace("-", ""): {"type": "string", "format": name} for name in FORMATS}
    properties |= {name: schema for name, (schema, _, _) in NUMBERS.items()}
    properties |= {
        name: {"type": "string", "pattern": pattern} for name, (pattern, _, _) in PATTERNS.items()
    }
    names = {"plural": "forms", "singular": "form", "kind": "Form"}
    schema = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": properties}},
    }
    version = {"name": "v1", "served": True, "storage": True}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "forms.forms.test"},
        "spec": {
            "group": "forms.test",
            "scope": "Namespaced",
            "names": names,
            "versions": [{**version, "schema": {"openAPIV3Schema": schema}}],
        },
    }
    config = {"kubernetes": {"group": "forms.test"}}
    with installer(tmp_path_factory.mktemp("forms")) as install:
        made = install({"forms.json": crd}, config=config)
        with Store(tmp_path_factory.mktemp("store") / "store.db", made.scheme) as store:
            client = Client(Api(store, served_kinds([made.project], made.scheme), "0.0.0"))

            def create(name, value):
                path = "/apis/forms.test/v1/namespaces/default/forms"
                head = {"apiVersion": "forms.test/v1", "kind": "Form", "metadata": {"name": "a"}}
                body = {**head, "spec": {name: value}}
                code, found = client.call("POST", path, body, dryRun="All")
                causes = found["details"]["causes"] if code >= 400 else ()
                return code, [each.get("field") for each in causes], found.get("message", "")

            yield create


@pytest.mark.parametrize("name", FORMATS)
def test_texts_of_a_format(create, name):
    valid, wrong = FORMATS[name]
    place = name.replace("-", "")
    assert {value: create(place, value)[:2] for value in valid} == dict.fromkeys(valid, (201, []))
    refused = (422, [f"spec.{place}"])
    assert {value: create(place, value)[:2] for value in wrong} == dict.fromkeys(wrong, refused)


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns(create, name):
    pattern, valid, wrong = PATTERNS[name]
    assert [create(name, value)[:2] for value in valid] == [(201, [])] * len(valid)
    for value in wrong:
        code, fields, message = create(name, value)
        assert (code, fields) == (422, [f"spec.{name}"])
        assert f"spec.{name} in body should match '{pattern}'" in message


@pytest.mark.parametrize("name", NUMBERS)
def test_bounds_that_are_excluded(create, name):
    _, valid, wrong = NUMBERS[name]
    assert [create(name, value)[:2] for value in valid] == [(201, [])] * len(valid)
    assert [create(name, value)[:2] for value in wrong] == [(422, [f"spec.{name}"])] * len(wrong)
