"""Rendering calls of hooks: a helper that makes the record of what a hook reads, and when it is called."""

from collections.abc import Callable

from trundle.codegen._classes import ClassPath
from trundle.codegen._hook_names import record_name
from trundle.codegen._hooks import hook_import
from trundle.codegen._lifted import attribute_at
from trundle.codegen._needed_plans import asks_base
from trundle.codegen._statements import INDENT, Statements
from trundle.codegen._text import as_types, call, class_mark, hook_mark, text_literal, type_mark
from trundle.codegen._types import TypeRenderer
from trundle.evolution import METADATA, ByHook, Place, PlanKey, Shape, expressions_in, snake
from trundle.evolution.steps import Expression, HookCall, Unstash


class HookCalls:
    """Renders the calls of hooks of one plan.

    Args:
        types: the classes that are read and made.
        key: the plan.
        class_of: the class of a shape of a plan's lineage.
        statements: where calls and helpers go.
        read: renders what a hook reads of a place, for an attribute of its record.
    """

    def __init__(
        self,
        types: TypeRenderer,
        key: PlanKey,
        class_of: Callable[[PlanKey, Shape], ClassPath],
        statements: Statements,
        read: Callable[[Place, Expression, str], str],
    ) -> None:
        self.types = types
        self.key = key
        self.class_of = class_of
        self.statements = statements
        self.read = read
        self._known: dict[HookCall, str] = {}
        self._waiting: set[str] = set()
        """The outputs of hooks that are called when a value is first needed."""

    def outputs(self, hook: HookCall, source: str, shape: Shape) -> str:
        """An expression for a hook's outputs; a call is made once, when it is first needed.

        Args:
            hook: the call.
            source: the name of the object that the hook reads.
            shape: what that is shaped like.
        """
        function = self._function(hook, shape)
        made = f"{function}({source}{', base' if self._asks_base(hook) else ''})"
        if source != "source":
            return made
        known = self._known.get(hook)
        if known is None:
            known = self._known[hook] = self.statements.fresh(f"{hook.method}_outputs")
            if self.statements.indent == INDENT:
                self.statements.add(f"{known} = {made}")
                return known
            outputs = as_types(class_mark(self._record(hook, outputs=True)))
            self.statements.prelude.append(f"{INDENT}{known}: {outputs} | None = None\n")
            self._waiting.add(known)
        elif known not in self._waiting:
            return known
        self.statements.add(f"if {known} is None:")
        self.statements.add(f"{INDENT}{known} = {made}")
        return known

    def _function(self, hook: HookCall, shape: Shape) -> str:
        """The name of a helper that calls a hook with what it reads of an object."""
        lineage = self.key.lineage
        known, waiting = self._known, self._waiting
        self._known, self._waiting = {}, set()
        with self.statements.apart() as lines:
            members = [
                f"{attribute}={self.read(place, value, attribute)}"
                for place, value in hook.inputs
                if value is not None
                for attribute in [attribute_at(self.types, lineage, place)]
            ]
        self._known, self._waiting = known, waiting
        body = "".join(lines)
        body += call(class_mark(self._record(hook)), members, f"{INDENT}record = ")
        writes = sorted(
            attribute_at(self.types, lineage, each.output)
            for each in lineage.hooks
            if each.how == self._how(hook)
        )
        frozen = ", ".join(map(text_literal, writes))
        arguments = [
            text_literal(f"{hook.use}.{hook.method}"),
            f"{hook_mark(hook_import(hook.use, hook.between, self._type_name(hook)))}.{hook.method}",
            "record",
            f"frozenset({{{frozen}}})",
            class_mark(self._record(hook, written=True)),
            text_literal(str(hook.between)),
            "source",
        ]
        if len(hook.inputs) > 1 and any(lineage.is_metadata(place) for place, _ in hook.inputs):
            arguments.append(f"beside={text_literal(METADATA)}")
        outputs = as_types(class_mark(self._record(hook, outputs=True)))
        body += "\n" + call("call_hook", arguments, f"{INDENT}outputs: {outputs} = ")
        body += f"\n{INDENT}return outputs\n"
        given = [f"source: {type_mark(self.class_of(self.key, shape))}"]
        if self._asks_base(hook):
            given.append(f"base: {type_mark(self.class_of(self.key, self.key.target))} | None")
        class_ = snake(hook.use.rpartition(":")[2].rpartition(".")[2])
        text = call("def \x04", given) + f" -> {outputs}:\n{body}"
        stale = "_stale" if any(map(_is_stale, _values(hook))) else ""
        return self.statements.helper(f"{class_}_{hook.method}{stale}", text)

    def _record(self, hook: HookCall, *, outputs: bool = False, written: bool = False) -> ClassPath:
        """The class of a hook's record; of what it returns, or of the record of the side that it writes."""
        type_name = self._type_name(hook)
        module = self.types.hook_modules[hook.between, type_name]
        name = record_name(type_name, older=hook.up is not (outputs or written))
        return ClassPath(module, f"{name}Outputs" if outputs else name)

    def _type_name(self, hook: HookCall) -> str:
        return self.key.lineage.definition(hook.between.older).name

    @staticmethod
    def _asks_base(hook: HookCall) -> bool:
        return any(map(asks_base, _values(hook)))

    @staticmethod
    def _how(hook: HookCall) -> ByHook:
        return ByHook(hook.use, hook.method, hook.between, hook.up)


def _values(hook: HookCall) -> list[Expression]:
    return [value for _, value in hook.inputs if value is not None]


def _is_stale(value: Expression) -> bool:
    """Whether stale entries have a part in an expression."""
    return any(isinstance(each, Unstash) and each.stale for each in expressions_in(value))
