import pytest
from channel_data import (
    DAY,
    HOUR,
    PACKAGE,
    SECOND,
    START,
    change,
    channel,
    codes,
    digest,
    entry,
    state,
    time,
    v,
)

from trundle.channels import (
    Approval,
    Block,
    Exclusion,
    Hold,
    Installed,
    Policy,
    Request,
    Tombstone,
    Wait,
    Window,
    candidates,
    decide,
)

SUNDAY = Window(start="0 2 * * SUN", duration=4 * HOUR, timezone="Europe/Berlin")
OPENS = time("2026-03-08T02:00+01:00")
POLICY = Policy(windows=(SUNDAY,))
FREE = Policy(patch="immediate", minor="immediate", major="immediate")


def gone(version, reason="a hole"):
    return Tombstone(entry(version), START, reason)


def plan(made, installed, policy=POLICY, now=START, **request):
    return decide(made, installed, policy, now, Request(**request))


def versions(some):
    return [str(each.entry.version) for each in some]


def test_the_highest_whose_level_may_act_is_the_target():
    made = channel("1.1.3", "1.1.4", "1.2.0", "1.3.0", "2.0.0")
    found = plan(made, state("1.1.2"))
    assert (found.action, found.target.version) == ("upgrade", v("1.1.4"))
    assert versions(found.ready) == ["1.1.4", "1.1.3"]
    assert versions(found.scheduled) == ["1.3.0", "1.2.0"]
    assert {each.not_before for each in found.scheduled} == {OPENS}
    assert found.scheduled[0].waits_for == (Wait.WINDOW,)
    assert versions(found.blocked) == ["2.0.0"]
    assert found.blocked[0].reason is Block.NEVER
    assert found.announced.version == v("2.0.0")
    assert found.next_change == OPENS
    assert found.refusals == ()


def test_in_the_window_the_minor_version_is_the_target():
    made = channel("1.1.3", "1.2.0", "2.0.0")
    found = plan(made, state("1.1.2"), now=OPENS)
    assert found.target.version == v("1.2.0")
    assert found.scheduled == ()
    assert plan(made, state("1.1.2"), now=OPENS - SECOND).target.version == v("1.1.3")


def test_up_to_date():
    found = plan(channel("1.0.0"), state("1.0.0"))
    assert (found.action, found.target, found.update_available) == ("none", None, False)
    assert found.latest.version == v("1.0.0")


def test_nothing_above_the_latest_is_a_candidate():
    made = channel("1.0.0", "1.0.1", "1.0.2", latest="1.0.1")
    assert plan(made, state("1.0.0"), FREE).target.version == v("1.0.1")
    assert codes(plan(made, state("1.0.0"), FREE, to=v("1.0.2")).refusals) == ["above-latest"]


def test_without_a_latest_nothing_is_upgraded():
    made = channel("1.0.0", "1.0.1", latest=None)
    found = plan(made, state("1.0.0"))
    assert (found.action, found.refusals) == ("none", ())
    assert "no latest version" in found.notes[0]
    assert plan(made, state("1.0.0"), to=v("1.0.1")).target.version == v("1.0.1")


def test_a_fresh_installation_takes_the_latest_whatever_the_policy_says():
    made = channel("1.0.0", "2.0.0")
    never = Policy(patch="never", minor="never", major="never", min_age=DAY)
    found = plan(made, state(), never)
    assert (found.action, found.target.version) == ("install", v("2.0.0"))
    assert plan(made, state(), never, to=v("1.0.0")).target.version == v("1.0.0")
    with_floor = channel(entry("2.0.0", min_upgrade_from=v("1.0.0")))
    assert plan(with_floor, state()).target.version == v("2.0.0")


@pytest.mark.parametrize("critical", [False, True])
def test_a_cooldown_is_waited_for(critical):
    policy = change(FREE, min_age=2 * DAY)
    made = channel(entry("1.0.1", at=START - DAY, critical=critical))
    found = plan(made, state("1.0.0"), policy)
    if critical:
        assert found.target.version == v("1.0.1")
    else:
        assert found.target is None
        assert found.scheduled[0].not_before == START + DAY
        assert found.scheduled[0].waits_for == (Wait.COOLDOWN,)
        assert plan(made, state("1.0.0"), policy, now=START + DAY).target
        assert decide(made, state("1.0.0"), policy, START, Request(now=True)).target


@pytest.mark.parametrize(("version", "acts"), [("1.0.1", True), ("1.1.0", True), ("2.0.0", False)])
def test_a_critical_version_waits_for_nothing_unless_it_is_major(version, acts):
    policy = Policy(
        patch="window", minor="window", major="window", windows=(SUNDAY,), min_age=30 * DAY
    )
    made = channel(entry(version, critical=True))
    found = plan(made, state("1.0.0"), policy)
    assert bool(found.target) is acts
    if not acts:
        assert found.scheduled[0].not_before == time("2026-04-05T02:00+02:00")
        assert set(found.scheduled[0].waits_for) == {Wait.WINDOW, Wait.COOLDOWN}


@pytest.mark.parametrize("action", ["approval", "never"])
def test_a_critical_version_does_not_override_approval_or_never(action):
    made = channel(entry("1.0.1", critical=True))
    assert plan(made, state("1.0.0"), Policy(patch=action)).target is None


def test_a_critical_version_passes_an_exclusion_that_allows_it():
    made = channel(entry("1.0.1", critical=True), entry("1.0.2"), latest="1.0.2")
    freeze = Exclusion(start=START, end=START + DAY, allow_critical=True, reason="year end")
    found = plan(made, state("1.0.0"), Policy(exclusions=(freeze,)))
    assert found.target.version == v("1.0.1")
    assert found.scheduled[0].waits_for == (Wait.EXCLUSION,)
    assert found.scheduled[0].not_before == START + DAY
    assert "year end" in found.scheduled[0].message
    strict = Policy(exclusions=(change(freeze, allow_critical=False),))
    assert plan(made, state("1.0.0"), strict).target is None


def test_an_approval_binds_version_and_digest():
    policy = Policy(minor="approval")
    made = channel("1.1.0")
    blocked = plan(made, state("1.0.0"), policy)
    assert blocked.blocked[0].reason is Block.APPROVAL
    approved = state("1.0.0", approvals=(Approval(v("1.1.0"), digest("1.1.0"), START),))
    assert plan(made, approved, policy).target.version == v("1.1.0")
    other = state("1.0.0", approvals=(Approval(v("1.1.0"), digest("x"), START),))
    found = plan(made, other, policy)
    assert found.blocked[0].reason is Block.OTHER_DIGEST_APPROVED
    assert "1.1.0" not in found.blocked[0].message  # It is shown beside the version.
    wrong = state("1.0.0", approvals=(Approval(v("1.2.0"), digest("1.1.0"), START),))
    assert plan(made, wrong, policy).blocked[0].reason is Block.APPROVAL


def test_holds():
    made = channel("1.0.1", "1.0.2")
    everything = state("1.0.0", holds=(Hold("audit", START),))
    found = plan(made, everything, now=START)
    assert {each.reason for each in found.blocked} == {Block.HOLD}
    assert plan(made, everything, to=v("1.0.2")).target is None
    one = state("1.0.0", holds=(Hold("crashes", START, version=v("1.0.2")),))
    assert plan(made, one).target.version == v("1.0.1")
    blocked = plan(made, one).blocked[0]
    said = (str(blocked.entry.version), blocked.message)
    assert said == ("1.0.2", "it is held: crashes; release it with unhold")
    for_a_day = state("1.0.0", holds=(Hold("audit", START, until=START + DAY),))
    found = plan(made, for_a_day)
    assert found.scheduled[0].not_before == START + DAY
    assert found.scheduled[0].waits_for == (Wait.HOLD,)
    assert plan(made, for_a_day, now=START + DAY).target.version == v("1.0.2")


def test_what_cannot_be_reached_from_here_waits_for_a_step_between():
    made = channel("1.0.1", entry("1.0.2", min_upgrade_from=v("1.0.1")))
    found = plan(made, state("1.0.0"))
    assert found.target.version == v("1.0.1")
    assert found.blocked[0].reason is Block.UPGRADE_PATH
    assert plan(made, state("1.0.1")).target.version == v("1.0.2")
    assert codes(plan(made, state("1.0.0"), to=v("1.0.2")).refusals) == ["upgrade-path"]


def test_below_one_the_caret_decides_what_is_major():
    made = channel("0.5.0")
    assert plan(made, state("0.4.0"), now=OPENS).blocked[0].level == "major"
    plain = change(POLICY, zero_major="plain")
    assert plan(made, state("0.4.0"), plain, now=OPENS).target.version == v("0.5.0")


def test_builds_and_pre_releases_go_by_the_prerelease_level():
    made = channel("1.0.0-beta+2", name="beta")
    installed = state("1.0.0-beta+1", channel="beta")
    assert plan(made, installed).ready[0].level == "prerelease"
    assert plan(made, installed, Policy(prerelease="never")).target is None


def test_a_level_without_any_window_is_blocked():
    found = plan(channel("1.1.0"), state("1.0.0"), Policy())
    assert found.blocked[0].reason is Block.NO_WINDOW


def test_windows_that_are_all_too_short_are_named_as_what_blocks():
    short = change(SUNDAY, duration=600 * SECOND)
    found = plan(channel("1.1.0"), state("1.0.0"), Policy(windows=(short,)))
    assert found.blocked[0].reason is Block.NO_WINDOW
    assert found.blocked[0].message == (
        "no window for minor upgrades is as long as minRemaining, PT15M; make one longer, or lower minRemaining"
    )


# Requests


def test_a_named_version_needs_no_approval_but_waits_for_its_window():
    made = channel("1.1.0", "2.0.0")
    found = plan(made, state("1.0.0"), to=v("1.1.0"))
    assert found.scheduled[0].not_before == OPENS
    major = plan(made, state("1.0.0"), to=v("2.0.0"))
    assert major.target.version == v("2.0.0")
    both = decide(made, state("1.0.0"), POLICY, START, Request(to=v("1.1.0"), now=True))
    assert both.target.version == v("1.1.0")


def test_now_overrides_windows_but_no_exclusion():
    made = channel("1.1.0")
    request = Request(now=True)
    assert decide(made, state("1.0.0"), POLICY, START, request).target
    freeze = Exclusion(start=START, end=START + DAY)
    frozen = change(POLICY, exclusions=(freeze,))
    found = decide(made, state("1.0.0"), frozen, START, request)
    assert found.scheduled[0].not_before == START + DAY


def test_a_plan_for_another_time_is_judged_as_of_now():
    made = channel("1.1.0", expires=START + DAY)
    found = plan(made, state("1.0.0"), at=OPENS)
    assert (found.at, found.target.version) == (OPENS, v("1.1.0"))
    assert codes(plan(made, state("1.0.0"), now=OPENS).refusals) == ["expired-metadata"]


def test_downgrades_have_to_be_asked_for():
    made = channel("1.0.0", "1.1.0", "1.2.0")
    assert codes(plan(made, state("1.2.0"), to=v("1.0.0")).refusals) == ["downgrade"]
    found = plan(made, state("1.2.0"), FREE, to=v("1.0.0"), allow_downgrade=True)
    assert (found.action, found.target.version) == ("downgrade", v("1.0.0"))


def test_a_channel_that_is_behind_can_be_followed_down():
    made = channel("1.0.0", latest="1.0.0", unpublished=(gone("1.2.0", "broken"),))
    behind = plan(made, state("1.2.0"))
    assert codes(behind.refusals) == ["channel-behind"]
    assert "broken" in str(behind.refusals[0])
    down = plan(made, state("1.2.0"), FREE, allow_downgrade=True)
    assert (down.action, down.target.version) == ("downgrade", v("1.0.0"))


# Pinned


def test_a_pinned_installation_looks_for_nothing():
    pinned = state(pinned="acme/crm:nightly")
    pinned = change(pinned, installed=Installed(None, digest("x")))
    found = decide(None, pinned, POLICY, START)
    assert (found.action, found.refusals) == ("none", ())
    assert found.notes == ("pinned to acme/crm:nightly: no updates are looked for",)
    ignored = decide(channel("9.0.0"), pinned, POLICY, START)
    assert ignored.target is None
    assert ignored.notes == found.notes
    assert codes(decide(None, pinned, POLICY, START, Request(to=v("1.0.0"))).refusals) == ["pinned"]


def test_without_pin_a_channel_is_needed():
    with pytest.raises(ValueError, match="expected the channel"):
        decide(None, state("1.0.0"), POLICY, START)
    with pytest.raises(ValueError, match="time zone"):
        decide(channel("1.0.0"), state("1.0.0"), POLICY, START.replace(tzinfo=None))


# Refusals


@pytest.mark.parametrize(
    ("made", "installed", "expected"),
    [
        (channel("1.0.0"), state("1.2.0"), ["channel-behind"]),
        (
            change(channel("1.0.0"), latest=v("1.1.0-beta")),
            state("1.0.0"),
            ["latest-not-in-channel", "inconsistent-file"],
        ),
        (change(channel("1.0.0"), latest=v("1.1.0")), state("1.0.0"), ["inconsistent-file"]),
        (change(channel("1.0.0"), package="acme/other"), state("1.0.0"), ["wrong-package"]),
        (channel("1.0.0-beta", name="beta"), state("1.0.0"), ["wrong-channel"]),
        (
            change(channel("1.0.0"), versions=(change(entry("1.0.0"), id="0" * 12),)),
            state("1.0.0"),
            ["invalid-file"],
        ),
        (
            change(channel("1.0.0"), versions=(entry("1.0.0"), entry("1.0.0", content="x"))),
            state("0.9.0"),
            ["invalid-file"],
        ),
        (channel(entry("1.0.0", content="x"), "1.1.0"), state("1.0.0"), ["digest-changed"]),
        (
            channel(entry("1.0.0", content="x"), "1.1.0"),
            state("0.9.0", known={v("1.0.0"): digest("1.0.0")}),
            ["digest-changed"],
        ),
        (
            channel("1.1.0", unpublished=(Tombstone(entry("1.0.0", content="x"), START, "why"),)),
            state("1.0.0"),
            ["digest-changed"],
        ),
        (channel("1.0.0", serial=4), state("1.0.0", seen_serial=5), ["stale-metadata"]),
        (channel("1.0.0", expires=START), state("1.0.0"), ["expired-metadata"]),
        (channel("1.0.0"), state("1.0.0", clock_floor=START + HOUR), ["clock-went-back"]),
        (channel("1.0.0", latest=None), state(), ["no-latest"]),
        (channel(), state(), ["no-latest"]),
    ],
)  # fmt: skip
def test_each_doubt_is_a_refusal_and_nothing_is_done(made, installed, expected):
    found = plan(made, installed, FREE)
    assert list(dict.fromkeys(codes(found.refusals))) == expected
    assert (found.action, found.ready, found.scheduled, found.blocked) == ("none", (), (), ())
    assert found.latest is None
    for refusal in found.refusals:
        assert refusal.expected
        assert refusal.found
        assert refusal.advice
        assert PACKAGE.split("/")[0] in refusal.where or "channel" in refusal.where


def test_all_doubts_are_listed():
    made = channel("1.0.0", serial=1, expires=START - DAY)
    found = plan(made, state("1.0.0", channel="beta", seen_serial=3, clock_floor=START + DAY))
    assert codes(found.refusals) == [
        "wrong-channel",
        "stale-metadata",
        "expired-metadata",
        "clock-went-back",
    ]


@pytest.mark.parametrize(
    ("to", "expected"),
    [
        ("3.0.0", "version-not-found"),
        ("1.1.0", "version-unpublished"),
        ("1.0.0", "already-installed"),
    ],
)
def test_a_named_version_has_to_be_listed_and_another(to, expected):
    made = channel("1.0.0", "1.2.0", unpublished=(gone("1.1.0"),))
    assert codes(plan(made, state("1.0.0"), to=v(to)).refusals) == [expected]


def test_a_clock_put_back_by_a_time_server_is_no_doubt():
    assert plan(channel("1.0.0"), state("1.0.0", clock_floor=START + 30 * SECOND)).refusals == ()


# Notes


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (channel("1.0.1", unpublished=(gone("1.0.0"),)), "was unpublished: a hole"),
        (channel("1.0.1"), "was never in the channel"),
        (channel(entry("1.0.0", deprecated="use 2"), "1.0.1"), "is deprecated: use 2"),
        (channel("1.0.0", entry("1.0.1", deprecated="use 2")), "version 1.0.1 is deprecated"),
        (channel("1.0.0", change(entry("1.0.1"), digest=None)), "only 12 digits"),
    ],
)
def test_what_one_should_know_is_noted(made, words):
    found = plan(made, state("1.0.0"))
    assert found.target.version == v("1.0.1")
    assert any(words in each for each in found.notes)


@pytest.mark.full
def test_ten_thousand_versions_are_judged_with_few_looks_at_the_calendar(monkeypatch):
    from trundle.channels.policy.gates import Gates

    looks = []
    original = Gates.next_start
    monkeypatch.setattr(
        Gates, "next_start", lambda self, at: looks.append(at) or original(self, at)
    )
    made = channel(*(entry(f"1.{minor}.0") for minor in range(1, 3000)))
    found = plan(made, state("1.0.0"))
    assert len(found.scheduled) == 2999
    assert len(looks) <= 4


def test_candidates_are_what_a_resolver_may_choose_from():
    made = channel("1.0.0", "1.1.0", "1.2.0", latest="1.1.0")
    assert [str(each.version) for each in candidates(made, state("0.9.0"))] == ["1.1.0", "1.0.0"]
    assert [str(each.version) for each in candidates(made, state())] == ["1.1.0"]
    assert candidates(made, state(), Request(to=v("9.0.0"))) == ()
