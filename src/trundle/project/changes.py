"""Separates the configured changes that fit the schemas from those that do not.

A change that names something missing, matches nothing or contradicts another is a finding. All of them are
found, not the first: a change that is found wrong is set aside, and the others are tried without it.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from trundle.errors import Finding, did_you_mean
from trundle.evolution import (
    ChangeError,
    Evolution,
    HookDeclaration,
    Lineage,
    PathError,
    TypeChanges,
    split_path,
)
from trundle.project._rules import RULES
from trundle.project._unmatched_rules import find_misfits
from trundle.project.findings import Misfit, ProjectCode, finding
from trundle.report import lineages
from trundle.schema import ObjectType, Schema
from trundle.version import ApiVersion

BY_PROPERTY = tuple(each for each in RULES if each != "renameType")
"""The rules that name properties, as fields of `TypeChanges`."""


class Applied(msgspec.Struct, frozen=True):
    """The changes and hooks that fit, at work.

    Attributes:
        evolution: the schemas under the changes and hooks that fit.
        lineages: all lineages of the evolution.
        misfits: what is wrong with the others.
    """

    evolution: Evolution
    lineages: tuple[Lineage, ...]
    misfits: tuple[Misfit, ...]


def apply_changes(
    schemas: tuple[Schema, ...],
    changes: Sequence[TypeChanges],
    hooks: tuple[HookDeclaration, ...] = (),
) -> Applied:
    """Follows the schemas under all changes and hooks that fit them."""
    misfits: list[Misfit] = []
    by_version = {schema.version: schema for schema in schemas}
    kept = []
    for each in changes:
        schema = by_version.get(each.version)
        if schema is None:
            misfits.append(_misfit(each, version_gone(each, by_version)))
        else:
            sound = _names_known(each, schema, misfits)
            if sound is not None:
                later = [other for other in schemas if other.version > each.version]
                kept.append(_targets_known(sound, later, misfits))
    applied = _without_contradictions(schemas, tuple(kept), hooks, misfits)
    misfits.extend(find_misfits(applied.evolution, applied.lineages))
    return msgspec.structs.replace(applied, misfits=tuple(dict.fromkeys(misfits)))


def version_gone(changes: TypeChanges, versions: Iterable[ApiVersion]) -> Finding:
    """The finding for changes of a version that no schema has."""
    what = f"there are changes of {changes.type} under {changes.version}, which no schema has"
    advice = did_you_mean(str(changes.version), [str(version) for version in versions])
    return _finding(changes.place(""), what, advice)


def _finding(where: str, what: str, advice: str) -> Finding:
    return finding(ProjectCode.UNUSED, where, what, advice)


def _misfit(changes: TypeChanges, finding: Finding, rule: str = "", name: str = "") -> Misfit:
    return Misfit((str(changes.version), changes.type, rule, name), finding)


def _names_known(changes: TypeChanges, schema: Schema, misfits: list[Misfit]) -> TypeChanges | None:
    """The changes whose type and properties exist on the older side; None where the type does not."""
    named = [each for each in schema.definitions.values() if each.name == changes.type]
    if not named:
        what = f"{changes.version} has no type {changes.type}"
        advice = did_you_mean(changes.type, {each.name for each in schema.definitions.values()})
        misfits.append(_misfit(changes, _finding(changes.place(""), what, advice)))
        return None
    known = {
        each.name
        for definition in named
        if isinstance(definition, ObjectType)
        for each in definition.properties
    }
    for rule, name in list(uses(changes)):
        if name in known or _first(name) in known:
            continue
        what = f"`{rule}` names {name}, which {changes.type} of {changes.version} does not have"
        if not known:
            what = f"`{rule}` names {name}, but {changes.type} is an enum, which has no properties"
        advice = did_you_mean(name, known)
        finding = _finding(changes.place(rule, name), what, advice)
        misfits.append(_misfit(changes, finding, rule, name))
        changes = without(changes, rule, name)
    return changes


def _first(path: str) -> str:
    """The property of the type itself that a rule's path begins with."""
    try:
        return split_path(path)[0]
    except PathError:
        return path


def _targets_known(
    changes: TypeChanges, later: Sequence[Schema], misfits: list[Misfit]
) -> TypeChanges:
    """The changes whose newer property names exist in some newer version of the type."""
    types = {changes.type, changes.rename_type}
    named = [
        definition
        for schema in later
        for definition in schema.definitions.values()
        if definition.name in types and isinstance(definition, ObjectType)
    ]
    known = {each.name for definition in named for each in definition.properties}
    if not named and any(schema.definitions for schema in later):
        return changes  # the type goes on under other names; its place says more
    for rule in ("rename", "wrap", "unwrap"):
        for name, newer in list(getattr(changes, rule).items()):
            if newer in known or _first(newer) in known:
                continue
            what = f"`{rule}` of {name} in {changes.type} of {changes.version} matches nothing"
            reason = f"no newer {changes.type} has {newer}"
            if not named:
                reason = f"no newer version has {changes.type}"
            advice = did_you_mean(newer, known) if named else "remove the rule"
            finding = _finding(changes.place(rule, name), f"{what}: {reason}", advice)
            misfits.append(_misfit(changes, finding, rule, name))
            changes = without(changes, rule, name)
    return changes


def uses(changes: TypeChanges) -> Iterator[tuple[str, str]]:
    """The rules of a type that name properties, each with the property."""
    for rule in BY_PROPERTY:
        for name in getattr(changes, rule):
            yield rule, name


def without(changes: TypeChanges, rule: str, name: str) -> TypeChanges:
    """The changes of a type without one of them."""
    old = getattr(changes, rule)
    new: Any
    if isinstance(old, tuple):
        new = tuple(each for each in old if each != name)
    else:
        new = {key: value for key, value in old.items() if key != name}
    return msgspec.structs.replace(changes, **{rule: new})


def without_misfits(
    changes: Iterable[TypeChanges], misfits: Iterable[Misfit]
) -> Iterator[TypeChanges]:
    """Changes without those that do not fit."""
    rules = {each.rule for each in misfits}
    for each in changes:
        key = (str(each.version), each.type)
        kept = each
        for rule, name in uses(each):
            if (*key, rule, name) in rules:
                kept = without(kept, rule, name)
        if (*key, "rename_type", "") in rules:
            kept = msgspec.structs.replace(kept, rename_type=None)
        if (*key, "", "") not in rules:
            yield kept


def _without_contradictions(
    schemas: tuple[Schema, ...],
    changes: tuple[TypeChanges, ...],
    hooks: tuple[HookDeclaration, ...],
    misfits: list[Misfit],
) -> Applied:
    """Follows the schemas; whatever the evolution refuses is set aside, until it refuses nothing."""
    while True:
        evolution = Evolution(schemas, changes, hooks)
        try:
            found = tuple(lineages(evolution))
            for each in found:
                _ = each.links, each.hooks
        except ChangeError as error:
            fewer = tuple(_without_rule(each, error) for each in changes)
            fewer_hooks = tuple(each for each in hooks if each.reference.where != error.where)
            if fewer == changes and fewer_hooks == hooks:
                raise
            code = ProjectCode.HOOK if fewer_hooks != hooks else ProjectCode.UNUSED
            advice = "" if ";" in error.reason else "correct or remove the rule"
            why = finding(code, error.where, error.reason, advice)
            misfits.append(Misfit((), why))
            changes, hooks = fewer, fewer_hooks
        else:
            return Applied(evolution, found, ())


def _without_rule(changes: TypeChanges, error: ChangeError) -> TypeChanges:
    """The changes of a type without the one that an error names."""
    there = [each for each in uses(changes) if changes.place(*each) == error.where]
    if there:
        # Several rules may be on one line; the error names its property.
        rule, name = min(there, key=lambda each: repr(each[1]) not in error.reason)
        return without(changes, rule, name)
    if changes.rename_type is not None and changes.place("rename_type") == error.where:
        return msgspec.structs.replace(changes, rename_type=None)
    return changes
