"""In which form a client wants objects: whole, as a table, or their metadata alone; as JSON or YAML."""

import functools
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from trundle._clock import Clock
from trundle.api._kinds import ServedKind
from trundle.api._requests import Target
from trundle.api._status import ApiError, bad_request
from trundle.api._tables import partial, table
from trundle.project import write_documents

JSON, YAML = "application/json", "application/yaml"
Form = Literal["whole", "table", "metadata"]
_FORMS: Mapping[str, Form] = {
    "Table": "table",
    "PartialObjectMetadata": "metadata",
    "PartialObjectMetadataList": "metadata",
}

_META = "meta.k8s.io"
_INCLUDED = frozenset({"Metadata", "Object", "None"})
_OR_EMPTY = "'Metadata', 'Object', 'None', or empty"


class _List(msgspec.Struct):
    metadata: dict[str, Any]
    items: list[msgspec.Raw]


_list = msgspec.json.Decoder(_List).decode
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class Accepted(NamedTuple):
    """What a client accepts of what the server has.

    Attributes:
        form: the form of objects.
        media_type: the type of the answer.
    """

    form: Form = "whole"
    media_type: str = JSON


class Representation:
    """Turns answers into what a client wants.

    Args:
        accepted: the form, and the type of answers.
        include: what of each object is in a table: `None`, `Metadata` or `Object`.
        clock: gives the time, for ages.

    Attributes:
        media_type: what is sent as the type of the answer.
    """

    def __init__(self, accepted: Accepted, include: str, clock: Clock) -> None:
        self._form, self.media_type = accepted
        self._include = include
        self._clock = clock
        self._tables = 0

    @property
    def is_plain(self) -> bool:
        """Whether answers are sent as they are."""
        return self._form == "whole" and self.media_type == JSON

    def of(self, body: bytes, target: Target) -> bytes:
        """An answer as the client wants it."""
        found = self._formed(body, target)
        return in_yaml(found) if self.media_type == YAML else found

    def _formed(self, body: bytes, target: Target) -> bytes:
        """An answer in the form that the client wants; a `Status`, and what an object is at several versions, stay as they are."""
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
        metadata = {key: each for key, each in metadata.items() if each != ""}
        if self._form == "metadata":
            head = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
            found = {**head, "metadata": metadata, "items": [partial(each) for each in items]}
            return msgspec.json.encode(found)
        return table(kind, metadata, items, self._include, self._clock())


def representation_of(
    accept: str, query: Mapping[str, str], clock: Clock, *, streams: bool = False
) -> Representation:
    """The form that a client likes best of those that the server has.

    Args:
        accept: what it accepts; all where that is empty.
        query: the parameters of its request.
        clock: gives the time, for ages in tables.
        streams: whether the answer is a stream of objects.

    Raises:
        ApiError: it accepts none of them, or a table cannot have what it wants beside its cells.
    """
    accepted, include = (
        accepted_of(accept, streams=streams),
        query.get("includeObject") or "Metadata",
    )
    if accepted is None:
        known = ", ".join([JSON] if streams else [JSON, YAML])
        message = f"only the following media types are accepted: {known}"
        raise ApiError(406, "NotAcceptable", message)
    if accepted.form == "table" and include not in _INCLUDED:
        why = f'includeObject: Invalid value: "{include}": must be {_OR_EMPTY}'
        raise bad_request(f"Unable to convert to Table as requested: {why}")
    return Representation(accepted, include, clock)


@functools.lru_cache(256)  # Clients are few programs.
def accepted_of(accept: str, *, streams: bool = False) -> Accepted | None:
    """What a client likes best of what the server has; None where it accepts nothing of that.

    Args:
        accept: what it accepts, with weights, as HTTP writes it; all where that is empty.
        streams: whether the answer is a stream of objects, which are JSON alone.
    """
    if not accept:
        return Accepted()
    known = [JSON] if streams else [JSON, YAML]
    # The most wanted first; patterns after what they match. Others stay in their order.
    ranges = sorted(_ranges(accept), key=lambda each: (-each[2], each[0].count("*")))
    for media_range, parameters, _ in ranges:
        for each in known:
            form = _form(parameters)
            if media_range in {each, "application/*", "*/*"} and form is not None:
                return Accepted(form, each)
    return None


def _ranges(accept: str) -> Iterator[tuple[str, Mapping[str, str], float]]:
    """The types that a client accepts, each with its parameters and its weight."""
    for each in accept.split(","):
        name, *parameters = (part.strip() for part in each.split(";"))
        given = dict(part.partition("=")[::2] for part in parameters)
        try:
            weight = float(given.get("q", 1))
        except ValueError:
            weight = 1.0
        yield name.lower(), given, weight


def _form(parameters: Mapping[str, str]) -> Form | None:
    """The form of objects that parameters of a type name; None where the server has it not."""
    if "as" not in parameters:
        return "whole"
    if (parameters.get("g"), parameters.get("v")) != (_META, "v1"):
        return None
    return _FORMS.get(parameters["as"])


def in_yaml(body: bytes) -> bytes:
    """JSON as YAML."""
    return write_documents([body], "yaml").encode()
