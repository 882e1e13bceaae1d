"""Lists in pages, by `limit` and `continue` as those of Kubernetes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from starlette.responses import Response

from trundle.api._asked import Asked, json_answer
from trundle.api._status import bad_request
from trundle.api.environments._bodies import number_of
from trundle.errors import expectation

_LONGEST_SHOWN = 40
"""How many characters of a wrong parameter a refusal shows."""


class Page(NamedTuple):
    """The part of a list that a client asks for.

    Attributes:
        limit: how many entries it has; all where None.
        last: the number of the last entry of the page before; None for the first page.
    """

    limit: int | None
    last: int | None

    @property
    def read(self) -> int | None:
        """How many entries are to be read, to know whether there are more; all where None."""
        return None if self.limit is None else self.limit + 1


def page_of(asked: Asked) -> Page:
    """The page that a client asks for; where it names no limit, or 0, that is the rest of the list.

    Raises:
        ApiError: a parameter is not what it can be.
    """
    limit = number_at(asked, "limit", "a whole number")
    last = number_at(asked, "continue", "what the page before has as `continue`")
    return Page(limit or None, last)


def number_at(asked: Asked, parameter: str, expected: str) -> int | None:
    """The number that a parameter is; None where it is not given, or empty.

    Raises:
        ApiError: it is none.
    """
    given = asked.query.get(parameter, "")
    if not given:
        return None
    number = number_of(given)
    if number is None:
        found = repr(given[:_LONGEST_SHOWN])
        raise bad_request(expectation(expected, found, f"correct `{parameter}`"))
    return number


def paged(name: str, found: Sequence[dict[str, Any]], page: Page) -> Response:
    """A list, or a page of one, which says how to go on where there are more.

    Args:
        name: what the entries are called.
        found: the entries that were read, each with its number.
        page: the page.
    """
    shown = found[: page.limit]
    answer: dict[str, Any] = {name: shown}
    if len(shown) < len(found):
        answer["metadata"] = {"continue": str(shown[-1]["number"])}
    return json_answer(answer)
