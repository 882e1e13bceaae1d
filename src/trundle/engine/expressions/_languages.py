"""The languages of all formats, each made once."""

from functools import cache

from trundle.engine.expressions._compile import Compiler
from trundle.engine.expressions._format import Format
from trundle.engine.expressions._library import EVERYWHERE, LEGACY
from trundle.engine.expressions._patterns import Pattern
from trundle.engine.expressions._yaql import Language


@cache
def language_for(*, is_legacy: bool) -> Language:
    """The language of the formats below 1.2, or that of the others."""
    added = EVERYWHERE + LEGACY if is_legacy else EVERYWHERE
    return Language(added, Pattern, is_legacy=is_legacy)


@cache
def _compiler(*, is_legacy: bool) -> Compiler:
    return Compiler(language_for(is_legacy=is_legacy))


def compiler_for(format_: Format) -> Compiler:
    """What compiles the expressions of a format."""
    return _compiler(is_legacy=format_.is_legacy)
