"""The codes of what can be wrong with a package that is to be released."""

from trundle.errors import Code


class ReleaseCode(Code):
    """What can be wrong with a package that is to be released."""

    RESOURCE_TYPES = "wrong-resource-types"
    VERSION = "unusable-version"
    REQUIREMENT = "imprecise-requirement"
    UNREADABLE = "unreadable-release"
