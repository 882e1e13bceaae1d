"""An object of which an edit leaves only what other versions have in it is there for its writer."""

import pytest
from cases import V1, V2, V3, V4, thing
from evolving import Store, evolve, forget, hooked, rules

from trundle.runtime import ABSENT


def document(version, **members):
    return {"apiVersion": version, "kind": "Thing", **members}


@pytest.fixture(scope="module")
def scheme():
    """`o.i` is made of `o.a`, and holds nothing of the oldest version once `a` moved on."""
    made = evolve(
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
    yield made
    forget(made)


def test_an_object_is_there_that_its_writer_left_empty(scheme):
    stored = scheme.put(V3, document(V3, o={"i": {}, "q": ""}))
    written = scheme.put(V1, document(V1, o={}), stored)
    assert scheme.read(V1, written) == document(V1, o={})
    assert scheme.read(V3, written) == document(V3, o={"i": {}})


def test_it_goes_once_its_writer_removes_it(scheme):
    stored = scheme.put(V3, document(V3, o={"i": {}, "q": ""}))
    written = scheme.put(V1, document(V1, o={}), stored)
    assert scheme.read(V1, scheme.put(V1, document(V1), written)) == document(V1)


def test_no_entry_is_left_of_an_edit_that_is_taken_back(scheme):
    stored = scheme.put(V3, document(V3, o={"i": {}, "q": ""}))
    written = scheme.put(V1, document(V1, o={}), stored)
    back = scheme.put(V1, document(V1, o={"q": ""}), written)
    for version in (V1, V2, V3):
        assert scheme.read(version, back) == scheme.read(version, stored)


@pytest.mark.parametrize("writer", [V2, V3])
def test_an_object_with_an_empty_one_in_it_is_there_on_every_way(scheme, writer):
    """Nothing of what is in it is anywhere else, so that the oldest version has it, too."""
    written = document(writer, o={"i": {}})
    stored = scheme.put(writer, written)
    assert "$propertyBag" not in stored
    assert scheme.read(V1, stored) == document(V1, o={})
    assert scheme.convert(written, V1) == document(V1, o={})
    assert scheme.convert(scheme.convert(written, V2), V1) == document(V1, o={})


@pytest.mark.parametrize("writer", [V2, V3])
def test_an_object_is_absent_of_which_all_is_elsewhere(scheme, writer):
    value = {"o": {"i": {"c": "1"}}} if writer == V2 else {"a": "1"}
    stored = scheme.put(writer, document(writer, **value))
    assert scheme.read(V1, stored) == document(V1, o={"a": "1"})
    assert scheme.read(V3, stored) == document(V3, a="1")


def test_an_object_is_absent_that_its_writer_removes_with_the_object_in_it(forgetting):
    """`rollout` is there for the older version because of `limits`, and stays for `b` of the newer one."""
    inner = {"z": "string"}
    scheme = forgetting(
        evolve(
            {
                V1: {
                    "Thing": {"size": "integer", "rollout": "Rollout"},
                    "Rollout": {"limits": "Limits"},
                    "Limits": inner,
                },
                V2: {
                    "Thing": {"rollout": "Rollout"},
                    "Rollout": {"b": "string", "limits": "Limits"},
                    "Limits": {"maxSize": "integer", **inner},
                },
            },
            rules(V1, move={"size": "rollout.limits.maxSize"}),
        )
    )
    stored = scheme.put(V2, document(V2, rollout={"b": "x", "limits": {}}))
    written = scheme.put(V1, document(V1, size=0), stored)
    assert scheme.read(V1, written) == document(V1, size=0)


class Counted:
    def assign_to(self, source):
        return {"o__b": ABSENT if source.o__a is ABSENT else source.o__a + 1}

    def assign_from(self, source):
        return {"o__a": ABSENT if source.o__b is ABSENT else source.o__b - 1}


COUNTED = {
    V1: thing(x="string"),
    V2: thing(**{"o!": "O"}) | {"O": {"a": "integer"}},
    V3: thing(o="O") | {"O": {"b": "integer"}},
    V4: thing(o="O") | {"O": {"z": "string"}},
}


@pytest.fixture(params=[V1, V2, V3])
def counted(request, forgetting):
    """Of `o`, only what its own hook makes is in the bag, where `V1` is stored: `V2` shows it anyhow."""
    hook = hooked(V2, V3, Counted, to=(("o.a",), ("o.b",)), back=(("o.b",), ("o.a",)))
    store = Store(forgetting(evolve(COUNTED, hook, hub=request.param)))
    return store.put(V1, x="x").edit(V2, o={"a": 2})


def test_an_object_is_there_that_was_shown_for_a_hook_and_that_its_writer_left_empty(counted):
    assert counted.read(V3) == {"o": {"b": 3}}
    counted.edit(V3, o={})
    assert [counted.read(each) for each in (V2, V3)] == [{"o": {}}, {"o": {}}]


def test_it_goes_with_what_the_hook_makes_where_a_client_of_another_version_removes_it(counted):
    counted.edit(V4, o={"z": "z"}).edit(V4, o=None)
    assert [counted.read(each) for each in (V2, V3, V4)] == [{"o": {}}, {}, {}]
