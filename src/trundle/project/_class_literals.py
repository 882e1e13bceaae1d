"""Texts and numbers that stand in class files, on which conditions of methods may turn."""

import re
from collections.abc import Iterator

_LITERAL = re.compile(
    r"""'(?P<single>[^'\n]*)'|"(?P<double>[^"\n]*)"|(?<![\w.$])(?P<number>-?\d{1,15}(?:\.\d{1,9})?)\b|(?<![\w.$])(?P<word>[^\W\d][\w-]*)(?P<key>:?)"""
)


def literals(source: bytes) -> Iterator[str | int | float]:
    """Texts and numbers that stand in a class file, keys and names among them."""
    for each in _LITERAL.finditer(source.decode()):
        if (number := each["number"]) is not None:
            yield float(number) if "." in number else int(number)
        elif (word := each["word"]) is not None:
            if not (each["key"] and word[0].isupper()):  # such as `Body:`
                yield word
        else:
            yield each["single"] or each["double"] or ""
