"""The statements of a function while it is rendered: its lines and variables, and the helpers beside it."""

import contextlib
import keyword
import re
from collections.abc import Iterator

from trundle import runtime
from trundle.codegen._naming import shortened
from trundle.codegen._static_types import Static, shown
from trundle.codegen._text import Helper, part_mark

INDENT = "    "
"""How far a function's statements are indented."""
_TAKEN = frozenset(
    {"base", "cast", "made", "msgspec", "source", "stored", "target", "version"}
    | {"bool", "dict", "float", "frozenset", "int", "isinstance", "list", "str", "tuple", "zip"}
    | {*runtime.__all__}
)
"""Names that a variable of generated code must not hide."""
_HELPER = re.compile(
    r"_(derived|entries|hidden|holders|values|to_storage|from_storage|before|upgrade|to_v\w+|witness)(_\d+)?$"
)
"""What the names of helpers end with."""


class Statements:
    """The statements of one function.

    Attributes:
        prelude: what is before all others.
        lines: the statements so far, each with its line's end.
        indent: how far the next is indented.
        helpers: functions and constants beside the function.
    """

    def __init__(self) -> None:
        self.prelude: list[str] = []
        self.lines: list[str] = []
        self.indent = INDENT
        self.helpers: list[Helper] = []
        self._variables: set[str] = set()
        self._made: dict[str, str] = {}

    def add(self, text: str) -> None:
        """Add a statement."""
        self.lines.append(f"{self.indent}{text}\n")

    @contextlib.contextmanager
    def apart(self) -> Iterator[list[str]]:
        """The lines of a helper's body, which has variables of its own."""
        lines, indent, variables, prelude = self.lines, self.indent, self._variables, self.prelude
        self.lines, self.indent, self._variables, self.prelude = [], INDENT, set(), []
        yield self.lines
        self.lines[:0] = self.prelude
        self.lines, self.indent, self._variables, self.prelude = lines, indent, variables, prelude

    def variable(self, value: str, hint: str, type_: Static = None) -> str:
        """The value as something cheap to name twice: itself, or a new variable."""
        if value.replace(".", "").replace("_", "").isalnum():
            return value
        name = self.fresh(hint)
        annotation = f": {shown(type_)}" if type_ is not None and "present" in value else ""
        self.add(f"{name}{annotation} = {value}")
        return name

    def fresh(self, hint: str) -> str:
        """A name that nothing else has, and that is no helper's."""
        plain = hint.strip("_") or "value"
        if _HELPER.search(plain) or plain in _TAKEN or keyword.iskeyword(plain):
            plain = f"{plain}_value"
        name, number = plain, 2
        while name in self._variables or name in _TAKEN or keyword.iskeyword(name):
            name, number = f"{plain}_{number}", number + 1
        self._variables.add(name)
        return name

    def helper(self, hint: str, text: str) -> str:
        """A mark for a function or constant beside this one; the same text gives the same helper."""
        if text not in self._made:
            self._made[text] = part_mark(len(self.helpers))
            self.helpers.append(Helper(shortened(hint), text))
        return self._made[text]
