"""What an earlier release stored, a later one reads: for all versions that the earlier one had."""

from collections.abc import Callable

import pytest
from amounts import ALL, some_of
from cases import CASES, ITEM, ITEM2, P2, V1, V2, V3, V4, Case, invented, thing
from evolving import Store, evolution, evolve, rules
from proving import Apart, apart_in, prove, prove_release

from trundle.evolution import ChangeError, HookDeclaration, TypeChanges
from trundle.runtime import Scheme

Take = Callable[[Scheme], Scheme]
RESOURCE = "Thing"
SEEDS = range(60 if ALL else 12)


def earlier(case: Case, count: int) -> Scheme:
    """The release of a case when just so many of its versions were known."""
    known = dict(list(case.versions.items())[:count])
    last = list(known)[-1]
    more = [
        each
        for each in case.more
        if (
            isinstance(each, TypeChanges)
            and each.version.text in known
            and each.version.text != last
        )
        or (isinstance(each, HookDeclaration) and each.reference.newer.text in known)
    ]
    return evolve(known, *more)


def apart(case: Case) -> Apart:
    """Where two versions of a case have but a name in common."""
    return apart_in(evolution(case.versions, *case.more))


def check_releases(case: Case, old: Scheme, new: Scheme) -> None:
    prove_release(
        old,
        new,
        RESOURCE,
        hooks=case.hooks,
        hooked=case.hooked,
        renamed=case.renamed,
        apart=apart(case),
    )


@pytest.mark.parametrize("name", some_of(CASES, 5))
def test_every_release_of_a_case_reads_what_the_one_before_stored(
    name: str, forgetting: Take
) -> None:
    case = CASES[name]
    new = forgetting(evolve(case.versions, *case.more))
    for count in range(1, len(case.versions)):
        check_releases(case, forgetting(earlier(case, count)), new)


@pytest.mark.parametrize("seed", SEEDS)
def test_laws_and_releases_of_a_random_evolution(seed: int, forgetting: Take) -> None:
    case = invented(seed)
    try:
        new = forgetting(evolve(case.versions, *case.more))
        old = forgetting(earlier(case, 1 + seed % (len(case.versions) - 1)))
    except ChangeError:
        pytest.skip("the invented renames contradict each other")
    prove(new, RESOURCE, renamed=case.renamed, apart=apart(case))
    check_releases(case, old, new)


def test_a_property_that_returns_after_releases_without_it_is_still_there(forgetting: Take) -> None:
    versions = {
        V1: thing(a="Item", k="string") | ITEM,
        V2: thing(k="string"),
        V3: thing(k="string"),
        V4: thing(a="Item", k="string") | ITEM2,
    }
    stored = Store(forgetting(evolve({V1: versions[V1]}))).put(V1, a={"x": "1"}, k="1").stored
    for count in (2, 3, 4):
        known = dict(list(versions.items())[:count])
        store = Store(forgetting(evolve(known)), stored)
        assert store.read(V1) == {"a": {"x": "1"}, "k": "1"}
        stored = store.edit(list(known)[-1], k="2").edit(V1, k="1").stored
    assert store.read(V4) == {"a": {"x": "1"}, "k": "1"}


def test_what_a_preview_stored_is_the_ga_s_property_under_its_new_name(forgetting: Take) -> None:
    versions = {
        V1: thing(a="string"),
        P2: thing(a="string", full="string", o="Item") | ITEM,
        V2: thing(a="string", legal="string", o="Item") | ITEM2,
    }
    old = Store(forgetting(evolve({version: versions[version] for version in (V1, P2)})))
    old.put(P2, a="1", full="F", o={"x": "1"})
    renamed = rules(P2, rename={"full": "legal"})
    new = Store(forgetting(evolve(versions, renamed)), old.stored)
    assert new.read(V2) == {"a": "1", "legal": "F", "o": {"x": "1"}}
    assert new.read(P2) == {"a": "1", "full": "F", "o": {"x": "1"}}


def test_rolling_forward_keeps_a_value_beside_a_preview_s_namesake(forgetting: Take) -> None:
    versions = {
        V1: thing(p="integer", k="string"),
        P2: thing(p="boolean", k="string"),
        V3: thing(k="string"),
    }
    old = Store(forgetting(evolve({version: versions[version] for version in (V1, P2)})))
    old.put(P2, p=False, k="1").edit(V1, p=0)
    assert old.read(V1) == {"p": 0, "k": "1"}
    assert Store(forgetting(evolve(versions)), old.stored).read(V1) == {"p": 0, "k": "1"}


def test_a_preview_reads_what_it_did_once_the_property_is_gone(forgetting: Take) -> None:
    versions = {V1: thing(p="[integer]"), P2: thing(p="[number]"), V3: thing(k="string")}
    old = Store(forgetting(evolve({version: versions[version] for version in (V1, P2)})))
    assert old.put(V1, p=[]).read(P2) == {"p": []}
    new = Store(forgetting(evolve(versions)), old.stored)
    assert new.read(V1) == {"p": []}
    assert new.read(P2) == {"p": []}


def test_what_was_stale_is_stale_after_a_release(forgetting: Take) -> None:
    versions = {V1: thing(p="[number]"), V2: thing(p="{string}"), V3: thing(k="string")}
    old = Store(forgetting(evolve({version: versions[version] for version in (V1, V2)})))
    old.put(V1, p=[]).edit(V2, p={})
    assert old.read(V1) == {}
    new = Store(forgetting(evolve(versions)), old.stored)
    assert new.read(V1) == {}
    assert new.read(V2) == {"p": {}}


def test_null_is_kept_for_those_who_know_it(forgetting: Take) -> None:
    level = {"L": ["a", "b"]}
    versions = {V1: thing(p="string?"), V2: thing(p="L") | level, V3: thing(p="number")}
    store = Store(forgetting(evolve(versions))).put(V1, p=None)
    assert [store.read(version) for version in versions] == [{"p": None}, {}, {}]


def test_null_comes_back_from_free_form_data(forgetting: Take) -> None:
    store = Store(forgetting(evolve({V1: thing(p="string?"), V2: thing(p="any")})))
    assert store.put(V1, p=None).read(V1) == {"p": None}


def test_no_version_sees_how_another_is_stored(forgetting: Take) -> None:
    versions = {
        f"{V1}-preview": thing(p="any"),
        V2: thing(p="[Item]") | {"Item": {"k": "string"}},
        V3: thing(p="[Item]") | {"Item": {"r": "string"}},
    }
    store = Store(forgetting(evolve(versions))).put(V2, p=[{"k": "1"}])
    assert "$" not in str(store.read(f"{V1}-preview"))


def test_what_was_current_is_current_after_a_release(forgetting: Take) -> None:
    versions = {
        V1: thing(p="string"),
        V2: thing(p="Item") | {"Item": {"v": "string"}},
        V3: thing(p="L") | {"L": ["Red", "Blue"]},
    }
    old = Store(forgetting(evolve({version: versions[version] for version in (V1, V2)})))
    old.put(V2, p={}).edit(V1, p="kept")
    assert old.read(V1) == {"p": "kept"}
    assert Store(forgetting(evolve(versions)), old.stored).read(V1) == {"p": "kept"}
