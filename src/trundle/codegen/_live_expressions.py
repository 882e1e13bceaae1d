"""What a plan's expressions come to, as closures: what `_expressions.py` renders as Python, made at once."""

from typing import Any, assert_never

import msgspec

from trundle.codegen._classes import StorageNode
from trundle.codegen._lifted import class_at, held_object, way_to
from trundle.codegen._live_classes import LiveClasses
from trundle.codegen._live_hooks import LiveHook, hook_key
from trundle.codegen._live_steps import Closure, LiveSteps
from trundle.evolution import (
    ADDITIONAL,
    METADATA,
    ByHook,
    Lineage,
    Place,
    PlanKey,
    Shape,
    default_of,
)
from trundle.evolution.steps import (
    Change,
    Expression,
    First,
    Hidden,
    HookCall,
    HookOutput,
    HookRefill,
    KeepElements,
    KeepPlaces,
    Leaf,
    MapText,
    PlannedEntry,
    Presence,
    Read,
    Refill,
    Said,
    Solid,
    Unstash,
    Witness,
)
from trundle.runtime import (
    ABSENT,
    MISSING,
    BagEntry,
    FreeForm,
    Widened,
    from_free_form,
    keep_elements,
    keep_places,
    null_presence,
    other_members,
    presence,
    recall,
    refill,
    refill_by_hook,
    said,
    solid,
    stripped,
    take_named,
    unstash,
)
from trundle.schema import ABSENT as NO_DEFAULT
from trundle.schema import ListOf, MapOf, Nullable


class LiveExpressions:
    """Makes closures of the expressions of one plan.

    Args:
        classes: the classes that are read and made.
        key: the plan.
        steps: makes closures of changes of value.
    """

    def __init__(self, classes: LiveClasses, key: PlanKey, steps: LiveSteps) -> None:
        self.classes = classes
        self.renderer = classes.renderer
        self.lineage = key.lineage
        self.key = key
        self.steps = steps
        self.shape = key.source
        """What the object is shaped like that expressions read: the source, or a stored object that is looked at."""
        self._witnesses: dict[tuple[Witness, Shape], Closure] = {}
        self._hooks: dict[tuple[HookCall, Shape], tuple[LiveHook, Closure]] = {}

    def closure(self, value: Expression) -> Closure:
        """An expression as a function of the object that it reads."""
        match value:
            case Read(name):
                return self._read(name)
            case Change(inner, step):
                return self._change(self.closure(inner), step)
            case Unstash(entries, witness, stale):
                asked = self._unstash(entries, witness)
                return lambda source: recall(source, *asked, stale=stale)
            case HookOutput():
                return self._hook_output(value)
            case Hidden():
                return lambda _: ABSENT  # nothing is written over
            case First(options):
                return self._first(options)
            case KeepPlaces(inner, entries, step):
                return self._keep_places(value)
            case Refill(inner, entries, seen):
                derived, kept = self.closure(inner), self.entries(entries)
                view = self.steps.closure(seen)
                return lambda source: refill(source, kept, derived(source), view)
            case HookRefill(inner, entries, before, witness):
                derived, wrote = self.closure(inner), self.closure(before)
                kept, beside = self.entries(entries), self.of_all(witness, self.shape)
                return lambda source: refill_by_hook(source, kept, beside, derived(source), wrote)
            case KeepElements(inner, entries, seen, keyed):
                derived, kept = self.closure(inner), self.entries(entries)
                view, members = self.steps.closure(seen), self.steps.key_and_value(keyed)
                return lambda source: keep_elements(source, kept, derived(source), view, *members)
            case Presence(inner, only_null):
                held = self.closure(inner)
                there = null_presence if only_null else presence
                return lambda source: there(held(source))
            case Solid():
                return self._solid(value)
            case Said(asked_first, inner, place, shape):
                asked = self._unstash(asked_first.entries, asked_first.witness)
                derived = self.closure(inner)
                class_ = self.classes[class_at(self.renderer, self.lineage, place, shape)]
                shown = self.shown_anyhow(place, shape) or None
                return lambda source: said(unstash(source, *asked), derived(source), class_, shown)
            case _:
                assert_never(value)

    def witness(self, witness: Witness | None, shape: Shape) -> Closure | None:
        """What an entry accompanies in objects of a storage shape, as a function of these."""
        return None if witness is None else self.of_all(witness, shape)

    def of_all(self, witness: Witness, shape: Shape) -> Closure:
        """All that a witness has, as a function of objects of a storage shape."""
        known = self._witnesses.get((witness, shape))
        if known is None:
            values = [None if each is None else self.of(each, shape) for each in witness.values]
            whole = Widened if witness.last_is_new else tuple
            known = self._witnesses[witness, shape] = lambda stored: whole(
                ABSENT if each is None else each(stored) for each in values
            )
        return known

    def of(self, value: Expression, shape: Shape) -> Closure:
        """An expression as a function of an object of another shape than the source's."""
        before, self.shape = self.shape, shape
        try:
            return self.closure(value)
        finally:
            self.shape = before

    def entries(self, entries: tuple[PlannedEntry, ...]) -> tuple[BagEntry[Any], ...]:
        """How entries of the bag are read."""
        return tuple(map(self._entry, entries))

    def literal(self, value: Any, place: Place, lineage: Lineage | None = None) -> Any:
        """Plain JSON as a value of the type at a place of a lineage, else of the plan's own."""
        lineage = lineage or self.lineage
        if isinstance(value, str | bool | int | float | None):
            return value
        type_ = lineage.type(place)
        bare = type_.inner if isinstance(type_, Nullable) else type_
        if not value and isinstance(bare, ListOf | MapOf):
            return value
        data = FreeForm(msgspec.json.encode(value))
        read = self.classes.at(lineage, place, type_, storage=self.key.target.kind == "storage")
        return data if read is FreeForm else from_free_form(data, read)

    def shown_anyhow(self, place: Place, shape: Shape) -> dict[str, Any]:
        """What an API object that is made at a place shows of the properties that it requires."""
        if shape.kind == "storage":
            return {}
        (key,) = self.lineage.evolution.objects_in(place.version, self.lineage.type(place))
        child, version = self.lineage.child(place, key), place.version
        definition = child.definition(version)
        names = self.renderer.names(version, definition)
        changes = self.lineage.evolution.changes(version, definition.name)
        found = {}
        for name in child.names(version):
            default = default_of(child, Place(version, name), changes)
            if default is not NO_DEFAULT and name in names:
                found[names[name]] = self.literal(default, Place(version, name), child)
        return found

    def _read(self, name: str) -> Closure:
        version = self.shape.version
        if name in self.lineage.lifted(version):
            return self._inside(name)
        definition, implied = self.lineage.definition(version), self.lineage.implied(version)
        if name == ADDITIONAL:
            names = tuple(implied)
            if names:
                return lambda source: other_members(source.additional_properties, names)
            return lambda source: source.additional_properties
        assert not (self.shape.kind == "api" and self.lineage.label(Place(version, name)))
        if name in implied:
            return lambda source: take_named(source.additional_properties, name)
        if name == definition.tag:
            tag = attribute_tag(self.renderer, self.lineage, version)
            return lambda _: tag
        attribute = self.renderer.names(version, definition)[name]
        return lambda source: getattr(source, attribute)

    def _inside(self, name: str) -> Closure:
        """A lifted property: absent where an object on the way to it is."""
        place = Place(self.shape.version, name)
        holders, attribute = way_to(self.renderer, self.lineage, place, self.shape)
        way = [each.attribute for each in holders]

        def read(source: Any) -> Any:
            for each in way:
                source = getattr(source, each)
                if source is ABSENT or source is None:
                    return ABSENT
            return getattr(source, attribute)

        return read

    def _change(self, inner: Closure, step: Any) -> Closure:
        change = self.steps.closure(step)
        if isinstance(step, MapText):
            return lambda source: change(inner(source))

        def changed(source: Any) -> Any:
            value = inner(source)
            return ABSENT if value is ABSENT else change(value)

        return changed

    def _hook_output(self, value: HookOutput) -> Closure:
        """What a hook writes to one property."""
        place = value.output
        hook, outputs = self._called_hook(value.call)
        made = self.steps.type_at(place, Shape("api", place.version))
        change = None if value.step is None else self.steps.closure(value.step)

        def output(source: Any) -> Any:
            found = outputs(source)
            if place.property not in found:
                return ABSENT
            typed = hook.typed(found[place.property], made, place.property, source)
            return typed if change is None else change(typed)

        return output

    def _called_hook(self, call: HookCall) -> tuple[LiveHook, Closure]:
        """A hook, and what it returns for an object; it is called once for all that it writes of one."""
        known = self._hooks.get((call, self.shape))
        if known is not None:
            return known
        hook = LiveHook(hook_key(self.lineage, call), self.steps.hooks)
        how = ByHook(call.use, call.method, call.between, call.up)
        writes = frozenset(x.output.property for x in self.lineage.hooks if x.how == how)
        inputs = [(place.property, self.closure(x)) for place, x in call.inputs if x is not None]
        more = len(call.inputs) > 1
        beside = METADATA if more and any(map(self.lineage.is_metadata, dict(call.inputs))) else ""
        last: list[Any] = [None, None]

        def outputs(source: Any) -> Any:
            if last[0] is not source:
                values = {name: value(source) for name, value in inputs}
                last[:] = source, hook.outputs(values, writes, source, beside)
            return last[1]

        self._hooks[call, self.shape] = hook, outputs
        return hook, outputs

    def _first(self, options: tuple[Expression, ...]) -> Closure:
        """The first option that is there; an entry is there even where it says that the value is absent."""
        tried: list[tuple[Closure, Any]] = []
        for each in options[:-1]:
            if isinstance(each, Unstash):
                asked = self._unstash(each.entries, each.witness)
                tried.append((_asking(asked), MISSING))
            else:
                tried.append((self.closure(each), ABSENT))
        last = self.closure(options[-1])

        def first(source: Any) -> Any:
            for option, missing in tried:
                value = option(source)
                if value is not missing:
                    return value
            return last(source)

        return first

    def _keep_places(self, value: KeepPlaces) -> Closure:
        derived, kept = self.closure(value.value), self.entries(value.entries)
        view = self.steps.closure(value.hidden)

        def hidden(each: Any) -> bool:
            return view(each) is ABSENT

        if value.entries[0].place.property != ADDITIONAL:
            return lambda source: keep_places(source, kept, derived(source), hidden)

        def members(source: Any) -> Any:
            found = derived(source)
            return keep_places(source, kept, {} if found is ABSENT else found, hidden) or ABSENT

        return members

    def _solid(self, value: Solid) -> Closure:
        holder, leaves = self.closure(value.holder), self._leaves(value.place, value.leaves)
        if value.value == value.holder:
            return lambda source: stripped(holder(source), *leaves)
        derived = self.closure(value.value)
        return lambda source: solid(holder(source), derived(source), *leaves)

    def _leaves(self, place: Place, leaves: tuple[Leaf, ...]) -> list[Any]:
        names = self.renderer.names(place.version, held_object(self.lineage, place))
        return [
            (names[each.name], *self._leaves(each.place, each.leaves))
            if each.leaves
            else names[each.name]
            for each in leaves
        ]

    def _unstash(self, entries: tuple[PlannedEntry, ...], witness: Witness | None) -> Any:
        return self.entries(entries), self.witness(witness, self.shape)

    def _entry(self, each: PlannedEntry) -> BagEntry[Any]:
        place = each.place
        read = self.steps.type_at(place, Shape("storage", place.version))
        if self.lineage.nullable(place) and not isinstance(self.lineage.type(place), Nullable):
            read = read | None
        change = None if each.step is None else self.steps.closure(each.step)
        return BagEntry(place.property, place.version.text, read, change)


def _asking(asked: Any) -> Closure:
    return lambda source: unstash(source, *asked)


def attribute_tag(renderer: Any, lineage: Lineage, version: Any) -> str:
    """The text that distinguishes a variant of a union, in a storage shape."""
    return str(renderer.tag(StorageNode(lineage, version), lineage.definition(version)))
