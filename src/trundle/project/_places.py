"""Paths of JSON documents as rules write them, and patterns of such paths.

A path is dotted names, as in `spec.strategy.maxSurge`. `[]` is each element of a list, and a name with a dot or a
bracket in it is written `["like.this"]`. In a pattern, `*` stands for any name or element, or any part of a name, and
`**` for any number of names and elements, none included.
"""

import json
import re
from collections.abc import Collection
from typing import Literal, TypeAlias

import msgspec

from trundle.project._starred import ANY, captures

ELEMENT = "[]"
"""Each element of a list, as a part of a path."""

Part: TypeAlias = str | int
Path: TypeAlias = tuple[Part, ...]

_PLAIN = re.compile(r"[^.\[\]\"*\s]+")
_PARTS = re.compile(
    r"""(?P<element>\[\]) | \[(?P<quoted>"(?:[^"\\]|\\.)*")\] | (?P<wild>\*\*?)(?![^.\[]) | (?P<name>(?:[^.\[\]"*\s]|\*(?!\*))+)""",
    re.VERBOSE,
)


class Step(msgspec.Struct, frozen=True):
    """One part of a pattern.

    Attributes:
        kind: a name, a pattern of names, an element of a list, anything (`*`), or any number of parts (`**`).
        name: the name or its pattern; empty for the other kinds.
    """

    kind: Literal["name", "like", "element", "any", "rest"]
    name: str = ""


Pattern: TypeAlias = tuple[Step, ...]


def spelt(path: Path, *, exact: bool = False, keys: Collection[int] = ()) -> str:
    """A path in the form of rules; the empty path is `.`.

    Args:
        path: names, and places in lists.
        exact: whether elements are written with their places, as `[2]`.
        keys: which parts are keys of maps, to be written as `*`.
    """
    text = ""
    for at, part in enumerate(path):
        if at in keys:
            text += f".{ANY}" if text else ANY
        elif isinstance(part, int):
            text += f"[{part}]" if exact else ELEMENT
        elif _PLAIN.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += f"[{json.dumps(part, ensure_ascii=False)}]"
    return text or "."


def parse_pattern(text: str) -> Pattern | None:
    """Reads a pattern of paths; None where it is none."""
    steps: list[Step] = []
    place = 0
    while place < len(text):
        if text[place] == "." and steps:
            place += 1
        found = _PARTS.match(text, place)
        bracketed = found is not None and found.group().startswith("[")
        if found is None or (steps and not bracketed and text[place - 1] != "."):
            return None
        steps.append(_step(found))
        place = found.end()
    return None if text.endswith(".") else tuple(steps)


def _step(found: re.Match[str]) -> Step:
    if found["element"]:
        return Step("element")
    if found["wild"]:
        return Step("rest" if found["wild"] == "**" else "any")
    if found["quoted"]:
        return Step("name", json.loads(found["quoted"]))
    return Step("like" if ANY in found["name"] else "name", found["name"])


def matches(pattern: Pattern, path: Path) -> bool:
    """Whether a pattern names a path."""
    if not pattern:
        return not path
    first, others = pattern[0], pattern[1:]
    if first.kind == "rest":
        return any(matches(others, path[start:]) for start in range(len(path) + 1))
    return bool(path) and _fits(first, path[0]) and matches(others, path[1:])


def is_everything(pattern: Pattern) -> bool:
    """Whether a pattern names every path, or every path of some length at least."""
    kinds = {step.kind for step in pattern}
    return "rest" in kinds and kinds <= {"rest", "any"}


def _fits(step: Step, part: Part) -> bool:
    if step.kind == "any":
        return True
    if step.kind == "element" or isinstance(part, int):
        return step.kind == "element" and isinstance(part, int)
    return captures(step.name, part) is not None if step.kind == "like" else step.name == part
