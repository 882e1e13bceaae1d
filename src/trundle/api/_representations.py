"""In which form a client wants objects: whole, as a table, or their metadata alone."""

import functools
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from trundle._clock import Clock
from trundle.api._kinds import ServedKind
from trundle.api._requests import Target
from trundle.api._status import bad_request
from trundle.api._tables import partial, table

_JSON = "application/json"
Form = Literal["whole", "table", "metadata"]
_FORMS: Mapping[str, Form] = {
    "Table": "table",
    "PartialObjectMetadata": "metadata",
    "PartialObjectMetadataList": "metadata",
}

_INCLUDED = frozenset({"Metadata", "Object", "None"})
_OR_EMPTY = "'Metadata', 'Object', 'None', or empty"


class _List(msgspec.Struct):
    metadata: dict[str, Any]
    items: list[msgspec.Raw]


_list = msgspec.json.Decoder(_List).decode
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class Representation:
    """Turns answers into what a client wants.

    Args:
        form: the form.
        include: what of each object is in a table: `None`, `Metadata` or `Object`.
        clock: gives the time, for ages.

    Attributes:
        media_type: what is sent as the type of the answer.
    """

    def __init__(self, form: Form, include: str, clock: Clock) -> None:
        self._form = form
        self._include = include
        self._clock = clock
        self._tables = 0
        self.media_type = _JSON

    @property
    def is_whole(self) -> bool:
        """Whether objects are sent as they are."""
        return self._form == "whole"

    def of(self, body: bytes, target: Target) -> bytes:
        """An answer as the client wants it; a `Status`, and what an object is at several versions, stay as they are."""
        if self._form == "whole":
            return body
        members = _fields(body)
        kind = msgspec.json.decode(members["kind"])
        if kind in {"Status", "List"}:
            return body
        if kind == f"{target.kind.kind}List" and "items" in members:
            listed = _list(body)
            return self._listed(
                listed.metadata, [bytes(each) for each in listed.items], target.kind
            )
        return self.one(body, target.kind)

    def one(self, document: bytes, kind: ServedKind) -> bytes:
        """An object as the client wants it. The columns of tables are defined in the first one only."""
        if self._form == "whole":
            return document
        if self._form == "metadata":
            return msgspec.json.encode(partial(document))
        self._tables += 1
        version = msgspec.json.decode(document)["metadata"].get("resourceVersion", "")
        metadata = {"resourceVersion": version}
        first = self._tables == 1
        return table(kind, metadata, [document], self._include, self._clock(), head=first)

    def _listed(self, metadata: dict[str, Any], items: list[bytes], kind: ServedKind) -> bytes:
        if self._form == "metadata":
            head = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
            found = {**head, "metadata": metadata, "items": [partial(each) for each in items]}
            return msgspec.json.encode(found)
        return table(kind, metadata, items, self._include, self._clock())


def representation_of(accept: str, query: Mapping[str, str], clock: Clock) -> Representation:
    """The first form that a client accepts and the server has; whole objects where it accepts none of them.

    Raises:
        ApiError: a table cannot have what the client wants beside its cells.
    """
    form, include = _form(accept), query.get("includeObject") or "Metadata"
    if form == "table" and include not in _INCLUDED:
        why = f'includeObject: Invalid value: "{include}": must be {_OR_EMPTY}'
        raise bad_request(f"Unable to convert to Table as requested: {why}")
    return Representation(form, include, clock)


@functools.lru_cache(256)  # Clients are few programs.
def _form(accept: str) -> Form:
    for each in accept.split(","):
        name, *parameters = (part.strip() for part in each.split(";"))
        given = dict(part.partition("=")[::2] for part in parameters)
        if name != _JSON:
            continue
        if "as" not in given:
            break
        if given.get("v") == "v1" and given["as"] in _FORMS:
            return _FORMS[given["as"]]
    return "whole"
