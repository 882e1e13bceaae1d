"""An expression as it stands in a file: its text, and where it is."""

import re
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, NoReturn

from trundle.engine._errors import EngineCode, EngineError
from trundle.engine.expressions._calls import Closure
from trundle.engine.expressions._failures import explained, located
from trundle.engine.expressions._format import Format
from trundle.engine.expressions._languages import compiler_for
from trundle.engine.expressions._scope import Scope
from trundle.engine.expressions._tree import Tree
from trundle.engine.expressions._values import PLAIN, freeze
from trundle.engine.expressions._yaql import NotYaqlError, TextTooLargeError, parse
from trundle.errors import Place, shortened

MOST_CHARACTERS = 512 * 1024
"""How long an expression may be."""

_MOST_SHOWN = 80
_EACH = 100
"""How many characters an expression counts beside its own, for what is kept of a short one, too."""
_EXPRESSIVE = re.compile(r"[^\w.\s]")


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression of the package language.

    Two expressions are equal if their texts are.

    Attributes:
        text: as the author wrote it.
        place: file and line.
    """

    text: str
    place: Place = field(default=Place(), compare=False)

    @property
    def tree(self) -> Tree:
        """The expression taken apart.

        Raises:
            EngineError: the text is no expression, or too long or too deep.
        """
        if len(self.text) > MOST_CHARACTERS:
            message = f"an expression has {len(self.text)} characters, more than {MOST_CHARACTERS}"
            raise self._error(EngineCode.LIMIT, message, "split it")
        match _TREES.of(self.text):
            case NotYaqlError() as error:
                advice = "correct it, or put quotes around it if it is text"
                message = f"{self} is no expression: {error}"
                raise self._error(EngineCode.SYNTAX, message, advice)
            case TextTooLargeError() as error:
                message = f"{self} has {error}"
                raise self._error(EngineCode.LIMIT, message, "split it")
            case tree:
                return tree

    def compile(self, format_: Format) -> Closure:
        """What evaluates the expression: a function of a scope that returns a value as `freeze` makes it.

        Raises:
            EngineError: the text is no expression, or too long or too deep. The function raises it for whatever goes
                wrong when it runs, with file and line.
        """
        compiler, tree = compiler_for(format_), self.tree
        frozen = compiler.frozen(tree, self._fail)
        if frozen is not None:  # Values may be large, and are not gone through again
            return frozen
        closure = compiler.closure(tree)

        def evaluate(scope: Scope) -> Any:
            try:
                value = closure(scope)
                return value if type(value) in PLAIN else freeze(value)
            except Exception as error:  # noqa: BLE001 - it is raised again
                self._fail(error, scope)

        return evaluate

    def _fail(self, error: Exception, scope: Scope) -> NoReturn:
        """Raises what went wrong as an error with file and line."""
        if isinstance(error, EngineError):
            raise located(error, self.place, scope.scene) from None
        raise explained(error, str(self), self.place, scope.scene) from error

    def _error(self, code: EngineCode, message: str, advice: str) -> EngineError:
        place = self.place
        return EngineError(code, message, advice=advice, file=place.file, line=place.line)

    def __str__(self) -> str:
        text = " ".join(self.text.split())
        return f"`{shortened(text, _MOST_SHOWN)}`"


def is_words(text: str) -> bool:
    """Whether a text has nothing but letters, digits, `_`, `.` and white space."""
    return not _EXPRESSIVE.search(text)


def is_expression(text: str) -> bool:
    """Whether a scalar without quotes and without another type is an expression, rather than text."""
    if is_words(text):
        return False
    return len(text) > MOST_CHARACTERS or not isinstance(_TREES.of(text), NotYaqlError)


class _Trees:
    """The trees of the texts that were asked for last, so that what several readers of a class need is parsed once.

    Args:
        most: how many characters the texts have at most, where each counts some more; a tree takes about seventy times their room.
    """

    def __init__(self, most: int) -> None:
        self._left = most
        self._found: OrderedDict[str, Tree | NotYaqlError | TextTooLargeError] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, text: str) -> Tree | NotYaqlError | TextTooLargeError:
        """The tree of a text, or why it has none."""
        with self._lock:
            if (known := self._found.get(text)) is not None:
                self._found.move_to_end(text)
                return known
        found: Tree | NotYaqlError | TextTooLargeError
        try:
            found = parse(text)
        except (NotYaqlError, TextTooLargeError) as error:
            found = error.with_traceback(None)
            found.__context__ = None  # It leads to all who called, and what they held.
        with self._lock:
            if text not in self._found:
                self._found[text] = found
                self._left -= len(text) + _EACH
                while self._left < 0:
                    self._left += len(self._found.popitem(last=False)[0]) + _EACH
        return found


_TREES = _Trees(2 * MOST_CHARACTERS)
