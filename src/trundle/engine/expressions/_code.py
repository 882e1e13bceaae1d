"""The YAML of class files: which scalars are expressions, and what the others are.

A scalar is an expression if it is tagged `!yaql`; or if it has neither quotes nor a tag, YAML gives it no other type, it
has a character beyond letters, digits, `_`, `.` and white space, and it parses as YAQL. This holds for keys, too.
"""

import math
import re
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml

from trundle.documents import DocumentCode, DocumentError, interpret, is_plain
from trundle.engine.expressions._expression import Expression, is_expression
from trundle.errors import Place, shown

_TAG = "tag:yaml.org,2002:"
_RESOLVER: Any = yaml.SafeLoader("")
_SWITCHES = re.compile("(?i)yes|no|on|off")
_TEXT_IN_CODE = ("timestamp", "value", "merge")


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar that is no expression: text, a number, a boolean or None."""

    value: str | int | float | bool | None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Listing:
    """A list."""

    items: tuple["Code", ...]
    line: int = 0


@dataclass(frozen=True, slots=True)
class Mapped:
    """A map; its keys are scalars or expressions, each once, in the order of the file."""

    entries: tuple[tuple["Scalar | Expression", "Code"], ...]
    line: int = 0

    def get(self, key: str) -> "Code | None":
        """What stands under a key that is text."""
        for name, value in self.entries:
            if isinstance(name, Scalar) and name.value == key and isinstance(name.value, str):
                return value
        return None


Code: TypeAlias = Scalar | Expression | Listing | Mapped
"""A part of a class file."""


def read_code(text: str, file: str) -> list[Code]:
    """Reads the YAML documents of a class file; empty ones are left out.

    Args:
        text: the file's text.
        file: what messages call it.

    Raises:
        DocumentError: the text is not YAML, or has tags, keys or numbers that cannot be used.
    """
    return interpret(text, file, _ClassFile(file))


class _ClassFile:
    deepest = 200
    flatter = "write it less deeply nested"
    expansion = 1_000_000

    def __init__(self, file: str) -> None:
        self._file = file

    def scalar(self, event: yaml.ScalarEvent, line: int, *, is_key: bool) -> Code:
        text: str = event.value
        tag = (event.tag or "").removeprefix(_TAG)
        if tag == "!yaql":
            return Expression(text, Place(self._file, line))
        if tag in ("str", "!") or (not tag and not is_plain(event)):
            return Scalar(text, line)
        if is_key and text == "<<":
            advice = "write the merged keys out, or quote the key"
            raise self._wrong(line, "keys of the map itself", "the merge key '<<'", advice)
        kind = _kind(text, is_key=is_key)
        if tag and tag != kind:
            raise self._wrong(
                line, "a value that its tag fits", f"the tag {event.tag}", "remove it"
            )
        if kind in _TEXT_IN_CODE:
            return Scalar(text, line)
        if kind != "str":
            return Scalar(self._value(text, kind, line), line)
        if is_expression(text):
            return Expression(text, Place(self._file, line))
        return Scalar(text, line)

    def _value(self, text: str, kind: str, line: int) -> Any:
        try:
            node = yaml.ScalarNode(_TAG + kind, text)
            value = _RESOLVER.yaml_constructors[_TAG + kind](_RESOLVER, node)
        except (ValueError, KeyError):  # More digits than Python reads
            value = math.nan
        if isinstance(value, float) and not math.isfinite(value):
            raise self._wrong(line, "a finite number", shown(text), "quote it as text")
        return value

    def sequence(self, items: list[Code], line: int) -> Code:
        return Listing(tuple(items), line)

    def mapping(self, keys: list[tuple[Code, int]], values: list[Code], line: int) -> Code:
        entries: list[tuple[Scalar | Expression, Code]] = []
        seen = set()
        for (key, at), value in zip(keys, values, strict=True):
            if not isinstance(key, Scalar | Expression):
                advice = "write text or an expression; a key with braces may need quotes"
                raise self._wrong(at, "a scalar as key", "a list or map", advice)
            name = key if isinstance(key, Expression) else (type(key.value), key.value)
            if name in seen:
                text = str(key) if isinstance(key, Expression) else shown(key.value)
                advice = "remove one of the two, or rename it"
                raise self._wrong(
                    at,
                    "each key once in a map",
                    f"{text} a second time",
                    advice,
                    DocumentCode.DUPLICATE_KEY,
                )
            seen.add(name)
            entries.append((key, value))
        return Mapped(tuple(entries), line)

    def _wrong(
        self,
        line: int,
        expected: str,
        found: str,
        advice: str,
        code: DocumentCode = DocumentCode.VALUE,
    ) -> DocumentError:
        return DocumentError(self._file, line, expected, found, advice, code)


def _kind(text: str, *, is_key: bool) -> str:
    """The type that YAML 1.1 gives a plain scalar, without its prefix; `int` only for what people take for a number."""
    tag = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))
    kind = str(tag).removeprefix(_TAG)
    if kind == "bool" and is_key and _SWITCHES.fullmatch(text):
        return "value"
    if kind in ("int", "float") and ":" in text:  # 12:30 is 750 to YAML 1.1
        return "timestamp"
    return kind
