"""The reviews of the packages of one upload, and how each of them follows the release before it."""

from collections.abc import Callable, Iterable

import msgspec

from trundle.catalog._records import Review, Reviewed
from trundle.errors import Finding, errors_among
from trundle.packages import RULES_FILE, Package
from trundle.version import SemVer, version_before


class Reviews:
    """The reviews of an upload; each is asked for once, however often the upload is judged.

    Args:
        review: looks at a package; None for nothing.
    """

    def __init__(self, review: Review | None) -> None:
        self._review = review
        self._known: dict[tuple[Package, Package | None], Reviewed] = {}

    def of(
        self,
        package: Package,
        versions: Iterable[SemVer],
        package_of: Callable[[SemVer], Package | None],
        among: Iterable[Package],
    ) -> Reviewed:
        """What the review says of a package, and what is wrong with its rules for the objects of the release before.

        Args:
            package: the package.
            versions: the versions of the package that its tenant has, and those of the upload.
            package_of: gives the package of such a version; None where there is none any more.
            among: packages that may be what it requires.
        """
        if self._review is None and RULES_FILE not in package.files:
            return Reviewed()
        before = version_before(package.version, versions)
        base = None if before is None else package_of(before)
        if (package, base) not in self._known:
            said = Reviewed() if self._review is None else self._review(package, base)
            found = [x for x in _rules(package, base, among) if x not in said.against]
            against = (*said.against, *found)
            self._known[package, base] = msgspec.structs.replace(said, against=against)
        return self._known[package, base]


def not_in(findings: Iterable[Finding], against: Iterable[Finding]) -> list[Finding]:
    """What reviews have against packages, but for what the catalog finds, too: such as mistakes in forms."""
    known = {each.coded for each in findings}
    return [each for each in against if each.coded not in known]


def _rules(package: Package, base: Package | None, among: Iterable[Package]) -> tuple[Finding, ...]:
    """What is wrong with the rules and hooks of a package."""
    if RULES_FILE not in package.files:
        return ()
    from trundle.project.package_evolution import check_rules  # noqa: PLC0415 - few packages have rules

    return errors_among(tuple(check_rules(package, base, among)))
