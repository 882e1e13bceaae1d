"""Label selectors, as Kubernetes writes them: `a=b,c!=d,e in (f, g),h notin (i),j,!k,l>1,m<2`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sqlalchemy import JSON, Column, ColumnElement, and_, func, not_, or_

from trundle.errors import shown
from trundle.store._errors import InvalidSelectorError

Operator: TypeAlias = Literal["in", "notin", "exists", "absent", "above", "below"]

_WORD = r"[A-Za-z0-9](?:[-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?"
_DOMAIN = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*"
_NAME = rf"(?:(?=[^/]{{1,253}}/){_DOMAIN}/)?{_WORD}"
_VALUE = rf"(?:{_WORD})?"
_TERM = re.compile(
    rf"\s*(?:!\s*(?P<absent>{_NAME})"
    rf"|(?P<name>{_NAME})(?:\s*(?P<equals>==|=|!=)\s*(?P<value>{_VALUE})"
    r"|\s*(?P<order>[<>])\s*(?P<number>[0-9]+)"
    rf"|\s+(?P<set>in|notin)\s*\((?P<values>[^()]*)\))?)\s*"
)
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class LabelRequirement:
    """What a label has to be.

    Attributes:
        name: the label.
        operator: `notin` and `absent` are met without the label; all others need it. `above` and `below` compare whole numbers.
        values: the values of `in` and `notin`, and the number of `above` and `below`.
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
            case "above":
                return (found := _number(labels.get(self.name))) is not None and found > self.bound
            case "below":
                return (found := _number(labels.get(self.name))) is not None and found < self.bound

    @property
    def bound(self) -> int:
        """The number that the label is compared with."""
        return int(self.values[0])


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
            expected = "terms such as a=b, a!=b, a in (b, c), a notin (b), a, !a, a>1, a<2, with commas between them"
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
    if term["order"]:
        number = _number(term["number"])
        if number is None:
            found, advice = term["number"], "correct the selector"
            expected = "a number of at most 64 bits"
            raise InvalidSelectorError(f"the label selector {text}", expected, found, advice)
        operator = "above" if term["order"] == ">" else "below"
        return LabelRequirement(term["name"], operator, (str(number),))
    if term["set"]:
        values = tuple(sorted({each.strip() for each in term["values"].split(",")}))
        if not all(re.fullmatch(_VALUE, each) for each in values):
            expected = "values of labels, with commas between them"
            found, advice = f"({term['values']})", "correct the selector"
            raise InvalidSelectorError(f"the label selector {text}", expected, found, advice)
        return LabelRequirement(term["name"], "notin" if term["set"] == "notin" else "in", values)
    return LabelRequirement(term["name"], "exists")


def _number(text: str | None) -> int | None:
    """The whole number that a label is; None where it is none."""
    found = None if text is None else re.fullmatch("0*([0-9]{1,19})", text)
    return int(found[1]) if found is not None and int(found[1]) <= _LARGEST else None


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
            case "above":
                yield and_(*_is_number(value), _is_above(value, each.bound))
                yield not_(_is_above(value, _LARGEST))
            case "below":
                yield and_(*_is_number(value), not_(_is_above(value, each.bound - 1)))


def _is_number(value: ColumnElement[str]) -> tuple[ColumnElement[bool], ...]:
    """The conditions under which a text is a whole number; all databases know what they ask."""
    return value != "", func.rtrim(value, "0123456789") == ""


def _is_above(value: ColumnElement[str], bound: int) -> ColumnElement[bool]:
    """The condition under which a text that is a whole number is a larger one, however many digits it has."""
    digits, of_bound = func.ltrim(value, "0"), str(bound).lstrip("0")
    length = func.length(digits)
    longer = length > len(of_bound)
    return or_(longer, and_(length == len(of_bound), digits > of_bound))
