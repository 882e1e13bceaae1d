"""What went wrong when an expression ran, in the words and with the codes of the engine."""

import re

from trundle.engine._described import described
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._scene import Scene
from trundle.engine.expressions._contexts import MisfitCall, UnknownCall
from trundle.engine.expressions._yaql import (
    AmbiguousFunctionError,
    AmbiguousMethodError,
    NoFunctionError,
    NoMethodError,
    ResolutionError,
    TooManyItemsError,
    TooMuchMemoryError,
    unwrapped,
)
from trundle.errors import Place, listed, shortened

_OPERATOR = re.compile(
    r'(?:unknown |no |ambiguous )?function "(?:#(?:unary_)?operator_|[*]|#(?=indexer))(\S+)"',
    re.IGNORECASE,
)
_DIGITS = re.compile(r"Exceeds the limit \((\d+) digits\) for integer string conversion")
_NO_MEMORY = "malloc failure"
"""What OpenSSL says, which computes digests, where it gets no memory: Python raises its errors as others."""
_TYPES = {
    "tuple": "a list",
    "list": "a list",
    "FrozenDict": "a map",
    "dict": "a map",
    "NoneType": "nothing",
}
_TYPE = re.compile(rf"(?:<class )?'(?:[\w.]+\.)?({'|'.join(_TYPES)})'(?:>| object)?")
_MOST_WORDS = 1000
"""How many characters of an error of Python are shown: it may have a whole text in it."""

_SPELLED = {"equal": "=", "not_equal": "!=", "indexer": "[]"}
_PROPERTY = re.compile(r'"#property#(\w+)"')

_CODES: tuple[tuple[type[Exception], EngineCode, str], ...] = (
    (
        NoFunctionError,
        EngineCode.UNKNOWN_FUNCTION,
        "correct its name, or put quotes around the text",
    ),
    (NoMethodError, EngineCode.NO_METHOD, "correct its name"),
    (
        ResolutionError,
        EngineCode.NO_MATCH,
        "check the types of what it is given; null may be among it",
    ),
    (TooManyItemsError, EngineCode.LIMIT, "go through fewer items"),
    (TooMuchMemoryError, EngineCode.LIMIT, "make smaller values"),
    (RecursionError, EngineCode.LIMIT, "nest it less deeply"),
    (MemoryError, EngineCode.LIMIT, "make smaller values"),
)

_LIMITS = (TooManyItemsError, TooMuchMemoryError, RecursionError, MemoryError)
"""Errors of Python and yaql for what is too large, which have names that are known."""

_AMBIGUOUS = (AmbiguousFunctionError, AmbiguousMethodError)
"""Errors of yaql for a call that several functions take: they have a code with others, and names of their own."""


def located(error: EngineError, place: Place, scene: Scene | None) -> EngineError:
    """An error with the place of the expression and the class whose code it is, where it has none of its own."""
    has_place = bool(error.file) and not error.is_at_class
    if not has_place and place.file:
        error.file, error.line = place.file, place.line
    if scene is not None and (error.is_at_class or not error.class_name):
        origin = scene.origin
        error.package, error.version = origin.package, origin.version
        error.class_name = origin.class_name
        error.is_at_class = False
    return error


def explained(error: Exception, expression: str, place: Place, scene: Scene | None) -> EngineError:
    """The engine's error for whatever an expression raised."""
    code, text, advice = reason(error)
    original = unwrapped(error)
    if isinstance(original, UnknownCall) and scene is not None:
        advice = scene.extension(original.called) or advice
    is_own = code is EngineCode.THROWN or isinstance(original, _LIMITS)
    kinds = (type(original),) if is_own else _AMBIGUOUS
    names = tuple([_named(each) for each in kinds if isinstance(original, each)])
    found = EngineError(code, f"{expression}: {text}", advice=advice, names=names)
    found.original = original
    return located(found, place, scene)


def name_of(error: BaseException) -> str:
    """The name by which a package catches an error of Python."""
    return _named(type(error))


def _named(kind: type[BaseException]) -> str:
    is_builtin = kind.__module__ == "builtins"
    return kind.__qualname__ if is_builtin else f"{kind.__module__}.{kind.__qualname__}"


def reason(error: Exception) -> tuple[EngineCode, str, str]:
    """The code, the words and the advice for an error that is not the engine's."""
    error = unwrapped(error)
    if isinstance(error, NoFunctionError) and (name := _PROPERTY.search(str(error))):
        return EngineCode.NO_PROPERTY, f"the value has no property `{name[1]}`", ""
    if isinstance(error, ValueError) and (digits := _DIGITS.match(str(error))):
        words = f"a number has more than {digits[1]} digits, which is the most that text takes"
        return EngineCode.LIMIT, words, "use smaller numbers"
    if isinstance(error, ValueError) and _NO_MEMORY in str(error):
        error = MemoryError()
    for kind, code, advice in _CODES:
        if isinstance(error, kind):
            return code, _words(error), _advice(error, advice)
    return EngineCode.THROWN, _words(error), ""


def _advice(error: Exception, otherwise: str) -> str:
    """What to do about a call that went wrong."""
    if isinstance(error, MisfitCall) and error.ways and _OPERATOR.search(str(error)) is None:
        return f"call it as {listed([f'`{each}`' for each in error.ways])}; {otherwise}"
    return (error.meant if isinstance(error, UnknownCall) else None) or otherwise


def _words(error: Exception) -> str:
    match error:
        case KeyError(args=(key, *_)):
            return f"there is no key {described(key)}"
        case StopIteration():
            return str(error) or "the sequence has no items"
        case RecursionError():
            return "it nests too deeply"
        case MemoryError():
            return "it takes more memory than it may"
    text = _OPERATOR.sub(r"operator `\1`", str(error)) or type(error).__name__
    if operator := re.match(r"operator `(\S+)` matches supplied arguments", text):
        name = _SPELLED.get(operator[1], operator[1])
        return f"the operator `{name}` does not take such values"
    if isinstance(error, TypeError | AttributeError):
        text = _TYPE.sub(lambda found: _TYPES[found[1]], text)
    return shortened(text[:1].lower() + text[1:], _MOST_WORDS)
