"""Python functions with yaql's decorators: what `yaql.language.specs` says of their names, parameters and calls."""

import collections.abc  # noqa: F401 - yaql uses it without importing it
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from yaql.language import contexts, conventions, exceptions, expressions, specs, utils, yaqltypes

from trundle.engine._scene import ObjectValue, TypeValue
from trundle.errors import expectation

_MARK = "__yaql_function__"
_READ = "__trundle_decorated__"
"""What a function keeps that was read of its decorators: it goes with the function."""


class Edge(NamedTuple):
    """How values pass between the language and Python.

    Attributes:
        outward: a value of the language as Python has it.
        inward: a value of Python as the language has it.
        call: calls a function of Python with values and values by name; gives what it returns, as the language has it.
    """

    outward: Callable[[Any], Any]
    inward: Callable[[Any], Any]
    call: Callable[[Callable[..., Any], list[Any], Mapping[str, Any]], Any]


class Decorated:
    """A Python function that carries decorators of yaql.

    Attributes:
        function: the function.
        name: the name that they give it; empty for none.
        is_method: whether they make it a method.
        meta: what `specs.meta` keeps with it.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        definition = _read(function, None)
        self.function = function
        self._parameters = {each.name: each for each in definition.parameters.values()}
        self._definition = definition
        self.name = definition.name if getattr(function, _MARK).name else ""
        if inspect.iscoroutinefunction(function) and self.lambdas:
            expected = f"values for {function.__qualname__}, since a function that waits gets no expressions"
            raise ValueError(expectation(expected, "a parameter that takes an expression"))
        self.is_method: bool = definition.is_method
        self.meta: Mapping[str, Any] = definition.meta

    def alias(self, name: str) -> str:
        """The name of a parameter in the language."""
        return str(self._parameters[name].alias)

    def is_hidden(self, name: str) -> bool:
        """Whether callers do not give a parameter: yaql does."""
        return isinstance(self._parameters[name].value_type, yaqltypes.HiddenParameterType)

    @property
    def lambdas(self) -> tuple[str, ...]:
        """The parameters that take an expression instead of its value."""
        kinds = {name: each.value_type for name, each in self._parameters.items()}
        lazy = yaqltypes.LazyParameterType
        return tuple(name for name, each in kinds.items() if isinstance(each, lazy))

    def kind(self, name: str) -> str:
        """What a parameter takes, in few words."""
        return _kind(self._parameters[name].value_type)

    def taken(self, name: str, value: Any, receiver: Any, context: Any, engine: Any) -> Any:
        """What the function gets for a value, as Python has it.

        Raises:
            ValueError: the parameter does not take it.
        """
        kind = self._parameters[name].value_type
        if not kind.check(value, context, engine):
            raise ValueError
        try:
            return kind.convert(value, receiver, context, self._definition, engine)
        except exceptions.ArgumentValueException:
            raise ValueError from None


def decorated(function: Any) -> Decorated | None:
    """What decorators of yaql say of a function; None where it carries none.

    Raises:
        ValueError: it waits, and wants an expression.
    """
    plain = getattr(function, "__func__", function)
    if getattr(plain, _MARK, None) is None:
        return None
    found: Decorated | None = getattr(plain, _READ, None)
    if found is None or found.function is not plain:  # `wraps` copies what is kept on a function
        found = Decorated(plain)
        setattr(plain, _READ, found)
    return found


def _read(function: Callable[..., Any], name: str | None) -> Any:
    convention = conventions.CamelCaseConvention()
    made = specs.get_function_definition(function, name=name, convention=convention)
    for each in made.parameters.values():
        kind = each.value_type
        if type(kind) is yaqltypes.PythonType and kind.python_type is tuple:
            each.value_type = yaqltypes.PythonType((list, tuple), kind.nullable)
    return made


class ForeignFunction:
    """A function of the operator with decorators of yaql; its calls go through yaql's evaluator."""

    def __init__(self, name: str, function: Callable[..., Any], edge: Edge) -> None:
        self.name = name
        self._made = _read(function, name)
        if inspect.ismethod(function):
            _drop_first(self._made)
        self._function = function
        self._edge = edge

    def definition(self) -> Any:
        """The definition for a context of yaql."""
        made = self._made
        return _Definition(
            self.name,
            self._call,
            made.parameters,
            made.doc,
            made.meta,
            made.is_function,
            made.is_method,
            made.no_kwargs,
            outward=self._edge.outward,
        )

    def _call(self, *values: Any, **named: Any) -> Any:
        given = [self._given(each) for each in values]
        by_name = {name: self._given(each) for name, each in named.items()}
        return self._edge.call(self._function, given, by_name)

    def _given(self, value: Any) -> Any:
        """A value as the function gets it: what it calls takes and gives values as Python has them."""
        outward, inward = self._edge.outward, self._edge.inward
        if isinstance(value, ObjectValue | TypeValue):  # The receiver, which yaql gives as it is
            return outward(value)
        if not hasattr(value, "__unwrapped__"):
            return value

        def compute(*values: Any, **named: Any) -> Any:
            given = [
                each if isinstance(each, contexts.ContextBase) else inward(each) for each in values
            ]
            return outward(value(*given, **{name: inward(each) for name, each in named.items()}))

        return compute


class _Definition(specs.FunctionDefinition):  # type: ignore[misc]
    """A definition whose parameters are held to values as Python has them."""

    __slots__ = ("_outward",)

    def __init__(self, *arguments: Any, outward: Callable[[Any], Any]) -> None:
        super().__init__(*arguments)
        self._outward = outward

    def map_args(
        self, args: Iterable[Any], kwargs: Mapping[str, Any], context: Any, engine: Any
    ) -> Any:
        """Which parameters take some arguments; None where it does not take them."""
        values = tuple([self._glanced(each) for each in args])
        named = {name: self._glanced(each) for name, each in kwargs.items()}
        return super().map_args(values, named, context, engine)

    def get_delegate(
        self,
        receiver: Any,
        engine: Any,
        context: Any,
        args: Iterable[Any],
        kwargs: Mapping[str, Any],
    ) -> Any:
        """What calls the function with some arguments."""
        values = tuple([self._seen(each) for each in args])
        named = {name: self._seen(each) for name, each in kwargs.items()}
        return super().get_delegate(receiver, engine, context, values, named)

    def _glanced(self, value: Any) -> Any:
        return [] if utils.is_iterator(value) else self._seen(value)  # It can be gone through once

    def _seen(self, value: Any) -> Any:
        is_kept = isinstance(value, expressions.Expression) or value is utils.NO_VALUE
        return value if is_kept or callable(value) else self._outward(value)


def _drop_first(definition: Any) -> None:
    """Takes the parameter of a bound method out that Python gives."""
    for name, each in tuple(definition.parameters.items()):
        if each.position == 0:
            del definition.parameters[name]
        elif each.position is not None:
            each.position -= 1


def _kind(value_type: Any) -> str:
    python_type = getattr(value_type, "python_type", None)
    if type(value_type) is yaqltypes.PythonType and isinstance(python_type, type):
        name = python_type.__name__
    else:
        name = type(value_type).__name__
    return f"{name} or null" if value_type.nullable else name
