"""The codes of what can change between two releases of a package, and how each is made a record."""

from trundle.errors import Code
from trundle.packages._changes import Level, ReleaseChange


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
    STATUS = "status-changed"
    SCALE = "scale-changed"
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
    RULE_ADDED = "rule-added"
    RULE_CHANGED = "rule-changed"
    HOOK_REMOVED = "hook-removed"
    HOOK_ADDED = "hook-added"
    HOOK_CHANGED = "hook-changed"
    CLASS_ADDED = "class-added"
    CLASS_REMOVED = "class-removed"
    CLASS_USAGE = "class-usage-changed"
    PARENTS = "parents-changed"
    METHOD_ADDED = "method-added"
    METHOD_REMOVED = "method-removed"
    METHOD_USAGE = "method-usage-changed"
    METHOD_SCOPE = "method-scope-changed"
    PROPERTY_USAGE = "property-usage-changed"
    ARGUMENT_ADDED = "argument-added"
    ARGUMENT_REMOVED = "argument-removed"
    ARGUMENT_REQUIRED = "argument-required"
    ARGUMENT_OPTIONAL = "argument-optional"
    ARGUMENT_USAGE = "argument-usage-changed"
    ARGUMENTS_MOVED = "arguments-moved"
    CONTRACT_NARROWED = "contract-narrowed"
    CONTRACT_WIDENED = "contract-widened"
    CONTRACT_CHANGED = "contract-changed"
    BODY = "body-changed"
    META = "meta-changed"
    PACKAGE_TYPE = "package-type-changed"
    FORMAT = "format-changed"
    REQUIREMENT_ADDED = "requirement-added"
    REQUIREMENT_REMOVED = "requirement-removed"
    REQUIREMENT_CHANGED = "requirement-changed"
    FILES = "files-changed"
    MARKED = "marked-commit"
    FIRST = "first-release"
    CONTENT = "other-content"


def major(code: ChangeCode, place: str, text: str) -> ReleaseChange:
    """A change by which a client or a stored object can break."""
    return ReleaseChange(place, code, text, Level.MAJOR)


def minor(code: ChangeCode, place: str, text: str) -> ReleaseChange:
    """A change that adds what clients may use."""
    return ReleaseChange(place, code, text, Level.MINOR)


def judged(code: ChangeCode, place: str, text: str) -> ReleaseChange:
    """A change that only a person can judge: a patch, unless they say otherwise."""
    return ReleaseChange(place, code, text, Level.PATCH, judge=True)
