"""Notes about rules that can lose and hooks that can hide: what works as it says, and may surprise."""

from collections.abc import Container, Iterator

from trundle.errors import Finding
from trundle.evolution import (
    ByHook,
    HookDeclaration,
    HookMethod,
    Lineage,
    Link,
    Place,
    TypeChanges,
    doubled_in_free_form,
    leads,
    path_of,
)
from trundle.project._type_changes import is_acknowledged, spelled
from trundle.project.findings import ProjectCode, finding
from trundle.project.loading import Project
from trundle.schema import ListOf, MapOf, Nullable, ObjectType, Ref, Schema, Type
from trundle.version import ApiVersion

_WAYS = (("assign_to", "assign_from", True), ("assign_from", "assign_to", False))


def lossy_rules(project: Project) -> Iterator[Finding]:
    """All notes about hooks that lead one way or own a subtree, and rules that keep values from going along."""
    for each in project.evolution.hooks:
        yield from _one_way(each)
        yield from _subtrees(project, each)
    yield from dict.fromkeys(_namesakes(project))
    yield from dict.fromkeys(_unconverted(project))
    yield from dict.fromkeys(_doubled(project))


def _note(where: str, what: str, advice: str) -> Finding:
    return finding(ProjectCode.LOSS, where, what, advice, severity="note")


def _one_way(hook: HookDeclaration) -> Iterator[Finding]:
    reference = hook.reference
    for method, back, up in _WAYS:
        if method in hook.assign and back not in hook.assign:
            near, far = reference.older, reference.newer
            near, far = (near, far) if up else (far, near)
            names = ", ".join(sorted(hook.assign[method].writes))
            what = f"the hook {reference.use} has `{method}` and no `{back}`: "
            what += f"an edit of {names} in {far} is not seen in {near}"
            yield _note(reference.where, what, f"write `{back}`, if there is a way back")
    for name in hook.converters:
        one, _, other = name.removeprefix("convert_").partition("_to_")
        if f"convert_{other}_to_{one}" not in hook.converters:
            what = f"the hook {reference.use} has `{name}` and no `convert_{other}_to_{one}`: "
            what += "an edit on the side that it leads to is not seen on the other"
            yield _note(reference.where, what, "write it, if there is a way back")


def _subtrees(project: Project, hook: HookDeclaration) -> Iterator[Finding]:
    reference = hook.reference
    for method, back, up in _WAYS:
        declared = hook.assign.get(method)
        version = reference.newer if up else reference.older
        if declared is None:
            continue
        for lineage in _lineages(project, hook):
            for name in declared.writes:
                found = lineage.definition(version).property(name)
                held = None if found is None else _object_in(found.type, _schema(project, version))
                if held is None:
                    continue
                what = f"the hook {reference.use}.{method} writes all of {name} in {version}: "
                what += f"no rule and no other hook has a say in what is inside of {held.name}"
                place = Place(version, name)
                if not _follows(hook, back, declared) and not _is_known(
                    lineage, place, declared.reads
                ):
                    what += ", and an edit on the other side loses what the hook does not write where that side is stored"
                yield _note(
                    reference.where,
                    what,
                    "let it write single properties inside of it, or let rules convert it",
                )


def _follows(hook: HookDeclaration, back: str, declared: HookMethod) -> bool:
    """Whether all that a method reads is written by the other one: then that shows what the hook wrote before an edit."""
    other = hook.assign.get(back)
    return other is not None and set(declared.reads) <= set(other.writes)


def _is_known(lineage: Lineage, output: Place, reads: Container[str]) -> bool:
    """Whether what a hook writes meets something that it reads: then the rest of it is kept apart."""
    for link in lineage.links:
        if link.conversion is not None and output in {link.older, link.newer}:
            (other,) = {link.older, link.newer} - {output}
            if other.property in reads:
                return True
    return False


def _lineages(project: Project, hook: HookDeclaration) -> Iterator[Lineage]:
    reference = hook.reference
    for lineage in project.lineages:
        ends = {reference.older, reference.newer} <= lineage.nodes.keys()
        if ends and lineage.definition(reference.older).name == reference.type:
            yield lineage
            return


def _schema(project: Project, version: ApiVersion) -> Schema:
    return project.evolution.schema(version)


def _object_in(type_: Type, schema: Schema) -> ObjectType | None:
    """The object type that a value is made of, alone or in a list or map."""
    match type_:
        case Nullable(inner) | ListOf(inner) | MapOf(inner):
            return _object_in(inner, schema)
        case Ref(key):
            found = schema.definitions[key]
            return found if isinstance(found, ObjectType) else None
        case _:
            return None


def _namesakes(project: Project) -> Iterator[Finding]:
    """Rules that lead to the name of a property which the older version has, too, and which goes nowhere itself."""
    for changes in project.evolution.all_changes:
        version, placed = changes.version, tuple(changes.placed())
        for lineage in _of_type(project, changes):
            gone = [path_of(lineage.bare, version, older) for _, older, _ in placed]
            for rule, older, newer in placed:
                path = path_of(lineage.bare, version, newer)
                goes = any(path[: len(each)] == each for each in gone)
                if goes or not leads(lineage.bare, version, path):
                    continue
                what = f"`{rule}` of {older} to {newer} in {changes.type} leaves the {newer} that "
                what += f"{version} has without a counterpart: later versions do not see it"
                advice = f"write a rule for {newer} as well, or a hook that joins the two"
                yield _note(changes.place(rule, older), what, advice)


def _unconverted(project: Project) -> Iterator[Finding]:
    """Rules that lead to a property of another type, while no rule and no hook converts the value."""
    for changes in project.evolution.all_changes:
        for lineage in _of_type(project, changes):
            apart = [
                link
                for link in lineage.links
                if link.older.version == changes.version
                and link.conversion is None
                and not is_acknowledged(lineage, link)
            ]
            for rule, older, newer in changes.placed():
                for link in apart:
                    if not _joins(lineage, link, older, newer):
                        continue
                    ours, theirs = spelled(lineage, link)
                    what = (
                        f"`{rule}` of {older} in {changes.type} leads from {ours} to {theirs} in "
                    )
                    what += f"{link.newer.version}, and nothing converts the value: each side keeps its own"
                    yield _note(
                        changes.place(rule, older), what, "add a `convert`, or write a hook"
                    )


def _doubled(project: Project) -> Iterator[Finding]:
    """Rules and hooks about what is inside of an object that another version has as free-form data."""
    for changes in project.evolution.all_changes:
        for lineage in _of_type(project, changes):
            for rule, older, newer in changes.named():
                ends = [Place(changes.version, older)]
                for place, free in doubled_in_free_form(lineage):
                    if newer is not None:
                        ends.append(Place(place.version, newer))
                    if any(_same(lineage, place, each) for each in ends):
                        where = changes.place(rule, older)
                        yield _double(lineage, place, free, where, f"`{rule}` of {older}")
    for lineage in project.lineages:
        for each in lineage.hooks:
            if not isinstance(each.how, ByHook):
                continue
            hook = next(
                one.reference
                for one in project.evolution.hooks
                if one.reference.use == each.how.use
            )
            for place, free in doubled_in_free_form(lineage):
                if any(_same(lineage, place, one) for one in (*each.inputs, each.output)):
                    yield _double(lineage, place, free, hook.where, f"the hook {hook.use}")


def _same(lineage: Lineage, one: Place, other: Place) -> bool:
    """Whether two places have one property; the second need not be one that is followed."""
    known = other.version in lineage.nodes and other.property in lineage.followed(other.version)
    return known and lineage.thread(one) is lineage.thread(other)


def _double(lineage: Lineage, place: Place, free: Place, where: str, says: str) -> Finding:
    what = f"{says} follows {place.property} of {lineage.definition(place.version).name} in "
    what += (
        f"{place.version} by itself, and {free.version} has it in its free-form {free.property} "
    )
    what += "as well: an edit of the one is not seen in the other"
    advice = f"give {free.property} a type in {free.version}, or do not name what is inside of it"
    return _note(where, what, advice)


def _joins(lineage: Lineage, link: Link, older: str, newer: str) -> bool:
    """Whether a link is between the two properties that a rule names."""
    return all(
        lineage.lifted(place.version).get(place.property, (place.property,))
        == path_of(lineage.bare, place.version, name)
        for place, name in ((link.older, older), (link.newer, newer))
    )


def _of_type(project: Project, changes: TypeChanges) -> Iterator[Lineage]:
    """The lineages of the type that changes are for."""
    for lineage in project.lineages:
        version = changes.version
        if version in lineage.nodes and lineage.definition(version).name == changes.type:
            yield lineage
