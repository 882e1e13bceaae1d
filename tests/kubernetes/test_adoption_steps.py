"""How an adoption goes on, and comes back, where it was killed or a webhook fails; no real cluster can be met at each of these places."""

from dataclasses import replace

import apis
import pytest
from apis import NEW, OLD
from crd_clusters import FORMER, CrdCluster, Killed, conversion, version

from trundle.api import converted_kinds, served_kinds
from trundle.kubernetes._former import served_versions
from trundle.kubernetes.migration import Adoption, Migration, RequestError

OURS, OTHER = "https://ours.test", "https://other.test"


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    with apis.clubs(tmp_path_factory.mktemp("adoption")) as installed:
        found = served_kinds([installed.project], installed.scheme)
        known = converted_kinds([installed.project], installed.scheme)
        # The older version first, as a hand-written CRD has them.
        yield [replace(e, versions={k: e.versions[k] for k in (OLD, NEW)}) for (e,) in (found, known)]  # fmt: skip


@pytest.fixture
def cluster(kinds):
    return CrdCluster(kinds[0], 3)


@pytest.fixture
def adoption(cluster, kinds):
    def made(url=OURS, ca="QQ==", cluster=cluster):
        versions = [version(OLD), version(NEW), version("storage", served=False, storage=True)]
        definition = {"spec": {"versions": versions, "conversion": conversion(url, ca)}}
        return Adoption(Migration(cluster, "r", sleep=lambda _: None), *kinds, definition)

    return made


def killed(cluster, run, when):
    """Runs until something holds after a write, and then no further."""
    cluster.killed = when
    with pytest.raises(Killed):
        run()
    cluster.killed = lambda: False


def test_another_webhook_that_does_not_answer_leaves_the_one_that_reads_what_is_stored(cluster, kinds, adoption):  # fmt: skip
    assert adoption().adopted().next is None
    cluster.down = {OTHER}
    assert adoption(OTHER).adopted().findings
    assert cluster.state == ("storage", ["storage"], OURS)
    assert cluster.readable(kinds[0])


def test_a_renewed_authority_is_taken_back_where_an_object_cannot_be_shown(cluster, kinds, adoption):  # fmt: skip
    adoption().adopted()
    before = cluster.crd["spec"]
    cluster.hidden = {("o0001", NEW)}
    assert "it has no team" in str(adoption(ca="Qg==").adopted().findings)
    assert cluster.crd["spec"] == before
    assert cluster.readable(kinds[0])


def test_the_former_webhook_comes_back_where_nothing_is_stored_yet(cluster, kinds, adoption):
    cluster.hidden = {("o0001", NEW)}
    assert "it has no team" in str(adoption().adopted().findings)
    assert cluster.state == (OLD, [OLD], FORMER)
    assert cluster.readable(kinds[0])


def test_another_webhook_keeps_what_the_way_back_has_left(cluster, kinds, adoption):
    adoption().adopted()
    killed(cluster, adoption().given_back, lambda: cluster.stored["o0000"] == OLD)
    cluster.down = {OTHER}
    assert adoption(OTHER).adopted().findings
    assert cluster.state == (OLD, ["storage", OLD], OURS)
    assert cluster.readable(kinds[0])


def test_there_and_back_and_there_again_leaves_no_object_behind(kinds, adoption):
    cluster = CrdCluster(kinds[0], 1200)
    to = adoption(cluster=cluster)
    killed(cluster, to.adopted, lambda: cluster.rewritten == 700)
    begun = cluster.rewritten
    # Before the end of the first page, after which the way back would note how far it is.
    killed(cluster, to.given_back, lambda: cluster.rewritten == begun + 300)
    assert to.adopted().next is None
    assert cluster.crd["status"]["storedVersions"] == ["storage"]
    assert set(cluster.stored.values()) == {"storage"}


def test_back_and_there_and_back_again_leaves_no_object_behind(kinds, adoption):
    cluster = CrdCluster(kinds[0], 1200)
    to = adoption(cluster=cluster)
    to.adopted()
    begun = cluster.rewritten
    killed(cluster, to.given_back, lambda: cluster.rewritten == begun + 700)
    begun = cluster.rewritten
    killed(cluster, to.adopted, lambda: cluster.rewritten == begun + 300)
    assert to.given_back().next is None
    assert cluster.state == (OLD, [OLD], FORMER)
    assert set(cluster.stored.values()) == {OLD}


def test_what_converts_is_tried_also_where_the_trial_was_killed(cluster, kinds, adoption):
    cluster.hidden = {("o0001", NEW)}
    killed(cluster, adoption().adopted, lambda: cluster.url == OURS)
    found = adoption().adopted()
    assert "it has no team" in str(found.findings)
    assert cluster.state == (OLD, [OLD], FORMER)
    assert adoption().given_back().next is None


def test_what_another_version_cannot_show_does_not_hold_up_the_way_back(cluster, kinds, adoption):
    before = cluster.crd["spec"]
    adoption().adopted()
    cluster.hidden = {("o0001", NEW)}
    found = adoption().given_back()
    assert (found.next, found.objects) == (None, 3)
    assert f"Member o0001 at {NEW}" in str(found.findings)
    assert (cluster.crd["spec"], set(cluster.stored.values())) == (before, {OLD})


def test_what_the_former_version_cannot_show_holds_up_the_way_back(cluster, kinds, adoption):
    adoption().adopted()
    cluster.hidden = {("o0001", OLD), ("o0002", NEW)}
    for _ in range(2):
        found = adoption().given_back()
        assert found.next == "migrate"
        assert f"Member o0001 at {OLD}" in str(found.findings)
        assert cluster.state == (OLD, ["storage", OLD], OURS)
        assert (cluster.stored["o0001"], cluster.stored["o0002"]) == ("storage", "storage")
    cluster.hidden.clear()
    assert adoption().given_back().next is None


def test_the_way_back_ends_where_the_former_version_is_not_served(cluster, kinds, adoption):
    cluster.crd["spec"]["versions"][0]["served"] = False
    before = cluster.crd["spec"]
    assert adoption().adopted().next is None
    cluster.carrying = {"o0001"}
    found = adoption().given_back()
    assert (found.next, found.carriers, found.findings) == (None, 1, ())
    assert (cluster.crd["spec"], set(cluster.stored.values())) == (before, {OLD})


def test_a_former_webhook_that_does_not_answer_is_said_when_all_is_given_back(cluster, kinds, adoption):  # fmt: skip
    adoption().adopted()
    cluster.down, cluster.carrying = {FORMER}, {"o0001"}
    found = adoption().given_back()
    assert (found.next, found.carriers) == (None, 1)
    assert "does not answer" in str(found.findings)


def test_versions_that_were_added_are_not_removed(cluster, kinds, adoption):
    adoption().adopted()
    cluster.crd["spec"]["versions"].append(version("v3"))
    before = cluster.crd
    for dry_run in (True, False):
        (finding,) = adoption().given_back(dry_run=dry_run).findings
        assert ("v3" in finding.found, "serve" in finding.advice) == (True, True)
        assert cluster.crd == before
    assert set(cluster.stored.values()) == {"storage"}
    cluster.crd["spec"]["versions"][-1]["served"] = False
    assert adoption().given_back().next is None
    assert [each["name"] for each in cluster.crd["spec"]["versions"]] == [OLD, NEW]


def test_a_version_that_is_added_meanwhile_is_not_removed_either(cluster, kinds, adoption):
    adoption().adopted()

    def add():
        if (
            cluster.crd["status"]["storedVersions"] == [OLD]
            and len(cluster.crd["spec"]["versions"]) == 3
        ):
            cluster.crd["spec"]["versions"].append(version("v3"))
        return False

    cluster.killed = add
    with pytest.raises(RequestError, match="v3"):
        adoption().given_back()
    assert cluster.url == OURS
    assert "v3" in served_versions(cluster.crd)
