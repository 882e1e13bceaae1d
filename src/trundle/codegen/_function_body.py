"""The statements of one function: what it reads, what it makes, and what it keeps in the bag."""

from collections.abc import Callable, Container, Iterator, Mapping

import msgspec

from trundle.codegen._classes import ApiNode, ClassPath, StorageNode
from trundle.codegen._entries import entry_literal
from trundle.codegen._expressions import Expressions
from trundle.codegen._lifted import way_to
from trundle.codegen._plan_names import attribute_of
from trundle.codegen._static_types import Static, fitted, without
from trundle.codegen._text import (
    call,
    class_mark,
    text_literal,
    tuple_literal,
    type_mark,
)
from trundle.codegen._types import TypeRenderer
from trundle.evolution import (
    ADDITIONAL,
    METADATA,
    Label,
    Place,
    Plan,
    PlanKey,
    Shape,
    calls_hook,
    expressions_in,
)
from trundle.evolution.steps import (
    Assign,
    Change,
    Expression,
    First,
    HookOutput,
    HookRefill,
    KeepElements,
    KeepPlaces,
    MapText,
    Read,
    Refill,
    Said,
    Stash,
    Step,
    Unstash,
    Watched,
    Witness,
)
from trundle.schema import ABSENT, Nullable


def _unstashed(step: Step) -> Unstash | None:
    """The entries that a step takes a value from before it asks anything else."""
    if not isinstance(step, Assign) or step.property == ADDITIONAL:
        return None
    value = step.value.options[0] if isinstance(step.value, First) else step.value
    return value if isinstance(value, Unstash) else None


class FunctionBody:
    """Renders the signature and the statements of a plan's function.

    Args:
        types: the classes that functions read and make.
        plan: the plan.
        calls: takes the plans that the function calls, with their numbers.
        wants_base: the plans whose functions take the stored object that they write over.
        class_of: the class of a shape of a plan's lineage.
    """

    def __init__(
        self,
        types: TypeRenderer,
        plan: Plan,
        calls: dict[PlanKey, int],
        wants_base: frozenset[PlanKey],
        class_of: Callable[[PlanKey, Shape], ClassPath],
    ) -> None:
        self.types = types
        self.plan = plan
        self.key = plan.key
        self.wants_base = wants_base
        self.class_of = class_of
        self.definition = self.key.lineage.definition(self.key.target.version)
        self.names = self.types.names(self.key.target.version, self.definition)
        self.expressions = Expressions(types, self.key, calls, wants_base, class_of)
        self.statements = self.expressions.statements

    def head(self, source: ClassPath, target: ClassPath) -> str:
        """The function's signature, which says all that there is to say."""
        arguments = [f"source: {type_mark(source)}"]
        if self.key in self.wants_base:
            base = self.class_of(self.key, self.key.target)
            arguments.append(f"base: {type_mark(base)} | None")
        return call("def \x03", arguments) + f" -> {type_mark(target)}:\n"

    def render(self) -> str:
        """The function's statements."""
        target = self.class_of(self.key, self.key.target)
        members = list(self._members())
        lifted = list(self._lifted())
        lines = [*self.statements.prelude, *self.statements.lines]
        self.statements.prelude.clear()
        self.statements.lines.clear()
        stashes = [step for step in self.plan.steps if isinstance(step, Stash)]
        carried = {"storage"} == {self.key.source.kind, self.key.target.kind}
        keep = bool(stashes) or bool(lifted) or carried or bool(self.plan.watched)
        before = "    target = " if keep else "    return "
        body = call(class_mark(target), members, before) + "\n" + "".join(lifted)
        for each in stashes:
            self._stash(each)
        for watched in self.plan.watched:
            self._watch(watched)
        tail = "".join([*self.statements.prelude, *self.statements.lines])
        if carried:
            tail += self._carry()
        elif len(stashes) > 1 and any(asks_bag(step.witness) for step in stashes):
            tail += "    settle(target)\n"
        if keep:
            tail += "    return target\n"
        return "".join(lines) + body + tail + self._bagged()

    def _bagged(self) -> str:
        """The table of what an API object takes from the bag: by attribute the entries, and their witness.

        It is a function, as modules of conversions may import each other.
        """
        if (self.key.source.kind, self.key.target.kind) != ("storage", "api"):
            return ""
        found = {}
        for step in self.plan.steps:
            unstash = _unstashed(step)
            if unstash is not None and isinstance(step, Assign):
                hint = self._attribute(step.property)
                entries = self.expressions.entries.constant(unstash.entries, hint)
                witness = self._witness(unstash.witness, self.key.source)
                found[hint] = f"({entries}, {witness})"
        if not found:
            return ""
        members = ", ".join(f"{text_literal(name)}: {each}" for name, each in found.items())
        head = "def \x03_bag() -> Mapping[str, tuple[object, object]]:\n"
        doc = '    """By attribute: the entries that may have it, and what they accompany."""\n'
        return f"\n\n{head}{doc}    return {{{members}}}\n"

    def _carry(self) -> str:
        """The statement that lets the other entries of a bag travel on."""
        arguments = ["target", "source"]
        arguments.append(tuple_literal(entry_literal(place) for place in self.plan.consumed))
        carried = []
        for each in self.plan.carried:
            places = tuple_literal(entry_literal(place) for place in each.places)
            before = self._witness(each.before, self.key.source)
            after = self._witness(each.after, self.key.target)
            carried.append(call("Carried", [places, before, after, str(each.same)]))
        if carried:
            arguments.append(tuple_literal(carried))
        return call("carry", arguments, "    ") + "\n"

    def _witness(self, witness: Witness | None, shape: Shape) -> str:
        return "None" if witness is None else self.expressions.witness(witness, shape)

    def _members(self) -> Iterator[str]:
        implied = set(self.key.lineage.implied(self.key.target.version))
        given = self.key.lineage.given
        others: dict[str, str] = {}
        labels: dict[Label, str] = {}
        hooked = any(_calls_own_hook(each) for each in self._assigns)
        for step in self._assigns:
            if step.property == self.definition.tag or step.property in self._paths:
                continue
            value = self._assigned(step)
            if hooked and not _calls_own_hook(step):
                value = self.statements.variable(value, self._attribute(step.property))
            label = self.key.lineage.label(Place(self.key.target.version, step.property))
            if self.key.target.kind == "api" and label is not None:
                labels[label] = value
                continue
            if implied and step.property in {ADDITIONAL, *implied}:
                others[step.property] = value
            elif value != "ABSENT" or self._required(step.property):
                if step.property == ADDITIONAL and not value.startswith("source."):
                    value = value if value.isidentifier() else f"({value})"
                    value += " or ABSENT"  # no document distinguishes an empty map from none
                yield f"{self._attribute(step.property)}={value}"
        if METADATA in self.types.envelope(self._node(self.key.source)):
            yield f"metadata={self._metadata(labels)}"
        for name in self.definition.properties:
            if Place(self.key.target.version, name.name) in given and self._required(name.name):
                yield f"{self._attribute(name.name)}=LACKING"
        if self._stored_root():
            version = text_literal(self.key.source.version.text)
            kept = self.key.source.kind == "storage"
            yield f"written_with={'source.written_with' if kept else version}"
        if others:
            yield f"additional_properties={self._additional(others)}"
        yield "unknown=source.unknown"

    def _additional(self, others: dict[str, str]) -> str:
        """The target's additional properties, in the order of the source's as far as these have them."""
        rest = others.pop(ADDITIONAL)
        named = {name: value for name, value in others.items() if value != "ABSENT"}
        if not named:
            return rest
        arguments = [rest, *(f"({text_literal(name)}, {value})" for name, value in named.items())]
        if named.keys() & {*self.key.lineage.implied(self.key.source.version)}:
            arguments.append("like=source.additional_properties")
        return call("with_named", arguments)

    def _metadata(self, labels: Mapping[Label, str]) -> str:
        """The target's metadata: the source's, but for labels and annotations that stand for properties."""
        over = self.key in self.wants_base
        base = f"None if base is None else base.{METADATA}" if over else ""
        found = f"source.{METADATA}"
        if self.key.source.kind == "api":
            found = self.expressions.shared_metadata(self.key.source.version, base)
        if not labels:
            return found
        shown = (
            tuple_literal([*map(text_literal, label), value])
            for label, value in sorted(labels.items())
        )
        return call("with_labels", [found, tuple_literal(shown)])

    @property
    def _assigns(self) -> list[Assign]:
        """What the target gets: the type's own hook runs last, after nested objects with hooks of their own."""
        assigns = [step for step in self.plan.steps if isinstance(step, Assign)]
        return sorted(assigns, key=_calls_own_hook)

    @property
    def _paths(self) -> Container[str]:
        """The lifted properties of the target, which are in its nested objects."""
        return self.key.lineage.lifted(self.key.target.version)

    def _lifted(self) -> Iterator[str]:
        """The statements that put lifted properties into the target's nested objects.

        What these show for requiring it comes last, when all are there that anything is put into.
        """
        instead = []
        for step in self._assigns:
            if step.property not in self._paths:
                continue
            value = self._assigned(msgspec.structs.replace(step, default=ABSENT))
            if value != "ABSENT":
                value = self.statements.variable(value, self._attribute(step.property))
                yield self._put_inside(step, value)
            if step.default is not ABSENT:
                instead.append(self._shown_inside(step))
        yield from instead

    def _put_inside(self, step: Assign, value: str) -> str:
        """The statements that put a value into a nested object, making all on the way that is not there."""
        opened, around, _ = self._opened(step)
        return f"    if {value} is not {self._absent(step)}:\n{opened}        {around} = {value}\n"

    def _shown_inside(self, step: Assign) -> str:
        """The statements by which a nested object that is there shows what it requires, where nothing was put into it."""
        opened, around, tests = self._opened(step)
        place = Place(self.key.target.version, step.property)
        shown = f"if_whole({self.expressions.literals.of(step.default, place)})"
        return f"    if {' and '.join(tests)}:\n{opened}        {around} = {shown}\n"

    def _absent(self, step: Assign) -> str:
        """What the value of a step is where it is absent."""
        return "ABSENT" if step.value is None else self.expressions.absent_test(step.value)

    def _opened(self, step: Assign) -> tuple[str, str, list[str]]:
        """The statements that open the nested objects around a property, the property in them, and the tests whether they are there and it is not."""
        place = Place(self.key.target.version, step.property)
        over = self.key.target.kind == "storage"
        holders, attribute = way_to(self.types, self.key.lineage, place, self.key.target)
        around, opened, seen = "target", "", "target"
        tests: list[str] = []
        for holder in holders:
            arguments = [f"{around}.{holder.attribute}", class_mark(holder.class_)]
            shown = self.expressions.literals.shown_anyhow(holder.place, self.key.target)
            arguments += [shown] if shown else []
            arguments += ["over=True"] if over else []
            inner = f"{around}_{holder.attribute}"
            opened += call("opened", arguments, f"        {inner} = ") + "\n"
            opened += f"        {around}.{holder.attribute} = {inner}\n"
            around, seen = inner, f"{seen}.{holder.attribute}"
            tests.append(f"is_there({seen})")
        # Where types say that a value is never lacking, what stands under the test would be unreachable to a type checker.
        tests.append(f"cast(Any, {seen}.{attribute}) is ABSENT")
        return opened, f"{around}.{attribute}", tests

    def _stored_root(self) -> bool:
        """Whether the target is a whole stored resource, which names the version it was written with."""
        root = self.key.lineage.is_root
        return root and self.key.target.kind == "storage"

    def _node(self, shape: Shape) -> ApiNode | StorageNode:
        lineage = self.key.lineage
        if shape.kind == "storage":
            return StorageNode(lineage, shape.version)
        root = lineage.is_root
        return ApiNode(shape.version, lineage.nodes[shape.version], root)

    def _required(self, name: str) -> bool:
        found = self.definition.property(name)
        return self.key.target.kind == "api" and found is not None and found.required

    def _attribute(self, name: str) -> str:
        if name == ADDITIONAL:
            return "additional_properties"
        return self.names.get(name) or attribute_of(name)

    def _assigned(self, step: Assign) -> str:
        """What a property of the target becomes."""
        place = Place(self.key.target.version, step.property)
        required = self._required(step.property)
        instead = (
            f"if_whole({self.expressions.literals.of(step.default, place)})"
            if step.default is not ABSENT
            else ("LACKING" if required else "ABSENT")
        )
        if step.value is None:
            return instead
        attribute = self._attribute(step.property)
        lineage, static = self.key.lineage, self.expressions.static
        given = static.of(step.value, self.key.source)
        null = (
            (self.key.target.kind == "api" or self._may_say_null(step.value, place))
            and lineage.nullable(place)
            and not isinstance(lineage.type(place), Nullable)
        )
        demanded = required or step.default is not ABSENT
        at_once = demanded and not null and self._only_if_absent(step.value)
        value = self.expressions.render(
            step.value, "source", attribute, instead if at_once else None
        )
        tests = ["{} is None"] if null else []
        if (
            demanded
            and not at_once
            and (step.default is not ABSENT or given is None or "Absent" in given)
        ):
            tests.insert(0, f"{{}} is {self.expressions.absent_test(step.value)}")
        given = without(given, "Absent") if demanded else given
        if tests:
            value = self.statements.variable(
                value, attribute, static.of(step.value, self.key.source)
            )
            test = " or ".join(tests).format(*[value] * len(tests))
            given = without(given, "None") if null else given
            shown = fitted(value, given, self._wanted(step.property))
            return f"{instead} if {test} else {shown}"
        return fitted(value, given, self._wanted(step.property))

    def _may_say_null(self, value: Expression, place: Place) -> bool:
        """Whether an entry may say that an object is null that must not be stored as null."""
        return isinstance(value, Said) and not self.key.lineage.admits_null(place)

    def _only_if_absent(self, value: Expression) -> bool:
        """Whether an expression is absent only where the property is that it reads."""
        if not isinstance(value, Change) or not isinstance(value.value, Read):
            return False
        static = self.expressions.static
        made = static.changed(
            value.step, without(static.of(value.value, self.key.source), "Absent")
        )
        return made is not None and "Absent" not in made and not isinstance(value.step, MapText)

    def _wanted(self, name: str) -> Static:
        """The type that a property of the target has."""
        return self.expressions.static.field(name, self.key.target)

    def _stash(self, step: Stash) -> None:
        attribute = attribute_of(step.entry.property)
        value = self.expressions.render(step.value, "source", attribute)
        arguments = ["target", entry_literal(step.entry), value]
        if step.witness is not None:
            arguments.append(f"witness={self.expressions.witness(step.witness, self.key.target)}")
        if step.derived is not None:
            if calls_hook(step.derived):
                arguments.append(f"hooked={self._spoken(step.spoken)}")
            else:
                name = self.expressions.derived(step.derived, f"{attribute}_derived")
                arguments.append(f"derived={name}")
        if step.aliases:
            if any(each.step is not None for each in step.aliases):
                aliases = self.expressions.entries.constant(step.aliases, f"other_{attribute}")
            else:
                aliases = tuple_literal(entry_literal(each.place) for each in step.aliases)
            arguments.append(f"aliases={aliases}")
        if step.holder is not None:
            arguments.append(f"holder={self._path(step.holder)}")
        if step.own:
            arguments.append("own=True")
        self.statements.add(call("stash", arguments))

    def _watch(self, watched: Watched) -> None:
        """The statement that lets a merge ask whether a nested object is there to other versions."""
        attribute = attribute_of(watched.entry.property)
        arguments = [
            "target",
            entry_literal(watched.entry),
            self._path(watched.holder),
            f"witness={self.expressions.witness(watched.witness, self.key.target)}",
            f"derived={self.expressions.derived(watched.derived, f'{attribute}_derived')}",
        ]
        if watched.aliases:
            aliases = tuple_literal(entry_literal(each.place) for each in watched.aliases)
            arguments.append(f"aliases={aliases}")
        self.statements.add(call("watch", arguments))

    def _path(self, place: Place) -> str:
        return tuple_literal(map(text_literal, self.key.lineage.path(place)))

    def _spoken(self, names: tuple[str, ...]) -> str:
        """The test whether one of some properties is there; true where there is none to test."""
        tests = []
        for name in names:
            found = self.expressions.render(Read(name), "source", attribute_of(name))
            found = f"({found})" if " if " in found else found
            tests.append(f"{found} is not {self.expressions.absent_test(Read(name))}")
        return " or ".join(tests) or "True"


def _calls_own_hook(step: Assign) -> bool:
    """Whether the type's own hook derives what a step assigns."""
    parts = () if step.value is None else expressions_in(step.value)
    return any(isinstance(each, HookOutput) for each in parts)


def asks_bag(witness: Witness | None) -> bool:
    """Whether a witness looks into the property bag; an object that is put together anew counts as that."""
    return witness is not None and any(
        isinstance(each, Unstash | HookRefill | KeepElements | KeepPlaces | Refill | Said)
        for value in witness.values
        if value is not None
        for each in expressions_in(value)
    )
