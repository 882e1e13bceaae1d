"""What a tenant sees of a catalog at one moment."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from trundle.catalog._errors import NoSuchPackageError
from trundle.catalog._rows import PackageRow, decoded
from trundle.packages import Package
from trundle.version import SemVer


class Snapshot:
    """The packages that a tenant sees, as they were at one moment; it never changes.

    What is uploaded, shared or deleted later makes no difference. Manifests are decoded when they are asked for, and
    content is read from the catalog when a file of it is; what was deleted meanwhile can still be read until the
    catalog is tidied. Iterating gives all packages by name, their versions from the oldest.

    Args:
        tenant: the tenant.
        rows: the packages as they are stored.
        content: gives the archive for a digest.
    """

    def __init__(
        self, tenant: str, rows: Sequence[PackageRow], content: Callable[[str], bytes]
    ) -> None:
        self.tenant = tenant
        self._content = content
        self._count = len(rows)
        self._rows: dict[str, list[PackageRow]] = {}
        for row in rows:
            self._rows.setdefault(row[0], []).append(row)
        self._decoded: dict[str, Mapping[SemVer, Package]] = {}
        self._further: dict[str, dict[SemVer, Package]] = {}

    def beside(self, packages: Iterable[Package]) -> "Snapshot":
        """The same with further packages, as if the tenant saw them; those that it sees stay as they are."""
        found = Snapshot(self.tenant, (), self._content)
        found._rows, found._count = self._rows, self._count
        found._further = {name: {**each} for name, each in self._further.items()}
        for each in packages:
            if each.version not in self._of(each.name):
                found._further.setdefault(each.name, {})[each.version] = each
                found._count += 1
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the packages, in alphabetical order."""
        return tuple(sorted({*self._rows, *self._further}))

    def versions(self, name: str) -> tuple[SemVer, ...]:
        """The versions of a package, the oldest first; none for a package that the tenant does not see."""
        return tuple(self._of(name))

    def package(self, name: str, version: SemVer) -> Package:
        """One version of a package.

        Raises:
            NoSuchPackageError: the tenant does not see it.
        """
        found = self._of(name).get(version)
        if found is None:
            where, advice = f"the tenant {self.tenant}", "list what there is"
            raise NoSuchPackageError(where, f"the package {name} {version}", "none", advice)
        return found

    def __iter__(self) -> Iterator[Package]:
        return (package for name in self.names for package in self._of(name).values())

    def __len__(self) -> int:
        return self._count

    def _of(self, name: str) -> Mapping[SemVer, Package]:
        if name not in self._decoded:
            packages = [decoded(row, self._content) for row in self._rows.get(name, ())]
            packages += self._further.get(name, {}).values()
            ordered = sorted(packages, key=lambda each: each.version)
            self._decoded[name] = {each.version: each for each in ordered}
        return self._decoded[name]
