"""Laying out generated code: lines that are too long are broken at their brackets, part by part.

The result is what the usual formatters make of it, without depending on any version of one.
"""

import re
from collections.abc import Iterator

from trundle.codegen._text import WIDTH

_OPEN, _CLOSE = "([{", ")]}"
_GROUPING = re.compile(r""""(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|[\[\](){}]""")
"""A text, or a bracket."""
_CHOICE = re.compile("(?= if | else )")
_COMPREHENSION = re.compile("(?= for | if )")
_EITHER = re.compile("(?= or )")
_UNION = re.compile(r"(?= \| )")


def lay_out(source: str) -> str:
    """Python source with every line broken that is too long and can be broken; docstrings stay."""
    laid: list[str] = []
    quoted = False
    for line in source.splitlines():
        if quoted or ('"""' in line and line.lstrip().startswith('"""')):
            laid.append(line)
            quoted ^= line.count('"""') % 2 == 1
        elif len(line) <= WIDTH:
            laid.append(line)
        else:
            laid.extend(_lines(line, inside=line.endswith(",")))
    laid.append("")
    return "\n".join(laid)


def _lines(line: str, *, inside: bool) -> Iterator[str]:
    """The lines that one becomes; `inside` says whether it is within brackets."""
    if len(line) <= WIDTH or line.lstrip().startswith("#"):
        yield line
        return
    indent = line[: len(line) - len(line.lstrip())]
    pieces = list(_pieces(line)) if inside else []
    if len(pieces) > 1:
        for place, piece in enumerate(pieces):
            yield from _lines(piece if place == 0 else indent + piece.strip(), inside=False)
        return
    line = line if inside else _parenthesised(line)
    group = _last_group(line)
    if group is None:
        yield line
        return
    start, end = group
    yield line[: start + 1]
    yield from _body(line[: start + 1], line[start + 1 : end], f"{indent}    ")
    yield indent + line[end:]


def _parenthesised(line: str) -> str:
    """A line whose conditional expression or optional type is put in brackets, if it has one."""
    annotated = re.fullmatch(r"(\s*\w+: )(.* \| Absent)( = .*)?", line)
    if annotated is not None:
        name, annotation, value = annotated.groups(default="")
        return f"{name}({annotation}){value}"
    pieces = list(_pieces(line))
    if len(pieces) != 3 or not pieces[2].startswith(" else "):  # noqa: PLR2004 - value, if, else
        return line
    for word in (" = ", "return "):
        head, found, value = line.partition(word)
        if found:
            return f"{head}{found}({value})"
    return line


def _body(head: str, body: str, indent: str) -> Iterator[str]:
    """What is between two brackets, on lines of its own."""
    comprehension = " for " in _plain(body)
    parts = [body.strip()] if comprehension else [part.strip() for part in split_top(body, ",")]
    collection = not (head[-2:-1].isidentifier() or head[-2:-1] in _CLOSE) or head[-1] == "{"
    several = len(parts) > 1 or body.rstrip().endswith(",")
    parameter = head.lstrip().startswith("def ") and not several
    if len(indent) + len(body.strip()) <= WIDTH and not (collection and several) and not parameter:
        yield indent + body.strip()
        return
    comma = "," if several or parameter else ""
    for part in parts:
        yield from _lines(f"{indent}{part}{comma}", inside=True)


def _pieces(line: str) -> Iterator[str]:
    """A conditional expression, a comprehension or a union, in the pieces that are on own lines."""
    plain = _plain(line)
    if " else " in plain:
        words = _CHOICE
    elif " for " in plain:
        words = _COMPREHENSION
    else:
        words = _EITHER if " or " in plain else _UNION
    start = 0
    for place in _top(line, words):
        yield line[start:place]
        start = place
    yield line[start:]


def split_top(text: str, mark: str) -> Iterator[str]:
    """The parts of a text between marks that are outside all brackets and strings."""
    start = 0
    for place in _top(text, re.compile(re.escape(mark))):
        yield text[start:place]
        start = place + 1
    if text[start:].strip():
        yield text[start:]


def _top(text: str, wanted: re.Pattern[str]) -> Iterator[int]:
    """The places outside all brackets and strings at which what is wanted begins."""
    found = [match.start() for match in wanted.finditer(text)]
    if not found:
        return
    spans = _outside(text)
    start, end = next(spans)
    for place in found:
        while place >= end:
            start, end = next(spans, (len(text), len(text) + 1))
        if place >= start:
            yield place


def _plain(text: str) -> str:
    """What of a text is outside all brackets and strings."""
    return "".join(text[start:end] for start, end in _outside(text))


def _outside(text: str) -> Iterator[tuple[int, int]]:
    """The spans of a text outside all brackets and strings; the last one may be empty."""
    depth = start = 0
    for match in _GROUPING.finditer(text):
        if depth == 0:
            yield start, match.start()
        letter = match[0]
        if letter in _OPEN:
            depth += 1
        elif letter in _CLOSE:
            depth -= 1
        start = match.end()
    if depth == 0:
        yield start, len(text)


def _last_group(line: str) -> tuple[int, int] | None:
    """The outermost bracket group that ends last, if there is something in it."""
    stack: list[int] = []
    found: tuple[int, int] | None = None
    for match in _GROUPING.finditer(line):
        letter, place = match[0], match.start()
        if letter in _OPEN:
            stack.append(place)
        elif letter in _CLOSE and stack:
            start = stack.pop()
            if not stack and place - start > 1:
                found = (start, place)
                if line.lstrip().startswith("def "):
                    break  # its parameters, whatever it returns
    return found
