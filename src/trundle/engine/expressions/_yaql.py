"""What knows yaql: its parser with our operators, and its evaluator; `_contexts.py` has its contexts.

The grammar is the same in all formats. The parser keeps its state in itself, so one thread parses at a time.
A *language* is what one family of formats, with the functions of one purpose, evaluates expressions with.
"""

import collections.abc  # noqa: F401 - yaql uses it without importing it
import re
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, Final

import yaql
from yaql import legacy
from yaql.language import (
    contexts,
    conventions,
    exceptions,
    expressions,
    factory,
    specs,
    utils,
    yaqltypes,
)
from yaql.standard_library import regex as standard_patterns

from trundle.engine._scene import Meter
from trundle.engine.expressions._bounds import MOST_ITEMS, WHOLE, bounding
from trundle.engine.expressions._contexts import BriefContext, MeteredContext, Taken, known, taken
from trundle.engine.expressions._decorated import ForeignFunction
from trundle.engine.expressions._tree import (
    Binary,
    Call,
    Constant,
    Group,
    Index,
    ListOf,
    MapOf,
    Omitted,
    Rule,
    Tree,
    Unary,
    Variable,
    Word,
)
from trundle.errors import TrundleError

DEEPEST: Final = 250
"""How many levels an expression may nest; each takes a frame or two of Python's stack when it runs."""

MEMORY: Final = 16 * 1024 * 1024
"""How many bytes one value may take, as far as yaql measures it."""

FrozenDict = utils.FrozenDict
ResolutionError = exceptions.ResolutionError
NoFunctionError = exceptions.NoFunctionRegisteredException
NoMethodError = exceptions.NoMethodRegisteredException
AmbiguousFunctionError = exceptions.AmbiguousFunctionException
AmbiguousMethodError = exceptions.AmbiguousMethodException
TooManyItemsError = exceptions.CollectionTooLargeException
TooMuchMemoryError = exceptions.MemoryQuotaExceededException
Context = contexts.ContextBase

_SLOW = re.compile(r"[0-9]{401}")
_MOST_NAMED = 100
_MOST_COMMAS = 10_000
# yaql's lexer and parser take time by the square of these.

_PARSING = threading.Lock()
_NO_NAMES: Mapping[str, Any] = MappingProxyType({})


class NotYaqlError(TrundleError):
    """A text does not parse."""


class TextTooLargeError(TrundleError):
    """A text has more levels, digits or escapes than can be read."""


@cache
def grammar() -> Any:
    """The parser: yaql's, with `:` tightest of all and `is` beside the comparisons."""
    made = factory.YaqlFactory()
    kind = factory.OperatorType
    made.operators[1:1] = [(":", kind.PREFIX_UNARY), (":", kind.BINARY_LEFT_ASSOCIATIVE), ()]
    made.insert_operator("in", True, "is", kind.BINARY_LEFT_ASSOCIATIVE, create_group=False)
    return made.create()


def parse(text: str) -> Tree:
    """The tree of an expression.

    Raises:
        NotYaqlError: the text is no expression.
        TextTooLargeError: it nests too deeply, or takes too long to read.
    """
    if _SLOW.search(text):
        raise TextTooLargeError("a number of more than 400 digits")
    if text.count("\\N{") > _MOST_NAMED:
        raise TextTooLargeError(f"more than {_MOST_NAMED} characters by name")
    if text.count(",") > _MOST_COMMAS:
        raise TextTooLargeError(f"more than {_MOST_COMMAS} commas")
    engine = grammar()
    try:
        with _PARSING:
            native = engine.parser.parse(text, lexer=engine.lexer.clone())
    except exceptions.YaqlParsingException as error:
        raise NotYaqlError(_shortened(str(error))) from None
    except ValueError as error:  # Wrong escapes, and more digits than Python reads
        raise NotYaqlError(_shortened(str(error))) from None
    if native is None:
        raise NotYaqlError("it is empty")
    return _converted(native, 1)


def _shortened(message: str) -> str:
    head = message.partition(" of expression ")[0]
    return head[:1].lower() + head[1:200]


def _converted(native: Any, depth: int) -> Tree:
    if depth > DEEPEST:
        raise TextTooLargeError(f"more than {DEEPEST} levels")
    below = depth + 1
    match native:
        case expressions.KeywordConstant():
            return Word(native.value, native)
        case expressions.Constant():
            return Constant(native.value, native)
        case expressions.Wrap():
            return Group(_converted(native.expr, below), native)
        case expressions.GetContextValue():
            name = native.path.value
            return Variable(sys.intern("$1" if name == "$" else name), native)
        case expressions.BinaryOperator():
            left, right = native.args
            return Binary(
                native.operator, _converted(left, below), _converted(right, below), native
            )
        case expressions.UnaryOperator():
            return Unary(native.operator, _converted(native.args[0], below), native)
        case expressions.MappingRuleExpression():
            source = _converted(native.source, below)
            return Rule(source, _converted(native.destination, below), native)
    return _with_arguments(native, below)


def _with_arguments(native: Any, depth: int) -> Tree:
    parts = tuple(
        Omitted(each) if each is utils.NO_VALUE else _converted(each, depth) for each in native.args
    )
    match native:
        case expressions.IndexExpression():
            return Index(parts[0], parts[1:], native)
        case expressions.ListExpression():
            return ListOf(parts, native)
        case expressions.MapExpression():
            return MapOf(parts, native)
        case expressions.Function():
            return Call(sys.intern(native.name), parts, native)
    raise AssertionError(native)


@dataclass(frozen=True, slots=True)
class Added:
    """A function that a language has beside yaql's own, or instead of one with the same parameters.

    Attributes:
        name: its name in expressions; operators are spelled as yaql spells them.
        payload: what computes it; a parameter called `context` gets yaql's context.
        parameters: what its parameters take, by name: a Python type, or one of `KINDS`; all others take any value.
        is_method: whether it is called with a dot.
        is_function: whether it is called without one.
    """

    name: str
    payload: Callable[..., Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    is_method: bool = False
    is_function: bool = True


KINDS: Final = {
    "text": yaqltypes.String,
    "number": yaqltypes.Number,
    "items": yaqltypes.Iterable,
    "list": yaqltypes.Sequence,
    "lambda": yaqltypes.Lambda,
    "lambda over a context": lambda: yaqltypes.Lambda(with_context=True),
    "word": yaqltypes.Keyword,
    "call": lambda: yaqltypes.YaqlExpression(expressions.Function),
    "any": lambda: yaqltypes.PythonType(object, nullable=True),
}
"""What a parameter can take beside values of a Python type."""

_METHODS_THAT_ARE_FUNCTIONS = (
    "to_lower",
    "to_upper",
    "trim",
    "join",
    "split",
    "starts_with",
    "ends_with",
    "matches",
    "replace",
    "flatten",
)


class Language:
    """The functions that expressions of one family of formats know, and yaql's evaluator over them.

    Args:
        is_legacy: whether it is the older YAQL, of the formats below 1.2.
        added: functions beside those of yaql.
        pattern: the class of what `regex()` yields.
        measure: raises an error where a value is too large to be gone through.
    """

    def __init__(
        self,
        added: Iterable[Added],
        pattern: type,
        measure: Callable[[Any], object],
        *,
        is_legacy: bool,
    ) -> None:
        self.is_legacy = is_legacy
        options = {"yaql.limitIterators": MOST_ITEMS, "yaql.memoryQuota": MEMORY}
        self.engine = grammar().copy(options | {"yaql.iterableDicts": is_legacy})
        make = legacy.create_context if is_legacy else yaql.create_context
        base = make(yaqlized=False, regex=False, convention=conventions.CamelCaseConvention())
        self.context = bounding(BriefContext(base), measure).create_child_context()
        self._foreign: tuple[Any, Any] = (None, self.context)
        self._names: dict[bool, frozenset[str]] = {}
        _add_patterns(self.context, pattern)
        for each in added:
            self.context.register_function(_definition(each))
        if is_legacy:
            self.context = self.context.create_child_context()
            for name in _METHODS_THAT_ARE_FUNCTIONS:
                for spec in _as_functions(name, self.context.parent):
                    self.context.register_function(spec)

    def with_functions(self, added: Iterable[Added]) -> "Language":
        """The language with more functions, which come before its own."""
        larger = object.__new__(Language)
        larger.is_legacy, larger.engine = self.is_legacy, self.engine
        larger.context = self.context.create_child_context()
        for each in added:
            larger.context.register_function(_definition(each))
        larger._foreign, larger._names = (None, larger.context), {}
        return larger

    def knows(self, name: str) -> bool:
        """Whether there is a function or a method of that name."""
        return bool(self.context.collect_functions(name))

    def knows_method(self, name: str) -> bool:
        """Whether there is a method of that name."""
        found = self.context.collect_functions(name, lambda each, _: each.is_method)
        return any(layer for layer in found)

    def is_lazy(self, name: str) -> bool:
        """Whether a function or a method of that name takes an expression instead of its value."""
        found = self.context.collect_functions(name)
        kinds = (
            each.value_type
            for layer in found
            for spec in layer
            for each in spec.parameters.values()
        )
        return any(isinstance(each, yaqltypes.LazyParameterType) for each in kinds)

    def knows_function(self, name: str) -> bool:
        """Whether there is a function of that name; methods do not count."""
        found = self.context.collect_functions(name, lambda each, _: each.is_function)
        return any(layer for layer in found)

    def child(
        self,
        frames: Iterable[Mapping[str, Any]],
        functions: Mapping[str, Callable[..., Any]],
        meter: Meter | None = None,
    ) -> Any:
        """A context of yaql for some frames of variables, the outermost first, and functions from outside.

        The meter counts each call of a lambda.
        """
        context = self._with(functions) if functions else self.context
        if meter is not None:
            context = MeteredContext(context, meter)
        for frame in frames:
            context = context.create_child_context()
            for name, value in frame.items():
                context[name] = value
        return context

    def _with(self, functions: Mapping[str, Callable[..., Any]]) -> Any:
        known, context = self._foreign
        if known is not functions:
            context = self.context.create_child_context()
            for name, function in functions.items():
                made = _foreign(name, function)
                made.is_function = made.is_function and not self.knows_function(name)
                made.is_method = made.is_method and not self.knows_method(name)
                if made.is_function or made.is_method:
                    context.register_function(made)
            self._foreign = (functions, context)
        return context

    def taken(self, call: Any, receiver: Any = None) -> Taken:
        """What functions there are for a call in a tree of yaql, or what methods where there is a receiver."""
        return taken(
            self.context, self.engine, call, utils.NO_VALUE if receiver is None else receiver
        )

    def names(self, *, of_methods: bool) -> frozenset[str]:
        """The names of all functions, or of all methods."""
        if of_methods not in self._names:
            found = known(self.context, None) if of_methods else known(self.context)
            self._names[of_methods] = frozenset(found)
        return self._names[of_methods]

    def evaluate(self, native: Any, context: Any) -> Any:
        """What a part of a tree yields."""
        return native(utils.NO_VALUE, context, self.engine)

    def evaluate_method(self, native: Any, receiver: Any, context: Any) -> Any:
        """What the call of a method yields, to the right of a dot."""
        return self.call("#operator_.", (receiver, native), context)

    def call(
        self,
        name: str,
        arguments: tuple[Any, ...],
        context: Any,
        named: Mapping[str, Any] = _NO_NAMES,
    ) -> Any:
        """Calls a function with values; a value for a lambda is something that can be called."""
        return context(name, self.engine, utils.NO_VALUE, context)(*arguments, **named)

    def call_method(
        self,
        name: str,
        arguments: tuple[Any, ...],
        context: Any,
        named: Mapping[str, Any] = _NO_NAMES,
    ) -> Any:
        """Calls a method with values, the first of which is the receiver."""
        return context(name, self.engine, arguments[0], context)(*arguments[1:], **named)


def register(context: Any, added: Added) -> None:
    """Adds a function to one context of yaql."""
    context.register_function(_definition(added))


def _definition(added: Added) -> Any:
    convention = conventions.CamelCaseConvention()
    made = specs.get_function_definition(
        added.payload,
        name=added.name,
        function=added.is_function,
        method=added.is_method,
        convention=convention,
    )
    for name, kind in added.parameters.items():
        alias = convention.convert_parameter_name(name)
        value_type = KINDS[kind]() if isinstance(kind, str) else kind
        made.set_parameter(name, value_type, alias=alias, overwrite=True)
    return made


def _foreign(name: str, function: Any) -> Any:
    """The definition of a function from outside."""
    if isinstance(function, ForeignFunction):
        return function.definition()
    return _definition(Added(name, _plainly(function)))


def _plainly(function: Callable[..., Any]) -> Callable[..., Any]:
    def plain(*values: Any, **named: Any) -> Any:  # Whatever its own signature is
        return function(*values, **named)

    return plain


def _as_functions(name: str, context: Any) -> list[Any]:
    """The methods of a name, as functions and methods both."""
    found = context.collect_functions(
        name, lambda spec, _: not spec.is_function, use_convention=True
    )
    nearest = found[:1] if name in WHOLE else found  # Behind ours there are those of yaql.
    clones = [spec.clone() for layer in nearest for spec in layer]
    for clone in clones:
        clone.is_function = clone.is_method = True
    return clones


def _add_patterns(context: Any, pattern: type) -> None:
    """Adds yaql's functions for patterns, which hold for ours as they do for Python's."""
    found = contexts.Context(convention=conventions.CamelCaseConvention())
    standard_patterns.register(found)
    for name in ("matches", "#operator_=~", "#operator_!~", "search", "searchAll", "split"):
        _adopt(found, context, name, pattern)
    for name in ("replace", "replaceBy", "escapeRegex"):
        _adopt(found, context, name, pattern)


def _adopt(found: Any, context: Any, name: str, pattern: type) -> None:
    for spec in found.get_functions(name)[0]:
        takes_pattern = False
        for parameter in spec.parameters.values():
            kind = parameter.value_type
            if getattr(kind, "python_type", None) is standard_patterns.REGEX_TYPE:
                parameter.value_type = yaqltypes.PythonType(pattern, nullable=False)
                takes_pattern = True
        if takes_pattern or name == "escapeRegex":
            context.register_function(spec)


def is_iterable(value: Any) -> bool:
    """Whether a value is a sequence of items; text and maps are not."""
    return bool(utils.is_iterable(value))


def stop() -> Exception:
    """The error for a sequence that has no more items; a bare one would end the sequence around it in silence."""
    wrapped: Exception = exceptions.WrappedException(StopIteration())
    return wrapped


def unwrapped(error: Any) -> Any:
    """An error as a package meant it, without the wrapping that took it through sequences."""
    while isinstance(error, exceptions.WrappedException):
        error = error.wrapped
    return error


def called(native: Any, context: Any, engine: Any) -> tuple[list[Any], dict[str, Any]]:
    """The values with which a tree calls a method: those by position, and those by name."""
    values, named = [], {}
    for each in native.args:
        if isinstance(each, expressions.MappingRuleExpression):
            named[str(each.source(utils.NO_VALUE, context, engine))] = each.destination(
                utils.NO_VALUE, context, engine
            )
        else:
            values.append(each(utils.NO_VALUE, context, engine))
    return values, named
