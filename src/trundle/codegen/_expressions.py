"""Rendering a plan's expressions and changes of value."""

import json
import keyword
import re
from collections.abc import Callable, Mapping
from typing import Any, assert_never

from trundle import runtime
from trundle.codegen._cases import case_test, in_order, joined
from trundle.codegen._classes import ClassPath, StorageNode
from trundle.codegen._hooks import record_name
from trundle.codegen._lifted import class_at, held_object, holder_literal, way_to
from trundle.codegen._naming import attribute_name
from trundle.codegen._needs import asks_base
from trundle.codegen._text import (
    Helper,
    call,
    class_mark,
    function_mark,
    hook_mark,
    part_mark,
    text_literal,
    tuple_literal,
)
from trundle.codegen._types import TypeRenderer
from trundle.evolution import ADDITIONAL, Lineage, Place, PlanKey, Shape, default_of
from trundle.evolution.steps import (
    CallConverter,
    CallScalar,
    Cases,
    Chain,
    Change,
    Entry,
    Expression,
    First,
    Fit,
    FromFreeForm,
    Hidden,
    HookCall,
    HookOutput,
    Items,
    KeepElements,
    KeepPlaces,
    Listed,
    MapText,
    NotNull,
    Optional,
    Presence,
    Read,
    Refill,
    Said,
    Single,
    Solid,
    ToEnum,
    ToFreeForm,
    ToList,
    ToMap,
    ToObject,
    Unstash,
    Values,
    ValueStep,
    Witness,
    may_lack,
)
from trundle.schema import ABSENT, ListOf, MapOf, Nullable, Ref, Type

_INDENT = "    "
_TAKEN = frozenset(
    {"base", "first", "item", "kept", "made", "member", "msgspec", "name", "read", "record"}
    | {
        "source",
        "stored",
        "target",
        "value",
        "version",
        "isinstance",
        "bool",
        "dict",
        "float",
        "int",
        "list",
        "str",
    }
    | {"frozenset", "tuple", "zip", *runtime.__all__}
)
"""Names that a variable of generated code must not hide."""
_HELPER = re.compile(r"_(derived|entries|hidden|holders|values|variant|witness)(_\d+)?$")
"""What the names of helpers end with."""


class Expressions:
    """Renders the expressions of one plan.

    Statements gather in `lines`; functions and constants beside the plan's function gather in `helpers`.

    Args:
        types: the classes that are read and made.
        key: the plan.
        calls: the plans that are called, with their numbers; grows.
        wants_base: the plans whose functions take the stored object.
        class_of: the class of a shape of a plan's lineage.
    """

    def __init__(
        self,
        types: TypeRenderer,
        key: PlanKey,
        calls: dict[PlanKey, int],
        wants_base: frozenset[PlanKey],
        class_of: Callable[[PlanKey, Shape], ClassPath],
    ) -> None:
        self.types = types
        self.key = key
        self.calls = calls
        self.wants_base = wants_base
        self.class_of = class_of
        self.prelude: list[str] = []
        self.lines: list[str] = []
        self.helpers: list[Helper] = []
        self.indent = _INDENT
        self._variables: set[str] = set()
        self._made: dict[str, str] = {}
        self._hook_calls: dict[HookCall, str] = {}
        self._base: str | None = None
        self._hint = "value"
        self._stored = key.target

    # Variables and helpers

    def variable(self, value: str, hint: str) -> str:
        """The value as something cheap to name twice: itself, or a new variable."""
        if value.replace(".", "").replace("_", "").isalnum():
            return value
        name = self._fresh(hint)
        self.lines.append(f"{self.indent}{name}: Any = {value}\n")
        return name

    def missing(self, hint: str) -> str:
        """A variable for a required value that nothing tells, which its type does not provide for."""
        name = self._fresh(hint)
        self.lines.append(f"{self.indent}{name}: Any = ABSENT\n")
        return name

    def _fresh(self, hint: str) -> str:
        plain = hint.strip("_") or "value"
        plain = f"{plain}_value" if _HELPER.search(plain) else plain
        name, number = plain, 2
        while name in self._variables or name in _TAKEN or keyword.iskeyword(name):
            name, number = f"{plain}_{number}", number + 1
        self._variables.add(name)
        return name

    def helper(self, hint: str, text: str) -> str:
        """A function or constant of the plan's own; the same text gives the same helper."""
        if text not in self._made:
            self._made[text] = part_mark(len(self.helpers))
            self.helpers.append(Helper(hint, text))
        return self._made[text]

    def literal(self, value: Any, place: Place, lineage: Lineage | None = None) -> str:
        """Plain JSON as a Python expression of the type at a place of a lineage, else of the plan's own."""
        if isinstance(value, str):
            return text_literal(value)
        if isinstance(value, bool | int | float | None):
            return repr(value)
        data = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
        raw = f"FreeForm(b{text_literal(data)})"
        lineage = lineage or self.key.lineage
        storage = self.key.target.kind == "storage"
        annotation = self.types.annotation_at(lineage, place, lineage.type(place), storage=storage)
        if not value and isinstance(_bare(lineage.type(place)), ListOf | MapOf):
            return data
        return raw if annotation == "FreeForm" else f"from_free_form({raw}, {annotation})"

    def _annotation(self, place: Place, shape: Shape, type_: Type | None = None) -> str:
        return self.types.annotation_at(
            self.key.lineage,
            place,
            self.key.lineage.type(place) if type_ is None else type_,
            storage=shape.kind == "storage",
        )

    # Expressions

    def render(self, value: Expression, source: str, hint: str) -> str:
        """An expression as Python, with the statements that it needs before it."""
        match value:
            case Read(name):
                return self._read(name, source)
            case Change(inner, step):
                return self._change(inner, step, source, hint)
            case Unstash():
                return call("recall", self._unstash(value, source, hint))
            case HookOutput():
                return self._hook_output(value, source, hint)
            case Hidden(inner):
                return self._hidden(inner, hint)
            case First(options):
                return self._first(options, source, hint)
            case KeepPlaces(inner, entries, step):
                told = self.variable(self.render(inner, source, hint), hint)
                hidden = f"lambda each: ({self._nested(step, 'each')}) is ABSENT"
                if entries[0].place.property != ADDITIONAL:
                    return call("keep_places", [source, self.entries(entries, hint), told, hidden])
                told = f"{{}} if {told} is ABSENT else {told}"  # that map is there without members
                kept = call("keep_places", [source, self.entries(entries, hint), told, hidden])
                return f"{kept} or ABSENT"
            case Refill(inner, entries, seen):
                told = self.render(inner, source, hint)
                view = f"lambda value: {self._nested(seen, 'value')}"
                return call("refill", [source, self.entries(entries, hint), told, view])
            case KeepElements(inner, entries, seen, keyed):
                told = self.render(inner, source, hint)
                view = f"lambda value: {self._nested(seen, 'value')}"
                arguments = [source, self.entries(entries, hint), told, view]
                return call("keep_elements", [*arguments, *self._key_and_value(keyed)])
            case Presence(inner):
                return f"presence({self.render(inner, source, hint)})"
            case Solid():
                return self._solid(value, source, hint)
            case Said(said, inner, place, shape):
                told = self.variable(self.render(inner, source, hint), hint)
                found = call("unstash", self._unstash(said, source, f"{hint}_presence"))
                made = class_mark(class_at(self.types, self.key.lineage, place, shape))
                shown = self.shown_anyhow(place, shape)
                return call("said", [found, told, made, *([shown] if shown else [])])
            case _:
                assert_never(value)

    def _read(self, name: str, source: str) -> str:
        shape = self._shape(source)
        if name in self.key.lineage.lifted(shape.version):
            place = Place(shape.version, name)
            holders, attribute = way_to(self.types, self.key.lineage, place, shape)
            way = (*(each.attribute for each in holders), attribute)
            return call("inside", [source, *map(text_literal, way)])
        definition = self.key.lineage.definition(shape.version)
        implied = self.key.lineage.implied(shape.version)
        if name == ADDITIONAL:
            if not implied:
                return f"{source}.additional_properties"
            names = tuple_literal(map(text_literal, implied))
            told = self.helper("implied", f"\x04 = {names}\n")
            return f"other_members({source}.additional_properties, {told})"
        if name in implied:
            return f"take_named({source}.additional_properties, {text_literal(name)})"
        if name == definition.tag:
            return text_literal(
                self.types.tag(StorageNode(self.key.lineage, shape.version), definition)
            )
        return f"{source}.{self.types.names(shape.version, definition)[name]}"

    def _solid(self, value: Solid, source: str, hint: str) -> str:
        """An object as far as it is one; who writes over a stored object learns what was made of it anyhow."""
        holder = self.variable(self.render(value.holder, source, hint), hint)
        told = holder if value.value == value.holder else self.render(value.value, source, hint)
        names = self.types.names(value.place.version, held_object(self.key.lineage, value.place))
        leaves = [text_literal(names[each]) for each in value.leaves]
        ends = source, self.key.source.kind, self.key.target.kind
        solid = "solid_or_marked" if ends == ("read", "api", "storage") else "solid"
        return call(solid, [holder, told, *leaves])

    def shown_anyhow(self, place: Place, shape: Shape) -> str:
        """What an API object that is made at a place shows of the properties that it requires, if anything."""
        lineage = self.key.lineage
        if shape.kind == "storage":
            return ""
        (key,) = lineage.evolution.objects_in(place.version, lineage.type(place))
        child, version = lineage.child(place, key), place.version
        definition = child.definition(version)
        names = self.types.names(version, definition)
        changes = lineage.evolution.changes(version, definition.name)
        shown = []
        for name in child.names(version):
            default = default_of(child, Place(version, name), changes)
            if default is not ABSENT and name in names:
                literal = self.literal(default, Place(version, name), child)
                shown.append(f"{text_literal(names[name])}: {literal}")
        return f"{{{', '.join(shown)}}}" if shown else ""

    def way(self, place: Place, hint: str) -> tuple[str, str]:
        """The nested objects of the target that hold a lifted property, and its attribute in the last."""
        holders, attribute = way_to(self.types, self.key.lineage, place, self.key.target)
        shown = [self.shown_anyhow(each.place, self.key.target) for each in holders]
        text = tuple_literal(map(holder_literal, holders, shown))
        known = self.helper(f"{hint}_holders", f"\x04 = {text}\n")
        return known, text_literal(attribute)

    def _shape(self, source: str) -> Shape:
        """The shape of the object that expressions read: the plan's source, or a stored object."""
        return self.key.source if source == "read" else self._stored

    def _change(self, inner: Expression, step: ValueStep, source: str, hint: str) -> str:
        if isinstance(inner, Read) and source == "read":
            self._base = self._base_of(step, hint)
        told = self.render(inner, source, hint)
        self._hint = attribute_name(inner.property) if isinstance(inner, Read) else hint
        if isinstance(step, MapText):
            self._base = None
            return self.step(step, told)
        value = self.variable(told, hint)
        changed = self.step(step, value)
        self._base = None
        return f"ABSENT if {value} is ABSENT else {changed}"

    def _base_of(self, step: ValueStep, hint: str) -> str | None:
        """What the stored object has at the place that is assigned; only where a hook may ask."""
        if self.key not in self.wants_base:
            return None
        definition = self.key.lineage.definition(self.key.target.version)
        names = set(self.types.names(self.key.target.version, definition).values())
        del step
        return f"within(base, {text_literal(hint)})" if hint in names else None

    def _first(self, options: tuple[Expression, ...], source: str, hint: str) -> str:
        name = self._fresh(hint)
        for place, option in enumerate(options):
            last = place == len(options) - 1
            bag = isinstance(option, Unstash)
            rendered = (
                call("unstash", self._unstash(option, source, hint))
                if isinstance(option, Unstash)
                else self.render(option, source, hint)
            )
            self.lines.append(f"{self.indent}{name}{': Any' if place == 0 else ''} = {rendered}\n")
            if not last:
                missing = "MISSING" if bag else "ABSENT"
                self.lines.append(f"{self.indent}if {name} is {missing}:\n")
                self.indent += _INDENT
        self.indent = self.indent[: len(self.indent) - len(_INDENT) * (len(options) - 1)]
        if isinstance(options[-1], Unstash):
            self.lines.append(f"{self.indent}if {name} is MISSING:\n")
            self.lines.append(f"{self.indent}{_INDENT}{name} = ABSENT\n")
        return name

    def _unstash(self, value: Unstash, source: str, hint: str) -> list[str]:
        arguments = [source, self.entries(value.entries, hint)]
        if value.witness is not None:
            arguments.append(self.witness(value.witness, hint, self._shape(source)))
        return arguments

    def entries(self, entries: tuple[Entry, ...], hint: str) -> str:
        """The name of a constant with entries of the bag."""
        told = tuple_literal(map(self._entry, entries))
        return self.helper(f"{hint.rstrip('_')}_entries", f"\x04 = {told}\n")

    def _entry(self, each: Entry) -> str:
        shape = Shape("storage", each.place.version)
        annotation = self._annotation(each.place, shape)
        lineage = self.key.lineage
        if lineage.nullable(each.place) and not isinstance(lineage.type(each.place), Nullable):
            annotation += " | None"
        parts = [text_literal(each.place.property), text_literal(each.place.version.text)]
        parts.append(annotation)
        if each.step is not None:
            self._hint = attribute_name(each.place.property)
            parts.append(f"lambda value: {self.step(each.step, 'value')}")
        return f"BagEntry({', '.join(parts)})"

    def witness(self, witness: Witness, hint: str, shape: Shape) -> str:
        """The name of a helper that tells what an entry accompanies in objects of a storage shape."""
        return self._told(tuple(witness.values), f"{hint.rstrip('_')}_witness", shape, many=True)

    def told(self, value: Expression, hint: str) -> str:
        """The name of a helper that tells an expression of an object of the target's shape."""
        return self._told((value,), hint, self.key.target, many=False)

    def _told(
        self, values: tuple[Expression | None, ...], hint: str, shape: Shape, *, many: bool
    ) -> str:
        before, self._stored = self._stored, shape
        lines, indent, variables = self.lines, self.indent, self._variables
        self.lines, self.indent, self._variables = [], _INDENT, set()
        rendered = [
            "ABSENT" if value is None else self.render(value, "stored", "value") for value in values
        ]
        result = tuple_literal(rendered) if many else rendered[0]
        body = "".join(self.lines) + f"    return {result}\n"
        self.lines, self.indent, self._variables = lines, indent, variables
        self._stored = before
        return self.helper(hint, f"def \x04(stored: Any) -> Any:\n{body}")

    def _hidden(self, inner: Expression, hint: str) -> str:
        name = self._told((inner,), f"{hint.rstrip('_')}_hidden", self.key.target, many=False)
        return f"ABSENT if base is None else {name}(base)"

    # Hooks

    def _hook_output(self, value: HookOutput, source: str, hint: str) -> str:
        outputs = self._hook_call(value.call, source)
        lineage = self.key.lineage
        definition = lineage.definition(value.output.version)
        attribute = self.types.names(value.output.version, definition)[value.output.property]
        told = f"{outputs}.get({text_literal(attribute)}, ABSENT)"
        if value.step is None:
            return told
        told = self.variable(told, hint)
        return f"ABSENT if {told} is ABSENT else {self.step(value.step, told)}"

    def _hook_call(self, hook: HookCall, source: str) -> str:
        """An expression for a hook's outputs; a call is made once, when it is first needed."""
        function = self._hook_function(hook, source)
        made = f"{function}({source}{', base' if self._asks_base(hook) else ''})"
        if source != "read":
            return made
        known = self._hook_calls.get(hook)
        if known is None:
            known = self._hook_calls[hook] = self._fresh(f"{hook.method}_outputs")
            if self.indent == _INDENT:
                self.lines.append(f"{self.indent}{known} = {made}\n")
                return known
            self.prelude.append(f"{_INDENT}{known}: Any = None\n")
        elif not any(line.startswith(f"{_INDENT}{known}: Any = None") for line in self.prelude):
            return known
        self.lines.append(f"{self.indent}if {known} is None:\n")
        self.lines.append(f"{self.indent}{_INDENT}{known} = {made}\n")
        return known

    @staticmethod
    def _asks_base(hook: HookCall) -> bool:
        return any(value is not None and asks_base(value) for _, value in hook.inputs)

    def _hook_function(self, hook: HookCall, source: str) -> str:
        lines, indent, variables = self.lines, self.indent, self._variables
        self.lines, self.indent, self._variables = [], _INDENT, set()
        lineage = self.key.lineage
        version = hook.inputs[0][0].version
        names = self.types.names(version, lineage.definition(version))
        members = [
            f"{names[place.property]}={self.render(value, source, names[place.property])}"
            for place, value in hook.inputs
            if value is not None
        ]
        type_name = lineage.definition(hook.between.older).name
        module = self.types.hook_modules[hook.between, type_name]
        record = ClassPath(module, record_name(type_name, older=hook.up))
        body = "".join(self.lines)
        body += call(class_mark(record), members, f"{_INDENT}record = ")
        writes = sorted(
            each.output.property for each in lineage.hooks if each.how == self._how(hook)
        )
        target = hook.between.newer if hook.up else hook.between.older
        written = self.types.names(target, lineage.definition(target))
        frozen = ", ".join(text_literal(written[name]) for name in writes)
        arguments = [
            text_literal(f"{hook.use}.{hook.method}"),
            f"{hook_mark(hook.use)}.{hook.method}",
            "record",
            f"frozenset({{{frozen}}})",
            class_mark(ClassPath(module, record_name(type_name, older=not hook.up))),
            text_literal(str(hook.between)),
            source,
        ]
        body += "\n" + call("call_hook", arguments, f"{_INDENT}return ") + "\n"
        self.lines, self.indent, self._variables = lines, indent, variables
        extra = ", base: Any" if self._asks_base(hook) else ""
        text = f"def \x04({source}: Any{extra}) -> Mapping[str, Any]:\n{body}"
        return self.helper(hook.method, text)

    @staticmethod
    def _how(hook: HookCall) -> Any:
        from trundle.evolution import ByHook  # noqa: PLC0415

        return ByHook(hook.use, hook.method, hook.between, hook.up)

    # Changes of value

    def step(self, step: ValueStep, value: str) -> str:  # noqa: C901 - one arm a record
        """A change of value as a Python expression over a name."""
        match step:
            case ToObject(plan):
                return self._to_object(plan, value)
            case Items(item):
                return self._items(item, value)
            case Values(inner):
                changed = self._nested(inner, "member")
                if may_lack(inner):
                    return f"present_members((name, {changed}) for name, member in {value}.items())"
                return f"{{name: {changed} for name, member in {value}.items()}}"
            case Optional(inner):
                return f"(None if {value} is None else {self.step(inner, value)})"
            case NotNull(inner):
                changed = value if inner is None else self.step(inner, value)
                return f"(ABSENT if {value} is None else {changed})"
            case Cases():
                return f"{self._cases(step)}({value})"
            case Listed(inner):
                return f"Wrapped([{value if inner is None else self._nested(inner, value)}])"
            case Single(inner):
                if inner is None:
                    return f"single({value})"
                return f"through(single({value}), lambda first: {self._nested(inner, 'first')})"
            case ToList() | ToMap():
                return self._keyed(step, value)
            case ToFreeForm():
                return f"to_free_form({value})"
            case FromFreeForm(place, type_, shape):
                return f"from_free_form({value}, {self._annotation(place, shape, type_)})"
            case Fit(kinds):
                return call("fit", [value, *map(text_literal, kinds)])
            case ToEnum(values, partly):
                named = {"values": values, **({"doubtful": partly} if partly else {})}
                tables = [self._table(each, _own_spellings(named[each])) for each in named]
                return call("to_enum", [value, *tables])
            case MapText(values):
                return f"map_text({value}, {self._table('values', dict(values))})"
            case CallScalar(name, property_, integer, version):
                arguments = [text_literal(name), value, text_literal(property_)]
                arguments += ["integer=True"] if integer else []
                arguments += [f"version={text_literal(version)}"] if version else []
                return call("convert_scalar", arguments)
            case CallConverter(use, method, between):
                arguments = [
                    text_literal(f"{use}.{method}"),
                    f"{hook_mark(use)}.{method}",
                    value,
                    text_literal(str(between)),
                    value,
                ]
                return call("call_converter", arguments)
            case Chain(steps):
                parts = [f"lambda value: {self._nested(each, 'value')}" for each in steps]
                return call("through", [value, *parts])
            case _:
                assert_never(step)

    def _keyed(self, step: ToList | ToMap, value: str) -> str:
        members = self._key_and_value(step)
        if isinstance(step, ToMap):
            return call("to_map", [value, *members])
        class_ = self._annotation(step.place, step.shape, Ref(self._element(step)))
        return call("to_list", [value, class_, *members])

    def _key_and_value(self, step: ToList | ToMap) -> list[str]:
        """The attributes of a list's elements that have a map's key and, if there is one, its value."""
        schema = self.key.lineage.evolution.schema(step.place.version)
        names = self.types.names(step.shape.version, schema.object(self._element(step)))
        return [text_literal(names[each]) for each in (step.key, step.value) if each]

    def _element(self, step: ToList | ToMap) -> str:
        lineage = self.key.lineage
        (key,) = lineage.evolution.objects_in(step.place.version, lineage.type(step.place))
        return key

    def _nested(self, step: ValueStep, value: str) -> str:
        """A step within a list, map or lambda, where no base lines up."""
        base, self._base = self._base, None
        rendered = self.step(step, value)
        self._base = base
        return rendered

    def _table(self, hint: str, values: Mapping[str, str]) -> str:
        members = ", ".join(
            f"{text_literal(one)}: {text_literal(other)}" for one, other in sorted(values.items())
        )
        if len(values) == 1:
            return f"{{{members}}}"
        return self.helper(self._hinted(hint), f"\x04: dict[str, str] = {{{members}}}\n")

    def _hinted(self, what: str) -> str:
        """What a helper's name ends with: the attribute that is made, and what the helper is to it."""
        return f"{self._hint.strip('_') or 'value'}_{what}"

    def function(self, plan: PlanKey) -> str:
        """A mark for the function of another plan."""
        return function_mark(self.calls.setdefault(plan, len(self.calls)))

    def _to_object(self, plan: PlanKey, value: str) -> str:
        extra = f", {self._base}" if plan in self.wants_base else ""
        return f"{self.function(plan)}({value}{extra})"

    def _items(self, item: ValueStep, value: str) -> str:
        if self._base is not None and isinstance(item, ToObject) and item.plan in self.wants_base:
            plan = item.plan
            view = PlanKey(plan.lineage, plan.target, plan.source)
            aligned = f"aligned({value}, {self._base}, {self.function(view)})"
            converted = f"{self.function(plan)}(item, kept)"
            return f"[{converted} for item, kept in zip({value}, {aligned}, strict=True)]"
        changed = self._nested(item, "item")
        if may_lack(item):
            return f"present({changed} for item in {value})"
        return f"[{changed} for item in {value}]"

    def _cases(self, step: Cases) -> str:
        tried = []
        for each in in_order(step.cases):
            test = case_test(self.types, self.key.lineage, each, step)
            changed = "value" if each.step is None else self._nested(each.step, "value")
            tried.append((test, "ABSENT" if each.lacking else changed))
        body = "".join(
            f"    if {test}:\n        return {result}\n" for test, result in joined(tried)
        )
        return self.helper(
            self._hinted("variant"), f"def \x04(value: Any) -> Any:\n{body}    return ABSENT\n"
        )


def _own_spellings(values: tuple[str, ...]) -> Mapping[str, str]:
    """How an enum spells texts, by their case-folded form; what it spells in two ways stays either way."""
    own: dict[str, str] = {}
    twice: set[str] = set()
    for each in values:
        if own.setdefault(each.casefold(), each) != each:
            twice.update((own[each.casefold()], each))
    return {**own, **{each: each for each in sorted(twice)}}


def _bare(type_: Type) -> Type:
    return type_.inner if isinstance(type_, Nullable) else type_
