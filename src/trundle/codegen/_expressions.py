"""Rendering a plan's expressions and changes of value."""

import json
import keyword
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, assert_never

from trundle import runtime
from trundle.codegen._cases import case_test, in_order, joined
from trundle.codegen._classes import ClassPath, StorageNode
from trundle.codegen._hooks import record_name
from trundle.codegen._lifted import attribute_at, class_at, held_object, way_to
from trundle.codegen._naming import attribute_name, shortened
from trundle.codegen._needs import asks_base
from trundle.codegen._static import (
    OR_ABSENT,
    Static,
    StaticTypes,
    fits,
    merged,
    shown,
    united,
    without,
)
from trundle.codegen._text import (
    Helper,
    as_types,
    call,
    class_mark,
    function_mark,
    hook_mark,
    part_mark,
    text_literal,
    tuple_literal,
    type_mark,
)
from trundle.codegen._types import TypeRenderer
from trundle.evolution import ADDITIONAL, Lineage, Place, PlanKey, Shape, default_of, snake
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
    {"base", "cast", "made", "msgspec", "source", "stored", "target", "version"}
    | {"bool", "dict", "float", "frozenset", "int", "isinstance", "list", "str", "tuple", "zip"}
    | {*runtime.__all__}
)
"""Names that a variable of generated code must not hide."""
_LONG = 40
"""How long the names of properties may be that a helper's name lists."""
_HELPER = re.compile(
    r"_(derived|entries|hidden|holders|values|to_storage|from_storage|upgrade|to_v\w+|witness)(_\d+)?$"
)
"""What the names of helpers end with."""


class _Option(NamedTuple):
    """A rendered option for a value.

    Attributes:
        option: the expression.
        before: the statements that it needs.
        text: the expression as Python.
        then: the same where `only_if` holds.
        missing: what it is where it is not there.
        only_if: a test without which it is absent.
    """

    option: Expression
    before: list[str]
    text: str
    then: str
    missing: str
    only_if: str = ""


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
        self._waiting: set[str] = set()
        """The outputs of hooks that are called when a value is first needed."""
        self._base: str | None = None
        self._hint = "value"
        self.static = StaticTypes(types, key, class_of)
        self.shape = key.source
        """What the object is shaped like that expressions read: the source, or in a helper a stored object."""

    # Variables and helpers

    def variable(self, value: str, hint: str, type_: Static = None) -> str:
        """The value as something cheap to name twice: itself, or a new variable."""
        if value.replace(".", "").replace("_", "").isalnum():
            return value
        name = self._fresh(hint)
        annotation = f": {shown(type_)}" if type_ is not None and "present" in value else ""
        self.lines.append(f"{self.indent}{name}{annotation} = {value}\n")
        return name

    def _fresh(self, hint: str) -> str:
        plain = hint.strip("_") or "value"
        if _HELPER.search(plain) or plain in _TAKEN or keyword.iskeyword(plain):
            plain = f"{plain}_value"
        name, number = plain, 2
        while name in self._variables or name in _TAKEN or keyword.iskeyword(name):
            name, number = f"{plain}_{number}", number + 1
        self._variables.add(name)
        return name

    def helper(self, hint: str, text: str) -> str:
        """A function or constant of the plan's own; the same text gives the same helper."""
        if text not in self._made:
            self._made[text] = part_mark(len(self.helpers))
            self.helpers.append(Helper(shortened(hint), text))
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

    def render(self, value: Expression, source: str, hint: str, instead: str | None = None) -> str:
        """An expression as Python, with the statements that it needs before it.

        Args:
            value: the expression.
            source: the name of the object that it reads.
            hint: the attribute that it is for.
            instead: what a value that goes through a step is where it is absent; None for absent.
        """
        match value:
            case Read(name):
                return self._read(name, source)
            case Change(inner, step):
                return self._change(inner, step, source, hint, instead)
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
        shape = self.shape
        if name in self.key.lineage.lifted(shape.version):
            return self._inside(name, source)
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

    def _inside(self, name: str, source: str) -> str:
        """A lifted property: absent where an object on the way to it is."""
        place = Place(self.shape.version, name)
        holders, attribute = way_to(self.types, self.key.lineage, place, self.shape)
        tests = []
        for holder in holders:
            given = self.static.field(holder.place.property, self.shape)
            source = f"{source}.{holder.attribute}"
            test = "ABSENT" if given is None or "Absent" in given else "LACKING"
            tests.append(f"{source} is {test}")
            if given is None or "None" in given:
                tests.append(f"{source} is None")
        return f"ABSENT if {' or '.join(tests)} else {source}.{attribute}"

    def _solid(self, value: Solid, source: str, hint: str) -> str:
        """An object as far as it is one; who writes over a stored object learns what was made of it anyhow."""
        holder = self.variable(self.render(value.holder, source, hint), hint)
        names = self.types.names(value.place.version, held_object(self.key.lineage, value.place))
        leaves = [text_literal(names[each]) for each in value.leaves]
        if value.value == value.holder:
            return call("stripped", [holder, *leaves])
        told = self.render(value.value, source, hint)
        ends = source, self.key.source.kind, self.key.target.kind
        solid = "solid_or_marked" if ends == ("source", "api", "storage") else "solid"
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

    def absent_test(self, value: Expression | None) -> str:
        """What an expression is compared with to see whether it is absent.

        A value of a type without `ABSENT` may be absent all the same, where nothing provided it.
        """
        given = self.static.of(value, self.shape)
        return "ABSENT" if given is None or "Absent" in given else "LACKING"

    def _change(
        self, inner: Expression, step: ValueStep, source: str, hint: str, instead: str | None
    ) -> str:
        value, test, changed = self._changing(inner, step, source, hint)
        return f"{instead or test} if {value} is {test} else {changed}" if test else changed

    def _changing(
        self, inner: Expression, step: ValueStep, source: str, hint: str
    ) -> tuple[str, str, str]:
        """A value that goes through a step: its name, what it is where it is absent, and what it becomes.

        The test is empty for a step that takes an absent value, too.
        """
        if isinstance(inner, Read) and source == "source":
            self._base = self._base_of(hint)
        told = self.render(inner, source, hint)
        self._hint = attribute_name(inner.property) if isinstance(inner, Read) else hint
        if isinstance(step, MapText):
            self._base = None
            return told, "", self.step(step, told)
        value = self.variable(told, hint, self.static.of(inner, self.shape))
        changed = self.step(step, value)
        self._base = None
        return value, self.absent_test(inner), changed

    def _base_of(self, hint: str) -> str | None:
        """What the stored object has at the place that is assigned; only where a hook may ask."""
        if self.key not in self.wants_base:
            return None
        definition = self.key.lineage.definition(self.key.target.version)
        names = set(self.types.names(self.key.target.version, definition).values())
        return f"present_or_none(None if base is None else base.{hint})" if hint in names else None

    def _first(self, options: tuple[Expression, ...], source: str, hint: str) -> str:
        """The first option that is there, as a variable; each is only asked where those before are not."""
        lines, indent = self.lines, self.indent
        rendered: dict[str, _Option] = {}
        for option in options:
            self.lines = []
            found = self._option(option, source, hint, last=option is options[-1])
            if found.text not in rendered:
                rendered[found.text] = found
                self.indent += _INDENT
        self.lines, self.indent = lines, indent
        tried = list(rendered.values())
        if len(tried) == 1:
            self.lines.extend(tried[0].before)
            return tried[0].text
        name = self._fresh(hint)
        annotation = self._type_of_first(tried)
        missing = ""
        for each in tried:
            at_once = each.only_if if missing not in {"", "MISSING"} else ""
            if missing:
                also = f" and {at_once}" if at_once else ""
                self.lines.append(f"{indent}if {name} is {missing}{also}:\n")
                indent += _INDENT
            self.lines.extend(each.before)
            text = each.then if at_once else each.text
            self.lines.append(f"{indent}{name}{annotation} = {text}\n")
            missing, annotation = each.missing, ""
        return name

    def _option(self, option: Expression, source: str, hint: str, *, last: bool) -> "_Option":
        """One of several options, which is asked where those before it are not there."""
        match option:
            case Unstash() if not last:
                text = call("unstash", self._unstash(option, source, hint))
                return _Option(option, self.lines, text, text, "MISSING")
            case Change(Read() as inner, step) if last:
                value, test, changed = self._changing(inner, step, source, hint)
                text = f"{test} if {value} is {test} else {changed}" if test else changed
                only_if = f"{value} is not {test}" if test and not self.lines else ""
                then = changed if only_if else text
                return _Option(option, self.lines, text, then, "ABSENT", only_if)
            case _:
                text = self.render(option, source, hint)
                return _Option(option, self.lines, text, text, self.absent_test(option))

    def _type_of_first(self, tried: list[_Option]) -> str:
        """The annotation of a variable for the first of some options, where a checker needs one."""
        found = [self.static.of(each.option, self.shape) for each in tried]
        missing: Static = ("Missing",) if tried[0].missing == "MISSING" else ()
        whole = merged(united(*(each for each in found if each is not None), OR_ABSENT, missing))
        infers = fits(whole, united(found[0], missing)) and "present" not in tried[0].text
        return "" if found[0] is not None and infers else f": {shown(whole)}"

    def _unstash(self, value: Unstash, source: str, hint: str) -> list[str]:
        arguments = [source, self.entries(value.entries, hint)]
        if value.witness is not None:
            arguments.append(self.witness(value.witness, self.shape))
        return arguments

    def entries(self, entries: tuple[Entry, ...], hint: str) -> str:
        """The name of a constant with entries of the bag."""
        told = tuple_literal(map(self._entry, entries))
        type_ = united(*(self.static.entry(each.place, each.step) for each in entries))
        annotation = f"tuple[BagEntry[{shown(without(type_, 'Absent'))}], ...]"
        return self.helper(f"{hint.rstrip('_')}_entries", f"\x04: {annotation} = {told}\n")

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

    def witness(self, witness: Witness, shape: Shape) -> str:
        """The name of a helper that tells what an entry accompanies in objects of a storage shape."""
        places = [about(value) for value in witness.values if value is not None]
        names = "_and_".join(dict.fromkeys(map(attribute_of, places))) or "nothing"
        if len(names) > _LONG:
            names = f"{attribute_of(places[0])}_and_others"
        return self._told(tuple(witness.values), f"{names}_witness", shape, many=True)

    def told(self, value: Expression, hint: str) -> str:
        """The name of a helper that tells an expression of an object of the target's shape."""
        return self._told((value,), hint, self.key.target, many=False)

    def _told(
        self, values: tuple[Expression | None, ...], hint: str, shape: Shape, *, many: bool
    ) -> str:
        before, self.shape = self.shape, shape
        lines, indent, variables = self.lines, self.indent, self._variables
        self.lines, self.indent, self._variables = [], _INDENT, set()
        rendered = [
            "ABSENT"
            if value is None
            else self.render(value, "stored", attribute_of(about(value) or "value"))
            for value in values
        ]
        result = tuple_literal(rendered) if many else rendered[0]
        made = "tuple[object, ...]" if many else shown(self.static.of(values[0], shape))
        body = "".join(self.lines) + f"    return {result}\n"
        self.lines, self.indent, self._variables = lines, indent, variables
        self.shape = before
        stored = type_mark(self.class_of(self.key, shape))
        return self.helper(hint, f"def \x04(stored: {stored}) -> {made}:\n{body}")

    def _hidden(self, inner: Expression, hint: str) -> str:
        name = self._told((inner,), f"{hint.rstrip('_')}_hidden", self.key.target, many=False)
        return f"ABSENT if base is None else {name}(base)"

    # Hooks

    def _hook_output(self, value: HookOutput, source: str, hint: str) -> str:
        outputs = self._hook_call(value.call, source)
        attribute = attribute_at(self.types, self.key.lineage, value.output)
        told = f"{outputs}.get({text_literal(attribute)}, ABSENT)"
        if self.static.hook_output(value.output) is None:
            told = f"cast(Any, {told})"  # what a hook returns as dictionaries is objects here
        if value.step is None:
            return told
        told = self.variable(told, hint)
        return f"ABSENT if {told} is ABSENT else {self.step(value.step, told)}"

    def fitted(self, text: str, given: Static, wanted: Static) -> str:
        """An expression that a type checker takes where another type is wanted than it sees."""
        return text if fits(given, wanted) else f"cast(Any, {text})"

    def _hook_call(self, hook: HookCall, source: str) -> str:
        """An expression for a hook's outputs; a call is made once, when it is first needed."""
        function = self._hook_function(hook)
        made = f"{function}({source}{', base' if self._asks_base(hook) else ''})"
        if source != "source":
            return made
        known = self._hook_calls.get(hook)
        if known is None:
            known = self._hook_calls[hook] = self._fresh(f"{hook.method}_outputs")
            if self.indent == _INDENT:
                self.lines.append(f"{self.indent}{known} = {made}\n")
                return known
            outputs = as_types(class_mark(self._record(hook, outputs=True)))
            self.prelude.append(f"{_INDENT}{known}: {outputs} | None = None\n")
            self._waiting.add(known)
        elif known not in self._waiting:
            return known
        self.lines.append(f"{self.indent}if {known} is None:\n")
        self.lines.append(f"{self.indent}{_INDENT}{known} = {made}\n")
        return known

    @staticmethod
    def _asks_base(hook: HookCall) -> bool:
        return any(value is not None and asks_base(value) for _, value in hook.inputs)

    def _record(self, hook: HookCall, *, outputs: bool = False, written: bool = False) -> ClassPath:
        """The class of a hook's record; of what it returns, or of the record of the side that it writes."""
        type_name = self.key.lineage.definition(hook.between.older).name
        module = self.types.hook_modules[hook.between, type_name]
        name = record_name(type_name, older=hook.up is not (outputs or written))
        return ClassPath(module, f"{name}Outputs" if outputs else name)

    def _hook_function(self, hook: HookCall) -> str:
        """The name of a helper that calls a hook with what it reads of an object."""
        lines, indent, variables = self.lines, self.indent, self._variables
        self.lines, self.indent, self._variables = [], _INDENT, set()
        lineage = self.key.lineage
        members = [
            f"{attribute}={self._input(place, value, attribute)}"
            for place, value in hook.inputs
            if value is not None
            for attribute in [attribute_at(self.types, lineage, place)]
        ]
        body = "".join(self.lines)
        body += call(class_mark(self._record(hook)), members, f"{_INDENT}record = ")
        writes = sorted(
            attribute_at(self.types, lineage, each.output)
            for each in lineage.hooks
            if each.how == self._how(hook)
        )
        frozen = ", ".join(map(text_literal, writes))
        arguments = [
            text_literal(f"{hook.use}.{hook.method}"),
            f"{hook_mark(hook.use)}.{hook.method}",
            "record",
            f"frozenset({{{frozen}}})",
            class_mark(self._record(hook, written=True)),
            text_literal(str(hook.between)),
            "source",
        ]
        outputs = as_types(class_mark(self._record(hook, outputs=True)))
        body += "\n" + call("call_hook", arguments, f"{_INDENT}outputs: {outputs} = ")
        body += f"\n{_INDENT}return outputs\n"
        self.lines, self.indent, self._variables = lines, indent, variables
        given = [f"source: {type_mark(self.class_of(self.key, self.shape))}"]
        if self._asks_base(hook):
            given.append(f"base: {type_mark(self.class_of(self.key, self.key.target))} | None")
        class_ = snake(hook.use.rpartition(":")[2].rpartition(".")[2])
        text = call("def \x04", given) + f" -> {outputs}:\n{body}"
        return self.helper(f"{class_}_{hook.method}", text)

    def _input(self, place: Place, value: Expression, hint: str) -> str:
        """What a hook reads of a property."""
        wanted = united(self.static.written(Shape("api", place.version), place.property), OR_ABSENT)
        text = self.render(value, "source", hint)
        return self.fitted(text, self.static.of(value, self.shape), wanted)

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
        given = shown(united(*(self.static.variant(step, each.variant) for each in step.cases)))
        made = self.static.of_cases(step)
        last = "ABSENT" if made is None or "Absent" in made else "LACKING"
        return self.helper(
            self._hinted(direction(self.key)),
            f"def \x04(value: {given}) -> {shown(made)}:\n{body}    return {last}\n",
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


def direction(key: PlanKey) -> str:
    """Where a plan leads, as names of its functions say it."""
    match key.source.kind, key.target.kind:
        case "api", "storage":
            return "to_storage"
        case "storage", "api":
            return "from_storage"
        case "storage", "storage":
            return "upgrade"
        case _:
            return f"to_{key.target.version.identifier}"


def about(value: Expression) -> str:
    """The property that an expression is about, for names."""
    match value:
        case Read(name):
            return name
        case Unstash(entries):
            return entries[0].place.property
        case HookOutput(output=place):
            return place.property
        case (
            Change(inner)
            | Hidden(inner)
            | KeepElements(inner)
            | KeepPlaces(inner)
            | Presence(inner)
            | Refill(inner)
            | Said(_, inner)
            | Solid(inner)
        ):
            return about(inner)
        case First(options):
            return about(options[0])
        case _:
            assert_never(value)


def attribute_of(name: str) -> str:
    """A property's name as part of a helper's name."""
    return "additional_properties" if name == ADDITIONAL else attribute_name(name).rstrip("_")
