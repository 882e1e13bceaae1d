"""The terms of field selectors: rules and answers have to read the same in one."""

import re
from collections.abc import Iterable
from typing import TypeAlias

from trundle.api._status import bad_request
from trundle.errors import expectation

Term: TypeAlias = tuple[str, bool, str]
"""A field, whether it is to have a value or another one, and the value."""

_TERM = re.compile(
    r"(?P<field>(?:(?!!?=).)*)(?P<operator>!=|==|=)(?P<value>(?:[^\\,=]|\\[\\,=])*)", re.DOTALL
)
_BETWEEN = re.compile(r"((?:[^\\,]|\\.?)*)(?:,|$)", re.DOTALL)


def terms_of(text: str) -> list[Term]:
    """The terms of a field selector.

    Raises:
        ApiError: it is none.
    """
    terms = []
    for each in filter(None, _BETWEEN.findall(text)):
        match = _TERM.fullmatch(each)
        if match is None:
            found = expectation("FIELD=VALUE, with a backslash before each of , = \\", repr(each))
            raise bad_request(f"invalid field selector: {found}")
        field, operator, value = match.groups()
        value = re.sub(r"\\(.)", r"\1", value, flags=re.DOTALL)
        terms.append((field, operator != "!=", value))
    return terms


def exact_of(terms: Iterable[Term], field: str) -> str | None:
    """The only value that a field may have; None where several may be."""
    return next((value for name, equal, value in terms if equal and name == field), None)
