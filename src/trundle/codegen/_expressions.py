"""Rendering a plan's expressions: what an object is read for, and what is made of it."""

from collections.abc import Callable
from typing import NamedTuple, assert_never

from trundle.codegen._classes import ClassPath, StorageNode
from trundle.codegen._entries import Entries
from trundle.codegen._hook_calls import HookCalls
from trundle.codegen._lifted import attribute_at, class_at, held_object, way_to
from trundle.codegen._literals import Literals
from trundle.codegen._naming import attribute_name
from trundle.codegen._plan_names import about, attribute_of
from trundle.codegen._statements import INDENT, Statements
from trundle.codegen._static_types import (
    ANY,
    OR_ABSENT,
    Static,
    StaticTypes,
    fits,
    fitted,
    merged,
    shown,
    united,
)
from trundle.codegen._steps import Steps
from trundle.codegen._text import call, class_mark, text_literal, tuple_literal, type_mark
from trundle.codegen._types import TypeRenderer
from trundle.evolution import (
    ADDITIONAL,
    METADATA,
    Label,
    Place,
    PlanKey,
    Shape,
    changes_in,
    changes_within,
    expressions_in,
)
from trundle.evolution.steps import (
    Change,
    Expression,
    First,
    Hidden,
    HookOutput,
    HookRefill,
    Items,
    KeepElements,
    KeepPlaces,
    Leaf,
    MapText,
    Presence,
    Read,
    Refill,
    Said,
    Solid,
    Unstash,
    ValueStep,
    Witness,
    may_lack,
)
from trundle.version import ApiVersion

_LONG = 40
"""How long the names of properties may be that a helper's name lists."""


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

    Statements, and functions and constants beside the plan's function, gather in `statements`.

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
        self.wants_base = wants_base
        self.class_of = class_of
        self.static = StaticTypes(types, key, class_of)
        self.literals = Literals(types, key)
        self.statements = Statements()
        self.steps = Steps(types, key, self.static, self.statements, calls, wants_base)
        self.entries = Entries(key.lineage, self.static, self.statements, self.steps)
        self.hooks = HookCalls(types, key, class_of, self.statements, self._input)
        self.shape = key.source
        """What the object is shaped like that expressions read: the source, or in a helper a stored object."""
        self._witnesses: dict[tuple[Witness, Shape], str] = {}

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
            case KeepPlaces():
                return self._keep_places(value, source, hint)
            case Refill(inner, entries, seen):
                derived = self.render(inner, source, hint)
                view = f"lambda value: {self.steps.render(seen, 'value')}"
                return call("refill", [source, self.entries.constant(entries, hint), derived, view])
            case HookRefill(inner, entries, before, witness):
                derived = self.render(inner, source, hint)
                made = self._evaluator((before,), f"{hint.rstrip('_')}_before", self.shape)
                asked = [self.entries.constant(entries, hint), self.witness(witness, self.shape)]
                return call("refill_by_hook", [source, *asked, derived, made])
            case KeepElements(inner, entries, seen, keyed):
                derived = self.render(inner, source, hint)
                view = f"lambda value: {self.steps.render(seen, 'value')}"
                arguments = [source, self.entries.constant(entries, hint), derived, view]
                return call("keep_elements", [*arguments, *self.steps.key_and_value(keyed)])
            case Presence(inner, only_null):
                said = "null_presence" if only_null else "presence"
                return f"{said}({self.render(inner, source, hint)})"
            case Solid():
                return self._solid(value, source, hint)
            case Said(said, inner, place, shape):
                derived = self.statements.variable(self.render(inner, source, hint), hint)
                found = call("unstash", self._unstash(said, source, f"{hint}_presence"))
                made = class_mark(class_at(self.types, self.key.lineage, place, shape))
                shown = self.literals.shown_anyhow(place, shape)
                return call("said", [found, derived, made, *([shown] if shown else [])])
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
            implied_names = self.statements.helper("implied", f"\x04 = {names}\n")
            return f"other_members({source}.additional_properties, {implied_names})"
        if shape.kind == "api" and (label := self.key.lineage.label(Place(shape.version, name))):
            arguments = [f"{source}.{METADATA}", *map(text_literal, label), source]
            return call("read_label", arguments)
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
        holder = self.statements.variable(self.render(value.holder, source, hint), hint)
        leaves = self._leaves(value.place, value.leaves)
        if value.value == value.holder:
            return call("stripped", [holder, *leaves])
        derived = self.render(value.value, source, hint)
        written = source == "source" and self.key.target.kind == "storage"
        solid = "solid_or_marked" if written else "solid"
        return call(solid, [holder, derived, *leaves])

    def _leaves(self, place: Place, leaves: tuple[Leaf, ...]) -> list[str]:
        """The attributes of a nested object that are followed elsewhere, those of objects in it behind their names."""
        names = self.types.names(place.version, held_object(self.key.lineage, place))
        found = []
        for each in leaves:
            name = text_literal(names[each.name])
            inner = self._leaves(each.place, each.leaves) if each.leaves else []
            found.append(f"({', '.join([name, *inner])})" if inner else name)
        return found

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
        found = self.render(inner, source, hint)
        self.steps.hint = attribute_name(inner.property) if isinstance(inner, Read) else hint
        if isinstance(step, MapText):
            return found, "", self.steps.render(step, found)
        value = self.statements.variable(found, hint, self.static.of(inner, self.shape))
        whole = isinstance(inner, Read) and source == "source"
        self.steps.placing = self._is_placing(inner, step)
        changed = self.steps.render(step, value, self._base_of(hint) if whole else None)
        self.steps.placing = False
        return value, self.absent_test(inner), changed

    def _is_placing(self, inner: Expression, step: ValueStep) -> bool:
        """Whether what a writer sees of a list, or what that comes to in storage, may lack elements of the stored list."""
        if not any(isinstance(each, Items) for each in changes_within(step)):
            return False
        for each in expressions_in(inner):
            made = (*changes_in(each), step)
            lists = (one for found in made for one in changes_within(found))
            if any(isinstance(one, Items) and may_lack(one.item) for one in lists):
                return True
        if (self.key.source.kind, self.key.target.kind) != ("api", "storage"):
            return False
        lineage, version = self.key.lineage, self.shape.version
        reads = (each.property for each in expressions_in(inner) if isinstance(each, Read))
        return any(
            lineage.thread(Place(version, each)).number in lineage.deriving for each in reads
        )

    def _base_of(self, hint: str) -> str | None:
        """What the stored object has at the place that is assigned; only where a hook may ask."""
        if self.key not in self.wants_base:
            return None
        definition = self.key.lineage.definition(self.key.target.version)
        names = set(self.types.names(self.key.target.version, definition).values())
        return f"present_or_none(None if base is None else base.{hint})" if hint in names else None

    def _first(self, options: tuple[Expression, ...], source: str, hint: str) -> str:
        """The first option that is there, as a variable; each is only asked where those before are not."""
        lines, indent = self.statements.lines, self.statements.indent
        rendered: dict[str, _Option] = {}
        for option in options:
            self.statements.lines = []
            found = self._option(option, source, hint, last=option is options[-1])
            if found.text not in rendered:
                rendered[found.text] = found
                self.statements.indent += INDENT
        self.statements.lines, self.statements.indent = lines, indent
        tried = list(rendered.values())
        if len(tried) == 1:
            self.statements.lines.extend(tried[0].before)
            return tried[0].text
        name = self.statements.fresh(hint)
        annotation = self._type_of_first(tried)
        missing = ""
        for each in tried:
            at_once = each.only_if if missing not in {"", "MISSING"} else ""
            if missing:
                also = f" and {at_once}" if at_once else ""
                self.statements.lines.append(f"{indent}if {name} is {missing}{also}:\n")
                indent += INDENT
            self.statements.lines.extend(each.before)
            text = each.then if at_once else each.text
            self.statements.lines.append(f"{indent}{name}{annotation} = {text}\n")
            missing, annotation = each.missing, ""
        return name

    def _option(self, option: Expression, source: str, hint: str, *, last: bool) -> "_Option":
        """One of several options, which is asked where those before it are not there."""
        match option:
            case Unstash() if not last:
                text = call("unstash", self._unstash(option, source, hint))
                return _Option(option, self.statements.lines, text, text, "MISSING")
            case Change(Read() as inner, step) if last:
                value, test, changed = self._changing(inner, step, source, hint)
                text = f"{test} if {value} is {test} else {changed}" if test else changed
                only_if = f"{value} is not {test}" if test and not self.statements.lines else ""
                then = changed if only_if else text
                return _Option(option, self.statements.lines, text, then, "ABSENT", only_if)
            case _:
                text = self.render(option, source, hint)
                return _Option(option, self.statements.lines, text, text, self.absent_test(option))

    def _type_of_first(self, tried: list[_Option]) -> str:
        """The annotation of a variable for the first of some options, where a checker needs one."""
        found = [self.static.of(each.option, self.shape) for each in tried]
        missing: Static = ("Missing",) if tried[0].missing == "MISSING" else ()
        known = [each for each in found if each is not None]
        whole = merged(united(*known, OR_ABSENT, missing)) if known else ANY
        infers = fits(whole, united(found[0], missing)) and "present" not in tried[0].text
        return "" if found[0] is not None and infers else f": {shown(whole)}"

    def _unstash(self, value: Unstash, source: str, hint: str) -> list[str]:
        arguments = [source, self.entries.constant(value.entries, hint)]
        if value.witness is not None:
            arguments.append(self.witness(value.witness, self.shape))
        if value.stale:
            arguments.append("stale=True")
        return arguments

    def _keep_places(self, value: KeepPlaces, source: str, hint: str) -> str:
        derived = self.statements.variable(self.render(value.value, source, hint), hint)
        hidden = f"lambda each: ({self.steps.render(value.hidden, 'each')}) is ABSENT"
        is_additional = value.entries[0].place.property == ADDITIONAL
        if is_additional:  # That map is there without members.
            derived = f"{{}} if {derived} is ABSENT else {derived}"
        kept = call(
            "keep_places", [source, self.entries.constant(value.entries, hint), derived, hidden]
        )
        return f"{kept} or ABSENT" if is_additional else kept

    def _hidden(self, inner: Expression, hint: str) -> str:
        name = self._evaluator((inner,), f"{hint.rstrip('_')}_hidden", self.key.target)
        return f"ABSENT if base is None else {name}(base)"

    def _hook_output(self, value: HookOutput, source: str, hint: str) -> str:
        outputs = self.hooks.outputs(value.call, source, self.shape)
        attribute = attribute_at(self.types, self.key.lineage, value.output)
        derived = f"{outputs}.get({text_literal(attribute)}, ABSENT)"
        if self.static.hook_output(value.output) is None:
            derived = f"cast(Any, {derived})"  # what a hook returns as dictionaries is objects here
        if value.step is None:
            return derived
        derived = self.statements.variable(derived, hint)
        return f"ABSENT if {derived} is ABSENT else {self.steps.render(value.step, derived)}"

    def _input(self, place: Place, value: Expression, hint: str) -> str:
        """What a hook reads of a property, or of metadata."""
        if self.key.lineage.is_metadata(place):
            return f"plain_metadata({self.shared_metadata(place.version)})"
        wanted = united(self.static.written(Shape("api", place.version), place.property), OR_ABSENT)
        text = self.render(value, "source", hint)
        return fitted(text, self.static.of(value, self.shape), wanted)

    def labels(self, version: ApiVersion) -> tuple[Label, ...]:
        """The labels and annotations that documents of a version have for hooks."""
        lineage = self.key.lineage
        found = (lineage.label(Place(version, name)) for name in lineage.labels.get(version, ()))
        return tuple(each for each in found if each is not None)

    def shared_metadata(self, version: ApiVersion, base: str = "") -> str:
        """The metadata of the source without what it has under keys that hooks write."""
        labels = self.labels(version)
        if not labels:
            return f"source.{METADATA}"
        shown = tuple_literal(tuple_literal(map(text_literal, each)) for each in labels)
        return call("without_labels", [f"source.{METADATA}", shown, *([base] if base else [])])

    def witness(self, witness: Witness, shape: Shape) -> str:
        """The name of a helper that returns what an entry accompanies in objects of a storage shape."""
        known = self._witnesses.get((witness, shape))
        if known is None:  # what stands beside one entry may ask for what stands beside others
            places = [about(value) for value in witness.values if value is not None]
            names = "_and_".join(dict.fromkeys(map(attribute_of, places))) or "nothing"
            if len(names) > _LONG:
                names = f"{attribute_of(places[0])}_and_others"
            collected = "Widened" if witness.last_is_new else "tuple"
            known = self._evaluator(witness.values, f"{names}_witness", shape, collected)
            self._witnesses[witness, shape] = known
        return known

    def derived(self, value: Expression, hint: str) -> str:
        """The name of a helper that evaluates an expression of an object of the target's shape."""
        return self._evaluator((value,), hint, self.key.target)

    def _evaluator(
        self, values: tuple[Expression | None, ...], hint: str, shape: Shape, collected: str = ""
    ) -> str:
        """The name of a helper that evaluates expressions of an object of a shape.

        Args:
            values: the expressions; None for what is absent.
            hint: what its name begins with.
            shape: the shape.
            collected: the class of the tuple that it returns, `tuple` or `Widened`; empty for the value of the first alone.
        """
        before, self.shape = self.shape, shape
        with self.statements.apart() as lines:
            rendered = [
                "ABSENT"
                if value is None
                else self.render(value, "stored", attribute_of(about(value) or "value"))
                for value in values
            ]
        self.shape = before
        result = tuple_literal(rendered) if collected else rendered[0]
        if collected == "Widened":
            result = call(collected, [result])
        made = "tuple[object, ...]" if collected else shown(self.static.of(values[0], shape))
        body = "".join(lines) + f"    return {result}\n"
        stored = type_mark(self.class_of(self.key, shape))
        return self.statements.helper(hint, f"def \x04(stored: {stored}) -> {made}:\n{body}")

    def absent_test(self, value: Expression | None) -> str:
        """What an expression is compared with to see whether it is absent.

        A value of a type without `ABSENT` may be absent all the same, where nothing provided it.
        """
        given = self.static.of(value, self.shape)
        return "ABSENT" if given is None or "Absent" in given else "LACKING"
