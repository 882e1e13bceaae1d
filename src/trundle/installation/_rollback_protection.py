"""Resets rollback protection of an installation, for the rare case in which it is wrong."""

import datetime as dt

from trundle.channels import RefusalCode, RefusedError, refusal
from trundle.installation._installation import Installation
from trundle.version import SemVer


def forget_clock(installation: Installation, *, dry_run: bool = False) -> dt.datetime | None:
    """Resets the latest time seen, after this machine's clock was set in the future.

    Returns:
        That time; None where there is none.

    Raises:
        StateBusyError: others were changing the installation all the time.
        TrustError: what was seen of a channel cannot be read.
    """
    with installation.alone():
        times = [installation.memory.clock_floor()]
        trusted = bool(installation.memory.trusted())
        if trusted:
            times.append(installation.reader.trust_table().clock())
        if not dry_run:
            with installation.memory.changing():
                installation.memory.forget_clock()
                if trusted:
                    installation.reader.trust_table().forget_clock()
        return max((each for each in times if each), default=None)


def forget_channels(installation: Installation, name: str, *, dry_run: bool = False) -> int:
    """Resets the latest states seen of the channels of a package, after its publisher started them anew.

    Digests that are known stay known, and the publisher's root stays trusted.

    Returns:
        The highest serial that was seen; 0 for none.

    Raises:
        RefusedError: the channel that the package follows is not there.
        StateBusyError: others were changing the installation all the time.
        TrustError: what was seen of it cannot be read.
    """
    with installation.alone():
        package = installation.memory.package(name)
        serial = installation.memory.highest_serial(name)
        if dry_run:
            return serial
        if package is not None and package.pinned is None and package.subscription.signed:
            follows = package.subscription
            location = installation.reader.location(follows.channel, follows.repository)
            installation.reader.trust_store().forget_seen(location)
        with installation.memory.changing():
            installation.memory.forget_channels(name)
        return serial


def forget_digest(
    installation: Installation, name: str, version: SemVer, *, dry_run: bool = False
) -> str:
    """Forgets the digest of a version that is not installed; of a package that need not be, either.

    Returns:
        The digest.

    Raises:
        RefusedError: none is known, or just that version is installed.
        StateBusyError: others were changing the installation all the time.
    """
    with installation.alone():
        package = installation.memory.package(name)
        where = f"{name} {version}"
        if package is not None and package.version == version:
            expected, advice = "a version that is not installed", "uninstall the package first"
            code = RefusalCode.ALREADY_INSTALLED
            raise RefusedError(refusal(code, where, expected, "the installed one", advice))
        digest = installation.memory.state_before(name, "").known.get(version)
        if digest is None:
            code, advice = RefusalCode.VERSION_NOT_FOUND, "correct the name or the version"
            raise RefusedError(refusal(code, where, "a known digest", "none", advice))
        if not dry_run:
            with installation.memory.changing():
                installation.memory.forget_digest(name, version)
        return digest
