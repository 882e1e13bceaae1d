"""The one module that knows yaql: its parser with our operators, its contexts, its evaluator.

The grammar is the same in all formats. The parser keeps its state in itself, so one thread parses at a time.
"""

import collections.abc  # noqa: F401 - yaql uses it without importing it
import threading
from functools import cache
from typing import Any, Final

from yaql.language import exceptions, expressions, factory, utils

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

_PARSING = threading.Lock()


class NotYaqlError(TrundleError):
    """A text does not parse."""


class TooDeepError(TrundleError):
    """A text parses, but nests too deeply."""


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
        TooDeepError: it nests too deeply.
    """
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
        raise TooDeepError(f"more than {DEEPEST} levels")
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
            return Variable("$1" if name == "$" else name, native)
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
            return Call(native.name, parts, native)
    raise AssertionError(native)
