"""A catalog does exactly what keeps its two laws, for any order of changes.

The oracle shares no code with the rules: it makes the change in a set of records, and asks whether the laws still hold.

1. A name and version is public once, and what is uploaded meets no public package of another tenant; a private one, which no other tenant
   sees, may meet a public one that comes later.
2. What a package requires is among what it may use: of a public one, other public ones alone.
"""

import contextlib
import itertools
import random
from typing import NamedTuple

import pytest
from amounts import some_of
from bundles import bundle

from trundle.catalog import BrokenRuleError, Catalog
from trundle.version import SemVer

TENANTS = ("x", "y", "z")
NAMES = ("a.A", "a.B", "a.C")
VERSIONS = ("1.0.0", "1.1.0", "2.0.0")
SPECS = {
    "1": {"1.0.0", "1.1.0"},
    "1.1": {"1.1.0"},
    ">=1.1": {"1.1.0", "2.0.0"},
    "!=1.0": {"1.1.0", "2.0.0"},
    "2.0.0": {"2.0.0"},
}


class Record(NamedTuple):
    tenant: str
    name: str
    version: str
    public: bool
    text: str
    needs: tuple[tuple[str, str], ...]

    @property
    def key(self):
        return self.name, self.version


def is_lawful(state):
    public = [each.key for each in state if each.public]
    return len(public) == len(set(public)) and all(
        any(
            other.name == name
            and other.version in SPECS[spec]
            and (other.public or (not each.public and other.tenant == each.tenant))
            for other in state
        )
        for each in state
        for name, spec in each.needs
    )


def uploaded(state, records):
    """The records after an upload; None where a version would have two contents."""
    after = set(state)
    for new in records:
        same = [each for each in after if (each.tenant, each.key) == (new.tenant, new.key)]
        if any((each.text, each.needs) != (new.text, new.needs) for each in same):
            return None
        if not same and any(
            each.public and each.key == new.key and each.tenant != new.tenant for each in state
        ):
            return None
        after |= set() if same else {new}
    return after


def record(chance, tenant, *, public):
    count = chance.choice((0, 0, 1, 1, 2))
    needs = tuple((name, chance.choice(list(SPECS))) for name in chance.sample(NAMES, count))
    name, version = chance.choice(NAMES), chance.choice(VERSIONS)
    return Record(tenant, name, version, public, chance.choice("pppq"), needs)


def try_upload(catalog, state, chance):
    tenant, public = chance.choice(TENANTS), chance.random() < 0.4
    records = [record(chance, tenant, public=public) for _ in range(chance.randint(1, 3))]
    packages = [bundle(each.name, each.version, dict(each.needs), each.text) for each in records]
    after = uploaded(state, records)
    expected = after is not None and is_lawful(after)
    done = catalog.upload(packages, tenant=tenant, public=public)
    assert done.refused != expected, (records, done.findings)
    return after if expected else state


def try_change(catalog, state, chance):
    kind = chance.choice(("delete", "share", "unshare"))
    one = chance.choice(sorted(state))
    after = state - {one}
    if kind != "delete":
        after |= {one._replace(public=kind == "share")}
    expected = is_lawful(after)
    change = getattr(catalog, kind)
    with contextlib.nullcontext() if expected else pytest.raises(BrokenRuleError):
        change(one.name, SemVer.parse(one.version), tenant=one.tenant)
    return after if expected else state


@pytest.mark.full
@pytest.mark.parametrize("seed", some_of(range(4), 4))
def test_a_change_is_made_if_and_only_if_the_laws_hold_after_it(tmp_path, seed):
    chance = random.Random(seed)
    state = frozenset()
    made = refused = 0
    with Catalog(tmp_path / "catalog.db") as catalog:
        for _ in range(120):
            change = try_change if state and chance.random() < 0.4 else try_upload
            after = frozenset(change(catalog, state, chance))
            made, refused = made + (after != state), refused + (after == state)
            state = after
            for tenant in TENANTS:
                seen = {each.key for each in state if each.public or each.tenant == tenant}
                offers = catalog.offers(tenant)
                assert {(each.name, str(each.version)) for each in offers} == seen
                assert len(offers) == len(seen)
                own = {each.key for each in state if each.tenant == tenant}
                assert {
                    (each.name, str(each.version)) for each in offers if each.tenant == tenant
                } == own
                found = sorted((each.name, each.version, each.digest) for each in offers)
                snapshot = catalog.snapshot(tenant)
                assert sorted((each.name, each.version, each.digest) for each in snapshot) == found
    assert made > 15, "the test is about changes that are made"
    assert refused > 15, "and about those that are refused"


def test_the_oracle_knows_both_laws():
    lib = Record("x", "a.A", "1.0.0", False, "p", ())
    user = Record("x", "a.B", "1.0.0", False, "p", (("a.A", "1"),))
    assert is_lawful({lib, user})
    assert not is_lawful({user})
    assert not is_lawful({lib, user._replace(public=True)})
    assert not is_lawful({lib, user._replace(tenant="y")})
    for one, other in itertools.product((True, False), repeat=2):
        both = {lib._replace(public=one), lib._replace(tenant="y", public=other)}
        assert is_lawful(both) == (not one or not other)
        assert (uploaded({lib._replace(public=one)}, [lib._replace(tenant="y")]) is None) == one
