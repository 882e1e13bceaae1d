"""Packages and channels as documents of a version of the API."""

from collections.abc import Mapping
from typing import Any

from trundle.api._asked import Version
from trundle.api.catalogs.own import CHANNEL, PACKAGE, shown
from trundle.catalog import FollowedChannel, Offer
from trundle.packages import Package


def summary(offer: Offer, version: Version) -> dict[str, Any]:
    """What a list shows of a package: what the catalog says of it."""
    return shown(PACKAGE, offer.to_plain(), version)


def document(offer: Offer, package: Package, version: Version) -> dict[str, Any]:
    """A package with what its manifest says."""
    return shown(PACKAGE, {**offer.to_plain(), **_said(package)}, version)


def channel_document(channel: FollowedChannel, version: Version) -> dict[str, Any]:
    """A channel; where it is read from is for those who keep the catalog alone."""
    said = {name: each for name, each in channel.to_plain().items() if name != "source"}
    return shown(CHANNEL, said, version)


def stored(package: Package, tenant: str, version: Version, *, public: bool) -> dict[str, Any]:
    """A package that was uploaded."""
    offer = Offer(tenant, package.name, package.version, public, package.digest)
    return document(offer, package, version)


def _said(package: Package) -> Mapping[str, Any]:
    """What a package says about itself, without what is empty."""
    manifest = package.manifest
    found = {
        "title": manifest.title,
        "description": manifest.description,
        "type": manifest.type,
        "format": str(manifest.format or ""),
        "requirements": {each.name: str(each.range) for each in package.requirements},
        "classes": list(package.classes),
        "files": list(package.files),
    }
    return {name: value for name, value in found.items() if value}
