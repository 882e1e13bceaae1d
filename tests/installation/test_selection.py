"""Which versions are chosen together."""

from random import Random

import pytest
from channel_data import digest, entry, v

from trundle.installation import UpgradeOffer, _selection, select
from trundle.packages import Release, Requirement
from trundle.version import VersionRange


def needs(**ranges):
    return tuple(Requirement(name, VersionRange.parse(each)) for name, each in ranges.items())


def offer(name, installed=None, *ready, wanted=True, has=()):
    release = installed and Release(name, v(installed), digest(installed), has)
    entries = tuple(entry(each) if isinstance(each, str) else each for each in ready)
    return UpgradeOffer(name=name, installed=release, ready=entries, wanted=wanted)


def chosen(*offers):
    selections = [select(order) for order in (offers, offers[::-1])]
    assert selections[0] == selections[1]
    return {name: str(each.version) for name, each in selections[0].chosen.items()}


def test_each_package_goes_to_its_best_version():
    assert chosen(offer("a", "1.0.0", "1.2.0", "1.1.0"), offer("b", "1.0.0"), offer("c")) == {
        "a": "1.2.0"
    }


def test_the_next_best_is_taken_where_the_best_does_not_fit():
    best = entry("1.2.0", depends_on=needs(b="2"))
    offers = (offer("a", "1.0.0", best, "1.1.0"), offer("b", "1.0.0"))
    assert chosen(*offers) == {"a": "1.1.0"}
    assert set(select(offers).conflicts) == {"a"}


def test_a_package_that_conflicts_stays_and_the_others_go_on():
    best = entry("1.2.0", depends_on=needs(missing="1"))
    offers = (offer("a", "1.0.0", best), offer("b", "1.0.0", "1.0.1"))
    assert chosen(*offers) == {"b": "1.0.1"}
    (conflict,) = select(offers).conflicts["a"]
    assert "missing" in str(conflict)
    assert "a 1.2.0" in str(conflict)


def test_what_another_package_needs_is_taken_along_but_not_without_need():
    helped = offer("b", "1.0.0", "1.1.0", "1.0.5", wanted=False)
    assert chosen(offer("a", "1.0.0", "1.1.0"), helped) == {"a": "1.1.0"}
    best = entry("1.1.0", depends_on=needs(b=">=1.0.5"))
    assert chosen(offer("a", "1.0.0", best), helped) == {"a": "1.1.0", "b": "1.1.0"}


def test_what_is_broken_already_holds_nothing_back():
    broken = offer("a", "1.0.0", has=needs(gone="1"))
    assert chosen(broken, offer("b", "1.0.0", "1.0.1")) == {"b": "1.0.1"}


@pytest.mark.parametrize("wanted", [True, False])
def test_what_is_not_installed_comes_only_where_it_is_wanted_or_needed(wanted):
    assert chosen(offer("a", None, "1.0.0", wanted=wanted)) == ({"a": "1.0.0"} if wanted else {})


def test_a_lower_version_is_chosen_where_the_plan_says_so():
    assert chosen(offer("a", "2.0.0", "1.0.0")) == {"a": "1.0.0"}


def test_versions_before_a_release_are_chosen_like_any_other():
    beta = offer("a", "1.0.0-beta.1", "1.0.0-beta.3", "1.0.0-beta.2")
    assert chosen(beta) == {"a": "1.0.0-beta.3"}


@pytest.mark.parametrize("seed", range(60))
def test_parts_and_halves_come_to_what_one_after_the_other_does(seed):
    random = Random(seed)
    density = random.choice((0.05, 0.1, 0.3))
    names = "abcdefgh"
    offers = []
    for name in names:
        ready = []
        for minor in (3, 2, 1):
            some = {
                other: f"1.{random.randrange(4)}"
                for other in names
                if other != name and random.random() < density
            }
            ready.append(entry(f"1.{minor}.0", depends_on=needs(**some)))
        installed = "1.0.0" if random.random() < 0.8 else None
        offers.append(offer(name, installed, *ready, wanted=random.random() < 0.8))
    choice = _selection._Choice({each.name: each for each in offers})
    conflicts = {}
    for each in offers:
        conflicts |= choice.take([each] if each.wanted else [])
    found = select(offers)
    assert {n: e.version for n, e in found.chosen.items()} == {
        n: e.version for n, e in choice.chosen().items()
    }
    assert found.conflicts.keys() == conflicts.keys()


@pytest.mark.parametrize(
    ("ranges", "fits"),
    [
        ({"io.trundle": "1"}, True),
        ({"io.murano": ""}, True),
        ({"io.trundle": ">=1.7"}, False),
        ({"io.trundle": "1", "b": "1"}, False),
    ],
)
def test_what_comes_with_the_engine_needs_no_installation(ranges, fits):
    wanted = tuple(Requirement(name, VersionRange.parse(each)) for name, each in ranges.items())
    found = chosen(offer("a", None, entry("1.0.0", depends_on=wanted)))
    assert found == ({"a": "1.0.0"} if fits else {})


def test_a_newer_release_of_a_bundled_package_is_taken_where_it_is_required():
    wanted = (Requirement("io.trundle", VersionRange.parse("1.2")),)
    assert chosen(
        offer("a", None, entry("1.0.0", depends_on=wanted)),
        offer("io.trundle", None, "1.2.0", wanted=False),
    ) == {"a": "1.0.0", "io.trundle": "1.2.0"}
