"""Finds everything about a project that its author should know before releasing it."""

import functools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from trundle.errors import Finding, errors_among, listed
from trundle.evolution import ByHook, Lineage, Place, Thread, default_of, derived_keys
from trundle.evolution.conversions import always_fits
from trundle.project._class_sources import holds_packages
from trundle.project._each_part import Progress, each_part, ignore, on_file
from trundle.project._freshness import made_of
from trundle.project._lock_comparison import (
    LockComparison,
    Share,
    compare_with_lock,
    shares_of,
    spelt_as_declared,
)
from trundle.project._lock_file import lock_path, read_lock, recorded_versions
from trundle.project._lossy_rules import lossy_rules
from trundle.project._nulls import hidden_nulls
from trundle.project._output_tree import read_manifest
from trundle.project._parts import Part, outline_of, unfit
from trundle.project._type_changes import changes_of_type
from trundle.project._validation_keywords import keyword_notes
from trundle.project._variants import blurred_elements, left_variants
from trundle.project.admission import admission_findings
from trundle.project.config import Config
from trundle.project.findings import Misfit, ProjectCode, finding
from trundle.project.generating import generate
from trundle.project.loading import Project, load_part
from trundle.project.lock_change import lock_findings
from trundle.project.naming import NamedKind, kinds_of, name_clashes, unknown_names
from trundle.report import spell
from trundle.schema import (
    ABSENT,
    FreeForm,
    ListOf,
    MapOf,
    Nullable,
    ObjectType,
    SchemaError,
    Type,
    Union,
)
from trundle.schema.readers import Catalogue, raise_all
from trundle.version import ApiVersion

_FEW = 3


def check(
    config: Config,
    *,
    strict: bool = False,
    jobs: int | None = None,
    progress: Progress = ignore,
) -> tuple[Finding, ...]:
    """Everything that is wrong with a project, errors first, then notes.

    Args:
        config: what the project's file says.
        strict: changes of type that are not acknowledged are errors too.
        jobs: how many processes to use; None for one to each processor, where that is worth it.
        progress: called for each step.

    Raises:
        SchemaError: a schema cannot be read.
        ProjectError: there are no resources in the schemas, or the lock or the generated folder cannot be
            read.
    """
    if holds_packages(config):
        return _check_packages(config, jobs, progress)
    catalogue = Catalogue(config.sources, on_file=on_file(progress))
    path = lock_path(config)
    known = read_lock(path)
    outline = outline_of(config, catalogue, recorded_versions(known))
    lock = spelt_as_declared(known, outline)
    shares, findings = shares_of(outline, lock, str(path))
    work = functools.partial(_check_part, shares=shares, strict=strict)
    checked = each_part(work, outline.parts, catalogue, jobs, progress)
    raise_all([each.error for each in checked.values() if each.error is not None])
    catalogue.require_used({file for each in checked.values() for file in each.files})
    unfitting, _ = unfit(outline.parts, {name: each.misfits for name, each in checked.items()})
    unsound = (*outline.findings, *unfitting)
    found = [*unsound, *findings]
    declared = ((each.group, each.resource, each.version) for each in catalogue.declared)
    found += admission_findings(config, declared)
    found += unknown_names(config, (each.resource for each in catalogue.declared))
    found += name_clashes(kind for each in checked.values() for kind in each.kinds)
    found += lock_findings(config, lock, [each.comparison for each in checked.values()])
    found += (finding for each in checked.values() for finding in each.type_changes)
    if not unsound:
        found += _stale(config, jobs, progress)
    found += (finding for each in checked.values() for finding in each.notes)
    notes = [each for each in found if each.severity == "note"]
    return tuple(dict.fromkeys((*errors_among(found), *notes)))


def _check_packages(config: Config, jobs: int | None, progress: Progress) -> tuple[Finding, ...]:
    """What is wrong with the packages of classes of a project, and with what was generated for them."""
    from trundle.project.class_packages import check_packages  # noqa: PLC0415 - needs an extra

    found = check_packages(config)
    return found if errors_among(found) else (*found, *_stale(config, jobs, progress))


class _Checked(msgspec.Struct, frozen=True):
    """What is wrong with a part.

    Attributes:
        misfits: the changes and hooks that do not fit it.
        type_changes: changes of type that are not acknowledged, where that is asked for.
        notes: what its author should know.
        comparison: how it compares with the lock.
        files: the files that it was made from, as the sources name them.
        kinds: the resource types that it serves, as clients call them.
        error: why it cannot be read.
    """

    misfits: tuple[Misfit, ...] = ()
    type_changes: tuple[Finding, ...] = ()
    notes: tuple[Finding, ...] = ()
    comparison: LockComparison = LockComparison()
    files: tuple[str, ...] = ()
    kinds: tuple[NamedKind, ...] = ()
    error: SchemaError | None = None


def _check_part(
    part: Part, catalogue: Catalogue, *, shares: Mapping[str, Share], strict: bool
) -> _Checked:
    try:
        loaded = load_part(part, catalogue)
    except SchemaError as error:
        return _Checked(error=error)
    project = loaded.project
    return _Checked(
        misfits=loaded.misfits,
        type_changes=tuple(changes_of_type(project)) if strict else (),
        notes=(
            *loaded.notes,
            *lossy_rules(project),
            *blurred_elements(project.lineages),
            *_left_out(project),
            *_free_form_unions(project),
            *_defaults(project),
            *keyword_notes(project),
            *_deprecated(project),
            *(hidden_nulls(project.lineages) if strict else ()),
            *(left_variants(project.lineages) if strict else ()),
        ),
        comparison=compare_with_lock(project, shares[part.name]),
        files=tuple(str(path) for path in loaded.files),
        kinds=tuple(kinds_of(project)),
    )


def _stale(config: Config, jobs: int | None, progress: Progress) -> Iterator[Finding]:
    """The generated folder, where it is not what would be generated."""
    result = generate(config, check=True, jobs=jobs, progress=progress)
    comparison = result.comparison
    if comparison is None or comparison.same:
        return
    if not result.root.exists():
        expected, advice = f"the generated package {config.package}", "run `trundle generate`"
        yield finding(ProjectCode.STALE, str(result.root), "none", advice, expected=expected)
        return
    mismatch = made_of(read_manifest(result.root)).mismatch
    if mismatch:
        what = f"the generated package {config.package} {mismatch}"
        yield finding(ProjectCode.STALE, str(result.root), what)
        return
    parts = (
        ("missing", comparison.missing),
        ("changed", comparison.changed),
        ("extra", comparison.extra),
    )
    found = "; ".join(f"{word}: {listed(names, 3)}" for word, names in parts if names)
    expected, advice = "what `trundle generate` writes", "run `trundle generate`"
    what = f"other files ({found})"
    yield finding(ProjectCode.STALE, str(result.root), what, advice, expected=expected)


def _left_out(project: Project) -> Iterator[Finding]:
    """What the readers left out of the schemas."""
    for each in dict.fromkeys(note for schema in project.schemas for note in schema.notes):
        advice = "remove the variant, or correct it"
        yield finding(ProjectCode.VARIANT, each.where, each.what, advice, severity="note")


def _free_form_unions(project: Project) -> Iterator[Finding]:
    """Unions whose variants nothing distinguishes, which are carried as free-form data."""
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
            "nothing distinguishes its variants; give each a property with a constant of its own"
        )
        yield finding(ProjectCode.UNION, where, what, advice, severity="note")


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


class _Shown(NamedTuple):
    """What objects show of a required property that they lack.

    Attributes:
        value: the value, as JSON; empty for none.
        is_configured: whether the configuration has it.
    """

    value: str
    is_configured: bool


def _defaults(project: Project) -> Iterator[Finding]:
    """Required properties that objects of other versions may lack, and what an API object then shows."""
    found: dict[tuple[str, str, _Shown], dict[ApiVersion, ObjectType]] = {}
    served = project.evolution.served(project.config.horizon)
    keys = {each for lineage in project.lineages for each in derived_keys(lineage)}
    for lineage in project.lineages:
        for version in served & lineage.nodes.keys():
            definition = lineage.definition(version)
            for name in lineage.names(version):
                place = Place(version, name)
                declared = definition.property(name)
                if declared is None or not declared.required or (lineage, name) in keys:
                    continue
                if not _may_be_absent(lineage, place):
                    continue
                changes = lineage.evolution.changes(version, definition.name)
                value = default_of(lineage, place, changes)
                configured = changes is not None and name in changes.default
                shown = _Shown("" if value is ABSENT else _json(value), configured)
                found.setdefault((definition.name, name, shown), {})[version] = definition
    alike: dict[tuple[str, str, str, _Shown], tuple[ObjectType, list[str]]] = {}
    for (type_name, name, shown), places in sorted(found.items(), key=lambda each: each[0]):
        newest = places[max(places)]
        subject = type_name, newest.source, _spans(places), shown
        alike.setdefault(subject, (newest, []))[1].append(name)
    grouped: dict[tuple[Any, ...], list[ObjectType]] = {}
    for (_, _, versions, shown), (definition, names) in alike.items():
        same = _content(definition), tuple(names), versions, shown
        grouped.setdefault(same, []).append(definition)
    for (_, names, versions, shown), types in grouped.items():
        yield _default_note(types, names, versions, shown)


def _content(definition: ObjectType) -> object:
    """What a type without a name shares with those at other places that are the same; the name of one that has a name."""
    if definition.named:
        return definition.name
    return tuple((each.name, each.doc) for each in definition.properties)


def _default_note(
    types: Sequence[ObjectType], names: Sequence[str], versions: str, shown: _Shown
) -> Finding:
    """What required properties of types that are the same show, all of them the same value or, without a value, none."""
    type_name, further = types[0].name, len(types) - 1
    subjects = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    subjects = f"{type_name}.{subjects}" if len(names) == 1 else f"{subjects} of {type_name}"
    if further:
        subjects += f" (the same at {further} more {'place' if further == 1 else 'places'})"
    required = f"are required in {versions}, but other versions may lack them"
    absent, shows = "they stay absent", f"they show {shown.value}"
    if len(names) == 1:
        required = f"is required in {versions}, but other versions may lack it"
        absent, shows = "it stays absent", f"it shows {shown.value}"
    what = f"{subjects} {required}: {shows if shown.value else absent}"
    advice = "configure a `default` if that is wrong"
    if shown.is_configured:
        what, advice = f"{what}, as configured", ""
    return finding(ProjectCode.DEFAULT, types[0].source, what, advice, severity="note")


def _deprecated(project: Project) -> Iterator[Finding]:
    """Versions that clients are warned of."""
    for resource in project.evolution.resources:
        for version in resource.served(project.config.horizon):
            if warning := resource.resources[version].deprecated:
                where = resource.root.definition(version).source
                what = f"{resource.name} in {version} is deprecated: {warning}"
                advice = "serve it until its clients have moved on"
                yield finding(ProjectCode.DEPRECATED, where, what, advice, severity="note")


def _may_be_absent(lineage: Lineage, place: Place) -> bool:
    """Whether some version's object may have no value for a property."""
    thread = lineage.thread(place)
    return not lineage.nodes.keys() <= _always_there(lineage, thread, {thread.number})


def _always_there(lineage: Lineage, thread: Thread, met: set[int]) -> set[ApiVersion]:
    """The versions whose objects always have a value for a thread, of its own or one that converts to it."""
    found = {each.version for each in thread.places if lineage.property(each).required}
    for each in lineage.derivations.get(thread.number, ()):
        source = lineage.thread(each.inputs[0])
        if source.number in met or isinstance(each.how, ByHook):
            continue
        if always_fits(each.how.conversion, up=each.how.up):
            met.add(source.number)
            found |= _always_there(lineage, source, met)
    return found


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _spans(versions: Iterable[ApiVersion] | Mapping[ApiVersion, str]) -> str:
    """Versions in a row, of many the first and the last."""
    ordered = sorted(set(versions))
    if len(ordered) > _FEW:
        return f"{len(ordered)} versions from {ordered[0]} to {ordered[-1]}"
    return listed(map(str, ordered))
