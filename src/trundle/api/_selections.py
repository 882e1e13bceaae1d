"""Which objects a list or a watch is about: label and field selectors."""

import re

from trundle.api._status import bad_request
from trundle.errors import expectation
from trundle.store import InvalidSelectorError, LabelSelector

_TERM = re.compile(r"\s*([^=!,]+?)\s*(==|=|!=)\s*([^,]*?)\s*")
_FIELDS = ("metadata.name", "metadata.namespace")


class FieldSelector:
    """Chooses objects by name and namespace, the fields that all custom resources have.

    Args:
        text: a selector such as `metadata.name=donald,metadata.namespace!=default`.

    Raises:
        ApiError: it is none, or names another field.
    """

    def __init__(self, text: str) -> None:
        self._terms: list[tuple[str, bool, str]] = []
        for each in filter(None, (part.strip() for part in text.split(","))):
            match = _TERM.fullmatch(each)
            if match is None:
                raise bad_request(f"invalid field selector {each!r}: expected FIELD=VALUE")
            field, operator, value = match.groups()
            if field not in _FIELDS:
                raise bad_request(f"field label not supported: {field}")
            self._terms.append((field, operator != "!=", value))

    def exact(self, field: str) -> str | None:
        """The only value that a field may have; None where several may be."""
        return next((value for name, equal, value in self._terms if equal and name == field), None)

    def matches(self, namespace: str, name: str) -> bool:
        """Whether an object is chosen."""
        values = dict(zip(_FIELDS, (name, namespace), strict=True))
        return all((values[field] == value) is equal for field, equal, value in self._terms)

    @property
    def is_exact(self) -> bool:
        """Whether name and namespace alone decide, so that a store can look them up."""
        return all(equal for _, equal, _ in self._terms)


def labels_of(text: str) -> LabelSelector:
    """A label selector as a client wrote it.

    Raises:
        ApiError: it is none.
    """
    try:
        return LabelSelector.parse(text)
    except InvalidSelectorError as error:
        wrong = expectation(error.expected, error.found)
        raise bad_request(f"unable to parse requirement: {wrong}") from None
