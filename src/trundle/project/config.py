"""Reads `trundle.yaml`, the one file an author writes beside the schemas."""

import keyword
import os
import re
import sys
from pathlib import Path
from typing import Literal, get_args

import msgspec

from trundle.codegen import STRAIGHT
from trundle.documents import (
    Fields,
    ListNode,
    Node,
    ScalarNode,
    UnreadableError,
    Walker,
    describe,
    walk_yaml,
)
from trundle.evolution import HookReference, TypeChanges
from trundle.project._config_admission import AdmissionRule, read_admission
from trundle.project._config_groups import Group, read_groups
from trundle.project._config_hooks import read_hooks
from trundle.project._config_kubernetes import Kubernetes, read_kubernetes
from trundle.project._config_schema import config_schema
from trundle.project._config_words import PACKAGE_NAME, read_version
from trundle.project._rules import read_rules
from trundle.project.errors import ConfigError, ConfigMissingError, FileCode, finding
from trundle.schema.readers import Format, Source, is_pattern
from trundle.version import ApiVersion

__all__ = ["Config", "Group", "config_schema", "load_config", "parse_config"]

_KEYS = (
    "package",
    "output",
    "title",
    "groups",
    "sources",
    "exclude",
    "horizon",
    "hub",
    "straight",
    "unknown",
    "changes",
    "hooks",
    "kubernetes",
    "admission",
)
_SOURCE_KEYS = ("path", "format", "version", "resources", "group")
_POSITIVE = re.compile(r"[1-9][0-9]{0,8}")


class HeldHub(msgspec.Struct, frozen=True):
    """The version in whose shape objects of a resource type are stored.

    Attributes:
        resource: the resource type, after its group and a slash where several groups have one of the name.
        version: the version.
        where: file and line that say so.
    """

    resource: str
    version: ApiVersion
    where: str


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """What a `trundle.yaml` says.

    Attributes:
        path: the file, as it was named.
        package: dotted name of the Python package to write.
        output: absolute path of the folder that the package is written into.
        sources: where the schemas are.
        exclude: the patterns of files that the sources leave out, each with its place in the file.
        title: what the project is called for people; may be empty.
        groups: the groups of resources that are generated as packages of their own; none for one package.
        groups_where: file and line where the groups begin.
        horizon: how many of the newest GA versions are served; None for all.
        hubs: the hubs that are said to be others than the schemas would have them.
        straight: how many of the newest served versions of a resource type convert straight to each other.
        unknown: what becomes of unknown properties that a person or client writes.
        changes: the configured changes, in the order of the file.
        hooks: the hand-written hooks, in the order of the file.
        kubernetes: what clients of Kubernetes' conventions call the resource types.
        admission: who is asked before objects are written, in the order of the file.
    """

    path: Path
    package: str
    output: Path
    sources: tuple[Source, ...]
    title: str = ""
    groups: tuple[Group, ...] = ()
    groups_where: str = ""
    horizon: int | None = None
    hubs: tuple[HeldHub, ...] = ()
    straight: int = STRAIGHT
    unknown: Literal["error", "keep"] = "error"
    changes: tuple[TypeChanges, ...] = ()
    hooks: tuple[HookReference, ...] = ()
    exclude: tuple[tuple[str, str], ...] = ()
    kubernetes: Kubernetes = Kubernetes()
    admission: tuple[AdmissionRule, ...] = ()


def load_config(path: Path) -> Config:
    """Reads a project file.

    Args:
        path: the file; messages name it in the same way.

    Raises:
        ConfigMissingError: there is no such file.
        ConfigError: the file cannot be read or used; it lists all findings.
    """
    file = str(path)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        code, advice = FileCode.NO_PROJECT, "run `trundle init`, or name the file"
        raise ConfigMissingError([finding(code, file, "a project file", "none", advice)]) from None
    except OSError as error:
        found = error.strerror or str(error)
        code, advice = FileCode.UNREADABLE, "check the path and its permissions"
        raise ConfigError([finding(code, file, "a readable file", found, advice)]) from None
    return parse_config(data, path)


def parse_config(data: bytes, path: Path) -> Config:
    """Reads the content of a project file; `path` is where it stands or will stand.

    Raises:
        ConfigError: the content cannot be used; it lists all findings.
    """
    file = str(path)
    try:
        walker, roots = walk_yaml(data, file)
    except UnreadableError as error:
        raise ConfigError(error.findings) from None
    config = _read(walker, path, roots)
    if config is None or walker.findings:
        raise ConfigError(walker.findings)
    return config


def _read(walker: Walker, path: Path, roots: list[Node]) -> Config | None:
    if len(roots) != 1:
        found = "several documents" if roots else "an empty file"
        advice = "remove the others" if roots else "add `package:` and `sources:`"
        walker.note(roots[1].line if roots else 1, "one object", found, advice)
        return None
    fields = walker.fields(roots[0], "a project file", _KEYS, ("package", "sources"))
    package = _package(walker, fields)
    output = _optional_text(walker, fields, "output", "the folder to write into") or "."
    exclude = _exclude(walker, fields)
    config = Config(
        path=path,
        package=package or "",
        output=Path(os.path.abspath(path.parent / output)),  # noqa: PTH100 - keeps symbolic links
        title=_optional_text(walker, fields, "title", "a title") or "",
        groups=read_groups(walker, fields),
        groups_where=walker.place(fields["groups"][0]) if "groups" in fields else "",
        sources=_sources(walker, path.parent, fields, tuple(pattern for pattern, _ in exclude)),
        exclude=exclude,
        horizon=_horizon(walker, fields),
        hubs=_hubs(walker, fields),
        straight=_straight(walker, fields),
        unknown="keep" if _unknown(walker, fields) == "keep" else "error",
        changes=_changes(walker, fields),
        hooks=read_hooks(walker, fields, package or ""),
        kubernetes=read_kubernetes(walker, fields),
        admission=read_admission(walker, fields),
    )
    return config if package else None


def _optional_text(walker: Walker, fields: Fields, name: str, what: str) -> str | None:
    return walker.text(fields[name][1], what) if name in fields else None


def _unknown(walker: Walker, fields: Fields) -> str | None:
    if "unknown" not in fields:
        return None
    return walker.choice(fields["unknown"][1], "what unknown properties become", ("error", "keep"))


def _package(walker: Walker, fields: Fields) -> str | None:
    if "package" not in fields:
        return None
    node = fields["package"][1]
    name = walker.text(node, "the dotted name of a Python package")
    if name is None:
        return None
    parts = name.split(".")
    if not re.fullmatch(PACKAGE_NAME, name) or any(keyword.iskeyword(part) for part in parts):
        advice = "use letters, digits and underscores, parted by dots"
        walker.note(node.line, "the dotted name of a Python package", repr(name), advice)
        return None
    if parts[0] in sys.stdlib_module_names or parts[0] == "trundle":
        expected = "a package name that is free"
        found = f"{parts[0]}, which Python or Trundle itself uses"
        walker.note(node.line, expected, found, "choose another name")
        return None
    return name


def _sources(
    walker: Walker, folder: Path, fields: Fields, exclude: tuple[str, ...]
) -> tuple[Source, ...]:
    if "sources" not in fields:
        return ()
    node = fields["sources"][1]
    items = walker.items(node, "a list of schema files and folders")
    if isinstance(node, ListNode) and not items:
        walker.note(node.line, "at least one source", "none", "add the folder of the schemas")
    sources = (_source(walker, folder, item) for item in items)
    return tuple(
        msgspec.structs.replace(each, exclude=exclude, folder=folder) for each in sources if each
    )


def _exclude(walker: Walker, fields: Fields) -> tuple[tuple[str, str], ...]:
    """The patterns of files to leave out, each with its place."""
    if "exclude" not in fields:
        return ()
    found = []
    for each in walker.texts(fields["exclude"][1], "pattern as in .gitignore"):
        if is_pattern(each.text):
            found.append((each.text, walker.place(each)))
        else:
            expected, advice = "a pattern as in .gitignore", "correct it, or remove it"
            walker.note(each.line, expected, repr(each.text), advice)
    return tuple(found)


def _source(walker: Walker, folder: Path, node: Node) -> Source | None:
    if isinstance(node, ScalarNode):
        path = walker.text(node, "the path of a schema file or folder")
        return Source(folder / path) if path else None
    fields = walker.fields(node, "a source", _SOURCE_KEYS, ("path",))
    path = _optional_text(walker, fields, "path", "the path of a schema file or folder")
    version = read_version(walker, fields["version"][1]) if "version" in fields else None
    form = _format(walker, fields)
    resources = _resources(walker, fields)
    group = _optional_text(walker, fields, "group", "an API group")
    if path is None:
        return None
    # A Python module may be named by its dotted name, which is no path.
    is_path = form != "python" or path.endswith(".py")
    return Source(
        path=folder / path if is_path else Path(path),
        format=form,
        version=version.text if version else None,
        resources=resources,
        group=group or "",
    )


def _format(walker: Walker, fields: Fields) -> Format:
    formats: tuple[Format, ...] = get_args(Format)
    if "format" in fields:
        text = walker.choice(fields["format"][1], "an input format", formats)
        for each in formats:
            if each == text:
                return each
    return "auto"


def _resources(walker: Walker, fields: Fields) -> tuple[str, ...] | None:
    if "resources" not in fields:
        return None
    node = fields["resources"][1]
    names = tuple(name.text for name in walker.texts(node, "resource name"))
    if isinstance(node, ListNode) and not node.items:
        walker.note(node.line, "at least one resource", "none", "remove `resources` to take all")
    return names


def _horizon(walker: Walker, fields: Fields) -> int | None:
    if "horizon" not in fields:
        return None
    inner = walker.fields(fields["horizon"][1], "the horizon", ("ga",), ("ga",))
    if "ga" not in inner:
        return None
    node = inner["ga"][1]
    if isinstance(node, ScalarNode) and _POSITIVE.fullmatch(node.json):
        return int(node.json)
    advice = "write how many of the newest GA versions to serve, or remove `horizon`"
    walker.note(node.line, "a positive integer", describe(node), advice)
    return None


def _hubs(walker: Walker, fields: Fields) -> tuple[HeldHub, ...]:
    if "hub" not in fields:
        return ()
    hubs: dict[str, HeldHub] = {}
    for key, node in walker.entries(fields["hub"][1], "versions by resource type"):
        version = read_version(walker, node)
        if version is None:
            continue
        first = hubs.setdefault(key.text.casefold(), HeldHub(key.text, version, walker.place(key)))
        if first.resource != key.text:
            found = f"another at {first.where}"
            walker.note(key.line, f"one hub for {key.text}", found, "remove one of them")
    return tuple(hubs.values())


def _straight(walker: Walker, fields: Fields) -> int:
    if "straight" not in fields:
        return STRAIGHT
    node = fields["straight"][1]
    if isinstance(node, ScalarNode) and (node.json == "0" or _POSITIVE.fullmatch(node.json)):
        return int(node.json)
    advice = "write how many of the newest versions convert straight to each other, 0 for none"
    walker.note(node.line, "a whole number", describe(node), advice)
    return STRAIGHT


def _changes(walker: Walker, fields: Fields) -> tuple[TypeChanges, ...]:
    if "changes" not in fields:
        return ()
    changes = []
    spellings: dict[ApiVersion, str] = {}
    for key, types in walker.entries(fields["changes"][1], "changes by older version"):
        version = read_version(walker, key)
        first = str(version) if version is None else spellings.setdefault(version, version.text)
        if version is not None and first != version.text:
            found = f"{version.text} beside {first}, which is the same version"
            walker.note(key.line, "each version once", found, "join the two")
        for name, rules in walker.entries(types, "rules by type"):
            # An unreadable version is a finding, yet the rules below it are read all the same.
            changes.append(read_rules(walker, version or ApiVersion.parse("v1"), name, rules))
    return tuple(changes)
