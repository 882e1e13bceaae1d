"""A property's life from version to version, and what each step of conversion does with it."""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import groupby
from typing import TypeAlias, TypeVar

import msgspec

from trundle.evolution import (
    ByHook,
    Evolution,
    Lineage,
    Link,
    Neighbours,
    Place,
    PlanKey,
    ResourceLineage,
    Shape,
    Thread,
    plan,
    spoken_hook,
    steps,
)
from trundle.report._enums import EnumLife, enum_lives
from trundle.report._errors import ReportError
from trundle.report._matched_properties import spelled
from trundle.report._reached import reached
from trundle.report._spelling import spell_property
from trundle.report._walk import lineages
from trundle.report._wording import (
    listed,
    quoted,
    reads,
    say,
    say_conversion,
    say_entry,
    say_step,
)
from trundle.version import ApiVersion


class Stage(msgspec.Struct, frozen=True):
    """A run of versions in which a property is the same.

    Attributes:
        versions: in ascending order, as the type has them, without a gap.
        name: the property's name.
        type: its type, with `?` where it is optional; empty where the property is absent.
    """

    versions: tuple[ApiVersion, ...]
    name: str
    type: str

    @property
    def span(self) -> str:
        """The first and the last version."""
        first, last = self.versions[0], self.versions[-1]
        return str(first) if first == last else f"{first} to {last}"


class Way(msgspec.Struct, frozen=True):
    """What conversion does with a property of some versions.

    Attributes:
        versions: the versions, in ascending order.
        span: the same in words, with runs drawn together.
        to_hub: what the steps from the API type to the hub do.
        from_hub: what the steps back do.
    """

    versions: tuple[ApiVersion, ...]
    span: str
    to_hub: tuple[str, ...]
    from_hub: tuple[str, ...]


class PropertyLife(msgspec.Struct, frozen=True):
    """The life of one property.

    Attributes:
        type: the name of its type, in the newest version.
        resources: the resource types that reach it.
        name: its newest name.
        stages: what it is from version to version, absences included.
        bridges: what joins it between neighbours: renames, rules, hooks, or nothing.
        home: where the current storage keeps its value.
        stale: what makes the bag's entry of it out of date; empty where nothing does.
        ways: what each step does on the way to the hub and back.
    """

    type: str
    resources: tuple[str, ...]
    name: str
    stages: tuple[Stage, ...]
    bridges: tuple[str, ...]
    home: str
    stale: str
    ways: tuple[Way, ...]


class PropertyLine(msgspec.Struct, frozen=True):
    """A property in one line.

    Attributes:
        name: its newest name.
        type: its newest type.
        span: in which versions it is.
        home: where the current storage keeps its value.
        names: the names it had before.
    """

    name: str
    type: str
    span: str
    home: str
    names: tuple[str, ...]


class TypeLife(msgspec.Struct, frozen=True):
    """The life of one type.

    Attributes:
        type: its name in the newest version.
        names: the names it had before.
        resources: the resource types that reach it.
        versions: the versions that have it, in ascending order.
        hub: the version whose storage type keeps it.
        properties: its properties, in alphabetical order.
    """

    type: str
    names: tuple[str, ...]
    resources: tuple[str, ...]
    versions: tuple[ApiVersion, ...]
    hub: ApiVersion
    properties: tuple[PropertyLine, ...]


class Explanation(msgspec.Struct, frozen=True):
    """The answer to a question about a type or a property.

    A name may mean several types that are at unrelated places; each has a life of its own.

    Attributes:
        question: what was asked.
        types: the types' lives, where a type was asked for.
        properties: the properties' lives, where a property was asked for.
        enums: the enums' lives, where an enum was asked for.
    """

    question: str
    types: tuple[TypeLife, ...] = ()
    properties: tuple[PropertyLife, ...] = ()
    enums: tuple[EnumLife, ...] = ()


def explain(
    evolution: Evolution, question: str, *, resource: ResourceLineage | None = None
) -> Explanation:
    """Explains a type (`Person`), an enum or a property (`Person.sortKey`); letter case does not count.

    Args:
        evolution: where to look.
        question: the type, enum or property.
        resource: only where this resource type reaches it; anywhere without.

    Raises:
        ReportError: there is no such type or property.
    """
    found = lineages(evolution, resources=None if resource is None else [resource])
    by_name: dict[str, list[Lineage]] = {}
    for lineage in found:
        for name in sorted({lineage.definition(version).name for version in lineage.nodes}):
            chosen = by_name.setdefault(name.casefold(), [])
            if lineage not in chosen:
                chosen.append(lineage)
    enums = tuple(enum_lives(evolution, question, found))
    if question.casefold() in by_name or enums:
        lives = (_type_life(each, found[each]) for each in by_name.get(question.casefold(), ()))
        return Explanation(question, types=_merged(lives), enums=enums)
    type_name, name = _split(question, by_name.keys())
    if type_name.casefold() not in by_name:
        raise ReportError("type", type_name, *_known_types(evolution, resource))
    chosen = by_name[type_name.casefold()]
    lives_of_property = [
        _property_life(lineage, thread, found[lineage])
        for lineage in chosen
        for thread in lineage.threads
        if name.casefold() in {place.property.casefold() for place in thread.places}
    ]
    if not lives_of_property:
        known = {place.property for each in chosen for t in each.threads for place in t.places}
        raise ReportError("property", name, known, type_name)
    return Explanation(question, properties=_merged(lives_of_property))


def _known_types(evolution: Evolution, resource: ResourceLineage | None) -> tuple[set[str], str]:
    """The names of the types that there are, of a resource type or of all, and where they are."""
    if resource is None:
        every = (schema.definitions for schema in evolution.schemas)
        return {each.name for one in every for each in one.values()}, ""
    own = (reached(evolution.schema(x), each.root) for x, each in resource.resources.items())
    return {each.name for one in own for each in one.values()}, resource.name


def _split(question: str, types: AbstractSet[str]) -> tuple[str, str]:
    """A type and a property; both names may have dots of their own."""
    parts = question.split(".")
    for number in range(1, len(parts)):
        type_name = ".".join(parts[:number])
        if type_name.casefold() in types:
            return type_name, ".".join(parts[number:])
    return parts[0], ".".join(parts[1:])


_Life = TypeVar("_Life", TypeLife, PropertyLife)


def _merged(lives: Iterable[_Life]) -> tuple[_Life, ...]:
    """Lives that are the same at several places once, with all resources that reach them."""
    found: dict[_Life, set[str]] = {}
    for each in lives:
        bare = msgspec.structs.replace(each, resources=())
        found.setdefault(bare, set()).update(each.resources)
    return tuple(
        msgspec.structs.replace(each, resources=tuple(sorted(names)))
        for each, names in found.items()
    )


def _type_life(lineage: Lineage, resources: tuple[str, ...]) -> TypeLife:
    names = dict.fromkeys(lineage.definition(version).name for version in lineage.nodes)
    lines = sorted(
        (_property_line(lineage, thread) for thread in lineage.threads),
        key=lambda each: (each.name.casefold(), each.name, each.span),
    )
    return TypeLife(
        lineage.name,
        tuple(name for name in names if name != lineage.name),
        resources,
        lineage.versions.versions,
        lineage.versions.hub,
        tuple(lines),
    )


def _property_line(lineage: Lineage, thread: Thread) -> PropertyLine:
    newest = thread.places[-1]
    names = dict.fromkeys(place.property for place in thread.places)
    spans = [each.span for each in _stages(lineage, thread, whole=False) if each.type]
    home = thread.home(lineage.versions.hub)
    own = home.version == lineage.versions.hub
    return PropertyLine(
        newest.property,
        _spelled(lineage, newest),
        ", ".join(spans),
        "property" if own else f"bag, as {home.property} of {home.version}",
        tuple(name for name in names if name != newest.property),
    )


def _spelled(lineage: Lineage, place: Place) -> str:
    return spell_property(lineage.property(place), lineage.evolution.schema(place.version))


def _stages(lineage: Lineage, thread: Thread, *, whole: bool = True) -> tuple[Stage, ...]:
    """What a thread is from version to version; by its presence alone where `whole` is false."""
    versions = [version for version in lineage.nodes if version >= thread.places[0].version]

    def what(version: ApiVersion) -> tuple[str, str]:
        place = thread.at(version)
        if place is None:
            return thread.places[-1].property, ""
        return (place.property, _spelled(lineage, place)) if whole else ("", "there")

    return tuple(Stage(tuple(run), *key) for key, run in groupby(versions, key=what))


def _property_life(lineage: Lineage, thread: Thread, resources: tuple[str, ...]) -> PropertyLife:
    hub = lineage.versions.hub
    home = thread.home(hub)
    if home.version == hub:
        where = f"in the property {quoted(home.property)} of the storage type of {hub}"
    else:
        where = f"in the property bag of storage {hub}, as {say_entry(home)}"
    return PropertyLife(
        lineage.name,
        resources,
        thread.places[-1].property,
        _stages(lineage, thread),
        tuple(_bridges(lineage, thread)),
        where,
        _stale(lineage, thread),
        _ways(lineage, thread),
    )


def _bridges(lineage: Lineage, thread: Thread) -> Iterator[str]:
    for link in lineage.links:
        ends = [lineage.thread(place) is thread for place in (link.older, link.newer)]
        if any(ends):
            text = _bridge(lineage, link, within=all(ends), older=ends[0])
            if text:
                yield f"between {link.older.version} and {link.newer.version}: {text}"
    yield from _hook_bridges(lineage, thread)


def _hook_bridges(lineage: Lineage, thread: Thread) -> Iterator[str]:
    for (use, method, between), outputs, inputs in _hook_calls(lineage):
        derived = [quoted(place.property) for place in outputs]
        read = [quoted(place.property) for place in inputs]
        hook = spoken_hook(use, method)
        if any(lineage.thread(place) is thread for place in outputs):
            yield f"between {between}: the hook {hook} derives it from {listed(read)}"
        if any(lineage.thread(place) is thread for place in inputs):
            yield f"between {between}: the hook {hook} reads it to derive {listed(derived)}"


def _bridge(lineage: Lineage, link: Link, *, within: bool, older: bool) -> str:
    """What one link means for a thread; empty where there is nothing to report."""
    names = [quoted(place.property) for place in (link.older, link.newer)]
    types = [spelled(lineage, place) for place in (link.older, link.newer)]
    if within:
        changes = []
        if names[0] != names[1]:
            moved = any(len(lineage.path(each)) > 1 for each in (link.older, link.newer))
            changes.append(f"{names[0]} {'moves to' if moved else 'is renamed'} {names[1]}")
        if types[0] != types[1]:
            changes.append(f"its type {types[0]} goes on as {types[1]}")
        return ", ".join(changes)
    other = f"{names[older]} ({types[older]}) of {(link.newer if older else link.older).version}"
    if link.conversion is None:
        return f"{other} shares its name only; no value leads from one to the other"
    way = "becomes" if older else "comes from"
    return f"it {way} {other}, {say_conversion(link.conversion)}"


_Call: TypeAlias = tuple[str, str, Neighbours]


def _hook_calls(
    lineage: Lineage,
) -> Iterator[tuple[_Call, tuple[Place, ...], tuple[Place, ...]]]:
    """The hooks of a type: which method, what it writes, what it reads."""
    calls: dict[_Call, tuple[list[Place], tuple[Place, ...]]] = {}
    for each in lineage.hooks:
        if isinstance(each.how, ByHook):
            call = (each.how.use, each.how.method, each.how.between)
            calls.setdefault(call, ([], each.inputs))[0].append(each.output)
    for call, (outputs, inputs) in calls.items():
        yield call, tuple(outputs), inputs


def _stale(lineage: Lineage, thread: Thread) -> str:
    """What makes the entry of a thread stale, as the step that writes it says."""
    for place in reversed(thread.places):
        stash = _stash(lineage, thread, place.version)
        if stash is not None and stash.witness is not None:
            seen = [say(value) for value in stash.witness.values if value is not None]
            return f"when another client changes {listed(list(dict.fromkeys(seen)), 'or')}"
    return ""


def _stash(lineage: Lineage, thread: Thread, version: ApiVersion) -> steps.Stash | None:
    for step in _plan_up(lineage, version):
        if isinstance(step, steps.Stash) and step.entry in thread.places:
            return step
    return None


def _plan_up(lineage: Lineage, version: ApiVersion) -> tuple[steps.Step, ...]:
    hub = Shape("storage", lineage.versions.hub)
    return plan(PlanKey(lineage, Shape("api", version), hub)).steps


def _ways(lineage: Lineage, thread: Thread) -> tuple[Way, ...]:
    """What the plans to the hub and back do; versions for which they do the same together."""
    hub = lineage.versions.hub
    found: dict[tuple[tuple[str, ...], tuple[str, ...]], list[ApiVersion]] = {}
    for place in thread.places:
        key = PlanKey(lineage, Shape("storage", hub), Shape("api", place.version))
        up = tuple(
            say_step(step)
            for step in _plan_up(lineage, place.version)
            if _concerns(lineage, thread, hub, step) or reads(step, place.property)
        )
        down = tuple(
            say_step(step)
            for step in plan(key).steps
            if _concerns(lineage, thread, place.version, step)
        )
        found.setdefault((up, down), []).append(place.version)
    return tuple(
        Way(tuple(versions), _spans(lineage, versions), *ways) for ways, versions in found.items()
    )


def _spans(lineage: Lineage, versions: list[ApiVersion]) -> str:
    """Versions in words; those that follow each other in a type's versions are drawn together."""
    runs = groupby(lineage.versions.versions, key=lambda version: version in versions)
    return ", ".join(Stage(tuple(run), "", "").span for inside, run in runs if inside)


def _concerns(lineage: Lineage, thread: Thread, version: ApiVersion, step: steps.Step) -> bool:
    """Whether a step to some version writes a thread's value."""
    if isinstance(step, steps.Stash):
        return lineage.thread(lineage.said_by(step.entry)) is thread
    return lineage.thread(Place(version, step.property)) is thread
