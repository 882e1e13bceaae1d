"""Does what the annotations of an `Installation` ask for: holds, goes back, approves."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from trundle.channels import Hold, RefusalCode, RefusedError, refusal
from trundle.errors import Finding
from trundle.installation import (
    ArrivingError,
    Installation,
    InstalledPackage,
    complete_before,
    roll_back_together,
)
from trundle.kubernetes.operator._wanted import APPROVE, ROLL_BACK, Wanted
from trundle.version import SemVer

_OPERATOR = "the operator"
_MOST_NAMED = 5
_TOGETHER = f"put the annotation `{ROLL_BACK}` on all installations that have to go back, each with its version, or remove it"


def hold(installation: Installation, name: str, wanted: Wanted) -> None:
    """Holds what annotations hold, as long as they are there: everything, or the versions that were gone back from.

    Args:
        installation: the installation.
        name: the package, which may be pinned.
        wanted: what is asked for.

    Raises:
        StateBusyError: others were changing the installation all the time.
    """
    held = installation.holds(name)
    everything = [each for each in held if each.version is None]
    if wanted.hold and wanted.hold not in {each.reason for each in everything}:
        installation.hold(name, Hold(wanted.hold, installation.now(), by=_OPERATOR))
    if not wanted.hold and any(each.by == _OPERATOR for each in everything):
        installation.unhold(name)
    if wanted.roll_back is None and ROLL_BACK not in wanted.misread:
        for each in held:
            if each.version is not None:
                installation.unhold(name, each.version)


def not_carried_out(package: InstalledPackage, wanted: Wanted) -> tuple[Finding, ...]:
    """Why a pinned package neither goes back nor has another version approved, where that is asked for; else nothing."""
    if package.pinned is None:
        return ()
    version = package.release.version
    asked = [ROLL_BACK] if wanted.roll_back == version else []
    asked += [APPROVE] if wanted.approved not in {None, version} else []
    expected, found = (
        "an installation that follows a channel",
        f"one that is pinned to {package.pinned}",
    )
    return tuple(
        refusal(RefusalCode.PINNED, package.name, expected, found, advice)
        for each in asked
        for advice in [
            f"change `spec.version` or `spec.digest`, and remove the annotation `{each}`"
        ]
    )


def carry_out(
    installation: Installation,
    name: str,
    wanted: Wanted,
    check_way_back: Callable[[str], None],
    others: Sequence[str] = (),
) -> tuple[Finding, ...]:
    """Goes back and approves as annotations ask for; why an approval is refused, else nothing. A version is approved as long as the annotation is there.

    Args:
        installation: the installation.
        name: the package, which follows a channel.
        wanted: what is asked for.
        check_way_back: raises an error where the cluster is not ready for the release before of a package.
        others: the packages that are to go back as well; one that cannot go back alone does so with them.

    Raises:
        RefusedError: it cannot go back, or not yet.
        StateBusyError: others were changing the installation all the time.
    """
    if wanted.roll_back is not None and wanted.roll_back == installation.package(name).version:
        try:
            # The cluster is made ready where all else is.
            names = _together(installation, name, others)
        except RefusedError as error:
            if error.code is not RefusalCode.NOT_INSTALLED:
                raise
            # There is none before: nothing is asked for, as where no such version is installed.
            return (*error.refusals, *_approve(installation, name, wanted.approved))
        for each in names:
            check_way_back(each)
        roll_back_together(installation, names)
    unknown = _not_gone_back(installation, name, wanted.roll_back)
    return (*unknown, *_approve(installation, name, wanted.approved))


def _together(installation: Installation, name: str, others: Sequence[str]) -> Sequence[str]:
    """The packages that go back at once: one alone, else with another one, else with all that are to.

    Raises:
        RefusedError: none of these can, and it says why it cannot go back alone; or not yet.
    """
    try:
        return _require_way([name], installation)
    except RefusedError as error:
        if error.code is not RefusalCode.DEPENDENCY_CONFLICT:
            raise
        refusals = [replace(each, advice=_TOGETHER) for each in error.refusals]
    arriving: ArrivingError | None = None
    for names in [*([name, each] for each in others), [name, *others]]:
        try:
            return _require_way(names, installation)
        except ArrivingError as trouble:
            arriving = arriving or trouble
        except RefusedError as trouble:
            if (
                trouble.code is RefusalCode.STILL_STORED
            ):  # These fit, and the cluster is made ready.
                raise
    # Whether these fit is known when their content is here; until then it is no conflict.
    raise arriving or RefusedError(*refusals)


def _require_way(names: Sequence[str], installation: Installation) -> Sequence[str]:
    """Packages that can go back at once.

    Raises:
        RefusedError: they cannot.
    """
    for each in names:
        complete_before(installation, each)
    roll_back_together(installation, names, dry_run=True)
    return names


def _not_gone_back(
    installation: Installation, name: str, wanted: SemVer | None
) -> tuple[Finding, ...]:
    """Why nothing is gone back from, where a version is named that is neither installed nor was gone back from; else nothing."""
    if wanted is None or wanted in {each.version for each in installation.holds(name)}:
        return ()
    expected = f"the version that is installed, {installation.package(name).version}"
    return (refusal(RefusalCode.NOT_INSTALLED, name, expected, str(wanted), ""),)


def _approve(installation: Installation, name: str, wanted: SemVer | None) -> tuple[Finding, ...]:
    """Approves a version once, with the content that is listed then, and withdraws approvals of others; why it is refused, else nothing."""
    approved = {each.version for each in installation.approvals(name)}
    for each in approved - {wanted}:
        installation.unapprove(name, each)
    if wanted is None or wanted in {*approved, installation.package(name).version}:
        return ()
    try:
        installation.approve(name, wanted, by=_OPERATOR)
    except RefusedError as error:
        if error.code not in {RefusalCode.VERSION_NOT_FOUND, RefusalCode.VERSION_UNPUBLISHED}:
            return error.refusals
        listed = f"it lists {', '.join(map(str, _newest(installation, name)))}"
        advice = f"correct the annotation `{APPROVE}`, or remove it; {listed}"
        return tuple(replace(each, advice=advice) for each in error.refusals)
    return ()


def _newest(installation: Installation, name: str) -> list[SemVer]:
    """The newest versions that a channel lists."""
    channel = installation.look(installation.package(name)).accepted
    versions = [] if channel is None else [each.version for each in channel.versions]
    return sorted(versions, reverse=True)[:_MOST_NAMED]
