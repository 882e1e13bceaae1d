"""What becomes of a change: the rules, asked with the rows that they need."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from trundle.catalog import _rules as rules
from trundle.catalog._errors import BrokenRuleError, StillNeededError
from trundle.catalog._records import Offer, Reviewed, Upload, VersionChange
from trundle.catalog._reviews import Reviews, not_in
from trundle.catalog._rows import Rows, decoded
from trundle.errors import Finding, Severity, errors_among
from trundle.packages import Package
from trundle.version import SemVer


class Judged(NamedTuple):
    """What becomes of an upload.

    Attributes:
        upload: the packages to be stored, and everything that is to be known.
        overrides: why those are stored that a review has something against.
    """

    upload: Upload
    overrides: Mapping[Package, str]


def judged(
    rows: Rows, packages: tuple[Package, ...], tenant: str, reviews: Reviews, *, public: bool
) -> Judged:
    """What becomes of packages, by the rules of the catalog and by their reviews."""
    from trundle.engine import check  # noqa: PLC0415 - it takes long to import
    from trundle.forms import check_forms  # noqa: PLC0415 - it needs the engine

    findings: list[Finding] = [*rules.given_twice(packages)]
    required = {need.name for each in packages for need in rules.required_by(each)}
    offers = rows.offers({each.name for each in packages} | required)
    same = _by_version(offers)
    versions = {
        (each.name, each.version)
        for each in offers
        if (each.public if public else each.is_seen_by(tenant))
    }
    for each in packages:
        key = (each.name, each.version)
        if not (public and any(one.tenant == tenant for one in same.get(key, ()))):
            versions.add(key)  # One that is there already stays private or public as it is.
    present = rules.Present(versions, public=public)
    stored = []
    sound = []
    for package in packages:
        findings += package.notes
        existing = same.get((package.name, package.version), ())
        if met := rules.meeting(package, existing, tenant, public=public):
            findings.append(met)
            continue
        unmet = tuple(rules.unmet(package, rules.required_by(package), present))
        findings += unmet
        stored.append(package)
        if not unmet:  # Else all of its classes would say so again.
            sound.append(package)
    among: dict[tuple[str, SemVer], Package] = {}
    if sound:
        seen = rows.packages(tenant, only_public=public)
        among = {(each.name, each.version): each for each in (*packages, *seen, *reversed(sound))}
        checked = [each for each in sound if among[each.name, each.version] is each]
        findings += check(checked, among.values())
    for package in stored:
        findings += check_forms(package, among.values() if sound else None)
    said = {
        each: _reviewed(rows, each, packages, offers, tenant, reviews, among.values())
        for each in stored
    }
    against = [each for one in said.values() if not one.override for each in one.against]
    findings += not_in(findings, against)
    overrides = {each: one.override for each, one in said.items() if one.override}
    if errors_among(findings):
        return Judged(Upload((), tuple(findings)), {})
    overridden = [each for one in said.values() if one.override for each in one.against]
    return Judged(Upload(tuple(stored), tuple(findings), tuple(overridden)), overrides)


def _reviewed(
    rows: Rows,
    package: Package,
    packages: Iterable[Package],
    offers: Iterable[Offer],
    tenant: str,
    reviews: Reviews,
    among: Iterable[Package],
) -> Reviewed:
    """What its review says of a package, beside the release that it follows: one of its upload, or one that the tenant sees."""
    given = {each.version: each for each in packages if each.name == package.name}
    own = [each for each in offers if each.name == package.name]
    known = {each.version: each for each in rules.seen(own, tenant)}

    def package_of(version: SemVer) -> Package | None:
        if version in given:
            return given[version]
        row = rows.whole(known[version])
        return None if row is None else decoded(row, rows.archive)

    return reviews.of(package, {*given, *known}, package_of, among)


def _by_version(offers: Iterable[Offer]) -> dict[tuple[str, SemVer], list[Offer]]:
    """The versions of all tenants by name and version."""
    found: dict[tuple[str, SemVer], list[Offer]] = {}
    for each in offers:
        found.setdefault((each.name, each.version), []).append(each)
    return found


def check_shared(rows: Rows, offer: Offer) -> None:
    """Refuses to share a version that would break a rule for other tenants.

    Raises:
        BrokenRuleError: it would; the error has all findings.
    """
    requirements = rows.requirements_of(offer)
    names = {offer.name, *(each.name for each in requirements)}
    offers = rows.offers(names)
    public = [(each.name, each.version) for each in offers if each.public or each == offer]
    findings = [*rules.unmet(offer, requirements, rules.Present(public, public=True))]
    same = _by_version(offers)[offer.name, offer.version]
    if met := rules.shadowing(offer, same, offer.tenant):
        findings.append(met)
    if findings:
        raise BrokenRuleError(findings)


def without(rows: Rows, offer: Offer, loss: rules.Loss, *, force: bool) -> VersionChange:
    """The change that takes a version away.

    Raises:
        StillNeededError: packages need it, and it is not forced.
    """
    needs, offers = rows.needs_on(offer.name), rows.offers([offer.name])
    severity: Severity = "warning" if force else "error"
    findings = (
        *rules.broken(offer, needs, offers, loss, severity),
        *rules.used(offer, rows.users_of(offer), loss, severity),
    )
    if findings and not force:
        raise StillNeededError(findings)
    return VersionChange(offer, findings)
