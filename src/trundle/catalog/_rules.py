"""The rules that a catalog keeps, as functions of values.

What one tenant sees (its own packages, and the public ones that it has not of its own) has each name and version once, and whatever a package
requires can be had by all who see the package.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from trundle.catalog._errors import CatalogCode
from trundle.catalog._records import Offer
from trundle.engine import core_packages
from trundle.errors import Finding, Place, Severity
from trundle.packages import Package, Requirement
from trundle.version import SemVer

_SHOWN = 5


class Need(NamedTuple):
    """A version in the catalog, and one of its requirements."""

    offer: Offer
    requirement: Requirement


Loss: TypeAlias = Literal["deleted", "private"]
"""What makes a version disappear for some tenants."""


def given_twice(packages: Sequence[Package]) -> Iterator[Finding]:
    """Findings for versions that one upload has with two contents."""
    seen: dict[tuple[str, SemVer], Package] = {}
    for each in packages:
        if seen.setdefault((each.name, each.version), each).digest != each.digest:
            expected, found = "one content for each version", "two that differ"
            yield _finding(CatalogCode.GIVEN_TWICE, each, expected, found, "leave one of them out")


def meeting(
    package: Package, same: Iterable[Offer], tenant: str, *, public: bool
) -> Finding | None:
    """What a package meets in the catalog under its own name and version; a note where that is itself.

    Args:
        package: the package to upload.
        same: the versions in the catalog with its name and version, of all tenants.
        tenant: whose it is to be.
        public: whether all tenants are to see it.
    """
    for each in same:
        if each.tenant == tenant:
            return _own(package, each, public=public)
    return shadowing(package, same, tenant)


def shadowing(subject: Package | Offer, same: Iterable[Offer], tenant: str) -> Finding | None:
    """A finding where a package would shadow a public one of another tenant; private ones stay unknown."""
    if not any(each.public and each.tenant != tenant for each in same):
        return None
    expected, found = "no public package of that name and version", "one of another tenant"
    advice = "use that one, or give yours another name or version"
    return _finding(CatalogCode.SHADOWS, subject, expected, found, advice)


def seen(offers: Iterable[Offer], tenant: str) -> tuple[Offer, ...]:
    """What a tenant sees: its own versions, and the public ones that it has none of its own for."""
    found: dict[tuple[str, SemVer], Offer] = {}
    for each in offers:
        if each.is_seen_by(tenant):
            key = (each.name, each.version)
            if key not in found or each.tenant == tenant:
                found[key] = each
    return tuple(found.values())


def _own(package: Package, offer: Offer, *, public: bool) -> Finding:
    """What is to be known where the tenant has the version already."""
    if offer.digest != package.digest:
        expected, found = f"the content {offer.digest}", package.digest
        advice = "give it another version; a version never changes"
        return _finding(CatalogCode.OTHER_CONTENT, package, expected, found, advice)
    advice = "share it" if public and not offer.public else ""
    found = "it is in the catalog already" + (", as a private package" if advice else "")
    return _finding(CatalogCode.EXISTS, package, "", found, advice, "note")


class Present:
    """The versions that requirements may be met by, with those that Trundle brings along.

    Args:
        versions: pairs of a package and one of its versions.
        public: whether these are only the public ones.
    """

    def __init__(self, versions: Iterable[tuple[str, SemVer]], *, public: bool) -> None:
        self.kind = "public version" if public else "version"
        self.advice = "share a version of {} before" if public else "upload {} with it"
        self._versions: dict[str, set[SemVer]] = {}
        bundled = ((each.name, each.version) for each in core_packages())
        for name, version in (*bundled, *versions):
            self._versions.setdefault(name, set()).add(version)
        self._met: dict[Requirement, bool] = {}

    def meets(self, requirement: Requirement) -> bool:
        """Whether there is a version that a requirement allows."""
        if requirement not in self._met:
            versions = self._versions.get(requirement.name, ())
            self._met[requirement] = any(each in requirement.range for each in versions)
        return self._met[requirement]

    def newest(self, name: str) -> str:
        """The newest versions of a package, for messages; empty where there are none."""
        versions = sorted(self._versions.get(name, ()), reverse=True)
        more = " and earlier ones" if len(versions) > _SHOWN else ""
        return ", ".join(map(str, versions[:_SHOWN])) + more


def unmet(
    subject: Package | Offer, requirements: Iterable[Requirement], present: Present
) -> Iterator[Finding]:
    """Findings for requirements of a version that nothing meets."""
    for each in requirements:
        if not present.meets(each):
            newest = present.newest(each.name)
            found = f"only {newest}" if newest else f"no {present.kind} of {each.name}"
            expected = f"a {present.kind} of {each.name} in the range {each.range}"
            advice = f"{present.advice.format(each.name)}, or correct the requirement"
            yield _finding(CatalogCode.REQUIREMENT, subject, expected, found, advice)


def required_by(package: Package) -> tuple[Requirement, ...]:
    """What must be there for a package: its requirements, but the implied one on itself."""
    written = {each.name for each in package.manifest.requirements}
    return tuple(
        each for each in package.requirements if each.name != package.name or each.name in written
    )


def broken(
    gone: Offer, needs: Iterable[Need], offers: Iterable[Offer], loss: Loss, severity: Severity
) -> Iterator[Finding]:
    """Findings for versions whose requirement nothing meets any more once a version is deleted or made private.

    Args:
        gone: the version.
        needs: the requirements of all tenants on its package.
        offers: the versions of its package of all tenants.
        loss: what is done to it.
        severity: that of the findings.
    """
    left = [each for each in offers if each != gone]
    for need in sorted(needs, key=lambda each: (each.offer.name, each.offer.version)):
        offer = need.offer
        keeps = loss == "private" and offer.tenant == gone.tenant and not offer.public
        uses = gone.version in need.requirement.range and gone.is_seen_by(offer.tenant)
        if keeps or not uses or offer == gone:
            continue
        seen = ((each.name, each.version) for each in left if _is_seen_by(each, offer))
        if not Present(seen, public=offer.public).meets(need.requirement):
            known = offer.is_seen_by(gone.tenant)
            name = str(offer) if known else "a private package of another tenant"
            found = f"{name}, which requires {need.requirement}"
            advice = f"delete {offer} first, or upload another version that it can use"
            expected = "no package that needs it"
            advice = advice if known else "keep it, or upload another public version that fits"
            yield _finding(CatalogCode.NEEDED, gone, expected, found, advice, severity)


def used(
    gone: Offer, users: Iterable[tuple[str, str]], loss: Loss, severity: Severity
) -> Iterator[Finding]:
    """Findings for environments that use a version which is deleted or made private.

    Args:
        gone: the version.
        users: tenant and name of each environment that uses it.
        loss: what is done to it.
        severity: that of the findings.
    """
    for tenant, name in users:
        own = tenant == gone.tenant
        if loss == "private" and own:
            continue
        found = f"the environment {name}" if own else "an environment of another tenant"
        advice = f"move {name} to another version, or delete it, before" if own else "keep it"
        expected = "no environment that uses it"
        yield _finding(CatalogCode.NEEDED, gone, expected, found, advice, severity)


def _is_seen_by(offer: Offer, user: Offer) -> bool:
    """Whether a version can meet requirements of another one: of a public one, only if it is public itself."""
    return offer.public if user.public else offer.is_seen_by(user.tenant)


def _finding(
    code: CatalogCode,
    subject: Package | Offer,
    expected: str,
    found: str,
    advice: str,
    severity: Severity = "error",
) -> Finding:
    place = Place(object=f"{subject.name} {subject.version}")
    return Finding(code, place, expected, found, advice, severity)
