"""The codes of what can change between two releases of a project, and how each is made a record."""

from trundle.errors import Code
from trundle.packages import Level, ReleaseChange


class ChangeCode(Code):
    """What kind of change it is."""

    PACKAGE_RENAMED = "package-renamed"
    PROJECT_ADDED = "project-added"
    PROJECT_REMOVED = "project-removed"
    NOT_COMPARED = "not-compared"
    RESOURCE_ADDED = "resource-type-added"
    RESOURCE_REMOVED = "resource-type-removed"
    VERSION_ADDED = "api-version-added"
    VERSION_REMOVED = "api-version-removed"
    NOT_SERVED = "no-longer-served"
    SERVED = "served-again"
    GROUP = "api-group-changed"
    SCOPE = "scope-changed"
    PROPERTY_ADDED = "property-added"
    PROPERTY_REMOVED = "property-removed"
    REQUIRED = "property-required"
    OPTIONAL = "property-optional"
    TYPE_CHANGED = "type-changed"
    NARROWED = "type-narrowed"
    WIDENED = "type-widened"
    VALUE_ADDED = "value-added"
    VALUE_REMOVED = "value-removed"
    CONSTRAINT_NARROWED = "constraint-narrowed"
    CONSTRAINT_WIDENED = "constraint-widened"
    CONSTRAINT_CHANGED = "constraint-changed"
    DEFAULT_CHANGED = "default-changed"
    UNKNOWN_REFUSED = "unknown-properties-refused"
    UNKNOWN_KEPT = "unknown-properties-kept"
    STORED_LOST = "stored-objects-given-up"
    CONVERSION_LOST = "conversion-lost"
    CONVERSION_ADDED = "conversion-added"
    RULE_CHANGED = "rule-changed"
    HOOK_REMOVED = "hook-removed"
    HOOK_ADDED = "hook-added"
    HOOK_CHANGED = "hook-changed"
    MARKED = "marked-commit"
    FIRST = "first-release"
    CONTENT = "other-content"


class ReleaseCode(Code):
    """What can be wrong with a package that is to be released."""

    RESOURCE_TYPES = "wrong-resource-types"
    VERSION = "unusable-version"
    REQUIREMENT = "imprecise-requirement"
    UNREADABLE = "unreadable-release"


def major(code: ChangeCode, place: str, text: str) -> ReleaseChange:
    """A change by which a client or a stored object can break."""
    return ReleaseChange(place, code, text, Level.MAJOR)


def minor(code: ChangeCode, place: str, text: str) -> ReleaseChange:
    """A change that adds what clients may use."""
    return ReleaseChange(place, code, text, Level.MINOR)


def judged(code: ChangeCode, place: str, text: str) -> ReleaseChange:
    """A change that only a person can judge: a patch, unless they say otherwise."""
    return ReleaseChange(place, code, text, Level.PATCH, judge=True)
