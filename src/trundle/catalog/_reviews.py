"""The reviews of the packages of one upload."""

from collections.abc import Callable, Iterable

from trundle.catalog._records import Review, Reviewed
from trundle.packages import Package
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
    ) -> Reviewed:
        """What the review says of a package.

        Args:
            package: the package.
            versions: the versions of the package that its tenant has, and those of the upload.
            package_of: gives the package of such a version; None where there is none any more.
        """
        if self._review is None:
            return Reviewed()
        before = version_before(package.version, versions)
        base = None if before is None else package_of(before)
        if (package, base) not in self._known:
            self._known[package, base] = self._review(package, base)
        return self._known[package, base]
