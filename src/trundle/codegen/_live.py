"""Conversions of stored objects that run from plans as closures: no source is made, and none is run.

`_function_body.py` renders the statements of a plan's function; here they are closures over the same records, with the same
functions of `runtime`. What is decided stands in the plan.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from trundle.codegen._blueprint import storage_nodes
from trundle.codegen._classes import Classes
from trundle.codegen._function_body import asks_bag
from trundle.codegen._lifted import way_to
from trundle.codegen._live_classes import LiveClasses
from trundle.codegen._live_expressions import LiveExpressions
from trundle.codegen._live_hooks import Hooks, no_hooks
from trundle.codegen._live_steps import Closure, LiveSteps
from trundle.codegen._needed_plans import with_called
from trundle.codegen._plan_names import attribute_of
from trundle.codegen._types import TypeRenderer
from trundle.evolution import ADDITIONAL, METADATA, Evolution, Place, Plan, PlanKey
from trundle.evolution.steps import Assign, Read, Said, Stash
from trundle.runtime import (
    ABSENT,
    Carried,
    carry,
    if_whole,
    is_there,
    opened,
    settle,
    stash,
    with_named,
)
from trundle.schema import ABSENT as NO_DEFAULT
from trundle.schema import Nullable


class LiveConversions:
    """Conversions of objects, without a generated package.

    Args:
        evolution: the versions, with configured changes.
        keys: the plans that are wanted; those that they call come along.
        hooks: gives what is called for the hooks of the evolution.

    Raises:
        ChangeError: a configured change does not fit the schemas, or a plan calls a hook and there are none.
    """

    def __init__(
        self, evolution: Evolution, keys: Iterable[PlanKey], hooks: Hooks = no_hooks
    ) -> None:
        self.hooks = hooks
        self.plans: Mapping[PlanKey, Plan] = with_called(keys)
        classes = Classes(evolution, evolution.served(None), storage_nodes(self.plans))
        self.classes = LiveClasses(TypeRenderer(classes))
        self._functions: dict[PlanKey, Closure] = {}
        for key in self.plans:
            self.function(key)

    def function(self, key: PlanKey) -> Closure:
        """What converts an object of a plan's source to its target."""
        found = self._functions.get(key)
        if found is None:
            found = self._functions[key] = _LiveFunction(self, self.plans[key]).closure()
        return found

    def source(self, key: PlanKey) -> Any:
        """The class of the objects that a plan converts, a `msgspec.Struct`."""
        shape = key.source
        classes = self.classes.renderer.classes
        if shape.kind == "storage":
            return self.classes[classes.storage(key.lineage, shape.version)]
        node = key.lineage.nodes[shape.version]
        return self.classes[classes.api(shape.version, node, root=key.lineage.is_root)]

    def target(self, key: PlanKey) -> Any:
        """The class of the objects that a plan makes."""
        return self.source(PlanKey(key.lineage, key.target, key.source))


class _LiveFunction:
    """The function of one plan."""

    def __init__(self, conversions: LiveConversions, plan: Plan) -> None:
        self.plan = plan
        self.key = plan.key
        self.lineage = plan.key.lineage
        self.classes = conversions.classes
        self.made = conversions.target(plan.key)
        steps = LiveSteps(self.classes, plan.key, conversions.function, conversions.hooks)
        self.expressions = LiveExpressions(self.classes, plan.key, steps)
        version = self.key.target.version
        self.definition = self.lineage.definition(version)
        self.names = self.classes.renderer.names(version, self.definition)
        self.paths = self.lineage.lifted(version)

    def closure(self) -> Closure:
        assigns = [each for each in self.plan.steps if isinstance(each, Assign)]
        plain = [each for each in assigns if each.property not in self.paths]
        members = [self._member(each) for each in plain if each.property != self.definition.tag]
        inside = [each for each in assigns if each.property in self.paths]
        after = [self._put_inside(each) for each in inside]
        after += [self._show_inside(each) for each in inside if each.default is not NO_DEFAULT]
        after += self._stashes()
        after += self._carry()
        made, lacking = self.made, self.classes.required[self.made]
        implied = {ADDITIONAL, *self.lineage.implied(self.key.target.version)}
        gathers = len(implied) > 1
        in_order = gathers and bool(implied & {*self.lineage.implied(self.key.source.version)})
        shared = self._shared()

        def convert(source: Any) -> Any:
            found = dict(lacking)
            others: dict[str, Any] = {}
            for name, attribute, value in members:
                if gathers and name in implied:
                    others[name] = value(source)
                else:
                    found[attribute] = value(source)
            if others:
                rest = others.pop(ADDITIONAL)
                like = source.additional_properties if in_order else ABSENT
                found["additional_properties"] = with_named(rest, *others.items(), like=like)
            for name, kept in shared.items():
                found[name] = getattr(source, kept) if kept else self.key.source.version.text
            target = made(**found)
            for put in after:
                put(source, target)
            return target

        return convert

    def _shared(self) -> dict[str, str]:
        """What each object takes over as it is: by attribute that of the source; empty for its version."""
        found = {"unknown": "unknown"}
        fields = self.made.__struct_fields__
        if METADATA in fields and METADATA in self.lineage.envelope and self.lineage.is_root:
            found[METADATA] = METADATA
        if self.lineage.is_root and self.key.target.kind == "storage":
            found["written_with"] = "written_with" if self.key.source.kind == "storage" else ""
        return found

    def _attribute(self, name: str) -> str:
        if name == ADDITIONAL:
            return "additional_properties"
        return self.names.get(name) or attribute_of(name)

    def _member(self, step: Assign) -> tuple[str, str, Closure]:
        """A property of the target: its name, its attribute, and what it becomes."""
        name, value = step.property, self._assigned(step)
        if name == ADDITIONAL and not isinstance(step.value, Read):
            return name, self._attribute(name), lambda source: value(source) or ABSENT
        return name, self._attribute(name), value

    def _assigned(self, step: Assign, default: Any = None) -> Closure:
        place = Place(self.key.target.version, step.property)
        default = step.default if default is None else default
        literal = ABSENT if default is NO_DEFAULT else self.expressions.literal(step.default, place)
        if step.value is None:
            return lambda _: if_whole(literal)
        value = self.expressions.closure(step.value)
        says_null = isinstance(step.value, Said) and not self.lineage.admits_null(place)
        null = (
            (self.key.target.kind == "api" or says_null)
            and self.lineage.nullable(place)
            and not isinstance(self.lineage.type(place), Nullable)
        )
        if literal is ABSENT and not null:
            return value

        def assigned(source: Any) -> Any:
            found = value(source)
            return if_whole(literal) if found is ABSENT or (null and found is None) else found

        return assigned

    def _put_inside(self, step: Assign) -> Any:
        """Puts a value into a nested object, making all on the way that is not there."""
        value = self._assigned(step, NO_DEFAULT)
        way, attribute = self._way(step)
        over = self.key.target.kind == "storage"

        def put(source: Any, target: Any) -> None:
            found = value(source)
            if found is ABSENT:
                return
            around = target
            for name, class_, shown in way:
                inner = opened(getattr(around, name), class_, shown, over=over)
                setattr(around, name, inner)
                around = inner
            setattr(around, attribute, found)

        return put

    def _show_inside(self, step: Assign) -> Any:
        """Has a nested object that is there show what it requires, where nothing was put into it."""
        way, attribute = self._way(step)
        place = Place(self.key.target.version, step.property)
        literal = self.expressions.literal(step.default, place)

        def show(_: Any, target: Any) -> None:
            if not _all_there(target, way):
                return
            around = target
            for name, class_, _ in way:
                inner = opened(getattr(around, name), class_)
                setattr(around, name, inner)
                around = inner
            if getattr(around, attribute) is ABSENT:
                setattr(around, attribute, if_whole(literal))

        return show

    def _way(self, step: Assign) -> tuple[list[Any], str]:
        """The nested objects around a property: their attributes, classes and what they show anyhow; and its attribute."""
        place = Place(self.key.target.version, step.property)
        holders, attribute = way_to(self.classes.renderer, self.lineage, place, self.key.target)
        way = [
            (
                each.attribute,
                self.classes[each.class_],
                self.expressions.shown_anyhow(each.place, self.key.target) or None,
            )
            for each in holders
        ]
        return way, attribute

    def _stashes(self) -> list[Any]:
        stashes = [each for each in self.plan.steps if isinstance(each, Stash)]
        found = [self._stash(each) for each in stashes]
        kinds = {self.key.source.kind, self.key.target.kind}
        if kinds != {"storage"} and len(stashes) > 1 and any(asks_bag(x.witness) for x in stashes):
            found.append(lambda _, target: settle(target))
        return found

    def _stash(self, step: Stash) -> Any:
        target = self.key.target
        value = self.expressions.closure(step.value)
        place = (step.entry.property, step.entry.version.text)
        options: dict[str, Any] = {"witness": self.expressions.witness(step.witness, target)}
        if step.derived is not None:
            options["derived"] = self.expressions.of(step.derived, target)
        if any(each.step is not None for each in step.aliases):
            options["aliases"] = self.expressions.entries(step.aliases)
        else:
            options["aliases"] = _entry_keys(each.place for each in step.aliases)
        if step.holder is not None:
            options["holder"] = self.lineage.path(step.holder)
            options["own"] = step.own
        return lambda source, made: stash(made, place, value(source), **options)

    def _carry(self) -> list[Any]:
        """Lets the other entries of a bag travel on."""
        if {self.key.source.kind, self.key.target.kind} != {"storage"}:
            return []
        consumed = _entry_keys(self.plan.consumed)
        carried = tuple(
            Carried(
                _entry_keys(each.places),
                self.expressions.witness(each.before, self.key.source),
                self.expressions.witness(each.after, self.key.target),
                each.same,
            )
            for each in self.plan.carried
        )
        return [lambda source, target: carry(target, source, consumed, carried)]


def _all_there(target: Any, way: list[Any]) -> bool:
    for name, *_ in way:
        target = getattr(target, name)
        if not is_there(target):
            return False
    return True


def _entry_keys(places: Iterable[Place]) -> tuple[tuple[str, str], ...]:
    return tuple((each.property, each.version.text) for each in places)
