"""What annotations of an `Installation` do to what is installed."""

import shutil

import pytest
import sites

from trundle.channels import RefusalCode, RefusedError, read_policy, refusal
from trundle.errors import Finding, Place
from trundle.installation import (
    ArrivingError,
    ContentStore,
    complete_before,
    foresee,
    upgrade,
)
from trundle.kubernetes.operator import wanted_of
from trundle.kubernetes.operator._advice import foreseen
from trundle.kubernetes.operator._annotations import carry_out, hold
from trundle.kubernetes.operator._reporting import Report

NAME = "acme/crm"
AT_ONCE = read_policy({"minor": "immediate", "major": "approval"}, "policy")


def asked(**annotations):
    named = {f"trundle.dev/{key.replace('_', '-')}": value for key, value in annotations.items()}
    metadata = {"name": "crm", "namespace": "shop", "annotations": named}
    return wanted_of({"kind": "Installation", "metadata": metadata, "spec": {"package": NAME}})


def ready(_name):
    """The cluster is ready for the release before."""


def looked(site, **annotations):
    """The version that is installed once an operator has looked."""
    with site.installation() as installation:
        hold(installation, NAME, asked(**annotations))
        refusals = carry_out(installation, NAME, asked(**annotations), ready)
        assert refusals == ()
        upgrade(installation, [NAME])
        return str(installation.package(NAME).version)


@pytest.mark.full
def test_what_was_gone_back_from_is_held_as_long_as_the_annotation_is_there(tmp_path):
    site = sites.Site(tmp_path)
    site.publish("1.0.0")
    site.install(policy=AT_ONCE)
    site.publish("1.1.0")
    assert looked(site) == "1.1.0"
    site.publish("1.2.0")
    assert looked(site) == "1.2.0"

    assert looked(site, roll_back="1.2.0") == "1.1.0"
    assert looked(site, roll_back="1.2.0") == "1.1.0"
    assert looked(site, roll_back="1.1.0") == "1.0.0"
    assert looked(site, roll_back="1.1.0") == "1.0.0"
    assert looked(site) == "1.2.0"


@pytest.mark.full
def test_an_approval_outlives_the_way_back(tmp_path):
    site = sites.Site(tmp_path)
    site.publish("1.0.0")
    site.install(policy=AT_ONCE)
    site.publish("2.0.0")
    assert looked(site) == "1.0.0"
    assert looked(site, approve="2.0.0") == "2.0.0"
    assert looked(site, approve="2.0.0", roll_back="2.0.0") == "1.0.0"
    assert looked(site, approve="2.0.0", hold="an audit") == "1.0.0"
    assert looked(site, approve="2.0.0") == "2.0.0"


def test_an_approval_ends_with_its_annotation(tmp_path):
    site = sites.Site(tmp_path)
    site.publish("1.0.0")
    site.install(policy=AT_ONCE)
    site.publish("2.0.0")
    assert looked(site, approve="2.0.0", hold="an audit") == "1.0.0"
    assert looked(site) == "1.0.0"
    assert looked(site, approve="2.0.0") == "2.0.0"


def test_what_is_approved_is_approved_once(tmp_path):
    """What an installation remembers, and the cluster keeps, changes no more as long as the version waits."""
    site = sites.Site(tmp_path)
    site.publish("1.0.0")
    site.install(policy=AT_ONCE)
    site.publish("2.0.0")
    looked(site, approve="2.0.0", hold="an audit")
    with site.installation() as installation:
        first = installation.approvals(NAME)
    looked(site, approve="2.0.0", hold="an audit")
    with site.installation() as installation:
        assert installation.approvals(NAME) == first != ()


def foreseen_of(installation):
    """What comes next, with advice for a cluster."""
    return foreseen(foresee(installation, [NAME])[0], installation.holds(NAME)).plan


def test_what_is_held_says_which_annotations_hold_in_a_cluster(tmp_path):
    site = sites.Site(tmp_path)
    site.publish("1.0.0")
    site.install(policy=AT_ONCE)
    site.publish("1.1.0")
    looked(site)
    assert looked(site, roll_back="1.1.0") == "1.0.0"

    def said():
        report = Report()
        with site.installation() as installation:
            report.waits(foreseen_of(installation).blocked)
        assert list(report.blocked) == ["Hold"]
        return report.blocked["Hold"]

    back = "1.1.0: it is held: rolled back to 1.0.0; remove the"
    assert said() == f"{back} annotation `trundle.dev/roll-back`"
    looked(site, hold="an audit", roll_back="1.1.0")
    assert said() == f"{back} annotations `trundle.dev/hold` and `trundle.dev/roll-back`"
    looked(site, hold="an audit")
    assert said() == "1.1.0: everything is held: an audit; remove the annotation `trundle.dev/hold`"


def test_advice_can_be_followed_in_a_cluster(tmp_path):
    """Where there is neither `--to` nor `unhold`."""
    site = sites.Site(tmp_path)
    site.publish("1.0.0")
    site.install(policy=read_policy({"minor": "never", "major": "window"}, "policy"))
    site.publish("1.1.0")
    site.publish("2.0.0")

    def messages():
        with site.installation() as installation:
            plan = foreseen_of(installation)
            return {str(each.entry.version): each.message for each in plan.blocked}

    words = "the policy says never for minor upgrades; change `spec.policy`"
    assert messages()["1.1.0"] == words
    assert messages()["2.0.0"].endswith("; change `spec.policy`")
    looked(site, hold="an audit; and more")
    words = "everything is held: an audit; and more; remove the annotation `trundle.dev/hold`"
    assert messages()["2.0.0"] == words


@pytest.mark.full
def test_it_goes_back_to_what_has_to_be_fetched_again(tmp_path):
    site = sites.Site(tmp_path)
    site.publish("1.0.0")
    site.install(policy=AT_ONCE)
    site.publish("1.1.0")
    assert looked(site) == "1.1.0"
    with site.installation() as installation:
        shutil.rmtree(
            installation.folders.content
        )  # As for an operator that was moved to another machine.
    assert looked(site, roll_back="1.1.0") == "1.0.0"
    assert site.text() == "acme/crm 1.0.0"

    assert looked(site) == "1.1.0"
    with site.installation() as installation:
        shutil.rmtree(installation.folders.content)
    shutil.rmtree(tmp_path / "registry")
    with site.installation() as installation, pytest.raises(RefusedError):
        carry_out(installation, NAME, asked(roll_back="1.1.0"), ready)
    assert site.text() == "acme/crm 1.1.0"


@pytest.mark.full
def test_going_back_is_no_reason_to_end_a_hold_of_everything(tmp_path):
    site = sites.Site(tmp_path)
    site.publish("1.0.0")
    site.install(policy=AT_ONCE)
    assert looked(site, hold="an audit") == "1.0.0"
    site.publish("1.1.0")
    assert looked(site, hold="an audit") == "1.0.0"
    assert looked(site) == "1.1.0"


def test_an_approval_of_what_the_channel_does_not_list_is_refused(tmp_path):
    site = sites.Site(tmp_path)
    site.publish("1.0.0")
    site.install()
    with site.installation() as installation:
        [refusal] = carry_out(installation, NAME, asked(approve="3.0.0"), ready)
    assert str(refusal.code) == "version-not-found"
    assert "it lists 1.0.0" in refusal.advice


def test_an_annotation_that_names_no_version_asks_for_nothing_and_changes_nothing(tmp_path):
    """What was gone back from does not come again because the annotation is misspelt."""
    site = sites.Site(tmp_path)
    site.publish("1.0.0")
    site.install(policy=AT_ONCE)
    site.publish("1.1.0")
    assert looked(site) == "1.1.0"
    assert looked(site, roll_back="1.1.0") == "1.0.0"
    assert looked(site, roll_back="1.1.x", approve="next") == "1.0.0"
    found = asked(roll_back="1.1.x", approve="next")
    assert [found.roll_back, found.approved] == [None, None]
    expected = [f"annotation trundle.dev/{each}" for each in ("approve", "roll-back")]
    assert [each.place.path for each in found.misread.values()] == expected


def test_the_way_back_from_what_is_not_installed_is_answered(tmp_path):
    site = sites.Site(tmp_path)
    site.publish("1.0.0")
    site.install(policy=AT_ONCE)
    with site.installation() as installation:
        [refusal] = carry_out(installation, NAME, asked(roll_back="1.2.0"), ready)
    assert str(refusal.code) == "not-installed"
    assert "1.0.0" in refusal.expected


def test_it_goes_back_when_the_cluster_is_ready_and_not_where_all_is_held(tmp_path):
    def not_ready(_name):
        raise RefusedError(refusal(RefusalCode.STILL_STORED, "a CRD", "no v3", "some"))

    site = sites.Site(tmp_path)
    site.publish("1.0.0")
    site.install(policy=AT_ONCE)
    site.publish("1.1.0")
    assert looked(site) == "1.1.0"
    with site.installation() as installation:
        for given, code in (({}, "still-stored"), ({"hold": "an audit"}, "held")):
            hold(installation, NAME, asked(roll_back="1.1.0", **given))
            with pytest.raises(RefusedError) as error:
                carry_out(installation, NAME, asked(roll_back="1.1.0", **given), not_ready)
            assert str(error.value.code) == code
            assert str(installation.package(NAME).version) == "1.1.0"
    assert looked(site, roll_back="1.1.0") == "1.0.0"


def paired(tmp_path):
    """Two packages whose second versions need each other, and whose first versions do."""
    site = sites.Site(tmp_path)
    site.publish("1.0.0", "acme/core")
    site.publish("1.0.0", "acme/other")
    site.publish("1.0.0", dependsOn='{acme/core: "1.0"}')
    site.install("acme/other", policy=AT_ONCE)
    site.install(needs=(site.reference("acme/core"),), policy=AT_ONCE)
    site.publish("1.1.0", "acme/core", dependsOn='{acme/crm: "1.1"}')
    site.publish("1.1.0", "acme/other")
    site.publish("1.1.0", dependsOn='{acme/core: "1.1"}')
    with site.installation() as installation:
        for each in ("acme/core", "acme/other"):
            installation.set_policy(each, AT_ONCE)
        upgrade(installation)
        assert versions_in(installation) == {"1.1.0"}
    return site


def versions_in(installation):
    return {str(each.version) for each in installation.packages()}


def test_packages_that_need_each_other_go_back_together(tmp_path):
    site = paired(tmp_path)
    asked_back = asked(roll_back="1.1.0")
    with site.installation() as installation:
        with pytest.raises(RefusedError) as error:
            carry_out(installation, NAME, asked_back, ready)
        assert error.value.code is RefusalCode.DEPENDENCY_CONFLICT
        assert "on all installations that have to go back" in str(error.value)
        with pytest.raises(RefusedError) as error:
            carry_out(installation, NAME, asked_back, ready, ["acme/other"])
        assert error.value.code is RefusalCode.DEPENDENCY_CONFLICT
        assert versions_in(installation) == {"1.1.0"}
        assert carry_out(installation, NAME, asked_back, ready, ["acme/other", "acme/core"]) == ()
        found = {each.name: str(each.version) for each in installation.packages()}
        # The one that needs none of them goes back for itself.
        assert found == {NAME: "1.0.0", "acme/core": "1.0.0", "acme/other": "1.1.0"}
        assert carry_out(installation, "acme/core", asked_back, ready, [NAME]) == ()


class Arriving(ContentStore):
    """Content that is on its way as long as the test wants."""

    ended = False

    def fetch(self, source, artifact, where, progress=None):
        if not self.ended:
            raise ArrivingError(refusal(RefusalCode.UNREACHABLE, where, "all of it", "a part"))
        super().fetch(source, artifact, where, progress)


def test_packages_whose_content_arrives_are_no_conflict(tmp_path):
    site = paired(tmp_path)
    back, others = asked(roll_back="1.1.0"), ["acme/other", "acme/core"]
    with site.installation() as installation:
        installation.content = Arriving(tmp_path / "elsewhere")
        installation.content.ended = True
        complete_before(installation, NAME)
        installation.content.ended = False
        with pytest.raises(ArrivingError, match=r"acme/other 1\.0\.0: expected all of it"):
            carry_out(installation, NAME, back, ready, others)
        installation.content.ended = True
        assert carry_out(installation, NAME, back, ready, others) == ()
        assert str(installation.package("acme/core").version) == "1.0.0"


def test_packages_go_back_together_when_the_cluster_is_ready_for_all(tmp_path):
    def not_ready(name):
        if name == "acme/core":
            raise RefusedError(refusal(RefusalCode.STILL_STORED, "a CRD", "no v3", "some"))

    site = paired(tmp_path)
    with site.installation() as installation:
        with pytest.raises(RefusedError) as error:
            carry_out(installation, NAME, asked(roll_back="1.1.0"), not_ready, ["acme/core"])
        assert error.value.code is RefusalCode.STILL_STORED
        assert versions_in(installation) == {"1.1.0"}


def test_packages_that_fit_together_wait_until_they_can_read_what_is_stored(tmp_path):
    """So that it is rewritten: as one alone, they are not said to be in conflict."""
    where = Place(object="members.example.com")
    stored = [Finding(RefusalCode.STILL_STORED, where, "no v3", "some", "wait")]

    def unreadable(_before, after):
        return stored if (after.name, str(after.version)) == ("acme/core", "1.0.0") else []

    site = paired(tmp_path)
    with site.installation(unreadable=unreadable) as installation:
        with pytest.raises(RefusedError) as error:
            carry_out(installation, NAME, asked(roll_back="1.1.0"), ready, ["acme/core"])
        assert error.value.code is RefusalCode.STILL_STORED
        assert versions_in(installation) == {"1.1.0"}
