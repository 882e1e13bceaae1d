import random

import pytest
from amounts import amount
from hypothesis import given, settings
from hypothesis import strategies as st
from universes import Universe, meets, release, requirement, v

from trundle.packages import Requirement, resolve
from trundle.packages import _resolve as module
from trundle.packages import _search as search
from trundle.version import SemVer, VersionRange


def chosen(universe, *wishes, installed=()):
    found = resolve(map(requirement, wishes), universe, {each.name: each for each in installed})
    return " ".join(f"{each.name}={each.version}" for each in found.lock.releases), found.refused


def test_the_newest_that_fits_is_taken_with_all_that_it_needs():
    universe = Universe(
        {
            "app 1.0.0": ["lib 1"],
            "app 1.1.0": ["lib >=1.2"],
            "app 2.0.0": ["lib 3"],
            "lib 1.2.0": [],
            "lib 1.3.0": ["base *"],
            "base 0.1.0": [],
        }
    )
    assert chosen(universe, "app") == ("app=1.1.0 base=0.1.0 lib=1.3.0", ())


def test_what_is_installed_stays_where_it_fits():
    universe = Universe({"app 1.0.0": ["lib 1"], "lib 1.2.0": [], "lib 1.3.0": []})
    assert chosen(universe, "app", installed=[release("lib 1.2.0")])[0] == "app=1.0.0 lib=1.2.0"
    assert chosen(universe, "app", installed=[release("lib 0.2.0")])[0] == "app=1.0.0 lib=1.3.0"


def test_an_installed_release_stays_though_it_is_no_candidate_any_more():
    universe = Universe({"app 1.0.0": ["lib 1"], "lib 1.3.0": []})
    installed = release("lib 1.2.0", "old *")
    universe.table["old"] = {v("1.0.0"): release("old 1.0.0")}
    assert chosen(universe, "app", installed=[installed])[0] == "app=1.0.0 lib=1.2.0 old=1.0.0"
    assert ("lib", "1.2.0") not in universe.asked


def test_a_wish_moves_what_is_installed():
    universe = Universe({"app 1.0.0": [], "app 1.1.0": ["lib >=2"], "lib 2.0.0": []})
    installed = [release("app 1.0.0"), release("lib 1.0.0")]
    assert chosen(universe, "app", "lib", installed=installed)[0] == "app=1.0.0 lib=1.0.0"
    assert chosen(universe, "app 1.1.0", "lib", installed=installed)[0] == "app=1.1.0 lib=2.0.0"


def test_a_conflict_names_both_sides():
    universe = Universe(
        {"app 1.0.0": ["lib <2"], "tool 2.0.0": ["lib >=2"], "lib 1.0.0": [], "lib 2.0.0": []}
    )
    found, refused = chosen(universe, "tool", "app")
    assert found == "app=1.0.0 lib=1.0.0"
    (one,) = refused
    assert str(one) == (
        "tool *: lib: expected one version for app 1.0.0 (<2) and tool 2.0.0 (>=2), found none among "
        "2.0.0, 1.0.0; widen a requirement, or publish a version that fits"
    )
    (clash,) = one.conflict.clashes
    assert [side.release.name for side in clash.sides] == ["app", "tool"]


def test_a_conflict_with_a_wish_names_the_request():
    universe = Universe({"app 1.0.0": ["lib <2"], "lib 1.0.0": [], "lib 2.0.0": []})
    _, refused = chosen(universe, "app", "lib 2")
    assert "expected one version for app 1.0.0 (<2) and the request (2)" in str(refused[0])


def test_all_versions_that_were_tried_are_named():
    universe = Universe({f"app 1.{minor}.0": ["lib 2"] for minor in range(9)} | {"lib 1.0.0": []})
    _, refused = chosen(universe, "app")
    assert "for app 1.8.0" in str(refused[0])
    assert "lib: expected a version for app" in str(refused[0])


@pytest.mark.parametrize(
    ("needs", "message"),
    [
        ({}, "app: expected a version for the request (*), found no such package; publish it"),
        (
            {"app 1.0.0": ["none 1"]},
            "none: expected a version for app 1.0.0 (1), found no such package",
        ),
        (
            {"app 1.0.0": ["lib *"], "lib 1.0.0": "its manifest is broken"},
            "found only what cannot be used: 1.0.0 (its manifest is broken); publish lib again",
        ),
    ],
)
def test_what_is_missing_is_said(needs, message):
    found, refused = chosen(Universe(needs), "app")
    assert found == ""
    assert message in str(refused[0])


def test_a_version_that_cannot_be_used_is_passed_over():
    universe = Universe({"app 1.1.0": "broken", "app 1.0.0": []})
    assert chosen(universe, "app") == ("app=1.0.0", ())


def test_one_bad_wish_does_not_block_the_others():
    needs = {f"p{number} 1.0.0": ["lib 1"] for number in range(20)}
    needs |= {"lib 1.0.0": [], "p7 1.0.0": ["lib 2"], "p13 1.0.0": ["none *"]}
    found, refused = chosen(Universe(needs), *(f"p{number}" for number in range(20)))
    assert [each.wish.name for each in refused] == ["p13", "p7"]
    assert len(found.split()) == 19


def test_what_is_refused_stays_as_it_is_and_counts():
    universe = Universe(
        {
            "app 1.0.0": ["lib 1"],
            "app 2.0.0": ["lib 2", "none *"],
            "tool 1.0.0": ["lib 1"],
            "tool 2.0.0": ["lib 2"],
            "lib 1.0.0": [],
            "lib 2.0.0": [],
        }
    )
    installed = [
        release("app 1.0.0", "lib 1"),
        release("tool 1.0.0", "lib 1"),
        release("lib 1.0.0"),
    ]
    found, refused = chosen(universe, "app 2", "tool 2", installed=installed)
    assert found == "app=1.0.0 lib=1.0.0 tool=1.0.0"
    assert [each.wish.name for each in refused] == ["app", "tool"]
    assert "app 1.0.0 (1)" in str(refused[1])
    universe.table["app"][v("2.0.0")] = release("app 2.0.0", "lib 2")
    assert (
        chosen(universe, "app 2", "tool 2", installed=installed)[0]
        == "app=2.0.0 lib=2.0.0 tool=2.0.0"
    )


def test_what_is_installed_comes_before_what_is_new():
    universe = Universe(
        {"a 1.0.0": ["lib 2"], "z 1.0.0": ["lib 1"], "lib 1.0.0": [], "lib 2.0.0": []}
    )
    assert chosen(universe, "a", "z")[0] == "a=1.0.0 lib=2.0.0"
    assert (
        chosen(universe, "a", "z", installed=[release("z 1.0.0", "lib 1")])[0]
        == "lib=1.0.0 z=1.0.0"
    )


@pytest.mark.parametrize(
    ("wish", "found"),
    [
        ("lib", "lib=1.0.0"),
        ("lib >=1.0.0-a", "lib=2.0.0-rc"),
        ("lib >1.0.0", "lib=2.0.0-rc"),
        ("lib 2", ""),
    ],
)
def test_a_prerelease_is_taken_only_where_it_must(wish, found):
    universe = Universe({"lib 1.0.0": [], "lib 2.0.0-rc": []})
    assert chosen(universe, wish)[0] == found


def test_a_prerelease_is_taken_where_nothing_is_found_without():
    universe = Universe(
        {"lib 1.0.0": ["none *"], "lib 2.0.0-rc": [], "base 1.0.0": [], "base 1.1.0-rc": []}
    )
    assert chosen(universe, "lib", "base")[0] == "base=1.0.0 lib=2.0.0-rc"


def test_a_package_meets_what_it_requires_of_itself():
    universe = Universe({"app 1.0.0-rc": ["app 1"], "app 2.0.0": ["app 1"]})
    assert chosen(universe, "app")[0] == "app=2.0.0"
    assert chosen(universe, "app 1.0.0-rc")[0] == "app=1.0.0-rc"


def test_circles_are_met():
    universe = Universe({"a 1.0.0": ["b 1"], "b 1.0.0": ["c 1"], "c 1.0.0": ["a 1"]})
    assert chosen(universe, "b")[0] == "a=1.0.0 b=1.0.0 c=1.0.0"


def test_several_wishes_for_one_package_all_hold():
    universe = Universe({f"lib 1.{minor}.0": [] for minor in range(9)})
    assert chosen(universe, "lib <1.5", "lib !=1.4", "lib 1")[0] == "lib=1.3.0"


def test_versions_are_looked_up_once_and_releases_only_when_tried():
    universe = Universe({f"lib 1.{minor}.0": [] for minor in range(1000)})
    assert chosen(universe, "lib")[0] == "lib=1.999.0"
    assert universe.asked == ["lib", ("lib", "1.999.0")]


def test_an_answer_is_found_behind_a_failure_far_back():
    universe = Universe(  # https://github.com/sarugaku/resolvelib/issues/206
        {
            "p0 2.0.0": ["p2 2"],
            "p1 2.0.0": ["p0 2"],
            "p1 1.0.0": [],
            "p2 2.0.0": ["p1 3"],
            "p2 1.0.0": ["p1 <3,>=1"],
        }
    )
    assert chosen(universe, "p2") == ("p1=1.0.0 p2=1.0.0", ())


@pytest.mark.full
def test_long_searches_come_to_an_end():
    count = 1500
    needs = {f"app 1.{minor}.0": [f"mid 1.{minor}.0"] for minor in range(count)}
    needs |= {f"mid 1.{minor}.0": ["lib <1"] for minor in range(1, count)}
    needs |= {"mid 1.0.0": [], "lib 1.0.0": []}
    assert chosen(Universe(needs), "app") == ("app=1.0.0 mid=1.0.0", ())


def test_long_chains_do_not_exhaust_the_stack():
    count = 400
    needs = {f"p{number} 1.0.0": [f"p{number + 1} 1"] for number in range(count)}
    found = resolve([requirement("p0")], Universe(needs | {f"p{count} 1.0.0": []}))
    assert len(found.lock.releases) == count + 1


def test_a_search_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(search, "MOST_STEPS", 2)
    needs = {f"app 1.{minor}.0": [f"mid 1.{minor}.0"] for minor in range(9)}
    needs |= {f"mid 1.{minor}.0": ["lib <1"] for minor in range(9)} | {"lib 1.0.0": []}
    _, refused = chosen(Universe(needs), "app")
    assert refused[0].conflict.gave_up
    assert "expected an answer within the steps allowed" in str(refused[0])


RANGES = st.sampled_from(
    ["*", "1", "2", "3", ">=2", "<2", "<3", "!=2", "1.0.0", ">1", "<=2", "3.0.0-rc"]
)
NAMES = [f"p{number}" for number in range(5)]
NEEDS = st.dictionaries(st.sampled_from(NAMES), RANGES, max_size=3).map(
    lambda needs: [f"{name} {allowed}" for name, allowed in needs.items()]
)
RELEASES = st.sampled_from(
    [f"{name} {version}" for name in NAMES for version in ("1.0.0", "2.0.0", "3.0.0-rc")]
)
WORLDS = st.dictionaries(RELEASES, NEEDS | st.just("broken"), max_size=12).map(Universe)
WISHES = st.dictionaries(st.sampled_from(NAMES), RANGES, min_size=1, max_size=3).map(
    lambda wishes: [Requirement(name, VersionRange.parse(each)) for name, each in wishes.items()]
)


@settings(max_examples=amount(300), deadline=None)
@given(WORLDS, WISHES)
def test_an_answer_is_found_just_where_there_is_one(universe, wishes):
    found = resolve(wishes, universe)
    assert bool(found.refused) != universe.has_answer(wishes)
    chosen = {each.name: each for each in found.lock.releases}
    granted = [each for each in wishes if each.name not in {one.wish.name for one in found.refused}]
    assert meets(granted, chosen)
    for each in chosen.values():
        assert universe.table[each.name][each.version] == each


@settings(deadline=None)
@given(WORLDS, WISHES)
def test_a_search_agrees_with_trying_everything(universe, wishes):
    found = search.Search(search.CandidateTable(universe, {}), wishes, prereleases=True).run()
    if isinstance(found, search.Impossible):
        assert not universe.has_answer(wishes)
        assert not universe.has_answer([each for each in wishes if each.name in found.wishes])
    else:
        assert meets(wishes, {each.name: each for each in found})


@settings(deadline=None)
@given(WORLDS, WISHES, st.randoms(use_true_random=False))
def test_nothing_depends_on_the_order(universe, wishes, chance):
    found = resolve(wishes, universe)
    shuffled = Universe({})
    for name in chance.sample(sorted(universe.table), len(universe.table)):
        versions = universe.table[name]
        shuffled.table[name] = {
            each: versions[each] for each in chance.sample(sorted(versions), len(versions))
        }
    assert resolve(chance.sample(wishes, len(wishes)), shuffled) == found


@settings(deadline=None)
@given(WORLDS, WISHES)
def test_a_resolution_is_stable_once_installed(universe, wishes):
    found = resolve(wishes, universe)
    granted = [each for each in wishes if each.name not in {one.wish.name for one in found.refused}]
    installed = {each.name: each for each in found.lock.releases}
    again = resolve(granted, universe, installed)
    assert not again.refused
    assert {each.name for each in again.lock.releases} <= installed.keys()
    assert all(installed[each.name] == each for each in again.lock.releases)


@settings(deadline=None)
@given(WORLDS, WISHES)
def test_every_refusal_says_why(universe, wishes):
    for each in resolve(wishes, universe).refused:
        assert each.conflict.clashes
        assert all(clash.sides for clash in each.conflict.clashes)
        assert "expected" in str(each)
        assert "found" in str(each)


def test_the_digest_and_requirements_of_the_candidate_are_locked():
    universe = Universe({"app 1.0.0": ["lib *"], "lib 1.0.0": []})
    app, lib = resolve([requirement("app")], universe).lock.releases
    assert app == universe.table["app"][SemVer(1, 0, 0)]
    assert [each.name for each in app.requirements] == ["lib"]
    assert lib == universe.table["lib"][SemVer(1, 0, 0)]


def test_shuffled_wishes_of_many_packages_give_one_answer():
    needs = {f"p{number} 1.0.0": [f"lib {1 + number % 3}"] for number in range(30)}
    universe = Universe(needs | {"lib 1.0.0": [], "lib 2.0.0": [], "lib 3.0.0": []})
    wishes = [requirement(f"p{number}") for number in range(30)]
    answers = {resolve(random.Random(seed).sample(wishes, 30), universe) for seed in range(5)}
    assert len(answers) == 1
    assert len(answers.pop().refused) == 20


def crowd(packages, conflicts):
    """Many packages with three versions each; of some, all versions exclude another wish."""
    chance = random.Random(packages)
    needs = {}
    for number in range(packages):
        later = range(number + 1, packages)
        for major in (1, 2, 3):
            lower = [f"p{each:03} >={chance.randint(1, 2)}" for each in later[:3]]
            needs[f"p{number:03} {major}.0.0"] = lower
    for number in range(conflicts):
        needs[f"x{number} 1.0.0"] = [f"p{packages - 1 - number:03} 1.0.0"]
        for major in (1, 2, 3):
            needs[f"p{number * 7:03} {major}.0.0"].append(f"p{packages - 1 - number:03} >=2")
    return needs


def test_few_conflicts_among_many_packages_cost_few_searches(monkeypatch):
    searches = []
    monkeypatch.setattr(
        module,
        "Search",
        lambda *args, **options: searches.append(1) or search.Search(*args, **options),
    )
    needs = crowd(packages=300, conflicts=5)
    wishes = [requirement(name) for name in sorted({each.split()[0] for each in needs})]
    found = resolve(wishes, Universe(needs))
    assert [each.wish.name for each in found.refused] == ["x0", "x1", "x2", "x3", "x4"]
    assert not any(each.conflict.gave_up for each in found.refused)
    assert len(found.lock.releases) == 300
    assert len(searches) <= 3 * 5 + 2
