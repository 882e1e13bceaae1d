"""What a type checker knows of rendered expressions: their types, as parts of a union.

A type is a tuple of annotations, in which generated classes are marks; `ANY` where a checker knows nothing,
or where the annotation would be longer than it is worth.
"""

from collections.abc import Callable, Iterable
from typing import TypeAlias, assert_never

from trundle.codegen._classes import ClassPath
from trundle.codegen._layout import split_top
from trundle.codegen._text import as_types, type_mark
from trundle.codegen._types import TypeRenderer
from trundle.evolution import Lineage, Place, PlanKey, Shape, steps
from trundle.schema import Type

Static: TypeAlias = tuple[str, ...] | None
"""The members of a union; None for any type."""
ANY: Static = None
OR_ABSENT: Static = ("Absent",)


class StaticTypes:
    """The types of what one plan's function reads and makes.

    Args:
        types: the classes.
        key: the plan.
        class_of: the class of a shape of a plan's lineage.
    """

    def __init__(
        self,
        types: TypeRenderer,
        key: PlanKey,
        class_of: Callable[[PlanKey, Shape], ClassPath],
    ) -> None:
        self.types = types
        self.key = key
        self.lineage = key.lineage
        self.class_of = class_of

    def of(self, value: steps.Expression | None, shape: Shape) -> Static:
        """The type of an expression.

        Args:
            value: the expression; None for one that is absent.
            shape: what the object is shaped like that it reads.
        """
        match value:
            case None:
                return OR_ABSENT
            case steps.Read(name):
                lifted = name in self.lineage.lifted(shape.version)
                return united(self.field(name, shape), OR_ABSENT if lifted else ())
            case steps.Change(inner, step):
                found = self.of(inner, shape)
                absent = OR_ABSENT if found is None or "Absent" in found else ()
                return united(self.changed(step, found), absent)
            case steps.Unstash(entries):
                return united(*(self.entry(each.place, each.step) for each in entries), OR_ABSENT)
            case steps.First(options):
                return united(*(self.of(each, shape) for each in options))
            case steps.HookOutput(_, place, step):
                own = self.hook_output(place)
                return united(own if step is None else self.changed(step, own), OR_ABSENT)
            case steps.Hidden(inner):
                return united(self.of(inner, self.key.target), OR_ABSENT)
            case steps.Presence():
                return ("bool", "None", "Absent")
            case (
                steps.KeepElements()
                | steps.KeepPlaces()
                | steps.Refill()
                | steps.HookRefill()
                | steps.Said()
                | steps.Solid()
            ):
                return ANY
            case _:
                assert_never(value)

    def hook_output(self, place: Place) -> Static:
        """The type of what a hook writes; `ANY` for an object, which it may return as a dictionary."""
        own = self.written(Shape("api", place.version), place.property)
        return ANY if own is not None and any("\x01" in part for part in own) else own

    def field(self, name: str, shape: Shape) -> Static:
        """The type of a property of an object of the plan's lineage, as its class has it."""
        definition = self.lineage.definition(shape.version)
        if name in self.lineage.implied(shape.version):
            return ANY
        own = self.written(shape, name)
        if name == definition.tag:
            return own
        if name in self.lineage.lifted(shape.version):
            return self._held(name, shape)
        found = definition.property(name)
        if shape.kind == "storage" or found is None or not found.required:
            return united(own, OR_ABSENT)
        return own

    def _held(self, name: str, shape: Shape) -> Static:
        """The type of a lifted property."""
        own = self.written(shape, name)
        place = Place(shape.version, name)
        return (
            own
            if shape.kind == "api" and self.lineage.property(place).required
            else united(own, OR_ABSENT)
        )

    def written(self, shape: Shape, name: str) -> Static:
        """The type of a property that is there."""
        place = Place(shape.version, name)
        lifted = name in self.lineage.lifted(shape.version)
        if not lifted and self.lineage.definition(shape.version).property(name) is None:
            return ANY
        type_ = self.lineage.type(place)
        own = self.annotation(self.lineage, place, type_, storage=shape.kind == "storage")
        if shape.kind == "storage" and self.lineage.nullable(place):
            own = united(own, ("None",))
        return own

    def annotation(self, lineage: Lineage, place: Place, type_: Type, *, storage: bool) -> Static:
        """The type of a value at a place."""
        text = as_types(self.types.annotation_at(lineage, place, type_, storage=storage))
        return tuple(part.strip() for part in split_top(text, "|"))

    def entry(self, place: Place, step: steps.ValueStep | None) -> Static:
        """The type of what an entry of the bag becomes."""
        own = self.written(Shape("storage", place.version), place.property)
        return own if step is None else self.changed(step, own)

    def changed(self, step: steps.ValueStep, given: Static) -> Static:
        """The type of a value that is there, after a step."""
        match step:
            case steps.ToObject(plan):
                return (type_mark(self.class_of(plan, plan.target)),)
            case steps.Items(item):
                return self._within("list", item, given)
            case steps.Values(inner):
                return self._within("dict", inner, given)
            case steps.Optional(inner):
                return united(self.changed(inner, without(given, "None")), ("None",))
            case steps.NotNull(None):
                return united(without(given, "None"), OR_ABSENT)
            case steps.NotNull(inner):
                assert inner is not None
                return united(self.changed(inner, without(given, "None")), OR_ABSENT)
            case steps.Cases():
                return self.of_cases(step)
            case steps.Listed() if steps.may_lack(step):
                return ANY
            case steps.Listed(inner):
                found = without(given if inner is None else self.changed(inner, given), "Absent")
                return None if found is None else (f"list[{shown(found)}]",)
            case steps.ToFreeForm(elsewhere):
                return ("FreeForm",) if elsewhere is None else united(("FreeForm",), OR_ABSENT)
            case steps.ToEnum(partly=partly):
                return ANY if partly else ("str",)
            case steps.MapText():
                return united(given, ("str",))
            case (
                steps.Single()
                | steps.FromFreeForm()
                | steps.KnownPart()
                | steps.Fit()
                | steps.CallScalar()
                | steps.CallConverter()
                | steps.Chain()
            ):
                return ANY
            case steps.ToList() | steps.ToMap():
                return ANY
            case _:
                assert_never(step)

    def _within(self, container: str, step: steps.ValueStep, given: Static) -> Static:
        """The type of a list or map after each of its values went through a step."""
        inner: Static = ANY
        for part in without(given, "Absent", "None") or ():
            if part.startswith(f"{container}["):
                held = part[len(container) + 1 : -1].removeprefix("str, ")
                inner = tuple(each.strip() for each in split_top(held, "|"))
        found = self.changed(step, inner)
        if steps.may_lack(step):
            found = without(found, "Absent")
        if found is None:
            return ANY
        return (f"list[{shown(found)}]" if container == "list" else f"dict[str, {shown(found)}]",)

    def variant(self, step: steps.Cases, variant: Type) -> Static:
        """The type of one variant of a union."""
        storage = step.source.kind == "storage"
        return self.annotation(self.lineage, step.place, variant, storage=storage)

    def of_cases(self, step: steps.Cases) -> Static:
        """The type of what becomes of a union."""
        made: list[Static] = [OR_ABSENT] if steps.may_lack(step) else []
        for case in step.cases:
            own = self.variant(step, case.variant)
            if not case.lacking:
                made.append(own if case.step is None else self.changed(case.step, own))
        return united(*made)


def united(*types: Static) -> Static:
    """The union of some types."""
    found: dict[str, None] = {}
    for each in types:
        if each is None:
            return ANY
        found.update(dict.fromkeys(each))
    return tuple(found)


def merged(type_: Static) -> Static:
    """A type in which lists of several types are one of all these, and so are maps."""
    found: dict[str, dict[str, None]] = {}
    for part in type_ or ():
        container = next((each for each in ("list[", "dict[str, ") if part.startswith(each)), "")
        held = split_top(part[len(container) : -1], "|") if container else (part,)
        found.setdefault(container, {}).update(dict.fromkeys(each.strip() for each in held))
    plain = tuple(found.pop("", {}))
    return (*(f"{container}{shown(tuple(held))}]" for container, held in found.items()), *plain)


def without(type_: Static, *parts: str) -> Static:
    """A type without some parts."""
    return None if type_ is None else tuple(each for each in type_ if each not in parts)


def shown(type_: Static) -> str:
    """A type as an annotation."""
    if type_ is None:
        return "Any"
    return " | ".join(sorted(type_, key=("None", "Absent", "Missing").count)) or "Any"


def fits(given: Static, wanted: Static) -> bool:
    """Whether a checker takes a value of a type where another is wanted."""
    return given is None or wanted is None or all(_fits(each, wanted) for each in given)


def fitted(text: str, given: Static, wanted: Static) -> str:
    """An expression that a type checker takes where another type is wanted than it sees."""
    return text if fits(given, wanted) else f"cast(Any, {text})"


def _fits(part: str, wanted: Iterable[str]) -> bool:
    return part in wanted or (part == "int" and "float" in wanted)
