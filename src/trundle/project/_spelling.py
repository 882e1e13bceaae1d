"""Versions in a project's file, spelt as the schemas spell them."""

from collections.abc import Iterable

import msgspec

from trundle.project.config import Config
from trundle.version import ApiVersion


def as_declared(config: Config, versions: Iterable[ApiVersion]) -> Config:
    """A project's file whose hubs, changes and hooks spell each version as the schemas do.

    Args:
        config: what the file says, in any spelling.
        versions: the versions of the schemas.
    """
    known = {version: version for version in versions}

    def own(version: ApiVersion) -> ApiVersion:
        return known.get(version, version)

    return msgspec.structs.replace(
        config,
        hubs=tuple(
            msgspec.structs.replace(each, version=own(each.version)) for each in config.hubs
        ),
        changes=tuple(
            msgspec.structs.replace(each, version=own(each.version)) for each in config.changes
        ),
        hooks=tuple(
            msgspec.structs.replace(each, older=own(each.older), newer=own(each.newer))
            for each in config.hooks
        ),
    )
