"""Text in Markdown: whatever stands in it is shown as it is, and means nothing."""

import re
from typing import Any

_MEANING = re.compile(r"[\\`*_\[\]<&|~$]")
_AT_START = re.compile(r"^([-+=#>]|\d+[.)](?=\s|$))")
_RUNS = re.compile(r"`+")


class Markdown(str):
    """Text that is Markdown already."""

    __slots__ = ()


def text(value: Any) -> Markdown:
    """A text in one line."""
    if isinstance(value, Markdown):
        return value
    line = " ".join(str(value).split())
    escaped = _MEANING.sub(lambda found: f"\\{found[0]}", line)
    return Markdown(_AT_START.sub(_with_backslash, escaped))


def paragraphs(value: str) -> Markdown:
    """A text of several paragraphs, which empty lines part."""
    found = (text(each) for each in re.split(r"\n\s*\n", value.strip()))
    return Markdown("\n\n".join(each for each in found if each))


def code(value: Any) -> Markdown:
    """A text as code, in one line."""
    line = " ".join(str(value).split())
    if not line:
        return Markdown("(empty)")
    fence = "`" * (max(map(len, _RUNS.findall(line)), default=0) + 1)
    gap = " " if line.startswith("`") or line.endswith("`") else ""
    return Markdown(f"{fence}{gap}{line}{gap}{fence}")


def coded(value: str) -> Markdown:
    """A text in one line; what stands between backticks is code."""
    parts = enumerate(value.split("`"))
    return Markdown("".join(code(each) if at % 2 else _inner(each) for at, each in parts))


def linked(label: Any, target: str) -> Markdown:
    """A link to another page."""
    return Markdown(f"[{text(label)}]({target.replace('(', '%28').replace(')', '%29')})")


def _inner(part: str) -> str:
    """A part of a line, with the white space at its ends."""
    before, after = part[:1].isspace() * " ", part[1:][-1:].isspace() * " "
    return f"{before}{text(part)}{after}" if part.strip() else " " * bool(part)


def _with_backslash(found: re.Match[str]) -> str:
    start = found[0]
    return f"\\{start}" if len(start) == 1 else f"{start[:-1]}\\{start[-1]}"
