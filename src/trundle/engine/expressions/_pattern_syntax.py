"""The syntax of patterns: what the library `regex` would see in a text and Python's `re` does not, and how many parts a pattern has."""

import re
from typing import Final

_PIECE = r"""
    (?P<comment>\(\?\#[^)]*\))
    | (?P<opens>\((?:\?(?P<on>[a-zA-Z]*)(?:-(?P<off>[a-zA-Z]+))?:)?)
    | (?P<closes>\))
    | (?P<class>\[\^?\]?(?:\\.|[^\]\\])*\])
    | (?P<kept>\\N\{[^}]*\} | \\. | \{(?:\d+(?:,\d*)?|,\d*)\})
    | (?P<brace>\{)
    """
_PIECES: Final = {
    False: re.compile(rf"{_PIECE} | (?P<other>.)", re.VERBOSE | re.DOTALL),
    True: re.compile(
        rf"(?P<blank>[ \t\n\r\v\f]+ | \#[^\n]*) | {_PIECE} | (?P<space>\s) | (?P<other>.)",
        re.VERBOSE | re.DOTALL,
    ),
}
"""The parts of a pattern; of one that is verbose, where there are blanks and comments in it."""
_IN_CLASS = re.compile(r"(\\.)|(?<!^)\[", re.DOTALL)
_NOTHING = "(?#)"


def pythons_only(text: str, *, is_verbose: bool) -> str:
    """A pattern of Python's in which the library `regex` sees nothing else: neither its inexact matches, `(ab){e<=1}`, nor classes in classes, `[[:alpha:]]`.

    Comments in it are empty.
    """
    parts, at, verbose = list[str](), 0, [is_verbose]
    while found := _PIECES[verbose[-1]].match(text, at):
        at, part = found.end(), found[0]
        match found.lastgroup:
            case "comment" | "blank":
                part = _NOTHING
            case "opens":
                begins, ends = ("x" in (found[each] or "") for each in ("on", "off"))
                verbose.append((verbose[-1] or begins) and not ends)
            case "closes":
                verbose.pop()
            case "class":
                part = _IN_CLASS.sub(lambda each: each[1] or r"\[", part)
            case "brace" | "space":
                part = f"\\{part}"
        parts.append(part)
    return "".join(parts)


_TOKEN = re.compile(r"\\.|\(\?#\)|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(\d*)(,?)(\d*)\}|.", re.DOTALL)


def parts_with_copies(text: str) -> int:
    """How many parts a pattern as `pythons_only` writes it has, with those that counts repeat."""
    outer, size, last = list[tuple[int, int]](), 0, 0
    for token in _TOKEN.finditer(text):
        match token[0]:
            case _ if token[0] == _NOTHING:
                pass
            case "(":
                outer.append((size, last))
                size = last = 0
            case ")" if outer:
                (size, _), last = outer.pop(), size
                size += last
            case "+":
                size, last = size + last, 2 * last
            case counted if counted[0] == "{" and (token[1] or token[3]):
                least = int(token[1] or 0)
                copies = max(least + (bool(token[2]) and token[3] != token[1]), 1)
                size, last = size + (copies - 1) * last, copies * last
            case _:
                size, last = size + 1, 1
    return size
