"""Whether the library of patterns that API servers use, Go's `regexp`, takes a pattern. Its syntax: https://pkg.go.dev/regexp/syntax."""

import re

_COUNT = "(?:1000|[0-9]{1,3})"
_REPETITION = rf"(?:[*+?]|\{{{_COUNT}(?:,{_COUNT}?)?\}})"
_ESCAPED = r"[afnrtvdDsSwW]|x(?:[0-9A-Fa-f]{2}|\{[0-9A-Fa-f]+\})|[pP](?:[A-Z]|\{\^?\w+\})|0|[1-7](?=[0-7])|[\x00-/:-@\[-`{-\x7f]"
_GO = re.compile(
    rf"""(?>
        \\Q(?:[^\\]|\\(?!E))*(?:\\E|\Z)
      | \\(?:[AbBz]|{_ESCAPED})
      | \[\^?\]?(?:\[:\^?[a-z]+:\]|\\(?:{_ESCAPED})|[^\]\\])*\]
      | \((?!\?)
      | \(\?(?:P?<\w+>|[imsU-]*[:)])
      | {_REPETITION}\??(?!{_REPETITION})
      | \{{(?![0-9]+(?:,[0-9]*)?\}})
      | [^\\\[({{*+?]
    )*+""",
    re.VERBOSE | re.ASCII,
)


def is_taken_by_go(pattern: str) -> bool:
    """Whether Go compiles a pattern of the syntax that JSON Schema has.

    A mistake that no library takes, such as a parenthesis that is never closed, is not looked for.
    """
    return _GO.fullmatch(pattern) is not None
