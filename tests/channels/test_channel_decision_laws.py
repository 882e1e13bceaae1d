"""What holds for every channel, state, policy and clock."""

import datetime as dt

import msgspec
from amounts import amount
from channel_data import DAY, HOUR, MINUTE, SECOND, START, channel, entry, state, time, v
from hypothesis import given, settings
from hypothesis import strategies as st

from trundle.channels import (
    Approval,
    Exclusion,
    Hold,
    Policy,
    Request,
    UpgradeAction,
    Window,
    candidates,
    decide,
)

VERSIONS = [
    f"{major}.{minor}.{patch}" for major in (0, 1, 2) for minor in (0, 1) for patch in (0, 1)
]
MOMENTS = st.one_of(
    st.integers(-20, 20).map(lambda hours: START + hours * HOUR),
    st.sampled_from(["2026-03-08T07:00Z", "2026-03-29T01:00Z", "2026-10-25T01:00Z", "2026-04-04T15:00Z"])
    .flatmap(lambda text: st.integers(-300, 300).map(lambda minutes: time(text) + minutes * MINUTE)),
)  # fmt: skip
WINDOWS = st.builds(
    Window,
    start=st.sampled_from(["0 2 * * SUN", "30 23 * * *", "0 0 1 * *", "*/20 2 * * *"]),
    duration=st.sampled_from([20 * MINUTE, 4 * HOUR, 30 * HOUR]),
    timezone=st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]),
    levels=st.sampled_from(
        [("patch",), ("minor", "major"), ("prerelease", "patch", "minor", "major")]
    ),
)
ACTIONS = st.sampled_from(UpgradeAction)


@st.composite
def exclusions(draw):
    start = draw(MOMENTS)
    return Exclusion(
        start=start,
        end=start + draw(st.integers(1, 200)) * HOUR,
        scope=draw(st.sampled_from(["all", ("minor",), ("patch", "major")])),
        allow_critical=draw(st.booleans()),
    )


POLICIES = st.builds(
    Policy,
    patch=ACTIONS,
    minor=ACTIONS,
    major=ACTIONS,
    prerelease=ACTIONS,
    zero_major=st.sampled_from(["caret", "plain"]),
    min_age=st.sampled_from([dt.timedelta(0), HOUR, 3 * DAY]),
    min_remaining=st.sampled_from([dt.timedelta(0), 15 * MINUTE, 5 * HOUR]),
    windows=st.lists(WINDOWS, max_size=2).map(tuple),
    exclusions=st.lists(exclusions(), max_size=2).map(tuple),
)


@st.composite
def channels(draw):
    chosen = draw(st.lists(st.sampled_from(VERSIONS), min_size=1, unique=True, max_size=6))
    entries = [
        entry(
            each,
            at=draw(MOMENTS),
            critical=draw(st.booleans()),
            min_upgrade_from=draw(st.sampled_from([None, None, v("0.0.0")])),
        )
        for each in chosen
    ]
    return channel(*entries, latest=draw(st.sampled_from([None, *chosen])))


@st.composite
def states(draw):
    approved = draw(st.lists(st.sampled_from(VERSIONS), max_size=3))
    holds = draw(
        st.lists(
            st.builds(
                Hold,
                reason=st.just("audit"),
                at=st.just(START),
                version=st.sampled_from([None, v("1.0.0")]),
                until=st.none() | MOMENTS,
            ),
            max_size=1,
        )
    )
    return state(
        draw(st.sampled_from([None, *VERSIONS[:8]])),
        approvals=tuple(Approval(v(each), entry(each).digest, START) for each in approved),
        holds=tuple(holds),
    )


REQUESTS = st.builds(Request, to=st.none() | st.sampled_from(VERSIONS).map(v), now=st.booleans())


@given(channels(), states(), POLICIES, MOMENTS, REQUESTS)
@settings(deadline=None)
def test_nothing_goes_back_and_the_target_is_a_candidate(made, installed, policy, now, request):
    plan = decide(made, installed, policy, now, request)
    if plan.refusals:
        assert (plan.action, plan.ready, plan.scheduled, plan.blocked) == ("none", (), (), ())
        return
    allowed = candidates(made, installed, request)
    for each in (*plan.ready, *plan.scheduled, *plan.blocked):
        assert each.entry in allowed
        if installed.installed:
            assert each.entry.version > installed.installed.version
        if made.latest:
            assert each.entry.version <= made.latest
    order = [each.entry.version for each in plan.ready]
    assert order == sorted(order, reverse=True)
    for each in (*plan.scheduled, *plan.blocked):
        assert plan.target is None or each.entry.version > plan.target.version
    for each in plan.scheduled:
        assert each.not_before > now
        assert each.waits_for


@given(channels(), states(), POLICIES, MOMENTS, REQUESTS)
@settings(deadline=None)
def test_what_waits_acts_at_its_time_and_not_a_second_before(made, installed, policy, now, request):
    plan = decide(made, installed, policy, now, request)
    for each in plan.scheduled:
        then = decide(made, installed, policy, each.not_before, request)
        assert each.entry in [ready.entry for ready in then.ready]
        before = decide(made, installed, policy, each.not_before - SECOND, request)
        assert each.entry not in [ready.entry for ready in before.ready]
        seen = msgspec.structs.replace(request, at=each.not_before)
        assert decide(made, installed, policy, now, seen).ready == then.ready


@given(channels(), states(), POLICIES, MOMENTS)
@settings(deadline=None)
def test_equal_inputs_give_equal_plans(made, installed, policy, now):
    assert decide(made, installed, policy, now) == decide(made, installed, policy, now)


@given(channels(), states(), POLICIES, MOMENTS)
@settings(deadline=None, max_examples=amount(50))
def test_waiting_and_upgrading_ends_at_what_nothing_stands_before(made, installed, policy, now):
    for _ in range(30):
        plan = decide(made, installed, policy, now)
        if plan.refusals:
            return
        if plan.target:
            installed = msgspec.structs.replace(
                installed, installed=state(str(plan.target.version)).installed
            )
        elif plan.next_change:
            now = plan.next_change
        else:
            break
    else:
        raise AssertionError("it goes on and on")
    assert not plan.ready
    assert not plan.scheduled
