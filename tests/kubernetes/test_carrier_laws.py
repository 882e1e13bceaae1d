"""A cluster with the carrier does what a store does, for every way in which a property or type may change.

The store is the runtime's `put` and `read` over the stored object; the cluster has only what the webhook showed, after an API server
sorted its members and wrote its numbers anew.
"""

import re
from decimal import Decimal
from types import SimpleNamespace

import msgspec
import pytest
from amounts import amount, some_of
from cases import CASES
from evolving import evolve, forget
from hypothesis import assume, given
from hypothesis import strategies as st

from trundle import verify
from trundle.api import ServedKind, ServedVersion
from trundle.errors import TrundleError
from trundle.kubernetes import Conversions, WebhookMetrics
from trundle.kubernetes._server_json import as_before, json_of, passed, spelt_values

RESOURCE, GROUP = "Thing", "things.example.com"
WITHOUT_STATUS = SimpleNamespace(status_apart=False)
NEGATIVE_ZERO = re.compile(rb"-0(?![0-9.]*[1-9])")
HEAD = ("apiVersion", "kind", "metadata")
values_of = msgspec.json.Decoder(float_hook=Decimal).decode


def pytest_generate_tests(metafunc):
    """Each law is tried with all cases; in `make test` with a few of them, each law with others."""
    laws = [name for name in vars(metafunc.module) if name.startswith("test_")]
    law = laws.index(metafunc.function.__name__)
    metafunc.parametrize("case", some_of(CASES, 24, law), scope="module")


@pytest.fixture(scope="module")
def scheme(case):
    made = evolve(CASES[case].versions, *CASES[case].more)
    yield made
    forget(made)


class Cluster:
    """Objects of a cluster, in the spelling of the scheme."""

    def __init__(self, scheme):
        versions = {
            f"v{number}": ServedVersion(f"v{number}", version, None, WITHOUT_STATUS)
            for number, version in enumerate(scheme.resources[RESOURCE].versions)
        }
        self._labels = {each.version: each.label for each in versions.values()}
        names = (RESOURCE, GROUP, RESOURCE, "ThingList", "things", "thing", (), (), True, ())
        kind = ServedKind(*names, versions, None, None)
        self._conversions = Conversions([kind], scheme, WebhookMetrics())
        self._scheme = scheme

    def stored(self, stored):
        """A stored object as a cluster keeps it."""
        members = msgspec.json.decode(stored, type=dict[str, msgspec.Raw])
        metadata = values_of(members.pop("metadata", b"{}"))
        mark = max((each for each in members if each.endswith("$writtenWith")), key=len)
        members[mark] = members["apiVersion"]
        head = {"apiVersion": f"{GROUP}/storage", "kind": RESOURCE, "metadata": metadata}
        return {**head, "stored": msgspec.json.encode(members).decode()}

    def convert(self, document, label):
        found = self._conversions.convert(document, f"{GROUP}/{label}")
        return passed(values_of(found))

    def show(self, stored, version):
        return self.convert(stored, self._labels[version])

    def write(self, shown, document):
        """What is stored after a client wrote a document over what it was shown."""
        rest = {key: value for key, value in document.items() if key not in HEAD}
        return self.convert({**{key: shown[key] for key in HEAD}, **passed(rest)}, "storage")


def plain(document):
    """What a version shows, as an API server gives it."""
    return passed({key: value for key, value in document.items() if key not in HEAD})


def has_carrier(document):
    return f"{GROUP}/carrier" in document["metadata"].get("annotations", {})


def drawn(data, scheme):
    """A stored object, as JSON, in the shape of this release."""
    found = data.draw(verify.stored_objects(scheme, RESOURCE))
    text = json_of(
        spelt_values(scheme.convert_json(scheme.encode(found)))
    )  # No server writes spaces.
    assume(not NEGATIVE_ZERO.search(text))  # Go reads it as zero.
    return text


def test_what_is_shown_and_written_back_stays_the_same(scheme):
    cluster = Cluster(scheme)

    @verify.some_examples(amount(15))
    @given(data=st.data())
    def holds(data):
        stored = drawn(data, scheme)
        kept = cluster.stored(stored)
        for version in scheme.resources[RESOURCE].versions:
            shown = cluster.show(kept, version)
            assert plain(shown) == plain(values_of(scheme.read(version, stored)))
            assert cluster.write(shown, shown) == kept
            for other in scheme.resources[RESOURCE].versions:
                assert cluster.show(shown, other) == cluster.show(kept, other)

    holds()


def test_an_edit_does_what_it_does_in_a_store(scheme):
    cluster = Cluster(scheme)

    @verify.some_examples(amount(20))
    @given(data=st.data())
    def holds(data):
        stored = drawn(data, scheme)
        version = data.draw(st.sampled_from(list(scheme.resources[RESOURCE].versions)))
        seen = scheme.from_storage(scheme.decode(stored), version)
        given = spelt_values(scheme.encode(data.draw(verify.edits(seen))))
        kept = cluster.stored(stored)
        shown = cluster.show(kept, version)
        # The server writes anew what the client wrote; with a carrier, what the client was shown keeps its order and spelling.
        before = spelt_values(scheme.encode(seen)) if has_carrier(shown) else {}
        edited = json_of(as_before(passed(given), before))
        try:
            put = scheme.put(version, edited, stored)
        except TrundleError:
            assume(False)
        written = cluster.write(shown, given)
        for other in scheme.resources[RESOURCE].versions:
            expected = plain(values_of(scheme.read(other, put)))
            assert plain(cluster.show(written, other)) == expected, other

    holds()
