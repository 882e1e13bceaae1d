"""Hypothesis strategies of stored objects, as several clients leave them behind."""

import importlib
import json
import re
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from trundle.runtime import DocumentError, Finding, Lenience, Scheme, struct_type
from trundle.verify._edits import edits
from trundle.verify._values import objects

_WRITES = 3

_AS_READ = Lenience(missing=True, unknown="keep")
"""What is tolerated about a document that a reader was shown."""


def object_class(scheme: Scheme, resource: str, version: str) -> type[Any]:
    """The generated API class of a resource type in one version."""
    return _load(scheme, scheme.resources[resource].versions[version])


def storage_class(scheme: Scheme, resource: str, version: str | None = None) -> type[Any]:
    """The generated storage class of a resource type; the hub's where no version is given."""
    found = scheme.resources[resource]
    return _load(scheme, found.storage[found.hub if version is None else version])


def _load(scheme: Scheme, path: str) -> type[Any]:
    module, _, name = path.partition(":")
    found: type[Any] = getattr(importlib.import_module(f"{scheme.package}.{module}"), name)
    return found


def read_document(scheme: Scheme, data: bytes) -> Any:
    """An object of the version that a document names, as a client or a reader of what is stored has it.

    What a version reads may lack what it requires, and may carry what it does not know.
    """
    try:
        return scheme.decode(data)
    except DocumentError:
        return scheme.decode(data, lenience=_AS_READ)


def read_edited(scheme: Scheme, version: str, data: bytes, stored: Any) -> Any:
    """An edited copy of what a version reads of a stored object.

    Raises:
        DocumentError: it lacks or has something that is not allowed, and that was not so in what was read.
            Elements of lists may have been moved.
    """
    try:
        return scheme.decode(data)
    except DocumentError as error:
        shown = scheme.encode(scheme.from_storage(stored, version))
        before = set(map(_anywhere, _findings(scheme, shown)))
        if any(_anywhere(each) not in before for each in error.findings):
            raise
    return read_document(scheme, data)


def _findings(scheme: Scheme, data: bytes) -> tuple[Finding, ...]:
    """Everything that is wrong with a document."""
    try:
        scheme.decode(data)
    except DocumentError as error:
        return error.findings
    return ()


def _anywhere(finding: Finding) -> tuple[str, str]:
    """What a finding says, wherever in a list that is."""
    return re.sub(r"\[\d+\]", "[*]", finding.place.path), finding.message


def documents(scheme: Scheme, resource: str, version: str) -> SearchStrategy[Any]:
    """Valid objects of a resource type in one version."""
    return objects(object_class(scheme, resource, version))


def stored_objects(
    scheme: Scheme, resource: str, *, writer: str | None = None, writes: int = _WRITES
) -> SearchStrategy[Any]:
    """Stored objects that several versions have written, one over the other.

    Args:
        scheme: the scheme of a generated package.
        resource: the name of a resource type of it.
        writer: the version that writes first; any version where it is not given.
        writes: how often the object is written over at most.
    """
    return _stored(scheme, resource, writer, writes)


@st.composite
def _stored(draw: DrawFn, scheme: Scheme, resource: str, writer: str | None, writes: int) -> Any:
    versions = list(scheme.resources[resource].versions)
    first = draw(st.sampled_from(versions)) if writer is None else writer
    stored = scheme.to_storage(draw(objects(object_class(scheme, resource, first))))
    for _ in range(draw(st.integers(0, writes))):
        version = draw(st.sampled_from(versions))
        if draw(st.booleans()):
            document = draw(objects(object_class(scheme, resource, version)))
        else:
            document = draw(edits(scheme.from_storage(stored, version)))
        stored = scheme.to_storage(document, stored)
    return stored


def earlier_objects(scheme: Scheme, resource: str, version: str) -> SearchStrategy[Any]:
    """Stored objects in the shape of an earlier storage version, written by that version itself."""
    class_ = object_class(scheme, resource, version)
    plain = not any(
        field.name == "additional_properties"
        for each in (class_, storage_class(scheme, resource))
        for field in struct_type(each).fields
    )
    kept = struct_type(storage_class(scheme, resource, version)).fields
    mark = next(field.encode_name for field in kept if field.name == "written_with")

    def written(drawn: tuple[Any, bool]) -> Any:
        document, later = drawn
        data = scheme.encode(document)[:-1] + b"," + json.dumps(mark).encode() + b":"
        data += json.dumps(version).encode()
        data += b',"written later":[1.10]}' if later and plain else b"}"
        return scheme.decode(data)

    return st.tuples(objects(class_), st.booleans()).map(written)
