import pytest
from hypothesis import given
from hypothesis import strategies as st

from trundle.evolution import Neighbours, VersionMap
from trundle.version import ApiVersion

v = ApiVersion.parse

# The versions of the rolling storage study.
CRM = (
    "2011-01-01 2012-02-02 2013-03-03 2014-04-04-preview 2014-04-04 "
    "2015-05-05 2016-06-06 2017-07-07 2018-08-08 2019-09-09"
)


def mapped(text):
    return VersionMap.of(map(v, text.split()))


def spelt(versions):
    return " ".join(map(str, versions))


def neighbours(text):
    """Every version with the one that its rules lead to."""
    versions = mapped(text)
    return {str(each): str(versions.neighbour(each) or "") for each in versions.versions}


def test_versions_are_sorted_and_counted_once():
    assert spelt(mapped("v2 v1beta1 v1 v2").versions) == "v1beta1 v1 v2"


@pytest.mark.parametrize(
    ("versions", "hub"),
    [
        ("v1", "v1"),
        ("v1alpha1", "v1alpha1"),
        ("v1alpha1 v1beta1", "v1beta1"),
        ("v1alpha1 v1 v2alpha1", "v1"),
        ("v1 v2 v3beta1 v3beta2", "v2"),
        (CRM, "2019-09-09"),
    ],
)
def test_the_hub_is_the_newest_ga_and_without_any_the_newest_preview(versions, hub):
    assert str(mapped(versions).hub) == hub


@pytest.mark.parametrize(
    ("versions", "storage"),
    [
        ("v1", "v1"),
        ("v1 v2 v3", "v1 v2 v3"),
        ("v1alpha1 v1beta1", "v1alpha1 v1beta1"),
        ("v1alpha1 v1beta1 v1 v2alpha1 v2", "v1alpha1 v1beta1 v1 v2"),
        ("v1 v2alpha1", "v1"),
        (CRM, CRM.replace("2014-04-04-preview ", "")),
    ],
)
def test_objects_may_be_stored_in_every_ga_and_in_previews_before_the_first(versions, storage):
    assert spelt(mapped(versions).storage) == storage


def stored(versions, hubs="", kept=""):
    hubs, kept = (list(map(v, each.split())) for each in (hubs, kept))
    return VersionMap.stored(map(v, versions.split()), hubs, kept)


@pytest.mark.parametrize(
    ("hubs", "hub", "storage"),
    [
        ("", "v1", "v1"),
        ("v1beta1", "v1beta1", "v1beta1 v1"),
        ("v2alpha1", "v2alpha1", "v1 v2alpha1"),
        ("v1beta1 v1", "v1", "v1beta1 v1"),
        ("v1 v2alpha1", "v1", "v1 v2alpha1"),
    ],
)
def test_the_hub_is_what_is_said_to_be_stored(hubs, hub, storage):
    found = stored("v1beta1 v1 v2alpha1", hubs)
    assert str(found.hub) == hub
    assert set(spelt(found.storage).split()) >= set(storage.split())


def test_what_a_release_stored_can_be_read_whatever_the_hub_is():
    found = stored("v1 v2alpha1 v2", "v1", "v2alpha1")
    assert str(found.hub) == "v1"
    assert spelt(found.storage) == "v1 v2alpha1 v2"


def test_a_ga_leads_to_the_next_ga():
    assert neighbours("v1 v2 v3") == {"v1": "v2", "v2": "v3", "v3": ""}


def test_a_ga_passes_over_previews():
    assert neighbours("v1 v2alpha1 v2")["v1"] == "v2"


def test_a_preview_leads_to_the_next_version_up_to_the_ga_that_takes_it_over():
    assert neighbours("v1 v2alpha1 v2beta1 v2") == {
        "v1": "v2",
        "v2alpha1": "v2beta1",
        "v2beta1": "v2",
        "v2": "",
    }


def test_a_preview_after_the_last_ga_leads_back_to_it():
    assert neighbours("v1 v2alpha1 v2beta1") == {"v1": "", "v2alpha1": "v1", "v2beta1": "v1"}


def test_previews_without_a_ga_chain_to_the_newest():
    assert neighbours("v1alpha1 v1alpha2 v1beta1") == {
        "v1alpha1": "v1alpha2",
        "v1alpha2": "v1beta1",
        "v1beta1": "",
    }


def test_the_study_map_of_neighbours():
    assert neighbours(CRM) == {
        "2011-01-01": "2012-02-02",
        "2012-02-02": "2013-03-03",
        "2013-03-03": "2014-04-04",
        "2014-04-04-preview": "2014-04-04",
        "2014-04-04": "2015-05-05",
        "2015-05-05": "2016-06-06",
        "2016-06-06": "2017-07-07",
        "2017-07-07": "2018-08-08",
        "2018-08-08": "2019-09-09",
        "2019-09-09": "",
    }


def test_pairs_stand_older_first_and_in_order():
    assert [str(each) for each in mapped("v1 v2alpha1 v2 v3beta1").pairs] == [
        "v1 and v2",
        "v2alpha1 and v2",
        "v2 and v3beta1",
    ]
    assert mapped("v1").pairs == ()


def test_the_successor_is_the_ga_that_takes_over():
    versions = mapped("v1alpha1 v1 v2beta1 v2 v3alpha1")
    assert {str(each): str(versions.successor(each)) for each in versions.versions} == {
        "v1alpha1": "v1",
        "v1": "v1",
        "v2beta1": "v2",
        "v2": "v2",
        "v3alpha1": "None",
    }


@pytest.mark.parametrize(
    ("horizon", "served"),
    [
        (1, "2019-09-09"),
        (4, "2016-06-06 2017-07-07 2018-08-08 2019-09-09"),
        (6, "2014-04-04-preview 2014-04-04 2015-05-05 2016-06-06 2017-07-07 2018-08-08 2019-09-09"),
        (9, CRM),
        (100, CRM),
        (None, CRM),
    ],
)
def test_the_horizon_serves_the_newest_ga_versions_and_their_previews(horizon, served):
    assert spelt(mapped(CRM).served(horizon)) == served


def test_previews_after_the_last_ga_are_served():
    assert spelt(mapped("v1 v2 v3alpha1").served(1)) == "v2 v3alpha1"
    assert spelt(mapped("v1alpha1 v1alpha2").served(1)) == "v1alpha1 v1alpha2"


@given(
    st.lists(
        st.sampled_from(
            ["v1alpha1", "v1beta1", "v1", "v2alpha1", "v2alpha2", "v2", "v3beta1", "v3", "v4alpha1"]
        ),
        min_size=1,
    )
)
def test_every_version_but_the_hub_leads_to_the_hub(texts):
    versions = mapped(" ".join(texts))
    for each in versions.versions:
        seen = [each]
        while (other := versions.neighbour(seen[-1])) is not None:
            assert other not in seen
            seen.append(other)
        assert seen[-1] == versions.hub
    assert len(versions.pairs) == len(versions.versions) - 1
    assert all(each.older < each.newer for each in versions.pairs)
    assert {Neighbours(each.older, each.newer) for each in versions.pairs} == set(versions.pairs)
