"""The rules of a release of a package of classes: its file `evolution.yaml`."""

from collections.abc import Iterator

import msgspec

from trundle.documents import (
    Fields,
    MapNode,
    Node,
    ScalarNode,
    UnreadableError,
    Walker,
    walk_yaml,
)
from trundle.errors import Place
from trundle.evolution import TypeChanges
from trundle.packages import RULES_FILE, Package
from trundle.project._rules import read_rules
from trundle.project.errors import ConfigError
from trundle.version import ApiVersion, VersionError

_KEYS = ("changes", "hooks")
_HOOK_KEYS = ("use", "writes")


ASSIGNING = ("assign_to", "assign_from")
"""The hooks that augment the conversion of a class, up and down."""


class ReleaseHook(msgspec.Struct, frozen=True):
    """A place where a conversion calls a static method of a release.

    Attributes:
        version: the older neighbour.
        newer: the release that has the method.
        type: the class or the map in it, as the older side names it.
        name: what the method is for: `assign_to`, `assign_from`, or a property's converter.
        use: the method; of the class itself where no other is named, as in `a.B.method`.
        writes: the properties that it writes; none for a converter.
        where: file and line.
    """

    version: ApiVersion
    newer: ApiVersion
    type: str
    name: str
    use: str
    writes: tuple[str, ...]
    where: str


class ReleaseRules(msgspec.Struct, frozen=True):
    """How a release follows from the ones before it.

    Attributes:
        changes: the rules, each under the older neighbour that the file names.
        hooks: where conversions call its static methods.
    """

    changes: tuple[TypeChanges, ...] = ()
    hooks: tuple[ReleaseHook, ...] = ()


def read_release_rules(package: Package) -> ReleaseRules:
    """Reads the rules of a release; none where it has no such file.

    The file is written like a project's: rules by class by older neighbour under `changes`, and static methods in the same way under `hooks`, by
    what they are for: `assign_to: {use: METHOD, writes: [PROPERTY]}`, `convert_X_to_Y: METHOD`. A file without hooks may leave the key `changes` out. What a required property of the release gets stands under the release itself, as `default`.

    Raises:
        ConfigError: the file cannot be used; it has all that is wrong.
    """
    if RULES_FILE not in package.files:
        return ReleaseRules()
    file = f"{package.name}/{package.version}/{RULES_FILE}"
    try:
        walker, roots = walk_yaml(package.file(RULES_FILE), file)
    except UnreadableError as error:
        raise ConfigError(error.findings) from None
    if len(roots) != 1:
        walker.note(1, "one object", f"{len(roots) or 'no'} documents", "write `changes:`")
        raise ConfigError(walker.findings)
    return _read(walker, package, roots[0])


def _read(walker: Walker, package: Package, root: Node) -> ReleaseRules:
    if isinstance(root, MapNode) and root.entries and all(map(_is_version, root.entries)):
        head = root.entries[0][0]
        fields: Fields = {"changes": (head, root)}
    else:
        fields = walker.fields(root, "the rules of a release", _KEYS)
    changes = []
    for version, name, rules in _by_class(walker, package, fields, "changes"):
        found = read_rules(walker, version, name, rules)
        if found.version == ApiVersion.of_package(package.version):
            for rule, each, _ in found.named():
                if rule != "default":
                    line = Place.parse(found.place(rule, each)).line or name.line
                    advice = "write the rule under the release before this one"
                    walker.note(line, f"only `default` under {version} itself", f"`{rule}`", advice)
        changes.append(found)
    hooks = []
    own = ApiVersion.of_package(package.version)
    for version, name, methods in _by_class(walker, package, fields, "hooks"):
        for key, value in walker.entries(methods, "static methods by what they are for"):
            use, writes = _method(walker, key, value)
            place = walker.place(key)
            hooks.append(ReleaseHook(version, own, name.text, key.text, use, writes, place))
    if walker.findings:
        raise ConfigError(walker.findings)
    return ReleaseRules(tuple(changes), tuple(hooks))


def _method(walker: Walker, key: ScalarNode, value: Node) -> tuple[str, tuple[str, ...]]:
    """The method of a hook, and what it writes."""
    if key.text not in ASSIGNING:
        return walker.text(value, "the name of a static method") or "", ()
    if not isinstance(value, MapNode):
        advice = f"write it like `{key.text}: {{use: METHOD, writes: [PROPERTY]}}`"
        walker.note(value.line, "a method and what it writes", "something else", advice)
        return "", ()
    fields = walker.fields(value, "a hook", _HOOK_KEYS)
    for each in _HOOK_KEYS:
        if each not in fields:
            walker.note(value.line, f"the key `{each}` of a hook", "none", "add it")
    if len(fields) < len(_HOOK_KEYS):
        return "", ()
    use = walker.text(fields["use"][1], "the name of a static method") or ""
    writes = walker.texts(fields["writes"][1], "property name")
    return use, tuple(each.text for each in writes)


def _is_version(entry: tuple[ScalarNode, Node]) -> bool:
    return entry[0].text[:1].isdigit()


def _by_class(
    walker: Walker, package: Package, fields: Fields, key: str
) -> Iterator[tuple[ApiVersion, ScalarNode, Node]]:
    """What stands under a key by older version and class."""
    if key not in fields:
        return
    own = ApiVersion.of_package(package.version)
    for number, classes in walker.entries(fields[key][1], f"{key} by older version"):
        try:
            version = ApiVersion.parse(number.text)
        except VersionError:
            walker.note(number.line, "a version such as 1.2.0", number.text, "write it in full")
            continue
        if version > own or (version == own and key == "hooks"):
            advice = "name the release before this one"
            walker.note(number.line, f"{own} or a version before it", number.text, advice)
            continue
        for name, inner in walker.entries(classes, f"{key} by class"):
            yield version, name, inner
