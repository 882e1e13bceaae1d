"""In which form a client wants objects: whole, as a table, or their metadata alone; as JSON or YAML."""

import functools
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

import msgspec

from trundle._clock import Clock
from trundle.api._requests import Target
from trundle.api._status import ApiError, bad_request
from trundle.api._tables import partial, table
from trundle.project import write_documents

JSON, YAML = "application/json", "application/yaml"
Form = Literal["whole", "Table", "PartialObjectMetadata", "PartialObjectMetadataList"]
_FORMS: Mapping[str, Form] = {
    "Table": "Table",
    "PartialObjectMetadata": "PartialObjectMetadata",
    "PartialObjectMetadataList": "PartialObjectMetadataList",
}

_META = "meta.k8s.io"
_META_VERSIONS = frozenset({"v1", "v1beta1"})
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
        version: the API version of that form.
        media_type: the type of the answer.
    """

    form: Form = "whole"
    version: str = ""
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
        self._form, self._version, self.media_type = accepted
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
        if kind == target.kind.list_kind and "items" in members:
            listed = _list(body)
            return self._listed(listed.metadata, [bytes(each) for each in listed.items], target)
        return self.one(body, target)

    def one(self, document: bytes, target: Target) -> bytes:
        """An object as the client wants it. The columns of tables are defined in the first one only."""
        if self._form == "whole":
            return document
        if self._form != "Table":
            return msgspec.json.encode(partial(document, self._version))
        self._tables += 1
        found = msgspec.json.decode(document)["metadata"]
        metadata = {key: found[key] for key in ("resourceVersion",) if key in found}
        first = self._tables == 1
        now = self._clock()
        at = target.kind, target.served
        return table(*at, metadata, [document], self._include, now, self._version, head=first)

    def _listed(self, metadata: dict[str, Any], items: list[bytes], target: Target) -> bytes:
        metadata = {key: each for key, each in metadata.items() if each != ""}
        if self._form != "Table":
            head = {"kind": "PartialObjectMetadataList", "apiVersion": self._version}
            listed = [partial(each, self._version) for each in items]
            return msgspec.json.encode({**head, "metadata": metadata, "items": listed})
        at = target.kind, target.served
        return table(*at, metadata, items, self._include, self._clock(), self._version)


def representation_of(
    accept: str,
    query: Mapping[str, str],
    clock: Clock,
    method: str,
    target: Target,
    *,
    streams: bool,
) -> Representation:
    """The form that a client likes best of those that the server has.

    Args:
        accept: what it accepts; all where that is empty.
        query: the parameters of its request.
        clock: gives the time, for ages in tables.
        method: the method of its request.
        target: what it is about.
        streams: whether the answer is a stream of objects.

    Raises:
        ApiError: it accepts none of them, or a table cannot have what it wants beside its cells.
    """
    accepted, include = (
        accepted_of(accept, streams=streams, tables=not target.kind.is_review),
        query.get("includeObject") or "Metadata",
    )
    if accepted is None or accepted.form == _unfit(method, target, streams=streams):
        known = ", ".join([JSON] if streams else [JSON, YAML])
        message = f"only the following media types are accepted: {known}"
        raise ApiError(406, "NotAcceptable", message)
    if accepted.form == "Table" and include not in _INCLUDED:
        why = f'includeObject: Invalid value: "{include}": must be {_OR_EMPTY}'
        raise bad_request(f"Unable to convert to Table as requested: {why}")
    return Representation(accepted, include, clock)


def _unfit(method: str, target: Target, *, streams: bool) -> Form | None:
    """The form that an answer cannot have: a list is no object, and the other way round."""
    if not target.name and method != "POST" and not streams:
        return "PartialObjectMetadata"
    # What a deletion answers is mostly no object.
    return None if method == "DELETE" else "PartialObjectMetadataList"


@functools.lru_cache(256)  # Clients are few programs.
def accepted_of(accept: str, *, streams: bool = False, tables: bool = True) -> Accepted | None:
    """What a client likes best of what the server has; None where it accepts nothing of that.

    Args:
        accept: what it accepts, with weights, as HTTP writes it; all where that is empty.
        streams: whether the answer is a stream of objects, which are JSON alone.
        tables: whether the answer can be a table.
    """
    if not accept:
        return Accepted()
    known = [JSON] if streams else [JSON, YAML]
    # The most wanted first; patterns after what they match. Others stay in their order.
    ranges = sorted(_ranges(accept), key=lambda each: (-each[2], each[0].count("*")))
    for media_range, parameters, _ in ranges:
        form = _form(parameters)
        if form is None or (form == "Table" and not tables):
            continue
        for each in known:
            if media_range in {each, "application/*", "*/*", "*"}:
                version = "" if form == "whole" else f"{_META}/{parameters['v']}"
                return Accepted(form, version, each)
    return None


def _ranges(accept: str) -> Iterator[tuple[str, Mapping[str, str], float]]:
    """The types that a client accepts, each with its parameters and its weight."""
    for each in accept.split(","):
        name, *parameters = (part.strip() for part in each.split(";"))
        parts = (part.partition("=") for part in parameters)
        given = {key.strip(): value.strip() for key, _, value in parts}
        try:
            weight = float(given.get("q", 1))
        except ValueError:
            weight = 1.0
        yield name.lower(), given, weight


def _form(parameters: Mapping[str, str]) -> Form | None:
    """The form of objects that parameters of a type name; None where the server has it not."""
    if parameters.get("stream", "watch") != "watch":
        return None
    if not {"as", "g", "v"} & parameters.keys():
        return "whole"
    if parameters.get("g") != _META or parameters.get("v") not in _META_VERSIONS:
        return None
    return _FORMS.get(parameters.get("as", ""))


def in_yaml(body: bytes) -> bytes:
    """JSON as YAML."""
    return write_documents([body], "yaml").encode()
