"""The languages of all formats, each made once."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from trundle.engine.expressions._builtins import builtins
from trundle.engine.expressions._compile import Compiler
from trundle.engine.expressions._format import Format
from trundle.engine.expressions._library import EVERYWHERE, LEGACY
from trundle.engine.expressions._patterns import Pattern
from trundle.engine.expressions._scope import Scope, context_of
from trundle.engine.expressions._sizes import check_size
from trundle.engine.expressions._tree import Tree, Variable
from trundle.engine.expressions._values import freeze
from trundle.engine.expressions._yaql import Language


@cache
def language_for(*, is_legacy: bool) -> Language:
    """The language of the formats below 1.2, or that of the others."""
    added = EVERYWHERE + LEGACY if is_legacy else EVERYWHERE
    return Language(added + builtins(is_legacy=is_legacy), Pattern, check_size, is_legacy=is_legacy)


@cache
def _compiler(*, is_legacy: bool) -> Compiler:
    return Compiler(language_for(is_legacy=is_legacy))


def compiler_for(format_: Format) -> Compiler:
    """What compiles the expressions of a format."""
    return _compiler(is_legacy=format_.is_legacy)


def evaluator(tree: Tree, format_: Format) -> Callable[[Scope], Any]:
    """What evaluates a part of an expression, to a value as `freeze` makes it."""
    closure = compiler_for(format_).closure(tree)
    if isinstance(tree, Variable):
        return closure  # Its value is frozen already
    return lambda scope: freeze(closure(scope))


def call_by_name(
    name: str,
    receiver: Any,
    values: tuple[Any, ...],
    named: Mapping[str, Any],
    scope: Scope,
    format_: Format,
) -> Any:
    """Calls a function of the language, or a method where there is a receiver."""
    language = language_for(is_legacy=format_.is_legacy)
    context = context_of(scope, language)
    if receiver is not None:
        return freeze(language.call_method(name, (receiver, *values), context, named))
    return freeze(language.call(name, values, context, named))
