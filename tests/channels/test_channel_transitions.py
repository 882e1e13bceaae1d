import pytest
from channel_data import DAY, PACKAGE, START, codes, digest, entry, v
from hypothesis import given
from hypothesis import strategies as st

from trundle.channels import (
    Channel,
    Deprecate,
    OperationError,
    Promote,
    Publish,
    Refresh,
    RefusalCode,
    RefusedError,
    Restore,
    Unpublish,
    apply,
    check_manifest,
    confirmation_needed,
    deprecate,
    new_entry,
    operation_from_json,
    operation_to_json,
    promote,
    publish,
    refresh,
    refusal_kind,
    restore,
    touches_latest,
    unpublish,
    version_to_publish,
)
from trundle.errors import Finding, Kind, Place
from trundle.packages import Manifest, Requirement
from trundle.version import VersionRange

EMPTY = Channel(name="stable", package=PACKAGE)
LATER = START + DAY


def ever(channel):
    """Every version that was ever listed."""
    return {each.version for each in (*channel.versions, *channel.unpublished)}


def released(*versions, name="stable"):
    """A channel into which versions were published in this order."""
    made = Channel(name=name, package=PACKAGE)
    for version in versions:
        made = publish(made, entry(version), START).channel
    return made


def listed(made):
    return [str(each.version) for each in made.versions]


def refused(function, *arguments, **named):
    with pytest.raises(RefusedError) as caught:
        function(*arguments, **named)
    for refusal in caught.value.refusals:
        assert refusal.where
        assert refusal.expected
        assert refusal.found
        assert refusal.advice
    return codes(caught.value.refusals)


def test_a_first_version_is_listed_and_the_latest():
    made = publish(EMPTY, entry("1.0.3"), LATER, expires=LATER + DAY)
    assert listed(made.channel) == ["1.0.3"]
    assert made.channel.latest == v("1.0.3")
    assert made.channel.serial == 1
    assert made.channel.update_time == LATER
    assert made.channel.expires == LATER + DAY
    assert made.notes == ()


def test_a_higher_version_becomes_the_latest_and_a_lower_one_does_not():
    made = released("1.0.3", "1.2.3")
    assert made.latest == v("1.2.3")
    lower = publish(made, entry("1.1.2"), LATER)
    assert lower.channel.latest == v("1.2.3")
    assert listed(lower.channel) == ["1.2.3", "1.1.2", "1.0.3"]
    assert "below the latest" in lower.notes[0]


def test_a_later_build_becomes_the_latest():
    assert released("1.0.0-beta+9", "1.0.0-beta+10", name="beta").latest == v("1.0.0-beta+10")


def test_unpublishing_the_latest_leaves_none():
    made = unpublish(released("1.0.0", "1.1.0"), v("1.1.0"), "a hole", LATER)
    assert made.channel.latest is None
    assert listed(made.channel) == ["1.0.0"]
    tombstone = made.channel.tombstone(v("1.1.0"))
    assert (tombstone.reason, tombstone.unpublish_time) == ("a hole", LATER)
    assert made.channel.serial == 3
    assert "has none now" in made.notes[0]


def test_unpublishing_another_leaves_the_latest():
    made = unpublish(released("1.0.0", "1.1.0"), v("1.0.0"), "a hole", LATER)
    assert made.channel.latest == v("1.1.0")
    assert made.notes == ()


def test_without_a_latest_only_what_is_above_everything_becomes_it():
    gone = unpublish(released("1.0.0", "1.2.0"), v("1.2.0"), "a hole", LATER).channel
    between = publish(gone, entry("1.1.0"), LATER)
    assert between.channel.latest is None
    assert "promote" in between.notes[0]
    assert publish(gone, entry("1.2.1"), LATER).channel.latest == v("1.2.1")


def test_promoting_sets_the_latest():
    gone = unpublish(released("1.0.0", "1.2.0"), v("1.2.0"), "a hole", LATER).channel
    made = promote(gone, v("1.0.0"), LATER)
    assert made.channel.latest == v("1.0.0")
    assert "1.2.0 was listed before" in made.notes[0]
    assert publish(made.channel, entry("1.1.0"), LATER).channel.latest == v("1.1.0")


def test_restoring_brings_back_the_same_content():
    before = released("1.0.0", "1.2.0")
    gone = unpublish(before, v("1.2.0"), "by mistake", LATER).channel
    back = restore(gone, v("1.2.0"), LATER).channel
    assert back.versions == before.versions
    assert back.latest == before.latest
    assert back.unpublished == ()
    assert back.serial == 4


def test_restoring_a_lower_version_leaves_the_latest():
    gone = unpublish(released("1.0.0", "1.2.0"), v("1.0.0"), "by mistake", LATER).channel
    assert restore(gone, v("1.0.0"), LATER).channel.latest == v("1.2.0")


def test_deprecating_keeps_a_version_listed():
    made = deprecate(released("1.0.0"), v("1.0.0"), "use 2.0.0", LATER).channel
    assert made.entry(v("1.0.0")).deprecated == "use 2.0.0"
    assert made.latest == v("1.0.0")
    assert deprecate(made, v("1.0.0"), None, LATER).channel.entry(v("1.0.0")).deprecated is None


def test_refreshing_changes_time_and_serial_only():
    before = released("1.0.0")
    made = refresh(before, LATER, LATER + DAY).channel
    assert (made.serial, made.update_time, made.expires) == (2, LATER, LATER + DAY)
    assert (made.versions, made.latest) == (before.versions, before.latest)


def test_the_update_time_does_not_go_back():
    made = publish(EMPTY, entry("1.0.0"), LATER).channel
    assert publish(made, entry("1.1.0"), START).channel.update_time == LATER


MADE = unpublish(released("1.0.0", "1.1.0", "1.2.0"), v("1.1.0"), "a hole", START).channel


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        (publish, (entry("1.2.0"), LATER), "version-exists"),
        (publish, (entry("1.2.0", content="x"), LATER), "version-taken"),
        (publish, (entry("1.1.0"), LATER), "version-unpublished"),
        (publish, (entry("1.3.0-beta"), LATER), "not-in-channel"),
        (publish, (entry("1.3.0+1"), LATER), "not-in-channel"),
        (unpublish, (v("3.0.0"), "why", LATER), "version-not-found"),
        (unpublish, (v("1.1.0"), "why", LATER), "version-unpublished"),
        (unpublish, (v("1.0.0"), " ", LATER), "reason-missing"),
        (restore, (v("1.0.0"), LATER), "not-unpublished"),
        (restore, (v("3.0.0"), LATER), "not-unpublished"),
        (promote, (v("1.2.0"), LATER), "already-latest"),
        (promote, (v("1.0.0"), LATER), "below-latest"),
        (promote, (v("1.1.0"), LATER), "version-unpublished"),
        (promote, (v("3.0.0"), LATER), "version-not-found"),
        (deprecate, (v("3.0.0"), "old", LATER), "version-not-found"),
        (deprecate, (v("1.0.0"), "", LATER), "reason-missing"),
    ],
)
def test_each_rule_refuses_with_its_own_code(function, arguments, expected):
    assert refused(function, MADE, *arguments) == [expected]


def test_what_is_known_beside_the_channel_is_checked_too():
    beta = released("1.2.0-beta+1", name="beta")
    new = entry("1.2.0-beta+2")
    assert refused(publish, beta, new, LATER, released={v("1.2.0")}) == ["release-exists"]
    assert refused(publish, beta, new, LATER, manifest=v("1.3.0")) == ["version-mismatch"]
    assert refused(publish, beta, new, LATER, tagged=digest("other")) == ["tag-exists"]
    made = publish(beta, new, LATER, released={v("1.1.0")}, manifest=v("1.2.0"), tagged=new.digest)
    assert made.channel.latest == v("1.2.0-beta+2")


def test_every_rule_that_refuses_is_named():
    assert refused(
        publish, MADE, entry("1.1.0"), LATER, manifest=v("1.3.0"), tagged=digest("other")
    ) == ["version-unpublished", "version-mismatch", "tag-exists"]


def test_a_version_longer_than_a_tag_is_refused():
    beta = Channel(name="beta", package=PACKAGE)
    assert refused(publish, beta, entry(f"1.0.0-beta+{'a' * 118}"), LATER) == ["invalid-version"]
    publish(beta, entry(f"1.0.0-beta+{'a' * 117}"), LATER)


@pytest.mark.parametrize(
    ("manifest", "word", "suffix", "version"),
    [
        ("1.2.3", "stable", "", "1.2.3"),
        ("1.2.3", "beta", "-beta+123", "1.2.3-beta+123"),
        ("1.2.3", "beta", "beta.1", "1.2.3-beta.1"),
    ],
)
def test_the_version_to_publish(manifest, word, suffix, version):
    assert version_to_publish(v(manifest), word, suffix) == v(version)


@pytest.mark.parametrize(
    ("manifest", "word", "suffix", "code"),
    [
        ("1.2.3-beta", "beta", "", "invalid-version"),
        ("1.2.3+1", "stable", "", "invalid-version"),
        ("1.2.3", "beta", "-beta..1", "invalid-version"),
        ("1.2.3", "beta", "-01", "invalid-version"),
        ("1.2.3", "stable", "-beta", "not-in-channel"),
        ("1.2.3", "stable", "+1", "not-in-channel"),
        ("1.2.3", "beta", "", "not-in-channel"),
        ("1.2.3", "beta", "-alpha", "not-in-channel"),
        ("1.2.3", "latest", "-latest", "invalid-channel-word"),
    ],
)
def test_what_cannot_be_published(manifest, word, suffix, code):
    assert refused(version_to_publish, v(manifest), word, suffix) == [code]


def test_unpublishing_the_latest_needs_a_confirmation():
    assert touches_latest(MADE, v("1.2.0"))
    assert not touches_latest(MADE, v("1.0.0"))
    assert refusal_kind([confirmation_needed(MADE, v("1.2.0"))]) is Kind.REFUSED


MANIFEST = Manifest(
    name=PACKAGE,
    version=v("1.2.3"),
    changes=("new",),
    min_upgrade_from=v("1.0.0"),
    requirements=(Requirement("acme/base", VersionRange.parse(">=1,<2")),),
)


def test_an_entry_has_what_its_manifest_says():
    made = new_entry(MANIFEST, v("1.2.3-beta+1"), digest("x"), 5, START, critical=True)
    assert (made.id, made.tag, made.size) == (digest("x")[7:19], "1.2.3-beta_1", 5)
    assert (made.critical, made.changes) == (True, ("new",))
    assert check_manifest(made, PACKAGE, MANIFEST) == ()
    with pytest.raises(ValueError, match="sha256"):
        new_entry(MANIFEST, v("1.2.3"), "sha256:1", 5, START)


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "acme/other"},
        {"version": v("1.2.4")},
        {"min_upgrade_from": None},
        {"requirements": ()},
        {"critical": True},
    ],
)
def test_another_manifest_than_the_entry_says_is_refused(changes):
    import msgspec

    made = new_entry(MANIFEST, v("1.2.3"), digest("x"), 5, START)
    other = msgspec.structs.replace(MANIFEST, **changes)
    assert codes(check_manifest(made, PACKAGE, other)) == ["manifest-mismatch"]


OPERATIONS = [
    Publish(entry=entry("1.0.0", critical=True), at=START, seen=3, by="ann", expires=LATER),
    Unpublish(version=v("1.0.0"), reason="a hole", at=START),
    Restore(version=v("1.0.0-beta+1"), at=START),
    Promote(version=v("1.0.0"), at=START),
    Deprecate(version=v("1.0.0"), message="old", at=START),
    Deprecate(version=v("1.0.0"), message=None, at=START),
    Refresh(at=START, expires=LATER),
]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: type(each).__name__)
def test_operations_are_read_as_they_are_written(operation):
    data = operation_to_json(operation)
    assert operation_from_json(data) == operation
    assert operation_to_json(operation_from_json(data)) == data


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b'{"operation":"burn"}', b'{"operation":"promote"}', b'{"operation":1}',
     b'{"operation":"refresh","at":"now"}', b'{"operation":"refresh","at":"2026-01-01T00:00:00Z","x":"1"}'],
)  # fmt: skip
def test_what_is_no_operation_is_said(data):
    with pytest.raises(OperationError, match="expected an operation"):
        operation_from_json(data)


@given(
    st.lists(st.sampled_from(["publish", "unpublish", "restore", "promote"]), max_size=12),
    st.data(),
)
def test_whatever_happens_a_channel_keeps_its_rules(words, data):
    from trundle.channels import check_channel

    made = EMPTY
    contents = {}
    for word in words:
        version = v(data.draw(st.sampled_from(["1.0.0", "1.0.1", "1.1.0", "2.0.0"])))
        try:
            match word:
                case "publish":
                    content = data.draw(st.sampled_from("ab"))
                    after = publish(made, entry(str(version), content=content), START).channel
                case "unpublish":
                    after = unpublish(made, version, "why", START).channel
                case "restore":
                    after = restore(made, version, START).channel
                case "promote":
                    after = promote(made, version, START).channel
        except RefusedError:
            continue
        assert after.serial == made.serial + 1
        assert check_channel(after) == ()
        if made.latest and after.latest:
            assert after.latest >= made.latest
        if word == "publish" and made.latest is None and after.latest:
            assert after.latest == max(ever(after))
        assert ever(after) >= ever(made)
        for each in after.versions:
            assert contents.setdefault(each.version, each.digest) == each.digest
        made = after


def test_every_refusal_ends_a_command_in_its_own_way():
    assert {refusal_kind([Finding(each, Place(), "", "")]) for each in RefusalCode} == set(Kind) - {
        Kind.FAILED
    }
    assert len({each.value for each in RefusalCode}) == len(RefusalCode)


def test_an_operation_alone_is_a_transition():
    assert apply(EMPTY, OPERATIONS[0]).channel.latest == v("1.0.0")
