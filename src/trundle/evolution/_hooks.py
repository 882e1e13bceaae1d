"""Declared hooks: which places a hand-written method reads and writes."""

import functools
from collections.abc import Iterable, Iterator
from typing import assert_never

from trundle.evolution._changes import HookDeclaration, HookReference, spoken_hook
from trundle.evolution._errors import ChangeError
from trundle.evolution._long_names import LONGEST, fitting
from trundle.evolution._neighbours import Neighbours
from trundle.evolution._threads import METADATA, ByHook, Derivation, Place
from trundle.evolution._type_versions import TypeVersions
from trundle.evolution.conversions import CallHook
from trundle.schema import FreeForm, ListOf, MapOf, Nullable, Ref, Scalar, Schema, Type, Union
from trundle.version import ApiVersion


def hooks_among(lineage: TypeVersions) -> Iterator[HookDeclaration]:
    """The hooks that are between neighbours of a lineage."""
    for each in lineage.evolution.hooks:
        reference = each.reference
        if reference.older not in lineage.nodes or reference.newer not in lineage.nodes:
            continue
        if lineage.definition(reference.older).name != reference.type:
            continue
        if Neighbours(reference.older, reference.newer) in lineage.versions.pairs:
            yield each


def named_by_hooks(lineage: TypeVersions) -> Iterator[tuple[ApiVersion, str]]:
    """What the hooks of a lineage read and write, each in the version that they name."""
    for each in hooks_among(lineage):
        yield from named_by_hook(each)


def named_by_hook(hook: HookDeclaration) -> Iterator[tuple[ApiVersion, str]]:
    """What a hook reads and writes, each in the version that it names."""
    ends = hook.reference.older, hook.reference.newer
    for method, (source, target) in (("assign_to", ends), ("assign_from", ends[::-1])):
        declared = hook.assign.get(method)
        if declared is not None:
            yield from ((source, name) for name in declared.reads)
            yield from ((target, name) for name in declared.writes)


def written_by_hooks(
    declarations: Iterable[HookDeclaration],
) -> Iterator[tuple[HookReference, str, ApiVersion]]:
    """What hooks write: the hook, the property, and the version that it is written for."""
    for each in declarations:
        ends = {"assign_to": each.reference.newer, "assign_from": each.reference.older}
        for method, declared in each.assign.items():
            yield from ((each.reference, name, ends[method]) for name in declared.writes)


def derived_by_hooks(lineage: TypeVersions) -> Iterator[Derivation]:
    """What the hooks of a lineage derive, one derivation for each output.

    Raises:
        ChangeError: a hook names what its type does not have, or an object that rules take apart.
    """
    for each in hooks_among(lineage):
        between = Neighbours(each.reference.older, each.reference.newer)
        for method, up in (("assign_to", True), ("assign_from", False)):
            declared = each.assign.get(method)
            if declared is None:
                continue
            source, target = (
                (between.older, between.newer) if up else (between.newer, between.older)
            )
            for version, names in ((source, declared.reads), (target, declared.writes)):
                for name in names:
                    if version != source or not lineage.is_metadata(Place(version, name)):
                        _check(lineage, each, method, Place(version, name))
            reads = sorted(declared.reads, key=lambda name: (name == METADATA, name))
            inputs = tuple(Place(source, name) for name in reads)
            how = ByHook(each.reference.use, each.method(method), between, up)
            for name in sorted(declared.writes):
                yield Derivation(how, inputs, Place(target, name))


def _check(lineage: TypeVersions, hook: HookDeclaration, method: str, place: Place) -> None:
    """Refuses what a hook declares where its type does not have it, or rules take something out of it.

    Raises:
        ChangeError: it is so.
    """
    version, name, reference = place.version, place.property, hook.reference
    spoken = spoken_hook(reference.use, hook.method(method))
    if name not in {*lineage.names(version), *lineage.lifted(version)}:
        raise ChangeError(
            reference.where,
            f"{spoken} declares {name!r}, which "
            f"{lineage.definition(version).name} of {version} does not have",
        )
    if moved := lineage.leaves(place):
        raise ChangeError(
            reference.where,
            f"{spoken} declares {name!r}, out of which rules of "
            f"{lineage.definition(version).name} take {', '.join(moved)}; move these in "
            "the hook, or leave the object out of it",
        )


def hook_converter(lineage: TypeVersions, older: Place, newer: Place) -> CallHook | None:
    """The property converters between two places, if a hook has any for their types."""
    for each in hooks_among(lineage):
        reference = each.reference
        if (reference.older, reference.newer) != (older.version, newer.version):
            continue
        up, down = converter_names(lineage, older, newer)
        if {up, down} & set(each.converters):
            return CallHook(
                reference.use,
                each.method(up) if up in each.converters else None,
                each.method(down) if down in each.converters else None,
            )
    return None


def converter_names(lineage: TypeVersions, older: Place, newer: Place) -> tuple[str, str]:
    """The names of the methods that convert a property whose type changed, up and down."""
    one = spoken_type(lineage.type(older), lineage.evolution.schema(older.version))
    other = spoken_type(lineage.type(newer), lineage.evolution.schema(newer.version))
    if len(f"convert_{one}_to_{other}") > LONGEST:
        one, other = short_type(one), short_type(other)
    return f"convert_{one}_to_{other}", f"convert_{other}_to_{one}"


def short_type(spoken: str) -> str:
    """A type as part of a method's name that would be too long."""
    return fitting(spoken, (LONGEST - len("convert__to_")) // 2)


def spoken_type(type_: Type, schema: Schema) -> str:
    """A type as part of a method's name: `level`, `node_type_description_list`."""
    match type_:
        case Nullable(inner):
            return spoken_type(inner, schema)
        case Scalar(kind):
            return kind
        case Ref(key):
            return snake(schema.definitions[key].name)
        case ListOf(items):
            return f"{spoken_type(items, schema)}_list"
        case MapOf(values):
            return f"{spoken_type(values, schema)}_map"
        case FreeForm() | Union():
            return "value"
        case _:
            assert_never(type_)


@functools.lru_cache(maxsize=1 << 16)
def snake(name: str) -> str:
    """A name in lower case with underscores between its words."""
    words: list[str] = []
    for index, letter in enumerate(name):
        if not letter.isalnum():
            words.append("_")
            continue
        after_lower = index > 0 and (name[index - 1].islower() or name[index - 1].isdigit())
        before_lower = index + 1 < len(name) and name[index + 1].islower()
        ends_acronym = index > 0 and name[index - 1].isupper() and before_lower
        if letter.isupper() and (after_lower or ends_acronym):
            words.append("_")
        words.append(letter.lower())
    return "_".join(part for part in "".join(words).split("_") if part)
