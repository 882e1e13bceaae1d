"""How an adoption goes on, and comes back, where it was killed or a webhook fails; no real cluster can be met at each of these places."""

import copy
from dataclasses import replace

import apis
import pytest
from apis import NEW, OLD
from crd_clusters import FORMER, CrdCluster, Killed, conversion, version

from trundle.api import converted_kinds, served_kinds
from trundle.kubernetes._former import served_versions
from trundle.kubernetes.migration import Adoption, Migration, OtherRunError, RequestError

OURS, OTHER = "https://ours.test", "https://other.test"


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    with apis.clubs(tmp_path_factory.mktemp("adoption")) as installed:
        found = served_kinds([installed.project], installed.scheme)
        known = converted_kinds([installed.project], installed.scheme)
        # The older version first, as a hand-written CRD has them.
        yield [replace(e, versions={k: e.versions[k] for k in (OLD, NEW)}) for (e,) in (found, known)]  # fmt: skip


@pytest.fixture
def simulated(kinds):
    return CrdCluster(kinds[0], 3)


@pytest.fixture
def adoption(simulated, kinds):
    def made(url=OURS, ca="QQ==", simulated=simulated):
        versions = [version(OLD), version(NEW), version("storage", served=False, storage=True)]
        definition = {"spec": {"versions": versions, "conversion": conversion(url, ca)}}
        return Adoption(Migration(simulated, "r", sleep=lambda _: None), *kinds, definition)

    return made


def killed(simulated, run, when):
    """Runs until something holds after a write, and then no further."""
    simulated.killed = when
    with pytest.raises(Killed):
        run()
    simulated.killed = lambda: False


def test_another_webhook_that_does_not_answer_leaves_the_one_that_reads_what_is_stored(simulated, kinds, adoption):  # fmt: skip
    assert adoption().adopted().next is None
    simulated.down = {OTHER}
    assert adoption(OTHER).adopted().findings
    assert simulated.state == ("storage", ["storage"], OURS)
    assert simulated.readable(kinds[0])


def test_a_renewed_authority_is_taken_back_where_an_object_cannot_be_shown(simulated, kinds, adoption):  # fmt: skip
    adoption().adopted()
    before = simulated.crd["spec"]
    simulated.hidden = {("o0001", NEW)}
    assert "it has no team" in str(adoption(ca="Qg==").adopted().findings)
    assert simulated.crd["spec"] == before
    assert simulated.readable(kinds[0])


def test_the_former_webhook_comes_back_where_nothing_is_stored_yet(simulated, kinds, adoption):
    simulated.hidden = {("o0001", NEW)}
    assert "it has no team" in str(adoption().adopted().findings)
    assert simulated.state == (OLD, [OLD], FORMER)
    assert simulated.readable(kinds[0])


def test_another_webhook_keeps_what_the_way_back_has_left(simulated, kinds, adoption):
    adoption().adopted()
    killed(simulated, adoption().given_back, lambda: simulated.stored["o0000"] == OLD)
    simulated.down = {OTHER}
    assert adoption(OTHER).adopted().findings
    assert simulated.state == (OLD, ["storage", OLD], OURS)
    assert simulated.readable(kinds[0])


def test_there_and_back_and_there_again_leaves_no_object_behind(kinds, adoption):
    simulated = CrdCluster(kinds[0], 1200)
    to = adoption(simulated=simulated)
    killed(simulated, to.adopted, lambda: simulated.rewritten == 700)
    begun = simulated.rewritten
    # Before the end of the first page, after which the way back would note how far it is.
    killed(simulated, to.given_back, lambda: simulated.rewritten == begun + 300)
    assert to.adopted().next is None
    assert simulated.crd["status"]["storedVersions"] == ["storage"]
    assert set(simulated.stored.values()) == {"storage"}


def test_back_and_there_and_back_again_leaves_no_object_behind(kinds, adoption):
    simulated = CrdCluster(kinds[0], 1200)
    to = adoption(simulated=simulated)
    to.adopted()
    begun = simulated.rewritten
    killed(simulated, to.given_back, lambda: simulated.rewritten == begun + 700)
    begun = simulated.rewritten
    killed(simulated, to.adopted, lambda: simulated.rewritten == begun + 300)
    assert to.given_back().next is None
    assert simulated.state == (OLD, [OLD], FORMER)
    assert set(simulated.stored.values()) == {OLD}


def test_what_converts_is_tried_also_where_the_trial_was_killed(simulated, kinds, adoption):
    simulated.hidden = {("o0001", NEW)}
    killed(simulated, adoption().adopted, lambda: simulated.url == OURS)
    found = adoption().adopted()
    assert "it has no team" in str(found.findings)
    assert simulated.state == (OLD, [OLD], FORMER)
    assert adoption().given_back().next is None


def test_what_another_version_cannot_show_does_not_hold_up_the_way_back(simulated, kinds, adoption):
    before = simulated.crd["spec"]
    adoption().adopted()
    simulated.hidden = {("o0001", NEW)}
    found = adoption().given_back()
    assert (found.next, found.objects) == (None, 3)
    assert f"Member o0001 at {NEW}" in str(found.findings)
    assert (simulated.crd["spec"], set(simulated.stored.values())) == (before, {OLD})


def test_what_the_former_version_cannot_show_holds_up_the_way_back(simulated, kinds, adoption):
    adoption().adopted()
    simulated.hidden = {("o0001", OLD), ("o0002", NEW)}
    for _ in range(2):
        found = adoption().given_back()
        assert found.next == "migrate"
        assert f"Member o0001 at {OLD}" in str(found.findings)
        assert simulated.state == (OLD, ["storage", OLD], OURS)
        assert (simulated.stored["o0001"], simulated.stored["o0002"]) == ("storage", "storage")
    simulated.hidden.clear()
    assert adoption().given_back().next is None


def test_the_way_back_ends_where_the_former_version_is_not_served(simulated, kinds, adoption):
    simulated.crd["spec"]["versions"][0]["served"] = False
    before = simulated.crd["spec"]
    assert adoption().adopted().next is None
    simulated.carrying = {"o0001"}
    found = adoption().given_back()
    assert (found.next, found.carriers, found.findings) == (None, 1, ())
    assert (simulated.crd["spec"], set(simulated.stored.values())) == (before, {OLD})


def test_a_former_webhook_that_does_not_answer_is_said_when_all_is_given_back(simulated, kinds, adoption):  # fmt: skip
    adoption().adopted()
    simulated.down, simulated.carrying = {FORMER}, {"o0001"}
    found = adoption().given_back()
    assert (found.next, found.carriers) == (None, 1)
    assert "does not answer" in str(found.findings)


def test_versions_that_were_added_are_not_removed(simulated, kinds, adoption):
    adoption().adopted()
    simulated.crd["spec"]["versions"].append(version("v3"))
    before = simulated.crd
    for dry_run in (True, False):
        (finding,) = adoption().given_back(dry_run=dry_run).findings
        assert ("v3" in finding.found, "serve" in finding.advice) == (True, True)
        assert simulated.crd == before
    assert set(simulated.stored.values()) == {"storage"}
    simulated.crd["spec"]["versions"][-1]["served"] = False
    assert adoption().given_back().next is None
    assert [each["name"] for each in simulated.crd["spec"]["versions"]] == [OLD, NEW]


def test_a_version_that_is_added_meanwhile_is_not_removed_either(simulated, kinds, adoption):
    adoption().adopted()

    def add():
        if (
            simulated.crd["status"]["storedVersions"] == [OLD]
            and len(simulated.crd["spec"]["versions"]) == 3
        ):
            simulated.crd["spec"]["versions"].append(version("v3"))
        return False

    simulated.killed = add
    with pytest.raises(RequestError, match="v3"):
        adoption().given_back()
    assert simulated.url == OURS
    assert "v3" in served_versions(simulated.crd)


MEANWHILE = "expected one run that changes it, found another one, which has begun meanwhile"


@pytest.mark.parametrize("at", [2, 3])
def test_of_two_runs_that_begin_at_once_the_slower_changes_nothing(simulated, adoption, at):
    faster, slower = adoption(), adoption(OTHER)
    before = simulated.crd["spec"]
    read, reads = simulated.definition, []

    def definition(name):
        found = read(name)
        reads.append(found)
        if len(reads) == at:  # It has seen that there is no other, and has not written yet.
            faster._definition.begin()
        return found

    simulated.definition = definition
    with pytest.raises(OtherRunError, match=MEANWHILE) as caught:
        slower.adopted()
    assert "run this one again" in caught.value.advice
    assert simulated.crd["spec"] == before
    assert faster.adopted().next is None
    assert simulated.state == ("storage", ["storage"], OURS)


@pytest.mark.parametrize("other", ["adopted", "given_back"])
def test_a_run_ends_at_its_next_change_where_another_takes_over(simulated, kinds, adoption, other):
    """Also one that is only slow: else it would put back what the other one has changed."""
    adoption().adopted()
    simulated.crd["status"]["storedVersions"] = [OLD, "storage"]
    slower = adoption(OTHER)
    simulated.hidden = {("o0001", NEW)}
    begun = []

    def take_over():
        if not begun and simulated.url == OTHER:
            begun.append(True)
            simulated.hidden = set()
            assert getattr(adoption(), other)().next is None
            simulated.hidden = {("o0001", NEW)}
        return False

    simulated.killed = take_over
    with pytest.raises(OtherRunError, match=MEANWHILE):
        slower.adopted()
    simulated.hidden = set()
    expected = ("storage", ["storage"], OURS) if other == "adopted" else (OLD, [OLD], FORMER)
    assert simulated.state == expected
    assert simulated.readable(kinds[0])


def at_once(simulated, when, act):
    """Has something done by others, once, as soon as something holds after a write."""
    done = []

    def check():
        if not done and when():
            done.append(True)
            act()
        return False

    simulated.killed = check


@pytest.mark.parametrize("objects_fail", [False, True])
def test_a_run_that_rewrites_objects_ends_with_the_page_where_another_begins(kinds, adoption, objects_fail):  # fmt: skip
    simulated = CrdCluster(kinds[0], 1800)
    slower, other = adoption(simulated=simulated), adoption(simulated=simulated)
    begun = []

    def begin():
        other._definition.begin()
        begun.append(copy.deepcopy(simulated.crd))
        if objects_fail:
            simulated.refused = {"o0702"}

    at_once(simulated, lambda: simulated.rewritten == 701, begin)
    with pytest.raises(OtherRunError, match=MEANWHILE):
        slower.adopted()
    assert simulated.rewritten == 1001 - objects_fail  # one to see that they are stored elsewhere
    assert [simulated.crd] == begun


def test_what_is_stored_at_a_version_is_not_forgotten_by_a_run_before_two_others(
    simulated, adoption
):
    """The first one has rewritten all, and is about to say so; the CRD looks as it had left it."""

    def there_and_back_and_there():
        assert adoption().given_back().next is None
        simulated.killed = lambda: simulated.state[1] == [OLD, "storage"]
        with pytest.raises(Killed):
            adoption().adopted()
        simulated.killed = lambda: False

    def is_rewritten():
        noted = [e for e in simulated.crd["metadata"]["annotations"] if e.endswith("/migration")]
        return set(simulated.stored.values()) == {"storage"} and not noted

    at_once(simulated, is_rewritten, there_and_back_and_there)
    with pytest.raises(OtherRunError, match=MEANWHILE):
        adoption().adopted()
    assert set(simulated.stored.values()) == {OLD}
    assert simulated.state == ("storage", [OLD, "storage"], OURS)


class Running:
    """Migrations of the cluster's own, none of which ends."""

    def __init__(self):
        self.begun, self.removed = 0, 0

    def begin(self, _kind):
        self.begun += 1

    def condition(self, _kind):
        return "Running", ""

    def remove(self, _name):
        self.removed += 1


def test_the_migration_of_another_run_by_the_cluster_is_left_alone(simulated, adoption):
    of_cluster = Running()
    slower, other = replace(adoption(), migrations=of_cluster), adoption()
    slept = []

    def sleep(_seconds):
        slept.append(of_cluster.removed)
        if of_cluster.begun and slept[-2:] == [1, 1]:
            other._definition.begin()

    slower = replace(slower, migration=replace(slower.migration, sleep=sleep))
    with pytest.raises(OtherRunError, match=MEANWHILE):
        slower.adopted()
    assert (of_cluster.begun, of_cluster.removed) == (1, 1)


def test_the_object_that_was_to_wake_the_clusters_migration_counts_where_that_gives_up(
    simulated, adoption
):
    of_cluster = Running()
    conditions = iter([("Running", ""), ("Failed", "a version has gone")])
    of_cluster.condition = lambda _kind: next(conditions)
    objects = len(simulated.stored)
    found = replace(adoption(), migrations=of_cluster).adopted()
    assert (found.objects, found.rewritten) == (objects, objects)


def test_a_run_begins_where_the_one_before_it_ends_in_this_moment(simulated, adoption):
    other = adoption()
    other._definition.begin()
    read, reads = simulated.definition, []

    def definition(name):
        found = read(name)
        reads.append(found)
        if len(reads) == 2:  # Its name is read, and the CRD is not changed yet.
            simulated.definition = read
            other._definition.end()
            simulated.definition = definition
        return found

    simulated.definition = definition
    assert adoption().adopted().next is None


def test_no_run_is_named_after_its_end(simulated, adoption):
    def named():
        return [e for e in simulated.crd["metadata"]["annotations"] if e.endswith("/adopting")]

    adoption().adopted()
    assert named() == []
    adoption().given_back()
    assert simulated.crd["metadata"]["annotations"] == {}
    killed(simulated, adoption().adopted, lambda: simulated.state[1] == ["storage"])
    assert len(named()) == 1
    assert adoption().adopted().next is None
    assert named() == []
    simulated.hidden = {("o0001", NEW)}
    assert adoption(OTHER).given_back().findings
    assert named() == []


def test_nothing_is_to_do_where_there_is_no_crd_or_it_is_the_projects(simulated, kinds, adoption):
    simulated.definition = lambda _: None
    assert [each.steps for each in (adoption().state(), adoption().given_back())] == [(), ()]
    made = {**simulated.crd, "spec": {**simulated.crd["spec"], **adoption().made["spec"]}}
    simulated.definition = lambda _: made
    found = adoption().state()
    assert (found.findings[0].found, found.steps) == ("one that the project has made", ())


def test_what_a_run_has_only_named_itself_in_is_given_back(simulated, adoption):
    before = simulated.crd["spec"], simulated.state
    found = adoption().given_back()  # It was never adopted.
    assert (found.findings[0].found, found.steps) == ("another one", ())
    killed(simulated, adoption().adopted, lambda: True)
    assert len(simulated.crd["metadata"]["annotations"]) == 1
    assert adoption().given_back(dry_run=True).next is None
    assert len(simulated.crd["metadata"]["annotations"]) == 1
    assert adoption().given_back().next is None
    assert simulated.crd["metadata"]["annotations"] == {}
    assert (simulated.crd["spec"], simulated.state) == before


def test_a_run_that_goes_on_while_its_name_is_taken_off_is_given_back_whole(simulated, adoption):
    killed(simulated, adoption().adopted, lambda: True)
    read, reads = simulated.definition, []

    def definition(name):
        found = read(name)
        reads.append(found)
        if len(reads) == 2:  # The way back has seen that there is nothing but a name.
            simulated.definition = read
            adoption().adopted()
            simulated.definition = definition
        return found

    simulated.definition = definition
    assert adoption().given_back().next is None
    assert simulated.state == (OLD, [OLD], FORMER)
    assert simulated.crd["metadata"]["annotations"] == {}
