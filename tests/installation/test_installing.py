"""Installing, upgrading and going back, on an image layout, with a clock set by hand."""

import datetime as dt
import itertools
import json

import pytest
import serving
from losing import lose_manifest
from sites import MONDAY, Site

from trundle.channels import (
    Hold,
    Policy,
    RefusalCode,
    RefusedError,
    Request,
    UpgradeAction,
    Window,
    parse_time,
)
from trundle.installation import (
    LOCK_FILE,
    StateBusyError,
    Tidied,
    foresee,
    roll_back,
    roll_back_together,
    tidy,
    uninstall,
    uninstall_together,
    upgrade,
)
from trundle.registry import DirectoryRegistry
from trundle.version import SemVer

v = SemVer.parse
SUNDAYS = Policy(
    windows=(Window(start="0 2 * * SUN", duration=dt.timedelta(hours=4), timezone="Europe/Berlin"),)
)
CRM = "acme/crm"


_numbers = itertools.count()


@pytest.fixture(scope="session")
def registry(tmp_path_factory):
    """The address of a real registry."""
    with serving.registry(tmp_path_factory.mktemp("registry")) as address:
        yield address


@pytest.fixture(params=["unsigned", "signed", "unsigned-http", "signed-http"])
def site(request, tmp_path, monkeypatch):
    signed, _, remote = request.param.partition("-")
    place = None
    if remote:
        monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "docker"))
        address, number = request.getfixturevalue("registry"), next(_numbers)

        def place(name):
            return f"{address}/site-{number}/{name}"

    return Site(tmp_path, place, signed=signed == "signed")


@pytest.fixture
def plain(tmp_path):
    return Site(tmp_path)


def upgraded(site, request=None, **further):
    with site.installation() as installation:
        result = upgrade(installation, None, request or Request(), **further)
    return [(each.action, each.before, each.after) for each in result.events]


def refused(action, code):
    with pytest.raises(RefusedError) as caught:
        action()
    assert code in {each.code for each in caught.value.refusals}, str(caught.value)
    return caught.value


def test_the_story_of_the_document_that_defines_channels(site):
    for version in ("1.0.3", "1.1.2"):
        site.publish(version)
    site.install(policy=SUNDAYS)
    site.publish("1.2.3")
    site.unpublish("1.1.2", "a vulnerability")
    site.publish("1.1.3")

    assert upgraded(site) == [("upgrade", "1.1.2", "1.1.3")]
    assert site.text() == "acme/crm 1.1.3"
    assert upgraded(site) == []
    with site.installation() as installation:
        status = installation.status(installation.package(CRM))
    opening = parse_time("2026-03-08T02:00:00+01:00")[0]
    assert (status.latest, status.next_change) == ("1.2.3", opening)
    site.clock.now = opening - dt.timedelta(seconds=1)
    assert upgraded(site) == []
    site.clock.now = opening
    assert upgraded(site) == [("upgrade", "1.1.3", "1.2.3")]
    assert site.text() == "acme/crm 1.2.3"


@pytest.mark.full
def test_version_and_digest_are_kept_and_locked(site):
    entry = site.publish("1.0.0").entry
    site.install()
    with site.installation() as installation:
        package = installation.package(CRM)
        lock = json.loads((installation.folders.current / LOCK_FILE).read_text())
    assert (package.version, package.digest) == (entry.version, entry.digest)
    assert (lock["packages"][0]["version"], lock["packages"][0]["digest"]) == (
        "1.0.0",
        entry.digest,
    )


@pytest.mark.full
def test_going_back_needs_no_registry_and_holds_what_was_left(plain):
    for version in ("1.0.0", "1.1.0", "1.2.0"):
        plain.publish(version)
        if version == "1.0.0":
            plain.install()
        upgraded(plain, Request(now=True))
    (plain.folder / "registry").rename(plain.folder / "gone")
    for expected in ("1.1.0", "1.0.0"):
        with plain.installation() as installation:
            assert roll_back(installation, CRM).after == expected
        assert plain.text() == f"acme/crm {expected}"
    with plain.installation() as installation:
        refused(lambda: roll_back(installation, CRM), RefusalCode.NOT_INSTALLED)
        held = {str(each.version) for each in installation.holds(CRM)}
    assert held == {"1.1.0", "1.2.0"}
    (plain.folder / "gone").rename(plain.folder / "registry")
    assert upgraded(plain, Request(now=True)) == []
    with plain.installation() as installation:
        installation.unhold(CRM, v("1.2.0"))
    assert upgraded(plain, Request(now=True)) == [("upgrade", "1.0.0", "1.2.0")]


def test_going_back_to_a_version_that_was_unpublished_says_so(plain):
    plain.publish("1.0.0")
    plain.install()
    plain.publish("1.0.1")
    plain.unpublish("1.0.0", reason="a leak")
    upgraded(plain)
    (plain.folder / "registry").rename(plain.folder / "gone")
    with plain.installation() as installation:
        assert "1.0.0 was unpublished: a leak" in roll_back(installation, CRM).note


def test_what_was_installed_is_never_fetched_again(plain):
    plain.publish("1.0.0")
    plain.install()
    plain.publish("1.0.1")
    upgraded(plain)
    with plain.installation() as installation:
        roll_back(installation, CRM)
        installation.unhold(CRM, v("1.0.1"))

    repository = plain.channel().repository
    stored = repository.get_manifest("1.0.1")
    for each in (stored.descriptor, *stored.document.blobs()):
        repository.blob_file(each).unlink()
    assert upgraded(plain) == [("upgrade", "1.0.0", "1.0.1")]


def test_a_pinned_installation_looks_for_no_updates(plain):
    plain.publish("1.0.0")
    plain.publish("1.1.0")
    result = plain.install(pin=":1.0.0", channel="stable")
    assert any("the channel stable is ignored" in each for each in result.notes)
    (plain.folder / "registry").rename(plain.folder / "gone")
    with plain.installation() as installation:
        plan = installation.look(installation.package(CRM)).plan
        assert not plan.update_available
        assert "no updates are looked for" in plan.notes[0]
        refused(lambda: installation.approve(CRM, v("1.1.0")), RefusalCode.PINNED)
        refused(lambda: roll_back(installation, CRM), RefusalCode.PINNED)
        result = upgrade(installation, [CRM], Request(to=v("1.1.0")))
    assert [each.code for each in result.all_refusals] == [RefusalCode.PINNED]


@pytest.mark.parametrize("pin", [":1.0.0", ":blessed", "@{}"])
def test_a_pinned_version_that_is_unpublished_is_warned_about(site, pin):
    """The channel that was followed before is read for nothing else."""
    digest = site.publish("1.0.0").entry.digest
    site.channel().repository.set_tag("blessed", digest)
    site.install()
    site.install(pin=pin.format(digest))
    assert published(site) == ("True", "1.0.0 is listed in the channel")
    site.publish("1.1.0")
    site.unpublish("1.0.0")
    status, why = published(site)
    assert (status, why.endswith(": CVE-2026-1")) == ("False", True)
    with site.installation() as installation:
        found = installation.look(installation.package(CRM))
        assert "the installed version 1.0.0 was unpublished: CVE-2026-1" in found.plan.notes
        assert not found.plan.update_available
        assert installation.package(CRM).to_plain()["channel"] == ""
    if (site.folder / "registry").exists():
        (site.folder / "registry").rename(site.folder / "gone")
        assert published(site)[0] == "Unknown"


def test_a_version_that_was_pinned_from_the_start_has_no_channel_to_warn(site):
    site.publish("1.0.0")
    site.install(pin=":1.0.0")
    site.publish("1.1.0")
    site.unpublish("1.0.0")
    assert published(site)[0] == "Unknown"


def published(site):
    with site.installation() as installation:
        found = installation.status(installation.package(CRM)).condition("Published")
        return found.status, found.message


def test_any_tag_and_any_digest_can_be_pinned(plain):
    digest = plain.publish("1.0.0").entry.digest
    plain.channel().repository.set_tag("blessed", digest)
    plain.install(pin=":blessed")
    with plain.installation() as installation:
        assert installation.package(CRM).version is None
    plain.install(pin=f"@{digest}")
    with plain.installation() as installation:
        shown = installation.package(CRM).to_plain()
        assert (shown["version"], shown["signed"]) == ("1.0.0", False)
        assert installation.package(CRM).pinned == f"{plain.reference()}@{digest}"
    plain.install()
    with plain.installation() as installation:
        assert installation.package(CRM).pinned is None
        assert installation.package(CRM).version == v("1.0.0")


def test_an_approval_binds_version_and_digest(plain):
    plain.publish("1.0.0")
    plain.install(policy=Policy(major=UpgradeAction.APPROVAL))
    entry = plain.publish("2.0.0").entry
    assert upgraded(plain) == []
    with plain.installation() as installation:
        approval = installation.approve(CRM, v("2.0.0"), by="ali")
        assert approval.digest == entry.digest
        refused(lambda: installation.approve(CRM, v("3.0.0")), RefusalCode.VERSION_NOT_FOUND)
    assert upgraded(plain) == [("upgrade", "1.0.0", "2.0.0")]


def test_an_approval_that_is_withdrawn_lets_nothing_in(plain):
    plain.publish("1.0.0")
    plain.install(policy=Policy(major=UpgradeAction.APPROVAL))
    plain.publish("2.0.0")
    with plain.installation() as installation:
        approval = installation.approve(CRM, v("2.0.0"), by="ali")
        assert not installation.unapprove(CRM, v("1.0.0"))
        refused(
            lambda: installation.unapprove(CRM, v("2.0.0"), digest="sha256:0"),
            RefusalCode.CONCURRENT_CHANGE,
        )
        assert installation.unapprove(CRM, v("2.0.0"), dry_run=True)
        assert installation.approvals(CRM) == (approval,)
        assert installation.unapprove(CRM, v("2.0.0"), digest=approval.digest)
        assert installation.approvals(CRM) == ()
    assert upgraded(plain) == []


def test_a_hold_keeps_everything_as_it_is_until_it_ends(plain):
    plain.publish("1.0.0")
    plain.install()
    plain.publish("1.0.1")
    until = MONDAY + dt.timedelta(hours=1)
    with plain.installation() as installation:
        installation.hold(CRM, Hold("year end", MONDAY, None, until))
    assert upgraded(plain) == []
    plain.clock.now = until
    assert upgraded(plain) == [("upgrade", "1.0.0", "1.0.1")]


def test_another_channel_is_followed_from_the_installed_version_on(plain):
    plain.publish("1.0.0")
    plain.publish("1.1.0-beta.1", word="beta")
    plain.install()
    result = plain.install(
        channel="beta",
        policy=Policy(prerelease=UpgradeAction.IMMEDIATE, minor=UpgradeAction.IMMEDIATE),
    )
    assert [(each.action, each.after) for each in result.events] == [("upgrade", "1.1.0-beta.1")]
    with plain.installation() as installation:
        assert installation.package(CRM).subscription.name == "beta"


def test_following_another_channel_need_not_change_the_version(plain):
    plain.publish("1.0.0")
    plain.publish("1.1.0-beta.1", word="beta")
    plain.install()
    result = plain.install(channel="beta")
    assert [each.action for each in result.events] == ["follow"]
    with plain.installation() as installation:
        package = installation.package(CRM)
        assert (package.subscription.name, package.version) == ("beta", v("1.0.0"))


def test_what_is_needed_is_installed_with_it(plain):
    plain.publish("1.4.0", "acme/core")
    plain.publish("1.0.0", dependsOn='{acme/core: "1"}')
    result = plain.install(needs=(plain.reference("acme/core"),))
    assert [(each.package, each.after) for each in result.events] == [
        ("acme/core", "1.4.0"),
        (CRM, "1.0.0"),
    ]
    with plain.installation() as installation:
        kept = refused(
            lambda: uninstall(installation, "acme/core"), RefusalCode.DEPENDENCY_CONFLICT
        )
        assert "uninstall what needs it first, or together with it" in str(kept)
        uninstall(installation, CRM)
        uninstall(installation, "acme/core")
        assert installation.packages() == ()


def test_what_an_installed_package_does_not_get_along_with_stays_away(plain):
    plain.publish("1.0.0", "acme/core")
    plain.publish("1.0.0", dependsOn='{acme/core: "1"}')
    plain.publish("1.0.0", "acme/other", dependsOn='{acme/core: "1.0"}')
    plain.install(needs=(plain.reference("acme/core"),))
    plain.install("acme/other")
    plain.publish("1.1.0", "acme/core")
    plain.publish("1.1.0", dependsOn='{acme/core: "1.1"}')
    plain.publish("1.1.0", "acme/other", dependsOn='{acme/core: "1.0"}')
    with plain.installation() as installation:
        result = upgrade(installation, None, Request(now=True))
    assert [(each.package, each.after) for each in result.events] == [("acme/other", "1.1.0")]
    assert {name: each[0].code for name, each in result.refusals.items()} == {
        "acme/core": RefusalCode.DEPENDENCY_CONFLICT,
        CRM: RefusalCode.DEPENDENCY_CONFLICT,
    }
    conflict = str(result.refusals[CRM][0])
    assert "acme/crm 1.1.0 (1.1)" in conflict
    assert "acme/other 1.0.0" in conflict


def test_what_would_happen_is_known_with_what_packages_need_of_each_other(plain):
    plain.publish("1.0.0", "acme/core")
    plain.publish("1.0.0", dependsOn='{acme/core: "1"}')
    plain.install(needs=(plain.reference("acme/core"),))
    plain.publish("1.0.1")
    plain.publish("1.0.2", dependsOn='{acme/core: "2"}')
    with plain.installation() as installation:
        (crm,) = foresee(installation, [CRM])
        assert str(crm.plan.target.version) == "1.0.1"
        (blocked,) = crm.plan.blocked
        assert (str(blocked.entry.version), blocked.reason) == ("1.0.2", "dependency")
        assert "acme/crm 1.0.2 (2)" in blocked.message
        (status,) = [installation.status(installation.package(CRM), crm)]
        assert status.condition("UpToDate").reason == "UpdateReady"
        upgrade(installation)
        core, crm = foresee(installation)
        assert (core.plan.package, core.plan.update_available) == ("acme/core", False)
        assert (crm.plan.action, crm.plan.target, crm.plan.update_available) == (
            "none",
            None,
            False,
        )


def test_a_hold_waits_until_an_upgrade_is_done(plain):
    plain.publish("1.0.0")
    plain.install()
    with plain.installation() as first, plain.installation(wait=0.05) as second, first.alone():
        refused = pytest.raises(StateBusyError)
        with refused:
            second.hold(CRM, Hold("audit", MONDAY))
        assert second.holds(CRM) == ()


def test_one_bad_package_holds_no_other_one_back(plain):
    for name in ("acme/a", "acme/b", "acme/c"):
        plain.publish("1.0.0", name)
        plain.install(name)
        plain.publish("1.0.1", name)
    repository = plain.channel("acme/b").repository
    layer = repository.get_manifest("1.0.1").document.layers[0]
    repository.blob_file(layer).write_bytes(b"x" * layer.size)
    with plain.installation() as installation:
        result = upgrade(installation)
    assert {each.package for each in result.events} == {"acme/a", "acme/c"}
    assert {name: each[0].code for name, each in result.refusals.items()} == {
        "acme/b": RefusalCode.CONTENT_MISMATCH
    }
    assert plain.text("acme/b") == "acme/b 1.0.0"


def test_a_dry_run_changes_nothing(plain):
    plain.publish("1.0.0")
    assert [each.after for each in plain.install(dry_run=True).events] == ["1.0.0"]
    with plain.installation() as installation:
        assert installation.packages() == ()
    plain.install()
    plain.publish("1.0.1")
    before = plain.snapshot()
    assert upgraded(plain, dry_run=True) == [("upgrade", "1.0.0", "1.0.1")]
    assert plain.snapshot() == before


def test_installing_a_specific_version_follows_on_from_there(plain):
    plain.publish("1.0.0")
    plain.publish("1.0.1")
    plain.install(to=v("1.0.0"))
    assert upgraded(plain) == [("upgrade", "1.0.0", "1.0.1")]


def test_a_channel_in_a_folder_is_followed_with_content_from_the_registry(plain):
    from trundle.channels.publishing import export
    from trundle.channels.reading import open_channel

    plain.publish("1.0.0")
    export(open_channel("stable", plain.reference()), plain.folder / "static")
    plain.install(channel=str(plain.folder / "static"))
    assert plain.text() == "acme/crm 1.0.0"


def test_conditions_keep_the_time_of_their_last_change(plain):
    plain.publish("1.0.0")
    plain.install()
    for hours in (0, 5):
        plain.clock.go(hours=hours)
        with plain.installation() as installation:
            status = installation.status(installation.package(CRM))
        assert status.condition("UpToDate").last_transition_time == MONDAY
    plain.publish("1.1.0")
    with plain.installation() as installation:
        status = installation.status(installation.package(CRM))
    assert status.condition("UpToDate").last_transition_time == plain.clock()


def test_an_upgrade_takes_along_what_it_needs(plain):
    plain.publish("1.0.0", "acme/core")
    plain.publish("1.0.0", dependsOn='{acme/core: "1"}')
    plain.install(needs=(plain.reference("acme/core"),))
    plain.publish("1.1.0", "acme/core")
    plain.publish("1.1.0", dependsOn='{acme/core: "1.1"}')
    with plain.installation() as installation:
        result = upgrade(installation, None, Request(now=True))
    assert [(each.package, each.after) for each in result.events] == [
        ("acme/core", "1.1.0"),
        (CRM, "1.1.0"),
    ]


def test_packages_that_need_each_other_are_uninstalled_together(plain):
    plain.publish("1.0.0", "acme/core")
    plain.publish("1.0.0", dependsOn='{acme/core: "1"}')
    plain.install(needs=(plain.reference("acme/core"),))
    plain.publish("1.1.0", "acme/core", dependsOn=f'{{{CRM}: "1"}}')
    with plain.installation() as installation:
        upgrade(installation, None, Request(now=True))
        for name in (CRM, "acme/core"):
            refused(
                lambda name=name: uninstall(installation, name), RefusalCode.DEPENDENCY_CONFLICT
            )
        unknown = (CRM, "acme/core", "acme/none")
        refused(lambda: uninstall_together(installation, unknown), RefusalCode.NOT_INSTALLED)
        uninstall_together(installation, (CRM, "acme/core"), dry_run=True)
        assert len(installation.packages()) == 2
        events = uninstall_together(installation, (CRM, "acme/core", CRM))
        assert installation.packages() == ()
        assert [(each.package, each.before) for each in events] == [
            (CRM, "1.0.0"),
            ("acme/core", "1.1.0"),
        ]


def test_packages_that_need_each_other_go_back_together_or_not_at_all(plain):
    plain.publish("1.0.0", "acme/core")
    plain.publish("1.0.0", dependsOn='{acme/core: "1.0"}')
    plain.install(needs=(plain.reference("acme/core"),))
    plain.publish("1.1.0", "acme/core")
    plain.publish("1.1.0", dependsOn='{acme/core: "1.1"}')
    with plain.installation() as installation:
        upgrade(installation, None, Request(now=True))

        def versions():
            return {each.name: str(each.version) for each in installation.packages()}

        for name in (CRM, "acme/core"):
            refused(
                lambda name=name: roll_back(installation, name), RefusalCode.DEPENDENCY_CONFLICT
            )
        unknown = (CRM, "acme/core", "acme/none")
        refused(lambda: roll_back_together(installation, unknown), RefusalCode.NOT_INSTALLED)
        dry = roll_back_together(installation, (CRM, "acme/core"), dry_run=True)
        assert versions() == {CRM: "1.1.0", "acme/core": "1.1.0"}
        events = roll_back_together(installation, (CRM, "acme/core", CRM))
        assert versions() == {CRM: "1.0.0", "acme/core": "1.0.0"}
        assert [(each.package, each.after) for each in events] == [
            (CRM, "1.0.0"),
            ("acme/core", "1.0.0"),
        ]
        assert [each.after_digest for each in dry] == [each.after_digest for each in events]
        held = {each: [str(x.version) for x in installation.holds(each)] for each in versions()}
        assert held == {CRM: ["1.1.0"], "acme/core": ["1.1.0"]}
    assert upgraded(plain, Request(now=True)) == []


@pytest.mark.full
def test_unpacked_versions_long_past_are_removed_and_come_back_from_the_store(plain):
    for number in range(6):
        plain.publish(f"1.0.{number}")
        if number == 0:
            plain.install()
        upgraded(plain)
    unpacked = plain.state / "packages" / "acme+crm"
    assert sorted(each.name[:5] for each in unpacked.iterdir()) == ["1.0.3", "1.0.4", "1.0.5"]
    with plain.installation() as installation:
        for _ in range(5):
            roll_back(installation, CRM)
    assert plain.text() == "acme/crm 1.0.0"


@pytest.mark.full
def test_content_that_no_rollback_needs_is_removed(plain):
    for version in ("1.0.0", "1.0.1", "1.0.2", "1.0.3"):
        plain.publish(version)
        if version == "1.0.0":
            plain.install()
        upgraded(plain)
    plain.publish("1.0.0", "acme/other", content="of its own")
    plain.install("acme/other")
    store = plain.state / "content" / "blobs" / "sha256"

    def size():
        return sum(path.stat().st_size for path in store.iterdir())

    with plain.installation() as installation:
        uninstall(installation, "acme/other")
        whole = size()
        found = tidy(installation, 2, dry_run=True)
        assert [each.name for each in found.removed] == ["acme/crm 1.0.0", "acme/other 1.0.0"]
        assert (size(), tidy(installation, 2)) == (whole, found)
        assert size() == whole - found.size < whole
        assert tidy(installation, 2) == Tidied((), 0)
        for expected in ("1.0.2", "1.0.1"):
            assert roll_back(installation, CRM).after == expected
        refused(lambda: roll_back(installation, CRM), RefusalCode.CONTENT_MISSING)
        assert [each.name for each in tidy(installation, 0).removed] == [
            "acme/crm 1.0.2",
            "acme/crm 1.0.3",
        ]
    assert plain.text() == "acme/crm 1.0.1"
    with plain.installation() as installation:
        installation.unhold(CRM, v("1.0.3"))
    assert upgraded(plain) == [("upgrade", "1.0.1", "1.0.3")]


def test_tidying_removes_what_is_damaged_too(plain):
    plain.publish("1.0.0")
    plain.install()
    with plain.installation() as installation:
        digest = installation.package(CRM).digest
        uninstall(installation, CRM)
        (plain.state / "content" / "blobs" / "sha256" / digest[7:]).write_bytes(b"{}")
        assert [each.digest for each in tidy(installation, 0).removed] == [digest]
        assert tidy(installation, 0).removed == ()


def test_what_a_killed_tidying_left_without_a_tag_is_kept_where_it_is_installed_again(plain):
    plain.publish("1.0.0")
    plain.install()
    with plain.installation() as installation:
        digest = installation.package(CRM).digest
        uninstall(installation, CRM)
        # The process died after this, before it removed files.
        DirectoryRegistry(plain.state / "content").repository("").remove_tag(digest[7:])
        assert not installation.content.has(digest)
    plain.install()
    with plain.installation() as installation:
        assert tidy(installation, 0).removed == ()
        assert installation.content.has(digest)
        assert installation.content.archive(digest, CRM, 2**20)


@pytest.mark.full
def test_content_that_a_real_registry_lost_is_refused(site):
    site.publish("1.0.0")
    site.install()
    entry = site.publish("1.0.1").entry
    lose_manifest(site.channel().repository, entry.digest)
    before = site.snapshot()
    with site.installation() as installation:
        result = upgrade(installation)
    assert [each.code for each in result.all_refusals] == [RefusalCode.CONTENT_MISSING]
    assert site.snapshot() == before


def test_a_named_package_takes_along_what_it_needs_and_nothing_else(plain):
    plain.publish("1.0.0", "acme/core")
    plain.publish("1.0.0", "acme/other")
    plain.publish("1.0.0", dependsOn='{acme/core: "1"}')
    plain.install(needs=(plain.reference("acme/core"),))
    plain.install("acme/other")
    plain.publish("1.0.1", "acme/core")
    plain.publish("1.0.1", "acme/other")
    plain.publish("1.0.1", dependsOn='{acme/core: ">=1.0.1"}')
    with plain.installation() as installation:
        result = upgrade(installation, [CRM])
    assert [each.package for each in result.events] == ["acme/core", CRM]


def test_what_may_be_needed_may_be_named_twice_or_for_nothing(plain):
    plain.publish("1.0.0")
    result = plain.install(needs=(plain.reference(), plain.reference()))
    assert [each.package for each in result.events] == [CRM]
    refused(
        lambda: plain.install(channel=str(plain.folder), needs=(plain.reference(),)),
        RefusalCode.INVALID_CHANNEL_WORD,
    )
