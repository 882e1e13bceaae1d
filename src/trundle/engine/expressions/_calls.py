"""Calls of functions and methods whose rows are known: which row fits is looked up by the types of the values."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from trundle.engine.expressions._rows import LAZY, Row
from trundle.engine.expressions._scope import Scope
from trundle.engine.expressions._tree import Constant, Omitted, Rule, Tree, Variable, Word

Closure: TypeAlias = Callable[[Scope], Any]
ByValues: TypeAlias = Callable[..., Any]
"""What computes a call for which no row fits; takes the scope and the values."""


class Bound:
    """The rows that may fit a call, with its compiled arguments.

    yaql looks at constants, and at the receiver of a method, before it evaluates anything else. So do these: rows that a
    constant does not fit are gone, and a receiver that fits none is not called here.
    """

    def __init__(
        self,
        rows: tuple[Row, ...],
        trees: tuple[Tree | None, ...],
        arguments: tuple[Closure | None, ...],
        operators: tuple[ByValues, ...],
    ) -> None:
        self._rows = rows
        self._trees = trees
        self._operators = operators
        self._arguments = tuple(
            _deferred(each) if each is not None and rows[0].kinds[at] is LAZY else each
            for at, each in enumerate(arguments)
        )
        self._eager = tuple(at for at, each in enumerate(rows[0].kinds) if each is not LAZY)
        self._found: dict[Any, Callable[..., Any] | None] = {}

    def _find(self, kinds: tuple[type, ...]) -> Callable[..., Any] | None:
        fits = (
            row
            for row in self._rows
            if all(row.takes(at, kind) for at, kind in zip(self._eager, kinds, strict=True))
        )
        row = next(fits, None)
        self._found[kinds] = compute = row.compute if row else None
        return compute

    def function(self, otherwise: ByValues) -> Closure:
        """The call as a closure."""
        arguments = [each for each in self._arguments if each is not None]
        if len(arguments) == 1:
            return self._unary(arguments[0], otherwise)
        if len(arguments) == len(self._eager) == 2:  # noqa: PLR2004 - most calls by far
            right = self._trees[1]
            if isinstance(right, Constant):
                return self._with_constant(arguments[0], right.value, otherwise)
            return self._binary(arguments[0], arguments[1], otherwise)

        def call(scope: Scope) -> Any:
            return self._call(scope, [each(scope) for each in arguments], otherwise)

        return call

    def _unary(self, argument: Closure, otherwise: ByValues) -> Closure:
        found, find = self._found, self._find

        def call(scope: Scope) -> Any:
            value = argument(scope)
            kinds = (type(value),)
            compute = found[kinds] if kinds in found else find(kinds)
            return otherwise(scope, value) if compute is None else compute(value)

        return call

    def _binary(self, one: Closure, other: Closure, otherwise: ByValues) -> Closure:
        find, (left_name, right_name) = self._find, map(variable_name, self._trees)
        found: dict[type, dict[type, Callable[..., Any] | None]] = {}

        def call(scope: Scope) -> Any:
            variables = scope.variables
            left = variables[left_name] if left_name in variables else one(scope)
            right = variables[right_name] if right_name in variables else other(scope)
            try:
                compute = found[type(left)][type(right)]
            except KeyError:
                kinds = (type(left), type(right))
                compute = found.setdefault(kinds[0], {})[kinds[1]] = find(kinds)
            if compute is None:
                return otherwise(scope, left, right)
            return compute(left, right)

        return call

    def _with_constant(self, one: Closure, right: Any, otherwise: ByValues) -> Closure:
        """The same where the right side is a constant, so that its type is known."""
        find, name, kind = self._find, variable_name(self._trees[0]), type(right)
        found: dict[type, Callable[..., Any] | None] = {}

        def call(scope: Scope) -> Any:
            variables = scope.variables
            left = variables[name] if name in variables else one(scope)
            try:
                compute = found[type(left)]
            except KeyError:
                compute = found[type(left)] = find((type(left), kind))
            if compute is None:
                return otherwise(scope, left, right)
            return compute(left, right)

        return call

    def method(
        self, by_receiver: Callable[[Any, Scope], Any], by_values: ByValues
    ) -> Callable[[Any, Scope], Any]:
        """The call as what a method does with its receiver."""
        arguments = [each for each in self._arguments if each is not None]
        accepted: dict[type, bool] = {}

        def call(receiver: Any, scope: Scope) -> Any:
            kind = type(receiver)
            if kind not in accepted:
                accepted[kind] = any(row.takes(0, kind) for row in self._rows)
            if not accepted[kind]:
                return by_receiver(receiver, scope)
            return self._call(scope, [receiver, *[each(scope) for each in arguments]], by_values)

        return call

    def _call(self, scope: Scope, values: list[Any], otherwise: ByValues) -> Any:
        kinds = tuple([type(values[at]) for at in self._eager])
        found = self._found
        compute = found[kinds] if kinds in found else self._find(kinds)
        if compute is None:
            return otherwise(scope, *values)
        if self._operators:
            return compute(*[partial(each, scope) for each in self._operators], *values)
        return compute(*values)


def variable_name(tree: Tree | None) -> str:
    """The variable that an expression is; empty for any other one.

    Closures look for it in the innermost scope themselves, as it mostly is there, and call what the expression is compiled to where it is not.
    """
    return tree.name if isinstance(tree, Variable) else ""


def variable_of(name: str) -> Closure:
    """The value of a variable."""

    def variable(scope: Scope) -> Any:
        variables = scope.variables
        return variables[name] if name in variables else scope.get(name)

    return variable


def bind(
    rows: tuple[Row, ...],
    arguments: tuple[Tree | None, ...],
    closure: Callable[[Tree], Closure],
    operator: Callable[[str], ByValues] | None = None,
) -> Bound | None:
    """A call with the rows that its constants fit; None if there is none, or it has arguments by name.

    Args:
        rows: the rows for so many arguments; they agree on which are lazy.
        arguments: what is written; None for a receiver that is compiled elsewhere.
        closure: compiles an argument.
        operator: what computes an operator of two values.
    """
    if any(isinstance(each, Rule | Omitted) for each in arguments):
        return None
    fitting = tuple(
        row
        for row in rows
        if all(
            row.takes(at, type(each.value if isinstance(each, Constant) else each.text))
            for at, each in enumerate(arguments)
            if isinstance(each, Constant | Word) and row.kinds[at] is not LAZY
        )
    )
    if not fitting:
        return None
    compiled = tuple(None if each is None else closure(each) for each in arguments)
    operators = tuple(operator(each) for each in fitting[0].operators) if operator else ()
    return Bound(fitting, arguments, compiled, operators)


def by_rows(rows: tuple[Row, ...], otherwise: ByValues) -> ByValues:
    """What computes something of two values by the row that fits them, or in another way where none does."""
    found: dict[tuple[type, type], Callable[..., Any] | None] = {}

    def compute(scope: Scope, left: Any, right: Any) -> Any:
        kinds = (type(left), type(right))
        if kinds not in found:
            fits = (each for each in rows if each.takes(0, kinds[0]) and each.takes(1, kinds[1]))
            row = next(fits, None)
            found[kinds] = row.compute if row else None
        known = found[kinds]
        return otherwise(scope, left, right) if known is None else known(left, right)

    return compute


def _deferred(body: Closure) -> Closure:
    """A lazy argument: a function that evaluates it with its arguments as `$`, `$2` and so on."""

    def bind_scope(scope: Scope) -> Any:
        meter = None if scope.scene is None else scope.scene.world

        def call(*values: Any) -> Any:
            if meter is not None:
                meter.steps -= 1
                if meter.steps < 0:
                    meter.more()
            if len(values) == 1:
                return body(Scope(scope.scene, {"$1": values[0]}, scope))
            names = (f"${at}" for at in range(1, len(values) + 1))
            return body(Scope(scope.scene, dict(zip(names, values, strict=True)), scope))

        return call

    return bind_scope
