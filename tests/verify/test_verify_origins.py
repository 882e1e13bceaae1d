"""The law of origins: a value that no write leads to is found."""

import pytest
from cases import V1, V2, Case, thing
from evolving import evolve, forget

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
