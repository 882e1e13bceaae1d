import itertools
import random

import pytest
import semantic_version
from hypothesis import given, settings
from hypothesis import strategies as st
from semvers import BUILDS, NUMBERS, PRERELEASES, VERSIONS

from trundle.version import ANY, SemVer, VersionRange, VersionSyntaxError

v = SemVer.parse
r = VersionRange.parse


def picked(text, versions):
    return [each for each in versions.split() if v(each) in r(text)]


LIST = "0.0.0 0.9.0 1.0.0-rc 1.0.0 1.4.9 1.5.0-rc 1.5.0 1.5.1 1.6.0-rc 1.6.0 2.0.0-rc 2.0.0 2.0.1 3.0.0-a 3.0.0"


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("*", LIST),
        ("", "0.0.0 0.9.0"),
        ("0", "0.0.0 0.9.0"),
        ("1", "1.0.0 1.4.9 1.5.0-rc 1.5.0 1.5.1 1.6.0-rc 1.6.0"),
        ("==1", "1.0.0 1.4.9 1.5.0-rc 1.5.0 1.5.1 1.6.0-rc 1.6.0"),
        ("=1", "1.0.0 1.4.9 1.5.0-rc 1.5.0 1.5.1 1.6.0-rc 1.6.0"),
        ("1.5", "1.5.0 1.5.1"),
        ("1.5.0", "1.5.0"),
        ("1.5.0-rc", "1.5.0-rc"),
        ("!=1.5", "0.0.0 0.9.0 1.0.0-rc 1.0.0 1.4.9 1.6.0-rc 1.6.0 2.0.0-rc 2.0.0 2.0.1 3.0.0-a 3.0.0"),
        (">=1.2,<2.0,!=1.5", "1.4.9 1.6.0-rc 1.6.0"),
        ("!=1,!=2,!=0", "3.0.0-a 3.0.0"),
        (">1", "2.0.0 2.0.1 3.0.0-a 3.0.0"),
        (">1.5", "1.6.0 2.0.0-rc 2.0.0 2.0.1 3.0.0-a 3.0.0"),
        (">1.5.0", "1.5.1 1.6.0-rc 1.6.0 2.0.0-rc 2.0.0 2.0.1 3.0.0-a 3.0.0"),
        (">=2", "2.0.0 2.0.1 3.0.0-a 3.0.0"),
        ("<1.5", "0.0.0 0.9.0 1.0.0-rc 1.0.0 1.4.9"),
        ("<1.5.0", "0.0.0 0.9.0 1.0.0-rc 1.0.0 1.4.9"),
        ("<1.5.1,>=1.5.0-a", "1.5.0-rc 1.5.0"),
        ("<2.0.0-z,>=1.6", "1.6.0 2.0.0-rc"),
        ("<=1", "0.0.0 0.9.0 1.0.0-rc 1.0.0 1.4.9 1.5.0-rc 1.5.0 1.5.1 1.6.0-rc 1.6.0"),
        ("<=1.5", "0.0.0 0.9.0 1.0.0-rc 1.0.0 1.4.9 1.5.0-rc 1.5.0 1.5.1"),
        ("<=1.5.0", "0.0.0 0.9.0 1.0.0-rc 1.0.0 1.4.9 1.5.0-rc 1.5.0"),
        (">2,<1", ""),
    ],
)  # fmt: skip
def test_what_a_range_allows(text, inside):
    assert picked(text, LIST) == inside.split()


@pytest.mark.parametrize("text", ["1.10", "1.1"])
def test_numbers_and_not_text_determine_a_family(text):
    assert picked(text, "1.1.0 1.10.0 1.1.5 1.10.5") == [f"{text}.0", f"{text}.5"]


def test_builds_count_only_where_one_is_written():
    assert v("1.0.0+5") in r("1.0.0")
    assert v("1.0.0+5") in r("==1.0.0+5")
    assert v("1.0.0+6") not in r("==1.0.0+5")
    assert v("1.0.0") not in r("1.0.0+5")
    assert v("1.0.0+6") in r("!=1.0.0+5")
    assert v("1.0.0+5") not in r(">1.0.0")
    assert v("1.0.0+5") not in r("!=1.0.0")
    assert v("1.0.0+6") not in VersionRange.exactly(v("1.0.0+5"))


@pytest.mark.parametrize(
    ("text", "versions", "best"),
    [
        ("*", "1.0.0 2.0.0-rc", "1.0.0"),
        ("*", "1.0.0-a 2.0.0-rc 2.0.0-beta", "2.0.0-rc"),
        (">=1,<2", "1.5.0-rc 2.0.0-rc 2.0.0", "1.5.0-rc"),
        (">=1.0.0-a", "1.0.0 2.0.0-rc", "2.0.0-rc"),
        (">=1,!=2.0.0-rc", "1.0.0 3.0.0-rc", "1.0.0"),
        ("1", "1.9.0 1.10.0 2.0.0", "1.10.0"),
        ("1", "1.9.0+2 1.9.0+10", "1.9.0+10"),
        ("", "0.3.0 1.0.0", "0.3.0"),
        ("3", "0.3.0 1.0.0", None),
        ("3", "", None),
    ],
)
def test_the_best_version(text, versions, best):
    chosen = r(text).choose(map(v, versions.split()))
    assert chosen == (None if best is None else v(best))


@pytest.mark.parametrize(
    ("text", "position", "part"),
    [
        ("1,", 3, "expected a number at character 3, found the end"),
        (">=1,,2", 5, "expected a number at character 5, found ','"),
        ("^1.2", 1, "write the bounds out"),
        ("~1.2", 1, "write the bounds out"),
        ("1 || 2", 3, "expected ',' or the end of the range"),
        ("1.x", 3, "leave the part out"),
        ("1.*", 3, "leave the part out"),
        (">=1.2-rc", 6, "write all three numbers before a suffix"),
        (">1.0.0-a.b+3", 11, "builds have no order"),
        ("v1", 1, "remove the v"),
        ("> = 1", 3, "expected a number"),
        (">=1;<2", 4, "expected ',' or the end of the range"),
        ("**", 2, "expected ',' or the end of the range"),
    ],
)
def test_a_bad_range_is_refused_with_its_place(text, position, part):
    with pytest.raises(VersionSyntaxError) as caught:
        r(text)
    assert part in str(caught.value)
    assert caught.value.position == position


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("", ">=0.0.0,<1.0.0"),
        ("  ", ">=0.0.0,<1.0.0"),
        (" * ", "*"),
        ("*,1", "1"),
        ("==1.2", "1.2"),
        ("!= 1.5 , < 2.0,>= 1.2, <2.0", ">=1.2,<2.0,!=1.5"),
        ("\t1.2.3-rc+5", "1.2.3-rc+5"),
    ],
)
def test_a_range_is_written_in_one_way(text, canonical):
    assert str(r(text)) == canonical
    assert r(canonical) == r(text)
    assert hash(r(canonical)) == hash(r(text))
    assert repr(r(text)) == f"VersionRange.parse({canonical!r})"


def test_families():
    assert VersionRange.family(3) == r("3")
    assert r("*") == ANY


# An oracle that knows no code of the room: clauses as (operator, numbers, suffix), versions as plain tuples.


def rank(numbers, prerelease):
    identifiers = [(0, int(p), "") if p.isdigit() else (1, 0, p) for p in prerelease]
    return (numbers, 0 if prerelease else 1, identifiers)


def allowed(operator, numbers, prerelease, version):
    this = (version.major, version.minor, version.patch)
    low = rank((*numbers, 0, 0)[:3], prerelease)
    mine = rank(this, version.prerelease)
    if len(numbers) == 3:
        early = operator == "<" and not prerelease and this == numbers
        return {
            "==": mine == low,
            "!=": mine != low,
            ">": mine > low,
            ">=": mine >= low,
            "<": mine < low and not early,
            "<=": mine <= low,
        }[operator]
    after = rank((*numbers[:-1], numbers[-1] + 1, 0, 0)[:3], ())
    before_after = mine < after and this != after[0]
    before_low = mine < low and this != low[0]
    return {
        "==": mine >= low and before_after,
        "!=": this[: len(numbers)] != numbers,
        ">": mine >= after,
        ">=": mine >= low,
        "<": before_low,
        "<=": before_after,
    }[operator]


OPERATORS = st.sampled_from(["==", "!=", ">", ">=", "<", "<="])
PARTIAL = st.tuples(OPERATORS, st.lists(NUMBERS, min_size=1, max_size=2).map(tuple), st.just(()))
FULL = st.tuples(OPERATORS, st.tuples(NUMBERS, NUMBERS, NUMBERS), st.just(()) | PRERELEASES)
CLAUSES = st.lists(PARTIAL | FULL, min_size=1, max_size=4)


def written(clause):
    operator, numbers, prerelease = clause
    text = ".".join(map(str, numbers)) + ("-" + ".".join(prerelease) if prerelease else "")
    return operator + text


@settings(deadline=None)
@given(CLAUSES, st.lists(VERSIONS, max_size=12))
def test_ranges_agree_with_a_brute_force_reading(clauses, versions):
    parsed = r(",".join(map(written, clauses)))
    inside = [each for each in versions if all(allowed(*clause, each) for clause in clauses)]
    assert [each for each in versions if each in parsed] == inside
    named = any(clause[2] and clause[0] != "!=" for clause in clauses)
    pool = inside if named else [each for each in inside if not each.prerelease] or inside
    assert parsed.choose(versions) == max(pool, default=None)
    assert list(parsed.fitting(versions)) == sorted(pool, reverse=True)


@settings(deadline=None)
@given(CLAUSES, st.lists(VERSIONS, min_size=1, max_size=12))
def test_ranges_agree_with_the_library_but_for_pre_releases_beside_what_is_excluded(
    clauses, versions
):
    """Decision 20 lists the difference: `semantic_version` also excludes pre-releases next to what `!=` names."""
    excludes = any(clause[0] == "!=" for clause in clauses)
    text = ",".join(map(written, clauses))
    parsed, peer = r(text), semantic_version.SimpleSpec(text)
    for each in versions:
        if not (excludes and each.is_prerelease):
            version = SemVer(each.major, each.minor, each.patch, each.prerelease)
            assert (version in parsed) == (semantic_version.Version(str(version)) in peer)


@settings(deadline=None)
@given(CLAUSES, CLAUSES, VERSIONS, st.randoms(use_true_random=False))
def test_text_round_trip_intersection_and_order_of_clauses(first, second, version, chance):
    one, two = (r(",".join(map(written, each))) for each in (first, second))
    assert r(str(one)) == one
    assert (version in one & two) == (version in one and version in two)
    assert one & two == two & one == r(f"{one},{two}")
    assert one & ANY == one
    shuffled = chance.sample(first, len(first))
    assert r(" , ".join(map(written, shuffled))) == one


@settings(deadline=None)
@given(BUILDS, st.integers(0, 2))
def test_builds_never_change_what_a_bound_allows(build, patch):
    for operator, bound in itertools.product(
        ["==", "!=", ">", ">=", "<", "<="], ["1", "1.0", "1.0.1"]
    ):
        plain, built = SemVer(1, 0, patch), SemVer(1, 0, patch, (), build)
        assert (plain in r(operator + bound)) == (built in r(operator + bound))


def test_the_choice_does_not_depend_on_the_order_of_candidates():
    versions = [v(each) for each in LIST.split()]
    for seed in range(10):
        shuffled = random.Random(seed).sample(versions, len(versions))
        assert r(">=1,<3").choose(shuffled) == v("2.0.1")
