"""Rendering plans as functions: straight-line code that reads from top to bottom."""

from collections.abc import Mapping

import msgspec

from trundle.codegen._classes import ClassPath
from trundle.codegen._function_body import FunctionBody
from trundle.codegen._independent_properties import apart, asks_metadata, back_of, parts
from trundle.codegen._plan_names import function_name
from trundle.codegen._text import (
    Helper,
)
from trundle.codegen._touched_properties import touched
from trundle.codegen._types import TypeRenderer
from trundle.evolution import (
    METADATA,
    Plan,
    PlanKey,
    Shape,
)


class Function(msgspec.Struct, frozen=True):
    """A rendered plan: its source with marks, and the helpers and plans that these number.

    Attributes:
        head: its signature and documentation; the control character 3 stands for its name.
        body: its statements.
        touched: by attribute of the source the plan that converts the objects in it, None where the value must
            be there as it is; all others are only copied. None where documents must be read whole.
        tied: of an object on its way to storage: by attribute that of the storage class, where both ways only
            copy it under another name; empty where more depends on it. All others are only copied.
        parts: by attribute that is tied for no more than the objects in it, that of the storage class, and the
            plan that converts each of these.
    """

    source: ClassPath
    target: ClassPath
    name: str
    head: str
    body: str
    helpers: tuple[Helper, ...]
    calls: tuple[PlanKey, ...]
    wants_base: bool
    touched: Mapping[str, PlanKey | None] | None = None
    tied: Mapping[str, str] | None = None
    parts: Mapping[str, tuple[str, PlanKey]] = {}

    @property
    def text(self) -> str:
        """All of its source."""
        return self.head + self.body

    @property
    def lines(self) -> int:
        """How many lines it has, as far as they are not broken."""
        return sum(each.count("\n") for each in (self.text, *(one.text for one in self.helpers)))


class FunctionRenderer:
    """Renders plans.

    Args:
        types: the classes that functions read and make.
        wants_base: the plans whose functions take the stored object that they write over.
    """

    def __init__(self, types: TypeRenderer, wants_base: frozenset[PlanKey]) -> None:
        self.types = types
        self.wants_base = wants_base

    def class_of(self, key: PlanKey, shape: Shape) -> ClassPath:
        """The class of one shape of a plan's lineage."""
        lineage = key.lineage
        if shape.kind == "storage":
            return self.types.classes.storage(lineage, shape.version)
        root = lineage.is_root
        return self.types.classes.api(shape.version, lineage.nodes[shape.version], root=root)

    def render(self, plan: Plan, back: Plan | None) -> Function:
        """The function of a plan; `back` is the plan that leads back from storage."""
        key = plan.key
        source, target = self.class_of(key, key.source), self.class_of(key, key.target)
        calls: dict[PlanKey, int] = {}
        body = FunctionBody(self.types, plan, calls, self.wants_base, self.class_of)
        statements = body.render()
        return Function(
            source,
            target,
            function_name(plan),
            body.head(source, target),
            statements,
            tuple(body.statements.helpers),
            tuple(calls),
            key in self.wants_base,
            self._touched(plan),
            self._tied(plan, back),
            self._parts(plan, back),
        )

    def _tied(self, plan: Plan, back: Plan | None) -> Mapping[str, str] | None:
        key = plan.key
        if back is None or (key.source.kind, key.target.kind) != ("api", "storage"):
            return None
        found = apart(plan, back)
        if found is None:
            return None
        ours, theirs = self._attributes(key)
        named = [name for name in sorted(key.lineage.names(key.source.version)) if name in ours]
        pairs = {ours[name]: theirs.get(found.get(name, ""), "") for name in named}
        if METADATA in key.lineage.envelope and asks_metadata(plan, back):
            pairs[METADATA] = ""
        return {one: other for one, other in pairs.items() if one != other}

    def _parts(self, plan: Plan, back: Plan | None) -> Mapping[str, tuple[str, PlanKey]]:
        key = plan.key
        if back is None or (key.source.kind, key.target.kind) != ("api", "storage"):
            return {}
        ours, theirs = self._attributes(key)
        return {
            ours[name]: (theirs[other], callee)
            for name, (other, callee) in sorted(parts(plan, back).items())
            if name in ours and other in theirs and not {callee, back_of(callee)} & self.wants_base
        }

    def _attributes(self, key: PlanKey) -> tuple[Mapping[str, str], Mapping[str, str]]:
        """The attributes of a plan's source and of its target, by property."""
        ours, theirs = (
            self.types.names(version, key.lineage.definition(version))
            for version in (key.source.version, key.target.version)
        )
        return ours, theirs

    def _touched(self, plan: Plan) -> Mapping[str, PlanKey | None] | None:
        found = touched(plan)
        if found is None:
            return None
        version = plan.key.source.version
        names = self.types.names(version, plan.key.lineage.definition(version))
        return {names.get(name, name): callee for name, callee in found.items()}
