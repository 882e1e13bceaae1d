"""A move beside what its writer does not see: what is written is read, and what is removed goes everywhere."""

import json

import pytest
from evolving import evolve, rules

from trundle.verify import LawBroken, law3

V1, V2, V3 = "2020-01-01", "2021-01-01", "2022-01-01"
P3 = f"{V3}-preview"


class Damaging:
    """A scheme that damages what it stores over something."""

    def __init__(self, scheme, damage):
        self._scheme = scheme
        self._damage = damage

    def __getattr__(self, name):
        return getattr(self._scheme, name)

    def to_storage(self, value, base=None):
        stored = json.loads(self._scheme.encode(self._scheme.to_storage(value, base)))
        if base is not None:
            self._damage(stored)
        return self._scheme.decode(json.dumps(stored).encode())


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


@pytest.fixture
def nullable(forgetting):
    return forgetting(
        evolve(
            {
                V1: {"Thing": {"a": "string?", "o": "O?"}, "O": {"b": "string"}},
                V2: {"Thing": {"o": "O?"}, "O": {"a": "string", "b": "string?"}},
            },
            rules(V1, move={"a": "o.a"}),
        )
    )


def test_an_object_that_is_null_where_its_version_could_not_see_what_was_in_it_is_null(nullable):
    """What was in it goes with the object that the null takes the place of."""
    stored = nullable.put(V2, document(V2, o={"b": None}))
    stored = nullable.put(V1, document(V1, a="1", o=None), stored)
    assert nullable.read(V1, stored) == document(V1, a="1", o=None)
    assert nullable.read(V2, stored) == document(V2, o={"a": "1"})


def test_an_object_that_is_absent_is_shown_once_another_version_writes_into_it(nullable):
    """What the other version wrote is in the older one's object too, so that it is more than what was removed."""
    stored = nullable.put(V2, document(V2, o={"b": None}))
    stored = nullable.put(V1, document(V1, a=None), stored)
    assert nullable.read(V1, stored) == document(V1, a=None)
    stored = nullable.put(V2, document(V2, o={"a": "1", "b": "x"}), stored)
    assert nullable.read(V1, stored) == document(V1, a="1", o={"b": "x"})
    stored = nullable.put(V1, document(V1, a=None, o=None), stored)
    assert nullable.read(V1, stored) == document(V1, a=None, o=None)
    assert nullable.read(V2, stored) == document(V2, o={})


def test_an_object_is_null_though_an_empty_one_shows_what_its_version_requires(forgetting):
    scheme = forgetting(
        evolve(
            {
                V1: {
                    "Thing": {"a": "string", "o": "O?"},
                    "O": {"b": "string", "c!": ("string", "d")},
                },
                V2: {"Thing": {"o": "O?"}, "O": {"a": "string", "b": "string?"}},
            },
            rules(V1, move={"a": "o.a"}),
        )
    )
    stored = scheme.put(V2, document(V2, o={"b": None}))
    assert scheme.read(V1, stored) == document(V1, o={"c": "d"})
    stored = scheme.put(V1, document(V1, a="1", o=None), stored)
    assert scheme.read(V1, stored) == document(V1, a="1", o=None)


def test_an_object_that_is_null_is_shown_once_another_version_leaves_it_empty(nullable):
    """What was moved into it was all that it had, so that the older version had none; without that it is one."""
    stored = nullable.put(V1, document(V1, a="1", o=None))
    assert nullable.read(V1, stored) == document(V1, a="1", o=None)
    stored = nullable.put(V2, document(V2, o={}), stored)
    assert nullable.read(V1, stored) == document(V1, o={})


@pytest.mark.parametrize(("said", "seen"), [(True, {"o": {}}), (None, {"o": None})])
def test_what_an_earlier_release_noted_of_an_object_is_as_true_as_before(nullable, said, seen):
    """Its entries accompany what the object has for itself, and not whether it has anything."""
    earlier = {"value": said, "beside": "983d748b091609e18c"}
    stored = document(V2, o={"a": "1"})
    stored |= {"$writtenWith": V1, "$propertyBag": {"o?": {V1: earlier}}}
    assert nullable.read(V1, stored) == document(V1, a="1", **seen)
    stored = nullable.put(V2, document(V2, o={"a": "2"}), stored)
    assert nullable.read(V1, stored) == document(V1, a="2", **seen)
    stored = nullable.put(V2, document(V2, o={"a": "2", "b": "x"}), stored)
    assert nullable.read(V1, stored) == document(V1, a="2", o={"b": "x"})


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


def test_a_bag_is_in_order_however_an_object_is_stored(forgetting):
    """Whether `o` is there is an entry, too; its name comes before that of the property."""
    scheme = forgetting(
        evolve(
            {
                V1: {"Thing": {"a": "string", "o": "O", "z": "string"}, "O": {"b": "string"}},
                V2: {"Thing": {"o": "O"}, "O": {"a": "string", "b": "string"}},
            },
            rules(V1, move={"a": "o.a"}),
        )
    )
    written = document(V1, a="1", o={}, z="2")
    text = scheme.encode(scheme.decode(json.dumps(written).encode()).convert_to_storage())
    assert list(json.loads(text)["$propertyBag"]) == ["o?", "z"]
    assert json.dumps(scheme.put(V1, written), separators=(",", ":")).encode() == text


def test_what_was_said_of_an_object_is_not_so_again_after_what_was_said_since(forgetting):
    """The older version had an object beside `a` alone; meanwhile the newer one had an object without it."""
    scheme = forgetting(
        evolve(
            {
                V1: {"Thing": {"a": "string", "o": "O"}, "O": {"b": "string"}},
                V2: {"Thing": {"o": "O"}, "O": {"a": "string", "b": "string"}},
            },
            rules(V1, move={"a": "o.a"}),
        )
    )
    stored = scheme.put(V1, document(V1, a="1", o={}))
    assert list(stored["$propertyBag"]) == ["o?"]
    stored = scheme.put(V2, document(V2, o={}), stored)
    assert "$propertyBag" not in stored
    edited = document(V2, o={"a": "2"})
    assert scheme.read(V1, scheme.put(V2, edited, stored)) == document(V1, a="2")
    law3(scheme, *(scheme.decode(json.dumps(each).encode()) for each in (stored, edited)))


@pytest.fixture
def hiding(forgetting):
    """A preview has more in the object into which the version before it moves something."""
    return forgetting(
        evolve(
            {
                V1: {"Thing": {"a": "string", "o": "O"}, "O": {"c": "string"}},
                V2: {"Thing": {"o": "O"}, "O": {"a": "string", "c": "string"}},
                P3: {"Thing": {"o": "O"}, "O": {"a": "string", "c": "string", "d": "string"}},
            },
            rules(V1, move={"a": "o.a"}),
        )
    )


def test_an_object_stays_for_what_another_version_has_in_it(hiding):
    """To the older version an object with nothing but `a` in it is none; one with more in it is one."""
    stored = hiding.put(P3, document(P3, o={"d": "D"}))
    assert hiding.read(V1, stored) == document(V1, o={})
    edited = document(V2, o={"a": "1"})
    written = hiding.put(V2, edited, stored)
    assert hiding.read(V1, written) == document(V1, a="1", o={})
    assert hiding.read(P3, written) == document(P3, o={"a": "1", "d": "D"})
    assert hiding.read(V1, hiding.put(V2, edited)) == document(V1, a="1")
    law3(hiding, *(hiding.decode(json.dumps(each).encode()) for each in (stored, edited)))


def said_to_be_there(stored):
    stored["$propertyBag"] = {"o?": {V1: {"value": True}}}


def not_removed(stored):
    stored["o"] = {"$propertyBag": {"d": {P3: {"value": "D"}}}}


@pytest.mark.parametrize(
    ("first", "edited", "damage"),
    [({}, {"o": {"a": "1"}}, said_to_be_there), ({"d": "D"}, {}, not_removed)],
)
def test_an_object_that_stays_for_nothing_or_is_not_removed_is_reported(
    hiding, first, edited, damage
):
    stored = hiding.put(P3, document(P3, o=first))
    given = [hiding.decode(json.dumps(each).encode()) for each in (stored, document(V2, **edited))]
    law3(hiding, *given)
    with pytest.raises(LawBroken, match=f"{V1} - at [$].o"):
        law3(Damaging(hiding, damage), *given)


def test_an_object_that_is_there_for_what_moves_alone_goes_with_that(forgetting):
    """The older version has an object of its own, and the newer one has said that it has none but for `b`."""
    scheme = forgetting(
        evolve(
            {
                V1: {"Thing": {"b": "string", "p": "P"}, "P": {"y": "string"}},
                V2: {"Thing": {"y": "string", "p": "P"}, "P": {"b": "string"}},
            },
            rules(V1, move={"p.y": "y", "b": "p.b"}),
            hub=V1,
        )
    )
    stored = scheme.put(V1, document(V1, b="1", p={"y": "2"}))
    stored = scheme.put(V2, document(V2, p={"b": "1"}), stored)
    assert scheme.read(V1, stored) == document(V1, b="1")
    earlier = {"beside": "4d3b8ad7915ab8af73"}  # packages of before stored this instead
    stored = document(V1, b="1", p={}) | {"$writtenWith": V2, "$propertyBag": {"p?": {V2: earlier}}}
    assert scheme.read(V1, stored) == document(V1, b="1", p={})
    assert scheme.read(V2, stored) == document(V2, p={"b": "1"})
    edited = document(V1, p={})
    assert scheme.read(V2, scheme.put(V1, edited, stored)) == document(V2)
    given = [scheme.decode(json.dumps(each).encode()) for each in (stored, edited)]
    law3(scheme, *given)
    del stored["$propertyBag"]
    assert scheme.read(V2, scheme.put(V1, edited, stored)) == document(V2, p={})
    given[0] = scheme.decode(json.dumps(stored).encode())
    law3(scheme, *given)
    with pytest.raises(LawBroken, match=f"{V2} - at [$].p"):
        law3(Damaging(scheme, without_object), *given)


def without_object(stored):
    stored["$propertyBag"] = {"p?": {V2: {}}}


def test_what_a_version_requires_and_has_is_not_made_a_zero_by_an_edit_that_opens_its_object(
    forgetting,
):
    scheme = forgetting(
        evolve(
            {
                V1: {"Thing": {"o": "O"}, "O": {"a!": "string"}},
                V2: {"Thing": {"o": "any", "x": "integer", "y": "string"}},
            },
            rules(V1, move={"o.a": "x"}, convert={"o.a": "string-to-integer"}),
        )
    )
    stored = scheme.put(V1, document(V1, o={"a": "no number"}))
    stored = scheme.put(V2, document(V2, o="there"), stored)
    edited = document(V2, o={}, y="2")
    assert scheme.read(V1, scheme.put(V2, edited)) == document(V1, o={"a": ""})
    written = scheme.put(V2, edited, stored)
    assert scheme.read(V1, stored) == scheme.read(V1, written) == document(V1, o={"a": "no number"})
    given = [scheme.decode(json.dumps(each).encode()) for each in (stored, edited)]
    law3(scheme, *given)
    with pytest.raises(LawBroken, match=f"{V1} - at [$].o.a"):
        law3(Damaging(scheme, with_another_text), *given)


def with_another_text(stored):
    stored["$propertyBag"]["o.a"][V1]["value"] = "other"
