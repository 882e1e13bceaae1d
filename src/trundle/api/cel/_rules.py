"""What the rules of a version's schema have against documents, in the words of API servers.

Each rule is about the values of one place. A rule that names `oldSelf` is about changes: it is asked where the value was there before, which is
known of properties, of values of maps, and of elements of lists with keys. What a rule has against a value that is as it was is a
warning, so that a rule may be added while objects break it.

Source: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from trundle.api._places import Place
from trundle.api._status import Cause
from trundle.api.cel._values import seen_value
from trundle.cel import RuleExpressions

_TEXT = re.compile(
    r'"""(?:.|\n)*?"""|' r"'''(?:.|\n)*?'''|" r'"(?:\\.|[^"\\\n])*"|' r"'(?:\\.|[^'\\\n])*'"
)
_OLD = re.compile(r"\boldSelf\b")
_FIELD = re.compile(r"\.(\w+)|\['([^']+)'\]")
_INVALID = "FieldValueInvalid"
_WHOLE = "<nil>"
"""What API servers call the place of the whole object."""


class _Broken(NamedTuple):
    """What a rule has against a value.

    Attributes:
        cause: the rule's reason, the place, and what is wrong.
        warns: whether it is a warning, as the value is what it was before.
    """

    cause: Cause
    warns: bool


@dataclass(slots=True)
class Judged:
    """What the rules of a version have against a document.

    Attributes:
        causes: what it is refused for.
        warnings: what its client is warned of.
    """

    causes: list[Cause] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class _FailedError(Exception):
    """A rule cannot say what it has against a value."""


class _Rule:
    """A rule about the values of a place.

    Args:
        said: the rule as the schema writes it.
    """

    def __init__(self, said: Mapping[str, Any]) -> None:
        self._said = said
        self._text: str = said["rule"].strip()
        self._optional: bool = said.get("optionalOldSelf", False)
        self._compares = self._optional or _compares(self._text)
        self._expressions = RuleExpressions(said)

    def broken(
        self, place: Place, value: Any, before: Any, path: str, *, unchanged: bool
    ) -> Iterator[_Broken]:
        """What the rule has against a value.

        Args:
            place: the place of the schema.
            value: the value.
            before: what it was before; None where it was not there.
            path: where it is.
            unchanged: whether it is what it was.
        """
        if self._compares and not self._optional and before is None:
            return
        if why := self._expressions.unreadable:
            said = f"the rule is not evaluated, as this server cannot read it: {why}"
            yield _Broken(Cause(_INVALID, path or _WHOLE, said), warns=True)
            return
        try:
            if said := self._says(place, value, before):
                yield _Broken(self._cause(value, said, path), unchanged and not self._compares)
        except _FailedError as error:
            text = f'Invalid value: "{place.type}": {error} evaluating rule: {self._message}'
            yield _Broken(Cause(_INVALID, path or _WHOLE, text), warns=False)

    @property
    def _message(self) -> str:
        return str(self._said.get("message", "")).strip() or self._text

    def _says(self, place: Place, value: Any, before: Any) -> str:
        """What the rule says against a value; empty where it holds."""
        try:
            data = {
                "self": seen_value(place, value),
                "oldSelf": None if before is None else seen_value(place, before),
                "wasThere": before is not None,
            }
        except ValueError as error:
            raise _FailedError(str(error)) from None
        held = self._expressions.rule.evaluate(data)
        if held.failure:
            raise _FailedError(held.failure)
        if held.value is True:
            return ""
        plain = self._said.get("message", "").strip() or f"failed rule: {self._text}"
        if self._expressions.message is None:
            return plain
        explained = self._expressions.message.evaluate(data)
        said = "" if explained.failure else str(explained.value).strip()
        return plain if not said or "\n" in said else said

    def _cause(self, value: Any, said: str, path: str) -> Cause:
        """The cause of a refusal in an API server's words."""
        reason = self._said.get("reason", _INVALID)
        field = _FIELD.sub(r".\1\2", self._said.get("fieldPath", ""))
        where = f"{path}{field}".lstrip(".") or _WHOLE
        match reason:
            case "FieldValueForbidden":
                return Cause(reason, where, f"Forbidden: {said}")
            case "FieldValueRequired":
                return Cause(reason, where, f"Required value: {said}")
            case "FieldValueDuplicate":
                return Cause(reason, where, "Duplicate value")
        shown = "" if isinstance(value, Mapping | list) else f"{_as_text(value)}: "
        return Cause(reason, where, f"Invalid value: {shown}{said}")


def _as_text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


class Rules:
    """The rules of a version.

    Args:
        root: the place of its whole objects.
    """

    def __init__(self, root: Place) -> None:
        self._root = root
        self._made: dict[Place, Sequence[_Rule]] = {}

    def judge(self, document: Mapping[str, Any], before: Mapping[str, Any] | None) -> Judged:
        """What the rules have against a document.

        Args:
            document: the document as plain JSON, with its defaults.
            before: the object before, likewise; None where it is created.
        """
        found = Judged()
        for cause, warns in self._broken(self._root, document, before, ""):
            if warns:
                found.warnings.append(f"{cause.field}: {cause.message}")
            else:
                found.causes.append(cause)
        return found

    def _broken(
        self, place: Place, value: Any, before: Any, path: str, *, unchanged: bool = False
    ) -> Iterator[_Broken]:
        """What the rules of a place and of those within it have against a value.

        Args:
            place: the place of the schema.
            value: what is there.
            before: what was there before; None where nothing was, or where that is not known.
            path: where in the document that is.
            unchanged: whether what it stands in is what it was.
        """
        if value is None:
            return
        unchanged = unchanged or (before is not None and value == before)
        for rule in self._of(place):
            yield from rule.broken(place, value, before, path, unchanged=unchanged)
        for inner, each, was, at in _within(place, value, before, path):
            yield from self._broken(inner, each, was, at, unchanged=unchanged)

    def _of(self, place: Place) -> Sequence[_Rule]:
        """The rules of a place; what they take is made when they are first asked."""
        if place not in self._made:
            self._made[place] = [_Rule(each) for each in place.rules]
        return self._made[place]


def _within(
    place: Place, value: Any, before: Any, path: str
) -> Iterator[tuple[Place, Any, Any, str]]:
    """What stands in a value: its place, itself, what it was before, and its path."""
    if isinstance(value, Mapping):
        old = before if isinstance(before, Mapping) else {}
        for name, each in value.items():
            if inner := place.member(name):
                at = f"{path}[{name}]" if place.is_map else f"{path}.{name}".lstrip(".")
                yield inner, each, old.get(name), at
    elif isinstance(value, list) and (element := place.element()):
        known = {place.key(each): each for each in before or ()} if place.keys else {}
        for number, each in enumerate(value):
            yield element, each, known.get(place.key(each)), f"{path}[{number}]"


def _compares(text: str) -> bool:
    """Whether a rule is about changes: whether it names the value before, outside of texts."""
    return bool(_OLD.search(_TEXT.sub("", text)))
