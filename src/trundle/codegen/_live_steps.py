"""Changes of value as closures: what `_steps.py` renders as Python, made at once."""

from collections.abc import Callable
from typing import Any, TypeAlias, assert_never

from trundle.codegen._cases import in_order
from trundle.codegen._lifted import element_key, held_object
from trundle.codegen._live_classes import LiveClasses
from trundle.codegen._live_hooks import Hooks, LiveHook, hook_key
from trundle.codegen._steps import own_spellings
from trundle.evolution import Place, PlanKey, Shape
from trundle.evolution.steps import (
    CallConverter,
    CallScalar,
    Case,
    Cases,
    Chain,
    Elsewhere,
    Fit,
    FromFreeForm,
    Items,
    KnownPart,
    Listed,
    MapText,
    NotNull,
    Optional,
    Single,
    ToEnum,
    ToFreeForm,
    ToList,
    ToMap,
    ToObject,
    Values,
    ValueStep,
    may_lack,
)
from trundle.runtime import (
    ABSENT,
    Wrapped,
    convert_each,
    convert_scalar,
    fit,
    from_free_form,
    has_text,
    known_part,
    map_text,
    member_path,
    present,
    present_members,
    single,
    through,
    to_enum,
    to_free_form,
    to_list,
    to_map,
)
from trundle.schema import EnumType, ListOf, MapOf, Ref, Scalar, Type

Closure: TypeAlias = Callable[[Any], Any]
"""Takes an object or a value, and gives what becomes of it."""

_TESTS: dict[str, Closure] = {
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
}


class LiveSteps:
    """Makes closures of the changes of value of one plan.

    Args:
        classes: the classes that are read and made.
        key: the plan.
        function: gives the function of another plan; it is called when the value is.
        hooks: gives what is called for hooks.
    """

    def __init__(
        self,
        classes: LiveClasses,
        key: PlanKey,
        function: Callable[[PlanKey], Closure],
        hooks: Hooks,
    ) -> None:
        self.classes = classes
        self.key = key
        self.hooks = hooks
        self._function = function

    def closure(self, step: ValueStep) -> Closure:  # noqa: C901 - one arm a record
        """A change of value as a function."""
        match step:
            case ToObject(plan):
                return self._later(plan)
            case Items(item):
                change = self.closure(item)
                if may_lack(item):
                    return lambda value: present(map(change, value), value)
                return lambda value: convert_each(change, value)
            case Values(inner):
                return self._values(inner)
            case Optional(inner):
                change = self.closure(inner)
                return lambda value: None if value is None else change(value)
            case NotNull(inner):
                change = self._or_same(inner)
                return lambda value: ABSENT if value is None else change(value)
            case Cases():
                return self._cases(step)
            case Listed(inner):
                change = self._or_same(inner)
                return lambda value: through(change(value), lambda only: Wrapped([only]))
            case Single(inner):
                change = self._or_same(inner)
                return lambda value: through(single(value), change)
            case ToList():
                return self._to_list(step)
            case ToMap():
                members = self.key_and_value(step)
                return lambda value: to_map(value, *members)
            case ToFreeForm(elsewhere):
                moved = self._attributes(elsewhere)
                return lambda value: to_free_form(value, *moved)
            case FromFreeForm() | KnownPart():
                reading = from_free_form if isinstance(step, FromFreeForm) else known_part
                type_ = self.type_at(step.place, step.shape, step.type)
                moved = self._attributes(step.elsewhere)
                return lambda value: reading(value, type_, *moved)
            case Fit(kinds):
                return lambda value: fit(value, *kinds)
            case ToEnum(values, partly):
                own = own_spellings(values)
                doubtful = own_spellings(partly) if partly else None
                return lambda value: to_enum(value, own, doubtful)
            case MapText(values):
                table = dict(values)
                return lambda value: map_text(value, table)
            case CallScalar(name, property_, integer, version):
                named: dict[str, Any] = {"integer": True} if integer else {}
                named |= {"version": version} if version else {}
                return lambda value: convert_scalar(name, value, property_, **named)
            case CallConverter():
                return self._converter(step)
            case Chain(steps):
                changes = [self.closure(each) for each in steps]
                return lambda value: through(value, *changes)
            case _:
                assert_never(step)

    def _to_list(self, step: ToList) -> Closure:
        """Elements with keys out of a map."""
        members = self.key_and_value(step)
        element = Ref(element_key(self.key.lineage, step.place))
        class_ = self.type_at(step.place, step.shape, element)
        return lambda value: to_list(value, class_, *members)

    def _converter(self, step: CallConverter) -> Closure:
        """The call of a hook for one property."""
        lineage = self.key.lineage
        hook = LiveHook(hook_key(lineage, step), self.hooks)
        made = self.type_at(step.output, Shape("api", step.output.version))
        path = member_path("$", step.input.property) if lineage.is_root else None
        return lambda value: hook.converted(value, made, path)

    def type_at(self, place: Place, shape: Shape, type_: Type | None = None) -> Any:
        """The type at a place in some shape, or another type there."""
        lineage = self.key.lineage
        found = lineage.type(place) if type_ is None else type_
        return self.classes.at(lineage, place, found, storage=shape.kind == "storage")

    def key_and_value(self, step: ToList | ToMap) -> list[str]:
        """The attributes of a list's elements that have a map's key and, if there is one, its value."""
        evolution, version = self.key.lineage.evolution, step.place.version
        definition = evolution.schema(version).object(element_key(self.key.lineage, step.place))
        names = self.classes.renderer.names(version, definition)
        return [names[each] for each in (step.key, step.value) if each]

    def _later(self, plan: PlanKey) -> Closure:
        """The function of another plan, which may be this one again."""

        def convert(value: Any) -> Any:
            return self._function(plan)(value)

        return convert

    def _attributes(self, elsewhere: Elsewhere | None) -> list[str]:
        """The attributes of a nested object that free-form data has in other places."""
        if elsewhere is None:
            return []
        place = elsewhere.place
        names = self.classes.renderer.names(place.version, held_object(self.key.lineage, place))
        return [names[each] for each in elsewhere.names]

    def _or_same(self, step: ValueStep | None) -> Closure:
        return (lambda value: value) if step is None else self.closure(step)

    def _values(self, inner: ValueStep) -> Closure:
        change = self.closure(inner)
        if may_lack(inner):
            return lambda value: present_members(
                (name, change(each)) for name, each in value.items()
            )
        return lambda value: {name: change(each) for name, each in value.items()}

    def _cases(self, step: Cases) -> Closure:
        tried = [
            (self._test(each, step), None if each.lacking else self._or_same(each.step))
            for each in in_order(step.cases)
        ]

        def change(value: Any) -> Any:
            for test, changed in tried:
                if test(value):
                    return ABSENT if changed is None else changed(value)
            return ABSENT

        return change

    def _test(self, case: Case, step: Cases) -> Closure:
        match case.variant:
            case Ref(key):
                evolution = self.key.lineage.evolution
                found = evolution.schema(step.place.version).definitions[key]
                if isinstance(found, EnumType):
                    return _TESTS[found.kind]
                class_ = self.type_at(step.place, step.source, case.variant)
                if case.discriminator is None:
                    return lambda value: isinstance(value, class_)
                name, texts = case.discriminator
                definition = evolution.schema(step.source.version).object(key)
                attribute = self.classes.renderer.names(step.source.version, definition)[name]
                return lambda value: (
                    isinstance(value, class_) and has_text(getattr(value, attribute), *texts)
                )
            case Scalar(kind):
                return _TESTS[kind]
            case ListOf():
                return lambda value: isinstance(value, list)
            case MapOf():
                return lambda value: isinstance(value, dict)
            case _:
                return lambda _: True
