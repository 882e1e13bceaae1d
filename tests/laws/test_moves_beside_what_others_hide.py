"""A move beside what its writer does not see: what is written is read, and what is removed goes everywhere."""

import json

import pytest
from evolving import evolve, rules

V1, V2, V3 = "2020-01-01", "2021-01-01", "2022-01-01"


def document(version: str, **properties):
    return {"apiVersion": version, "kind": "Thing", **properties}


@pytest.fixture
def over_three(forgetting):
    return forgetting(
        evolve(
            {
                V1: {"Thing": {"o": "O"}, "O": {"a": "string", "q": "string"}},
                V2: {
                    "Thing": {"o": "O"},
                    "O": {"i": "I", "q": "string"},
                    "I": {"c": "string"},
                },
                V3: {
                    "Thing": {"a": "string", "o": "O"},
                    "O": {"i": "I", "q": "string"},
                    "I": {"y": "string"},
                },
            },
            rules(V1, "O", move={"a": "i.c"}),
            rules(V2, move={"o.i.c": "a"}),
        )
    )


def test_an_object_stays_when_its_last_property_goes_and_another_version_has_one_inside(over_three):
    stored = over_three.put(V3, document(V3, o={"i": {}, "q": "1"}))
    stored = over_three.put(V1, document(V1, o={}), stored)
    assert over_three.read(V1, stored) == document(V1, o={})
    assert over_three.read(V3, stored) == document(V3, o={"i": {}})


@pytest.mark.xfail(strict=True, reason="the object is shown empty")
def test_an_object_that_is_null_beside_what_its_version_cannot_have_is_null(forgetting):
    scheme = forgetting(
        evolve(
            {
                V1: {"Thing": {"a": "string?", "o": "O?"}, "O": {"b": "string"}},
                V2: {"Thing": {"o": "O?"}, "O": {"a": "string", "b": "string?"}},
            },
            rules(V1, move={"a": "o.a"}),
        )
    )
    stored = scheme.put(V2, document(V2, o={"b": None}))
    stored = scheme.put(V1, document(V1, a="1", o=None), stored)
    assert scheme.read(V1, stored) == document(V1, a="1", o=None)
    assert scheme.read(V2, stored) == document(V2, o={"a": "1", "b": None})


def test_what_a_writer_removes_goes_by_text_as_by_objects(forgetting):
    scheme = forgetting(
        evolve(
            {
                V1: {"Thing": {"o": "O"}, "O": {"a": "integer", "c": "string"}},
                V2: {"Thing": {"o": "O"}, "O": {"a": "string", "c": "string"}},
                V3: {"Thing": {"a": "string", "o": "O"}, "O": {"c": "string"}},
            },
            rules(V2, move={"o.a": "a"}),
        )
    )
    stored = scheme.convert(scheme.put(V1, document(V1, o={"a": 1, "c": "2"})))
    text = json.dumps(document(V3)).encode()
    assert scheme.encode(scheme.to_storage(text, stored)) == scheme.encode(
        scheme.to_storage(scheme.decode(text), stored)
    )
