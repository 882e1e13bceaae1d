"""Functions that the package language adds to yaql's, and those of yaql's that must not run for ever."""

import re
import string
from typing import Any

from trundle.engine._described import described
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._scene import ObjectValue, TypeValue
from trundle.engine.expressions._patterns import Pattern, pattern
from trundle.engine.expressions._scope import SCENE
from trundle.engine.expressions._sizes import as_text, check_size, check_text
from trundle.engine.expressions._values import freeze
from trundle.engine.expressions._yaql import Added, called
from trundle.errors import expectation, shortened

_LARGEST_BITS = 100_000
_MOST_WORK = 4096 * 4096
_LONGEST_LIST = 1_000_000
_PLAIN_SPEC = re.compile(r"(?:.?[<>=^])?[-+ ]?#?0?\d{0,3}[,_]?(?:\.\d{1,3})?[bcdeEfFgGnosxX%]?")


def too_large(what: str) -> EngineError:
    """The error for a number that has too many digits."""
    message = f"{what} has more than {_LARGEST_BITS} binary digits"
    return EngineError(EngineCode.LIMIT, message, advice="use smaller numbers")


def multiply(left: Any, right: Any) -> Any:
    """The product of two numbers."""
    if (
        isinstance(left, int)
        and isinstance(right, int)
        and left.bit_length() + right.bit_length() > _LARGEST_BITS
    ):
        raise too_large("the product")
    return left * right


def _repeat(left: Any, right: Any) -> Any:
    if len(left) * right > _LONGEST_LIST:
        message = f"a list of {len(left) * right} items is longer than {_LONGEST_LIST}"
        raise EngineError(EngineCode.LIMIT, message, advice="make it smaller")
    return left * right


def _repeated(left: Any, right: Any) -> Any:
    return _repeat(right, left)


def _power(a: Any, b: Any, c: Any = None) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        if c is None and a.bit_length() * b > _LARGEST_BITS:
            raise too_large("the power")
        if isinstance(c, int) and b.bit_length() * c.bit_length() > _MOST_WORK:
            message = f"the power of a number modulo another one takes too long: {b.bit_length()} and {c.bit_length()} binary digits"
            raise EngineError(EngineCode.LIMIT, message, advice="use smaller numbers")
    return pow(a, b, c)


def _concat(*parts: str) -> str:
    check_text(sum(map(len, parts)))
    return "".join(parts)


def _shift_left(value: int, bits_number: int) -> int:
    if value.bit_length() + bits_number > _LARGEST_BITS:
        raise too_large("the shifted number")
    return value << bits_number


def format_text(*arguments: Any, **named: Any) -> str:
    """Text with values for its `{}`, `{0}` and `{name}`; reaches neither attributes nor items.

    Raises:
        ValueError: a field is written in another way.
        IndexError: there is no such value.
        KeyError: the same.
    """
    text, values = arguments[0], arguments[1:]
    written, counted, size = [], 0, 0
    for literal, name, spec, conversion in string.Formatter().parse(text):
        written.append(literal)
        if name is None:
            continue
        if conversion or not _PLAIN_SPEC.fullmatch(spec or ""):
            raise _strange_field(name, conversion, spec)
        if name.isidentifier():
            value = named[name]
        elif not name or name.isdecimal():
            at = int(name) if name else counted
            counted += not name
            if at >= len(values):
                raise IndexError(f"there is no value for {{{shortened(name) or at}}}")
            value = values[at]
        else:
            raise _strange_field(name, conversion, spec)
        check_size(value, with_texts=True)
        shown = _in_form(value, spec) if spec else str(value)
        size += len(shown)
        check_text(size)
        written.append(shown)
    check_text(sum(map(len, written)))
    return "".join(written)


def _strange_field(name: str, conversion: str | None, spec: str | None) -> ValueError:
    written = f"{name}{f'!{conversion}' if conversion else ''}{f':{spec}' if spec else ''}"
    return ValueError(expectation("{}, {0} or {name} in a format", f"{{{shortened(written)}}}"))


def _in_form(value: Any, spec: str) -> str:
    try:
        return format(value, spec)
    except TypeError:
        message = expectation(f"a text or a number for {{:{spec}}}", described(value))
        raise TypeError(message) from None


def _format(text: str, *values: Any, **named: Any) -> str:
    return format_text(text, *values, **named)


def matches(text: str, expression: str) -> bool:
    """Whether a pattern matches somewhere in a text."""
    return pattern(expression).search(text) is not None


def _does_not_match(text: str, expression: str) -> bool:
    return not matches(text, expression)


def _compile_pattern(
    expression: str,
    ignore_case: bool = False,  # noqa: FBT001, FBT002 - yaql's signature
    multi_line: bool = False,  # noqa: FBT001, FBT002
    dot_all: bool = False,  # noqa: FBT001, FBT002
) -> Pattern:
    chosen = ((ignore_case, re.IGNORECASE), (multi_line, re.MULTILINE), (dot_all, re.DOTALL))
    return pattern(expression, sum(flag for wanted, flag in chosen if wanted))


def _substr(text: str, start: int, length: int = -1) -> str:
    return text[start:] if length < 0 else text[start : start + length]


def _first_or_default(items: Any, default: Any = None) -> Any:
    return next(iter(items), default)


def _picked(items: Any, index_expression: Any) -> Any:
    """The item at an index, or, where what is in brackets is no index, the items for which it is true."""
    if isinstance(items, tuple | list):
        try:
            index = index_expression()
        except Exception:  # noqa: BLE001 - a condition on items need not hold for what is around them
            index = None
        if type(index) is int:
            return items[index]
    return filter(index_expression, items)


def _prefixed(prefix: str, name: str, context: Any) -> TypeValue:
    found: TypeValue = context[SCENE].resolve(f"{prefix}:{name}")
    return found


def _in_default_namespace(name: str, context: Any) -> TypeValue:
    found: TypeValue = context[SCENE].resolve(f":{name}")
    return found


def is_of_type(value: Any, type_: Any, scene: Any) -> bool:
    """Whether a value is an object of a type, which may be given by its name; null is not."""
    resolved = scene.resolve(type_) if isinstance(type_, str) else type_
    return isinstance(value, ObjectValue) and scene.is_instance(value, resolved)


def _is(value: Any, type_: Any, context: Any) -> bool:
    return is_of_type(value, type_, context[SCENE])


def _read(value: Any, name: str, context: Any) -> Any:
    return value.read(name, context[SCENE])


def _call(value: Any, native: Any, context: Any, engine: Any) -> Any:
    """Calls a method of an object or a type; one that its class does not have is the language's own."""
    found = context[SCENE].method(value, native.name)
    if found is None:
        return native(value, context, engine)
    values, named = called(native, context, engine)
    frozen = {name: freeze(each) for name, each in named.items()}
    return found.call(value, [freeze(each) for each in values], frozen, context[SCENE])


_TWO_NUMBERS = {"left": "number", "right": "number"}
_TEXT_AND_PATTERN = {"text": "text", "expression": "text"}

EVERYWHERE = (
    Added("format", _format, {"text": "text"}, is_method=True),
    Added("#operator_*", multiply, _TWO_NUMBERS),
    Added("#operator_*", _repeat, {"left": "list", "right": int}),
    Added("#operator_*", _repeated, {"left": int, "right": "list"}),
    Added("concat", _concat, {"parts": "text"}),
    Added("pow", _power, {"a": "number", "b": "number"}),
    Added("shiftBitsLeft", _shift_left, {"value": int, "bits_number": int}),
    Added("regex", _compile_pattern, {"expression": "text"}),
    Added("matches", matches, _TEXT_AND_PATTERN, is_method=True, is_function=False),
    Added("#operator_=~", matches, _TEXT_AND_PATTERN),
    Added("#operator_!~", _does_not_match, _TEXT_AND_PATTERN),
    Added("#operator_:", _prefixed, {"prefix": "word", "name": "word"}),
    Added("#unary_operator_:", _in_default_namespace, {"name": "word"}),
    Added("#operator_is", _is, {"type_": (str, TypeValue)}),
    Added("#operator_.", _read, {"value": (ObjectValue, TypeValue), "name": "word"}),
    Added("#operator_.", _call, {"value": (ObjectValue, TypeValue), "native": "call"}),
    Added("str", as_text),
    Added("isRegex", lambda value: isinstance(value, Pattern)),
)
"""What all formats have beside yaql's library."""

LEGACY = (
    Added("#indexer", _picked, {"items": "items", "index_expression": "lambda"}),
    Added("substr", _substr, {"text": "text"}, is_method=True),
    Added("firstOrDefault", _first_or_default, {"items": "items"}, is_method=True),
)
"""What the formats below 1.2 have beside that."""
