"""What is checked before a version is published: its name, its tag, and the releases that there are."""

import datetime as dt
from collections.abc import Collection

from trundle.channels._refusals import RefusalCode, RefusedError, refusal
from trundle.channels._times import require_aware
from trundle.channels.files import (
    STABLE,
    Channel,
    ListedVersion,
    belongs,
    check_channel_word,
    id_of,
    is_digest,
    membership,
    tag_of,
)
from trundle.channels.transitions._applying import Transition, apply
from trundle.channels.transitions._operations import (
    Deprecate,
    Promote,
    Publish,
    Refresh,
    Restore,
    Unpublish,
)
from trundle.errors import Finding, expectation
from trundle.packages import Manifest, Requirement
from trundle.version import SemVer, VersionSyntaxError, version_before


def version_to_publish(manifest: SemVer, word: str, suffix: str = "") -> SemVer:
    """The version under which a package goes into a channel.

    Args:
        manifest: the version in the package's manifest, which has neither pre-release nor build.
        word: the channel.
        suffix: what the release adds, such as `-beta.1+123`; the hyphen may be left out.

    Raises:
        RefusedError: the manifest's version or the suffix is not a good one, or the version does not belong to
            the channel.
    """
    check_channel_word(word)
    where = f"version {manifest}"
    if manifest != manifest.release:
        advice = f"write {manifest.release} in the manifest, and give the suffix when publishing"
        expected = "a version without pre-release and build in the manifest"
        code = RefusalCode.INVALID_VERSION
        raise RefusedError(refusal(code, where, expected, f"{manifest}", advice))
    hyphen = "" if not suffix or suffix[0] in "-+" else "-"
    try:
        version = SemVer.parse(f"{manifest}{hyphen}{suffix}")
    except VersionSyntaxError as error:
        expected = "a suffix such as -beta.1+123"
        found = f"{suffix!r}, with {error.found} in place of {error.expected}"
        code = RefusalCode.INVALID_VERSION
        raise RefusedError(refusal(code, where, expected, found, "correct the suffix")) from None
    if not belongs(version, word):
        advice = "leave the suffix out" if word == STABLE else f"add the suffix -{word}+BUILD"
        found, code = f"{version}", RefusalCode.NOT_IN_CHANNEL
        raise RefusedError(refusal(code, where, membership(word), found, advice))
    return version


def base_of(channel: Channel, version: SemVer) -> ListedVersion | None:
    """The release that a version follows, of those that the channel lists; None where there is nothing to follow."""
    listed = {each.version: each for each in channel.versions}
    before = version_before(version, listed)
    return None if before is None else listed[before]


def new_entry(
    manifest: Manifest,
    version: SemVer,
    digest: str,
    size: int,
    create_time: dt.datetime,
    *,
    critical: bool = False,
) -> ListedVersion:
    """The entry of a version that is about to be published.

    Args:
        manifest: what the package says about itself.
        version: the version, as `version_to_publish` gives it.
        digest: the digest of the artifact: `sha256:` and 64 hexadecimal digits.
        size: how many bytes the artifact has.
        create_time: the time; kept to the second.
        critical: the version is an urgent fix, whether the manifest says so or not.

    Raises:
        ValueError: the digest is none, or the time has no time zone.
    """
    if not is_digest(digest):
        raise ValueError(expectation("sha256: and 64 hexadecimal digits", repr(digest)))
    return ListedVersion(
        version=version,
        id=id_of(digest),
        create_time=require_aware(create_time).replace(microsecond=0),
        digest=digest,
        tag=tag_of(version),
        size=size,
        changes=manifest.changes,
        critical=critical or manifest.critical,
        min_upgrade_from=manifest.min_upgrade_from,
        depends_on=tuple(sorted(manifest.requirements, key=lambda each: each.name)),
    )


def check_manifest(entry: ListedVersion, package: str, manifest: Manifest) -> tuple[Finding, ...]:
    """How a package that was fetched differs from what its channel says of it; nothing where it does not.

    Only what the channel decides by is compared. A version may be critical without its manifest's saying so.
    """
    lowest = entry.min_upgrade_from
    pairs: tuple[tuple[str, object, object], ...] = (
        ("the name", package, manifest.name),
        ("the version", entry.version.release, manifest.version),
        ("minUpgradeFrom", lowest or "none", manifest.min_upgrade_from or "none"),
        ("dependsOn", _listed(entry.depends_on), _listed(manifest.requirements)),
        ("critical", entry.critical, entry.critical or manifest.critical),
    )
    where = f"the manifest of {package} {entry.version}"
    advice = "do not install it; ask the publisher"
    code = RefusalCode.MANIFEST_MISMATCH
    return tuple(
        refusal(code, where, f"{what} {expected}, as the channel says", str(found), advice)
        for what, expected, found in pairs
        if expected != found
    )


def _listed(requirements: tuple[Requirement, ...]) -> str:
    ordered = sorted(requirements, key=lambda each: each.name)
    return "; ".join(str(each) for each in ordered) or "none"


def publish(
    channel: Channel,
    entry: ListedVersion,
    now: dt.datetime,
    *,
    manifest: SemVer | None = None,
    released: Collection[SemVer] = (),
    tagged: str | None = None,
    expires: dt.datetime | None = None,
) -> Transition:
    """Publishes a version, after all that is known of the package besides the channel has been checked too.

    Args:
        channel: the channel as it is.
        entry: the version.
        now: the time.
        manifest: the version in the package's manifest, where there is one.
        released: the package's stable versions, unpublished ones included; the pre-releases of these are too late.
        tagged: the digest that the version's tag names in the registry, where there is such a tag.
        expires: the end of the validity period of the channel's files.

    Raises:
        RefusedError: a rule refuses it; the error lists every rule that does.
    """
    refusals = _objections(channel, entry, manifest, released, tagged)
    operation = Publish(entry=entry, at=now, seen=channel.serial, expires=expires)
    try:
        transition = apply(channel, operation)
    except RefusedError as error:
        raise RefusedError(*error.refusals, *refusals) from None
    if refusals:
        raise RefusedError(*refusals)
    return transition


def _objections(
    channel: Channel,
    entry: ListedVersion,
    manifest: SemVer | None,
    released: Collection[SemVer],
    tagged: str | None,
) -> list[Finding]:
    version = entry.version
    where = f"{channel.package} {version} in the channel {channel.name}"
    refusals = []
    if manifest is not None and manifest.numbers != version.numbers:
        expected = f"{manifest}, the version in the manifest"
        advice = "change the manifest, or publish what it says"
        found, code = f"{version.release}", RefusalCode.VERSION_MISMATCH
        refusals.append(refusal(code, where, expected, found, advice))
    if version != version.release and version.release in released:
        expected = f"a version whose release {version.release} is still to come"
        found = f"{version.release}, which is released"
        advice = f"raise the version in the manifest, to {version.release.next_patch()} at least"
        refusals.append(refusal(RefusalCode.RELEASE_EXISTS, where, expected, found, advice))
    if tagged is not None and not entry.is_same_content(tagged):
        expected = f"no tag {entry.tag_name} in the registry, or one for {entry.identity}"
        advice = "publish a higher version; the tag of a version never moves"
        refusals.append(
            refusal(RefusalCode.TAG_EXISTS, where, expected, f"one for {tagged}", advice)
        )
    return refusals


def unpublish(
    channel: Channel,
    version: SemVer,
    reason: str,
    now: dt.datetime,
    expires: dt.datetime | None = None,
) -> Transition:
    """Takes a version out; if it is the latest there is none afterwards.

    Raises:
        RefusedError: the version is not listed, or there is no reason.
    """
    at, seen = now, channel.serial
    operation = Unpublish(version=version, reason=reason, at=at, seen=seen, expires=expires)
    return apply(channel, operation)


def restore(
    channel: Channel, version: SemVer, now: dt.datetime, expires: dt.datetime | None = None
) -> Transition:
    """Brings an unpublished version back, with the same digest.

    Raises:
        RefusedError: the version is not an unpublished one.
    """
    return apply(channel, Restore(version=version, at=now, seen=channel.serial, expires=expires))


def promote(
    channel: Channel, version: SemVer, now: dt.datetime, expires: dt.datetime | None = None
) -> Transition:
    """Makes a listed version the latest.

    Raises:
        RefusedError: the version is not listed, is the latest already, or is below it.
    """
    return apply(channel, Promote(version=version, at=now, seen=channel.serial, expires=expires))


def deprecate(
    channel: Channel,
    version: SemVer,
    message: str | None,
    now: dt.datetime,
    expires: dt.datetime | None = None,
) -> Transition:
    """Says why a version should no longer be used; None takes that back.

    Raises:
        RefusedError: the version is not listed, or the message is empty.
    """
    at, seen = now, channel.serial
    operation = Deprecate(version=version, message=message, at=at, seen=seen, expires=expires)
    return apply(channel, operation)


def refresh(channel: Channel, now: dt.datetime, expires: dt.datetime | None) -> Transition:
    """Renews the validity period of the channel; nothing else changes."""
    return apply(channel, Refresh(at=now, seen=channel.serial, expires=expires))


def touches_latest(channel: Channel, version: SemVer) -> bool:
    """Whether unpublishing a version leaves the channel without a latest one, so that one should ask first."""
    return channel.latest == version


def confirmation_needed(channel: Channel, version: SemVer) -> Finding:
    """The refusal to unpublish the latest version where no user can be asked."""
    where = f"{channel.package} {version} in the channel {channel.name}"
    found = "the latest version, and no terminal to ask at"
    advice = "use --yes to confirm; the channel has no latest version afterwards"
    code = RefusalCode.CONFIRMATION_NEEDED
    return refusal(code, where, "a confirmation", found, advice)
