"""The subresource `scale` of resource types, where the project's file says it."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from trundle.errors import Finding
from trundle.project._config_kubernetes import HeldScaling, Kubernetes
from trundle.project.findings import ProjectCode, finding
from trundle.schema import (
    FreeForm,
    MapOf,
    Nullable,
    ObjectType,
    Ref,
    Resource,
    Scaling,
    Schema,
    Type,
)


def with_scaling(schemas: Iterable[Schema], said: Kubernetes) -> tuple[Schema, ...]:
    """Schemas whose resources have the subresource that the project's file says; that counts more than what a CRD does."""
    if not any(said.scales.values()):
        return tuple(schemas)

    def scaled(resource: Resource, schema: Schema) -> Resource:
        held = said.scales.get(resource.name.casefold(), ())
        if not held:
            return resource
        fitting = (each.scaling for each in held if _fits(each.scaling, resource, schema))
        return msgspec.structs.replace(resource, scaling=next(fitting, None))

    return tuple(
        msgspec.structs.replace(
            schema, resources=tuple(scaled(each, schema) for each in schema.resources)
        )
        for schema in schemas
    )


def unfit_scaling(schemas: Sequence[Schema], said: Kubernetes) -> Iterator[Finding]:
    """What the file says of `scale` and no version has the properties for."""
    for name, held in said.scales.items():
        found = [
            (each, schema)
            for schema in schemas
            for each in schema.resources
            if each.name.casefold() == name
        ]
        for each in held if found else ():
            if not any(_fits(each.scaling, *one) for one in found):
                yield _unfit(each, found[-1][0].name)


def _unfit(held: HeldScaling, name: str) -> Finding:
    paths = ", ".join(each for each in _paths(held.scaling))
    expected = f"properties of {name} that the subresource scale reads and writes"
    what = f"{paths}, which no version has together"
    advice = "name properties that one version has, below `spec` and `status`"
    return finding(ProjectCode.SCALE, held.where, what, advice, expected=expected)


def _paths(scaling: Scaling) -> Iterator[str]:
    yield from (each for each in (scaling.wanted, scaling.there, scaling.selector) if each)


def _fits(scaling: Scaling, resource: Resource, schema: Schema) -> bool:
    """Whether a version has all properties that the paths lead to."""
    return all(_leads(Ref(resource.root), each.split(".")[1:], schema) for each in _paths(scaling))


def _leads(type_: Type, steps: Sequence[str], schema: Schema) -> bool:
    if not steps:
        return True
    match type_:
        case FreeForm():
            return True
        case Nullable(inner):
            return _leads(inner, steps, schema)
        case MapOf(values):
            return _leads(values, steps[1:], schema)
        case Ref(key):
            definition = schema.definitions[key]
            if not isinstance(definition, ObjectType):
                return False
            declared = definition.property(steps[0])
            if declared is not None:
                return _leads(declared.type, steps[1:], schema)
            further = definition.additional
            return further is not None and _leads(further, steps[1:], schema)
        case _:
            return False
