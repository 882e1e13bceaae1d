"""Rules in the spelling in which the library reads them: what Kubernetes has beside it, without any change of what they mean."""

import re

_PART = re.compile(
    r"""
    //[^\n]*                                            # a comment
    | [rR]b?(?:\"""(?:.|\n)*?\"""|'''(?:.|\n)*?'''|"[^"\n]*"|'[^'\n]*')  # a raw text
    | \"""(?:\\.|.|\n)*?\""" | '''(?:\\.|.|\n)*?''' | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'  # a text
    | (?P<index>\b(?:indexOf|lastIndexOf))(?=\s*\()
    | (?P<optional>\bvalidate|\bformat\s*\.\s*named)\s*\(
    | (?P<open>[(\[{]) | (?P<close>[)\]}])
    """,
    re.VERBOSE,
)
INDEX_PREFIX = "kubernetes_"
"""What stands before `indexOf` and `lastIndexOf`: the library has functions of these names for texts, and lets no other have them."""


def as_read(text: str) -> str:
    """A rule as the library reads it.

    Functions here give no optional values, but a list with nothing or one value in it, of which `[?0]` makes one.
    """
    awaited: list[bool] = []

    def part(found: re.Match[str]) -> str:
        if found["index"]:
            return INDEX_PREFIX + found[0]
        if found["optional"] or found["open"]:
            awaited.append(bool(found["optional"]))
        elif found["close"] and awaited and awaited.pop():
            return found[0] + "[?0]"
        return found[0]

    return _PART.sub(part, text)
