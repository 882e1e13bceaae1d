"""Patterns as API servers read them, which is RE2's syntax, in the syntax of the validator, which is ECMA-262's."""

import re

_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-\/:-@\[-`{-~",
    "space": r"\t\n\x0b\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
"""What is in the classes of POSIX. Source: the syntax of RE2, "ASCII character classes"."""

_PART = re.compile(
    r"""
    \\Q(?P<literal>.*?)(?:\\E|\Z)   # text that stands for itself
    | \\.                           # an escape
    | \[:(?P<name>[a-z]+):\]        # a class of POSIX, within brackets
    | (?P<open>\[\^?\]?)            # brackets open; one that closes comes first where it is meant
    | (?P<close>\])
    | \{(?P<most>,\d+)\}            # no repetition in RE2
    """,
    re.VERBOSE | re.DOTALL,
)


def as_ecma(pattern: str) -> str:
    """A pattern of an API server in the syntax that the validator reads; one that says the same in both stays."""
    within = False

    def part(found: re.Match[str]) -> str:
        nonlocal within
        text = found[0]
        if within:
            if found["name"] in _CLASSES:
                return _CLASSES[found["name"]]
            within = not text.endswith("]") or text.startswith("\\")
            return rf"\{text}" if found["open"] else text
        if found["literal"] is not None:
            return re.sub(r"[\\^$.*+?()\[\]{}|/]", r"\\\g<0>", found["literal"])
        if found["open"]:
            within = True
            return text.removesuffix("]") + (r"\]" if text.endswith("]") else "")
        return rf"\{{{found['most']}\}}" if found["most"] else text

    return _PART.sub(part, pattern)
