"""The law of origins: a value that no write leads to is found."""

import pytest
from cases import V1, V2, Case, thing
from evolving import evolve, forget, rules

from trundle.runtime import Scheme
from trundle.verify import LawBroken
from trundle.verify._origin_law import law_of_origins


@pytest.fixture(scope="module")
def scheme():
    made = evolve(Case({V1: thing(a="string", b="string"), V2: thing(b="string")}).versions)
    yield made
    forget(made)


def thing_of(scheme: Scheme, version: str, **values: str):
    return scheme.decode(scheme.encode({"apiVersion": version, "kind": "Thing", **values}))


def states(scheme: Scheme, *documents):
    found = []
    for each in documents:
        found.append(scheme.to_storage(each, found[-1] if found else None))
    return found


def test_what_the_writer_cannot_see_stays(scheme):
    first = thing_of(scheme, V1, a="hidden", b="one")
    law_of_origins(scheme, states(scheme, first), thing_of(scheme, V2, b="two"))


def test_a_value_may_return_with_what_it_accompanied(scheme):
    first = thing_of(scheme, V1, a="hidden", b="one")
    second = thing_of(scheme, V2, b="two")
    law_of_origins(scheme, states(scheme, first, second), thing_of(scheme, V2, b="one"))


def test_what_is_required_and_no_longer_stored_is_not_stale():
    """A client removes what it sees of an object, in which another version has more and requires what is gone."""
    old = {"Thing": {"version": "string"}}
    new = {"Thing": {"latest": "Release"}, "Release": {"version!": "string", "tag": "string"}}
    made = evolve({V1: old, V2: new}, rules(V1, move={"version": "latest.version"}))
    first = thing_of(made, V2, latest={"version": "1.0", "tag": "hidden"})
    last = thing_of(made, V1)
    shown = made.convert(made.to_storage(last, made.to_storage(first)), V2)
    assert made.encode(shown) == made.encode(
        thing_of(made, V2, latest={"version": "", "tag": "hidden"})
    )
    law_of_origins(made, states(made, first), last)
    forget(made)


def test_a_value_that_no_write_leads_to_is_found(scheme, monkeypatch):
    """A put that shows an older value again, as an entry would that is taken for current."""
    first, second = thing_of(scheme, V1, a="old", b="one"), thing_of(scheme, V1, a="new", b="two")
    old, new = states(scheme, first, second)
    last = thing_of(scheme, V2, b="three")
    put = type(scheme).to_storage

    def stale(self, document, base=None):
        written = put(self, document, base)
        if base is new:
            written.property_bag = old.property_bag
        return written

    monkeypatch.setattr(type(scheme), "to_storage", stale)
    with pytest.raises(LawBroken, match="nothing stale is shown again") as broken:
        law_of_origins(scheme, [old, new], last)
    assert broken.value.path == "$.a"
    assert broken.value.found == '"old"'
