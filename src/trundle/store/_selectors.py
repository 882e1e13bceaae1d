"""Label selectors, as Kubernetes writes them: `a=b,c!=d,e in (f, g),h notin (i),j,!k`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import JSON, Column, ColumnElement, or_

from trundle.errors import shown
from trundle.store._errors import InvalidSelectorError

Operator: TypeAlias = Literal["in", "notin", "exists", "absent"]

_NAME = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9.]*[A-Za-z0-9])?/)?[A-Za-z0-9](?:[-_.A-Za-z0-9]*[A-Za-z0-9])?"
_VALUE = r"(?:[A-Za-z0-9](?:[-_.A-Za-z0-9]*[A-Za-z0-9])?)?"
_TERM = re.compile(
    rf"\s*(?:!\s*(?P<absent>{_NAME})"
    rf"|(?P<name>{_NAME})(?:\s*(?P<equals>==|=|!=)\s*(?P<value>{_VALUE})"
    rf"|\s+(?P<set>in|notin)\s*\((?P<values>[^()]*)\))?)\s*"
)


@dataclass(frozen=True, slots=True)
class LabelRequirement:
    """What a label has to be.

    Attributes:
        name: the label.
        operator: `in` and `exists` need the label, `notin` and `absent` are met without it.
        values: the values of `in` and `notin`.
    """

    name: str
    operator: Operator
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether labels are so."""
        match self.operator:
            case "in":
                return labels.get(self.name) in self.values
            case "notin":
                return labels.get(self.name) not in self.values
            case "exists":
                return self.name in labels
            case "absent":
                return self.name not in labels


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """Chooses objects by their labels; without requirements, all of them.

    Attributes:
        requirements: what has to hold; all of it.
    """

    requirements: tuple[LabelRequirement, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "LabelSelector":
        """Reads a selector.

        Raises:
            InvalidSelectorError: it is none.
        """
        return cls(tuple(_requirements(text))) if text.strip() else cls()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with such labels is chosen."""
        return all(each.matches(labels) for each in self.requirements)


def _requirements(text: str) -> Iterator[LabelRequirement]:
    place = 0
    while True:
        term = _TERM.match(text, place)
        if term is None or (term.end() < len(text) and text[term.end()] != ","):
            expected = (
                "terms such as a=b, a!=b, a in (b, c), a notin (b), a, !a, with commas between them"
            )
            advice = "correct the selector"
            raise InvalidSelectorError("the label selector", expected, shown(text[place:]), advice)
        yield _requirement(term, text)
        place = term.end() + 1
        if place > len(text):
            return


def _requirement(term: re.Match[str], text: str) -> LabelRequirement:
    if term["absent"]:
        return LabelRequirement(term["absent"], "absent")
    if term["equals"]:
        operator: Operator = "notin" if term["equals"] == "!=" else "in"
        return LabelRequirement(term["name"], operator, (term["value"],))
    if term["set"]:
        values = tuple(sorted({each.strip() for each in term["values"].split(",")}))
        if not all(re.fullmatch(_VALUE, each) for each in values):
            expected = "values of labels, with commas between them"
            found, advice = f"({term['values']})", "correct the selector"
            raise InvalidSelectorError(f"the label selector {text}", expected, found, advice)
        return LabelRequirement(term["name"], "notin" if term["set"] == "notin" else "in", values)
    return LabelRequirement(term["name"], "exists")


def condition(selector: LabelSelector, labels: Column[JSON]) -> Iterator[ColumnElement[bool]]:
    """The conditions under which a row is chosen.

    Args:
        selector: the selector.
        labels: the column with the labels.
    """
    for each in selector.requirements:
        value = labels[each.name].as_string()
        match each.operator:
            case "in":
                yield value.in_(each.values)
            case "notin":
                yield or_(value.is_(None), value.not_in(each.values))
            case "exists":
                yield value.is_not(None)
            case "absent":
                yield value.is_(None)
