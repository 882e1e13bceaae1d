"""Rendering changes of value: each step as a Python expression over a name."""

from collections.abc import Mapping
from typing import assert_never

from trundle.codegen._cases import case_test, in_order, joined
from trundle.codegen._hooks import hook_import
from trundle.codegen._lifted import element_key, held_object
from trundle.codegen._plan_names import direction
from trundle.codegen._statements import Statements
from trundle.codegen._static_types import StaticTypes, shown, united
from trundle.codegen._text import call, function_mark, hook_mark, text_literal
from trundle.codegen._types import TypeRenderer
from trundle.evolution import Place, PlanKey, Shape
from trundle.evolution.steps import (
    CallConverter,
    CallScalar,
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
from trundle.schema import Ref, Type


class Steps:
    """Renders the changes of value of one plan.

    Args:
        types: the classes that are read and made.
        key: the plan.
        static: what a type checker knows of its expressions.
        statements: where helpers go.
        calls: the plans that are called, with their numbers; grows.
        wants_base: the plans whose functions take the stored object.

    Attributes:
        hint: the attribute that is changed, for the names of helpers.
        placing: whether lists keep the places of their elements in a stored list that another conversion leaves elements
            out of.
    """

    def __init__(
        self,
        types: TypeRenderer,
        key: PlanKey,
        static: StaticTypes,
        statements: Statements,
        calls: dict[PlanKey, int],
        wants_base: frozenset[PlanKey],
    ) -> None:
        self.types = types
        self.key = key
        self.static = static
        self.statements = statements
        self.calls = calls
        self.wants_base = wants_base
        self.hint = "value"
        self.placing = False

    def render(self, step: ValueStep, value: str, base: str | None = None) -> str:  # noqa: C901 - one arm a record
        """A change of value as a Python expression over a name.

        Args:
            step: the change.
            value: the name of what goes through it.
            base: what the stored object that is written over has there, for the functions that take it.
        """
        match step:
            case ToObject(plan):
                return self._to_object(plan, value, base)
            case Items(item):
                return self._items(item, value, base)
            case Values(inner):
                changed = self.render(inner, "member")
                if may_lack(inner):
                    return f"present_members((name, {changed}) for name, member in {value}.items())"
                return f"{{name: {changed} for name, member in {value}.items()}}"
            case Optional(inner):
                return f"(None if {value} is None else {self.render(inner, value, base)})"
            case NotNull(inner):
                changed = value if inner is None else self.render(inner, value, base)
                return f"(ABSENT if {value} is None else {changed})"
            case Cases():
                return f"{self._cases(step)}({value})"
            case Listed(inner):
                return self._listed(step, value if inner is None else self.render(inner, value))
            case Single(inner):
                if inner is None:
                    return f"single({value})"
                return f"through(single({value}), lambda first: {self.render(inner, 'first')})"
            case ToList() | ToMap():
                return self._keyed(step, value)
            case ToFreeForm(elsewhere):
                return call("to_free_form", [value, *self._attributes(elsewhere)])
            case FromFreeForm() | KnownPart():
                read = "from_free_form" if isinstance(step, FromFreeForm) else "known_part"
                type_ = self.annotation(step.place, step.shape, step.type)
                return call(read, [value, type_, *self._attributes(step.elsewhere)])
            case Fit(kinds):
                return call("fit", [value, *map(text_literal, kinds)])
            case ToEnum(values, partly):
                named = {"values": values, **({"doubtful": partly} if partly else {})}
                tables = [self._table(each, own_spellings(named[each])) for each in named]
                return call("to_enum", [value, *tables])
            case MapText(values):
                return f"map_text({value}, {self._table('values', dict(values))})"
            case CallScalar():
                return self._scalar(step, value)
            case CallConverter():
                return self._converter(step, value)
            case Chain(steps):
                parts = [f"lambda value: {self.render(each, 'value')}" for each in steps]
                return call("through", [value, *parts])
            case _:
                assert_never(step)

    @staticmethod
    def _listed(step: Listed, only: str) -> str:
        if may_lack(step):
            return f"through({only}, lambda only: Wrapped([only]))"
        return f"Wrapped([{only}])"

    def _to_object(self, plan: PlanKey, value: str, base: str | None) -> str:
        extra = f", {base}" if plan in self.wants_base else ""
        return f"{self._function(plan)}({value}{extra})"

    def _items(self, item: ValueStep, value: str, base: str | None) -> str:
        if base is not None and isinstance(item, ToObject) and item.plan in self.wants_base:
            plan = item.plan
            view = PlanKey(plan.lineage, plan.target, plan.source)
            aligned = f"aligned({value}, {base}, {self._function(view)})"
            converted = f"{self._function(plan)}(item, kept)"
            return f"[{converted} for item, kept in zip({value}, {aligned}, strict=True)]"
        changed = self.render(item, "item")
        if may_lack(item):
            kept = f"({changed} for item in {value}), {value}"
            named = value.replace(".", "").isidentifier()
            return f"present({kept if named else f'{changed} for item in {value}'})"
        if not self.placing:
            return f"[{changed} for item in {value}]"
        function = changed.removesuffix("(item)")
        plain = "(" not in function and function != changed
        return call("convert_each", [function if plain else f"lambda item: {changed}", value])

    def _cases(self, step: Cases) -> str:
        tried = []
        for each in in_order(step.cases):
            test = case_test(self.types, self.key.lineage, each, step)
            changed = "value" if each.step is None else self.render(each.step, "value")
            tried.append((test, "ABSENT" if each.lacking else changed))
        *before, final = joined(tried) or [("", "")]
        body = "".join(f"    if {test}:\n        return {result}\n" for test, result in before)
        given = shown(united(*(self.static.variant(step, each.variant) for each in step.cases)))
        made = self.static.of_cases(step)
        last = "ABSENT" if made is None or "Absent" in made else "LACKING"
        test, result = final
        if test:  # In a statement of its own, what comes last would be unreachable where classes leave nothing else.
            last = f"{result} if {test} else {last}"
        return self.statements.helper(
            self._hinted(direction(self.key)),
            f"def \x04(value: {given}) -> {shown(made)}:\n{body}    return {last}\n",
        )

    @staticmethod
    def _scalar(step: CallScalar, value: str) -> str:
        arguments = [text_literal(step.name), value, text_literal(step.property)]
        arguments += ["integer=True"] if step.integer else []
        arguments += [f"version={text_literal(step.version)}"] if step.version else []
        return call("convert_scalar", arguments)

    def _converter(self, step: CallConverter, value: str) -> str:
        name = f"{step.use}.{step.method}"
        type_name = self.key.lineage.definition(step.between.older).name
        method = f"{hook_mark(hook_import(step.use, step.between, type_name))}.{step.method}"
        between = text_literal(str(step.between))
        made = self.annotation(step.output, Shape("api", step.output.version))
        arguments = [text_literal(name), method, value, between, value, f"made={made}"]
        return call("call_converter", arguments)

    def _keyed(self, step: ToList | ToMap, value: str) -> str:
        members = self.key_and_value(step)
        if isinstance(step, ToMap):
            return call("to_map", [value, *members])
        class_ = self.annotation(
            step.place, step.shape, Ref(element_key(self.key.lineage, step.place))
        )
        return call("to_list", [value, class_, *members])

    def key_and_value(self, step: ToList | ToMap) -> list[str]:
        """The attributes of a list's elements that have a map's key and, if there is one, its value."""
        schema = self.key.lineage.evolution.schema(step.place.version)
        names = self.types.names(
            step.shape.version, schema.object(element_key(self.key.lineage, step.place))
        )
        return [text_literal(names[each]) for each in (step.key, step.value) if each]

    def _attributes(self, elsewhere: Elsewhere | None) -> list[str]:
        """The attributes of a nested object that free-form data has in other places."""
        if elsewhere is None:
            return []
        place = elsewhere.place
        names = self.types.names(place.version, held_object(self.key.lineage, place))
        return [text_literal(names[each]) for each in elsewhere.names]

    def _table(self, hint: str, values: Mapping[str, str]) -> str:
        members = ", ".join(
            f"{text_literal(one)}: {text_literal(other)}" for one, other in sorted(values.items())
        )
        if len(values) == 1:
            return f"{{{members}}}"
        return self.statements.helper(self._hinted(hint), f"\x04: dict[str, str] = {{{members}}}\n")

    def _hinted(self, what: str) -> str:
        """What a helper's name ends with: the attribute that is made, and what the helper is to it."""
        return f"{self.hint.strip('_') or 'value'}_{what}"

    def _function(self, plan: PlanKey) -> str:
        """A mark for the function of another plan."""
        return function_mark(self.calls.setdefault(plan, len(self.calls)))

    def annotation(self, place: Place, shape: Shape, type_: Type | None = None) -> str:
        """The type at a place in some shape, or another type there, as an annotation."""
        return self.types.annotation_at(
            self.key.lineage,
            place,
            self.key.lineage.type(place) if type_ is None else type_,
            storage=shape.kind == "storage",
        )


def own_spellings(values: tuple[str, ...]) -> Mapping[str, str]:
    """How an enum spells texts, by their case-folded form; what it spells in two ways stays either way."""
    own: dict[str, str] = {}
    twice: set[str] = set()
    for each in values:
        if own.setdefault(each.casefold(), each) != each:
            twice.update((own[each.casefold()], each))
    return {**own, **{each: each for each in sorted(twice)}}
