"""Whether a root that is given again is still the one by which a channel is verified."""

from trundle.channels import RefusalCode, RefusedError, refusal
from trundle.installation._installation import Installation
from trundle.installation._records import InstalledPackage


def check_root(installation: Installation, package: InstalledPackage, root: bytes) -> None:
    """Makes sure that a root does not contradict the one that the channel of a package is verified by since it was installed.

    Nothing is trusted by it: a channel is trusted once, and its publisher replaces roots by signing new ones.

    Args:
        installation: the installation.
        package: the package.
        root: the content of a `root.json`.

    Raises:
        RefusedError: it is another publisher's, or no root.
    """
    from trundle.channels.reading.signatures import TrustError, contradicts  # noqa: PLC0415 - needs an extra

    follows = package.subscription
    location = installation.reader.location(follows.channel, follows.repository)
    where = f"{package.name} in the channel {location}"
    expected = "the root that the channel is verified by, or one of the same publisher"
    advice = "give that root again; to trust another publisher, uninstall the package and install it anew"
    try:
        state = installation.reader.trust_table().state(location)
        if state is None or not contradicts(root, state.root):
            return
        found = "another root"
    except TrustError as error:
        found = error.found
    raise RefusedError(refusal(RefusalCode.BAD_SIGNATURE, where, expected, found, advice))
