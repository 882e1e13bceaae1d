"""Notes about rules that can lose and hooks that can hide: what works as it says, and may surprise."""

from collections.abc import Iterator

from trundle.errors import Finding
from trundle.evolution import HookDeclaration, Lineage
from trundle.project.findings import ProjectCode, finding
from trundle.project.loading import Project
from trundle.schema import ListOf, MapOf, Nullable, ObjectType, Ref, Schema, Type
from trundle.version import ApiVersion

_WAYS = (("assign_to", "assign_from", True), ("assign_from", "assign_to", False))


def lossy_rules(project: Project) -> Iterator[Finding]:
    """All notes about hooks that lead one way or own a subtree, and renames beside a namesake that stays."""
    for each in project.evolution.hooks:
        yield from _one_way(each)
        yield from _subtrees(project, each)
    yield from _namesakes(project)


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
    for method, _, up in _WAYS:
        declared = hook.assign.get(method)
        version = reference.newer if up else reference.older
        for lineage in _lineages(project, hook) if declared is not None else ():
            for name in declared.writes if declared is not None else ():
                found = lineage.definition(version).property(name)
                held = None if found is None else _object_in(found.type, _schema(project, version))
                if held is None:
                    continue
                what = f"the hook {reference.use}.{method} writes all of {name} in {version}: "
                what += f"no rule and no other hook has a say in what is inside of {held.name}"
                yield _note(
                    reference.where,
                    what,
                    "let it write single properties inside of it, or let rules convert it",
                )


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
    for changes in project.config.changes:
        schema = next((each for each in project.schemas if each.version == changes.version), None)
        for definition in schema.definitions.values() if schema is not None else ():
            if definition.name != changes.type or not isinstance(definition, ObjectType):
                continue
            for older, newer in sorted(changes.rename.items()):
                if newer != older and newer not in changes.rename and definition.property(newer):
                    what = (
                        f"`rename` of {older} to {newer} in {changes.type} leaves the {newer} that "
                    )
                    what += (
                        f"{changes.version} has without a counterpart: later versions do not see it"
                    )
                    advice = f"rename {newer} as well, or write a hook that joins the two"
                    yield _note(changes.place("rename", older), what, advice)
