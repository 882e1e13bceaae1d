"""Finds everything about a project that its author should know before releasing it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trundle.evolution import Lineage, Link, Place, default_of
from trundle.project._write import spell_text
from trundle.project.findings import Finding, errors_among, listed
from trundle.project.generating import generate
from trundle.project.loading import Project
from trundle.project.lock import check_lock
from trundle.report import spell
from trundle.schema import ABSENT, FreeForm, ListOf, MapOf, Nullable, ObjectType, Type, Union
from trundle.version import ApiVersion

_FEW = 3


def check(project: Project, *, strict: bool = False) -> tuple[Finding, ...]:
    """Everything that is wrong with a project, errors first, then notes.

    Args:
        project: the project as it was loaded.
        strict: changes of type that nobody acknowledged are errors too.

    Raises:
        ProjectError: the lock or the generated folder cannot be read.
    """
    findings = [*project.findings, *check_lock(project)]
    if strict:
        findings.extend(_changes_of_type(project))
    if not errors_among(project.findings):
        findings.extend(_stale(project))
    findings.extend(_free_form_unions(project))
    findings.extend(_defaults(project))
    notes = [each for each in findings if each.severity == "note"]
    return tuple(dict.fromkeys((*errors_among(findings), *notes)))


def _stale(project: Project) -> Iterator[Finding]:
    """The generated folder, where it is not what would be generated."""
    result = generate(project, check=True)
    comparison = result.comparison
    if comparison is None or comparison.same:
        return
    if not result.root.exists():
        what = f"expected the generated package {project.config.package}, found none"
        advice = "run `trundle generate`"
        yield Finding(where=str(result.root), what=what, advice=advice, kind="stale")
        return
    parts = (
        ("missing", comparison.missing),
        ("changed", comparison.changed),
        ("extra", comparison.extra),
    )
    found = "; ".join(f"{word}: {listed(names, 3)}" for word, names in parts if names)
    what = f"expected what `trundle generate` writes, found other files ({found})"
    advice = "run `trundle generate`"
    yield Finding(where=str(result.root), what=what, advice=advice, kind="stale")


def _changes_of_type(project: Project) -> Iterator[Finding]:
    """Properties that changed their type, without a rule or hook that says what to make of it."""
    found: dict[tuple[str, Place, ApiVersion], Finding] = {}
    for lineage in project.lineages:
        for link in lineage.links:
            if link.conversion is None and not _acknowledged(lineage, link):
                name = lineage.definition(link.older.version).name
                key = (name, link.older, link.newer.version)
                found.setdefault(key, _change_of_type(lineage, link, name))
    yield from (found[key] for key in sorted(found))


def _acknowledged(lineage: Lineage, link: Link) -> bool:
    name = lineage.definition(link.older.version).name
    changes = lineage.evolution.changes(link.older.version, name)
    if changes is not None and link.older.property in changes.keep:
        return True
    places = {link.older, link.newer}
    return any(
        each.output in places or places & set(each.inputs)
        for each in lineage.hooks
        if {link.older.version, link.newer.version} == {each.output.version, each.inputs[0].version}
    )


def _change_of_type(lineage: Lineage, link: Link, name: str) -> Finding:
    evolution = lineage.evolution
    ours, theirs = (
        spell(lineage.type(place), evolution.schema(place.version))
        for place in (link.older, link.newer)
    )
    if ours == theirs:
        ours, theirs = f"one {ours}", "another"
    older, newer = link.older, link.newer
    what = f"{name}.{newer.property} changes its type from {ours} in {older.version} to {theirs} in {newer.version}"
    rule = f"keep: [{spell_text(older.property)}]"
    advice = f"say what becomes of it by a rule or a hook, or `{rule}` under {older.version}"
    where = lineage.definition(newer.version).source
    return Finding(where=where, what=what, advice=advice, kind="type-change")


def _free_form_unions(project: Project) -> Iterator[Finding]:
    """Unions whose variants cannot be told apart, which are carried as free-form data."""
    found: dict[tuple[str, str, str, str], list[ApiVersion]] = {}
    for schema in project.schemas:
        settled = project.evolution.schema(schema.version)
        for key, definition in sorted(schema.definitions.items()):
            if not isinstance(definition, ObjectType):
                continue
            after = {each.name: each.type for each in settled.object(key).properties}
            for each in definition.properties:
                for union in _loosened(each.type, after[each.name]):
                    where = definition.source
                    subject = (definition.name, each.name, spell(union, schema), where)
                    found.setdefault(subject, []).append(schema.version)
    merged: dict[tuple[str, str, str], tuple[str, list[ApiVersion]]] = {}
    for (type_name, name, text, where), versions in found.items():
        merged.setdefault((type_name, name, text), (where, []))[1].extend(versions)
    for (type_name, name, text), (where, versions) in sorted(merged.items()):
        what = f"{type_name}.{name} ({text}) in {_spans(versions)} is carried as free-form data"
        advice = (
            "its variants cannot be told apart; give each a property with a constant of its own"
        )
        yield Finding(where=where, what=what, advice=advice, severity="note", kind="union")


def _loosened(before: Type, after: Type) -> Iterator[Union]:
    """The unions of a type that became free-form."""
    match before, after:
        case (Union(), FreeForm()):
            yield before
        case (Nullable(inner), Nullable(other)) | (ListOf(inner), ListOf(other)):
            yield from _loosened(inner, other)
        case (MapOf(inner), MapOf(other)):
            yield from _loosened(inner, other)
        case (Nullable(inner), _):
            yield from _loosened(inner, after)
        case _:
            return


def _defaults(project: Project) -> Iterator[Finding]:
    """Required properties that objects of other versions may lack, and what an API object then shows."""
    found: dict[tuple[str, str, str], dict[ApiVersion, str]] = {}
    served = set(project.evolution.versions.served(project.config.horizon))
    for lineage in project.lineages:
        for version in served & lineage.nodes.keys():
            definition = lineage.definition(version)
            for name in lineage.names(version):
                place = Place(version, name)
                declared = definition.property(name)
                if declared is None or not declared.required or not _may_be_absent(lineage, place):
                    continue
                changes = lineage.evolution.changes(version, definition.name)
                shown = _shown(default_of(lineage, place, changes))
                found.setdefault((definition.name, name, shown), {})[version] = definition.source
    for (type_name, name, shown), places in sorted(found.items()):
        newest = max(places)
        what = f"{type_name}.{name} is required in {_spans(places)}, but other versions may lack it: {shown}"
        advice = "configure a `default` if that is wrong"
        where = places[newest]
        yield Finding(where=where, what=what, advice=advice, severity="note", kind="default")


def _may_be_absent(lineage: Lineage, place: Place) -> bool:
    """Whether some version's object may have no value for a property."""
    thread = lineage.thread(place)
    for version in lineage.nodes:
        own = thread.at(version)
        if own is None or not lineage.property(own).required:
            return True
    return False


def _shown(default: Any) -> str:
    return "it stays absent" if default is ABSENT else f"it shows {_json(default)}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _spans(versions: Iterable[ApiVersion] | Mapping[ApiVersion, str]) -> str:
    """Versions in a row, of many the first and the last."""
    ordered = sorted(set(versions))
    if len(ordered) > _FEW:
        return f"{len(ordered)} versions from {ordered[0]} to {ordered[-1]}"
    return listed(map(str, ordered))
