"""Which objects a list or a watch is about: label and field selectors."""

from collections.abc import Callable
from typing import Any

import msgspec

from trundle.api._event_words import SOURCE, is_event, source_of
from trundle.api._field_terms import exact_of, terms_of
from trundle.api._requests import Target
from trundle.api._status import bad_request
from trundle.api._views import Views
from trundle.errors import expectation
from trundle.store import InvalidSelectorError, Key, LabelSelector, StoredObject

_FIELDS = ("metadata.name", "metadata.namespace")


class FieldSelector:
    """Chooses objects by name and namespace, where they are in one, and by what else a version of their resource type lets clients select.

    Args:
        text: a selector such as `metadata.name=donald,metadata.namespace!=default`.
        target: the resource type and the version.

    Raises:
        ApiError: it is none, or names another field.
    """

    def __init__(self, text: str, target: Target) -> None:
        own = _FIELDS if target.kind.namespaced else _FIELDS[:1]
        self._by = source_of if is_event(target.kind) and not target.kind.group else None
        known = {*own, *target.served.selectable, *([SOURCE] if self._by else ())}
        self._terms = terms_of(text)
        for field, _, _ in self._terms:
            if field not in known:
                raise bad_request(f"field label not supported: {field}")

    def __bool__(self) -> bool:
        """Whether it chooses anything but all."""
        return bool(self._terms)

    def exact(self, field: str) -> str | None:
        """The only value that a field may have; None where several may be."""
        return exact_of(self._terms, field)

    def matches(self, found: StoredObject, show: Callable[[StoredObject], bytes]) -> bool:
        """Whether an object is chosen.

        Args:
            found: the object.
            show: gives the object as clients of the version see it; called where more than name and namespace counts.
        """
        of = {"metadata.name": found.key.name, "metadata.namespace": found.key.namespace}
        if not all((of[x] == value) is equal for x, equal, value in self._terms if x in of):
            return False
        others = [each for each in self._terms if each[0] not in of]
        shown = msgspec.json.decode(show(found)) if others else None
        return all((self._value(shown, x) == value) is equal for x, equal, value in others)

    def _value(self, shown: Any, field: str) -> str:
        """What an object has in a field; who an event is from is in one of several."""
        return self._by(shown) if self._by and field == SOURCE else _value(shown, field)


class SelectedObjects:
    """Objects of a resource type as they stand in lists; one that was looked at to choose it is not converted again to send it.

    Args:
        views: shows objects.
        target: the resource type and the version.
        fields: chooses objects.
    """

    def __init__(self, views: Views, target: Target, fields: FieldSelector) -> None:
        self._views = views
        self._target = target
        self._fields = fields
        self._kept: dict[Key, bytes] = {}

    def is_chosen(self, found: StoredObject) -> bool:
        """Whether an object is selected."""

        def show(found: StoredObject) -> bytes:
            self._kept[found.key] = shown = self._shown(found)
            return shown

        is_chosen = self._fields.matches(found, show)
        if not is_chosen:
            self._kept.pop(found.key, None)
        return is_chosen

    def taken(self, found: StoredObject) -> bytes:
        """An object that was selected, or is asked for without that."""
        return self._kept.pop(found.key, b"") or self._shown(found)

    def _shown(self, found: StoredObject) -> bytes:
        return self._views.listed(found, self._target.kind, self._target.served)


def _value(document: Any, field: str) -> str:
    """What an object has at a place, as selectors compare it: empty where it has nothing there."""
    for each in field.split("."):
        document = document.get(each) if isinstance(document, dict) else None
    if document is None:
        return ""
    return document if isinstance(document, str) else msgspec.json.encode(document).decode()


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
