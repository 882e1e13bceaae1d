"""Composes the documents of a YAML text from the events of libyaml; neither depth nor aliases exhaust the machine.

An `Interpretation` says what becomes of scalars, lists and objects. Two stand in this room: one for manifests and data, which keeps
spellings (`_yaml.py`), and one for schemas, whose values count (`_values_yaml.py`). Other rooms bring their own.
"""

from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import yaml

from trundle.documents._errors import UnreadableError, too_deep

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
TAG = "tag:yaml.org,2002:"
"""What the tags of YAML itself begin with."""

ScalarEvent: TypeAlias = yaml.ScalarEvent
"""A scalar as it is written: its text, tag and style."""

Value = TypeVar("Value")


class Interpretation(Protocol[Value]):
    """What becomes of the parts of a YAML text.

    Attributes:
        deepest: how many levels lists and objects may nest.
        flatter: what to do about a document that is deeper.
        expansion: how many characters the aliases of one text may add to it.
    """

    deepest: int
    flatter: str
    expansion: int

    def scalar(self, event: ScalarEvent, line: int, *, is_key: bool) -> Value:
        """What becomes of a scalar."""

    def sequence(self, items: list[Value], line: int) -> Value:
        """What becomes of a list."""

    def mapping(self, keys: list[tuple[Value, int]], values: list[Value], line: int) -> Value:
        """What becomes of an object; each key with its line."""


def compose(text: str, name: str, interpretation: Interpretation[Value]) -> list[Value]:
    """The documents of a YAML text; empty ones are left out.

    Args:
        text: the text.
        name: the name of its file, for errors.
        interpretation: what becomes of its parts.

    Raises:
        UnreadableError: the text is not YAML, has tags or aliases that are not understood, or is too deep or large.
    """
    composer = _Composer(name, interpretation)
    advice = "correct the indentation, quotes or brackets near this line"
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            composer.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = min(mark.line if mark else 0, text.rstrip("\n").count("\n")) + 1
        found = "a mistake: " + " ".join(part for part in (error.problem, error.context) if part)
        if text.split("\n")[line - 1].lstrip(" ").startswith("\t"):
            found, advice = "a tab in the indentation", "indent with spaces"
        raise UnreadableError(name, line, "valid YAML", found, advice) from None
    except yaml.YAMLError as error:
        found = "a mistake: " + str(error).partition("\n")[0]
        raise UnreadableError(name, 1, "valid YAML", found, advice) from None
    except ValueError as error:  # The loader without libyaml does not check escapes
        advice = "correct the escapes in double quotes"
        raise UnreadableError(name, 1, "valid YAML", f"a mistake: {error}", advice) from None
    return composer.roots


class _Frame(Generic[Value]):
    """A list or object that is still open; the children of an object alternate keys and values."""

    __slots__ = ("anchor", "height", "is_map", "keys", "line", "values", "wants_key", "weight")

    def __init__(self, event: Any) -> None:
        self.anchor: str | None = event.anchor
        self.is_map = isinstance(event, yaml.MappingStartEvent)
        self.wants_key = self.is_map
        self.line: int = event.start_mark.line + 1
        self.keys: list[tuple[Value, int]] = []
        self.values: list[Value] = []
        self.weight = 2
        self.height = 0


class _Anchored(Generic[Value]):
    """What an alias stands for."""

    __slots__ = ("height", "value", "weight")

    def __init__(self, value: Value, weight: int, height: int) -> None:
        self.value = value
        self.weight = weight
        self.height = height


class _Composer(Generic[Value]):
    """Puts events together; each open list or object is a frame on a stack."""

    def __init__(self, name: str, interpretation: Interpretation[Value]) -> None:
        self._name = name
        self._interpretation = interpretation
        self._stack: list[_Frame[Value]] = []
        self._anchors: dict[str, _Anchored[Value] | None] = {}
        self._expansion = 0
        self.roots: list[Value] = []
        self._takers = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._open,
            yaml.SequenceStartEvent: self._open,
            yaml.MappingEndEvent: self._close,
            yaml.SequenceEndEvent: self._close,
            yaml.AliasEvent: self._alias,
            yaml.DocumentStartEvent: self._begin,
        }

    def take(self, event: Any) -> None:
        take = self._takers.get(type(event))
        if take is not None:
            take(event)

    def _begin(self, _event: Any) -> None:
        self._anchors = {}

    def _scalar(self, event: Any) -> None:
        line: int = event.start_mark.line + 1
        stack = self._stack
        if not stack and is_plain(event) and not event.value:
            return  # Nothing between two document markers
        is_key = bool(stack) and stack[-1].wants_key
        value = self._interpretation.scalar(event, line, is_key=is_key)
        weight = len(event.value) + 2
        if event.anchor:
            self._anchors[event.anchor] = _Anchored(value, weight, 0)
        self._add(value, weight, 0, line)

    def _alias(self, event: Any) -> None:
        line: int = event.start_mark.line + 1
        target = self._anchors.get(event.anchor)
        if target is None:
            why = "stands inside itself" if event.anchor in self._anchors else "names none"
            expected = "an alias of an earlier, complete value"
            found = f"*{event.anchor}, which {why}"
            raise UnreadableError(self._name, line, expected, found, "write the value out")
        self._expansion += target.weight
        if self._expansion > self._interpretation.expansion:
            expected = f"aliases that add at most {self._interpretation.expansion} characters"
            advice = "write the values out, or split the file"
            raise UnreadableError(self._name, line, expected, "more", advice)
        self._add(target.value, target.weight, target.height, line)

    def _open(self, event: Any) -> None:
        frame: _Frame[Value] = _Frame(event)
        own = ("", "!", f"{TAG}map" if frame.is_map else f"{TAG}seq")
        if (event.tag or "") not in own:
            expected, found = "a value without a tag", f"the tag {event.tag}"
            raise UnreadableError(self._name, frame.line, expected, found, "remove the tag")
        if len(self._stack) >= self._interpretation.deepest:
            raise self._too_deep(frame.line)
        if frame.anchor:
            self._anchors[frame.anchor] = None
        self._stack.append(frame)

    def _close(self, _event: Any) -> None:
        frame = self._stack.pop()
        if frame.is_map:
            value = self._interpretation.mapping(frame.keys, frame.values, frame.line)
        else:
            value = self._interpretation.sequence(frame.values, frame.line)
        if frame.anchor:
            self._anchors[frame.anchor] = _Anchored(value, frame.weight, frame.height + 1)
        self._add(value, frame.weight, frame.height + 1, frame.line)

    def _add(self, value: Value, weight: int, height: int, line: int) -> None:
        if not self._stack:
            self.roots.append(value)
            return
        frame = self._stack[-1]
        if height:
            if len(self._stack) + height > self._interpretation.deepest:
                raise self._too_deep(line)
            frame.height = max(frame.height, height)
        frame.weight += weight + 1
        if frame.wants_key:
            frame.keys.append((value, line))
            frame.wants_key = False
        else:
            frame.values.append(value)
            frame.wants_key = frame.is_map

    def _too_deep(self, line: int) -> UnreadableError:
        return too_deep(
            self._name, line, self._interpretation.deepest, self._interpretation.flatter
        )


def is_plain(event: Any) -> bool:
    """Whether a scalar has neither quotes nor a tag."""
    return bool(event.implicit[0]) and event.style in {None, ""}


def short_tag(event: ScalarEvent) -> str:
    """The tag of a scalar, those of YAML itself without their prefix, such as `int`; empty where it has none."""
    return (event.tag or "").removeprefix(TAG)
