"""Selectors in reviews of access: what is wrong with them, and which are left out. They change no answer, as no rule asks for them.

Source: `pkg/apis/authorization/validation` and `pkg/registry/authorization/util` of Kubernetes.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trundle.api._causes import invalid_value
from trundle.api._field_terms import terms_of
from trundle.api._selections import labels_of
from trundle.api._status import ApiError, Cause
from trundle.cel import format_errors

_FIELDS, _LABELS = "fieldSelector", "labelSelector"
_WITH_VALUES = frozenset({"In", "NotIn"})
_WITHOUT_VALUES = frozenset({"Exists", "DoesNotExist"})

_Object = Mapping[str, Any]


def selector_causes(place: str, about: _Object) -> Iterator[Cause]:
    """What is wrong with the selectors of a question.

    Args:
        place: where the question stands.
        about: what it asks about.
    """
    for name in (_FIELDS, _LABELS):
        selector, at = about.get(name), f"{place}.{name}"
        if selector is None:
            continue
        raw, terms = selector.get("rawSelector"), selector.get("requirements")
        if raw and terms:
            why = "may not specified at the same time as requirements"
            yield invalid_value(f"{at}.rawSelector", raw, why)
        if not raw and not terms:
            why = f"when {at} is specified, requirements or rawSelector is required"
            yield Cause("FieldValueRequired", f"{at}.requirements", f"Required value: {why}")
        of_term = _field_causes if name == _FIELDS else _label_causes
        for index, term in enumerate(terms or ()):
            yield from of_term(f"{at}.requirements[{index}]", term)


def ignored_selectors(place: str, about: _Object) -> str:
    """What an answer says of selectors that cannot be read, in whole or in part; empty where there are none.

    Args:
        place: where the question stands.
        about: what it asks about.
    """
    found = []
    for name, parse in ((_FIELDS, terms_of), (_LABELS, labels_of)):
        selector = about.get(name) or {}
        terms = selector.get("requirements") or ()
        read = [each for each in terms if _is_read(name, each)]
        if len(read) < len(terms) or not _is_parsed(parse, selector.get("rawSelector") or ""):
            part = " partially" if read else ""
            found.append(f"{place}.{name}{part} ignored due to parse error")
    return "; ".join(found)


def _is_read(name: str, term: _Object) -> bool:
    """Whether Kubernetes reads a term: in a selector of fields, one that compares with one value."""
    operator = term.get("operator")
    if name == _LABELS:
        return operator in _WITH_VALUES | _WITHOUT_VALUES
    return operator in _WITH_VALUES and len(term.get("values") or ()) == 1


def _is_parsed(parse: Callable[[str], object], text: str) -> bool:
    try:
        parse(text)
    except ApiError:
        return False
    return True


def _field_causes(place: str, term: _Object) -> Iterator[Cause]:
    if not term.get("key"):
        yield Cause("FieldValueRequired", f"{place}.key", "Required value: must be specified")
    yield from _value_causes(place, term)


def _label_causes(place: str, term: _Object) -> Iterator[Cause]:
    yield from _value_causes(place, term)
    key = term.get("key") or ""
    yield from (
        invalid_value(f"{place}.key", key, each) for each in format_errors("qualifiedName", key)
    )
    for index, value in enumerate(term.get("values") or ()):
        at = f"{place}.values[{index}]"
        yield from (invalid_value(at, value, each) for each in format_errors("labelValue", value))


def _value_causes(place: str, term: _Object) -> Iterator[Cause]:
    """What is wrong with the values of a term of either kind."""
    operator, values = term.get("operator"), term.get("values")
    if operator in _WITH_VALUES and not values:
        why = "must be specified when `operator` is 'In' or 'NotIn'"
        yield Cause("FieldValueRequired", f"{place}.values", f"Required value: {why}")
    if operator in _WITHOUT_VALUES and values:
        why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
        yield Cause("FieldValueForbidden", f"{place}.values", f"Forbidden: {why}")
