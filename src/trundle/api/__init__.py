"""Resources at every version over HTTP, in Kubernetes' conventions."""

from trundle.api._application import Api
from trundle.api._checking import ListCode, ListError, require_elements
from trundle.api._fields import UnreadableFieldsError
from trundle.api._kinds import ServedKind, ServedVersion, served_kinds
from trundle.api._lineage_words import LineageWords
from trundle.api._managed_fields import (
    SameWords,
    Words,
    Writer,
    applied,
    updated,
    with_shown_owners,
)
from trundle.api._owning import ApplyConflictError, Conflict, Manager
from trundle.api._schema_shapes import resource_shape
from trundle.api._server import Server, listening, printing
from trundle.api._shapes import ElementError, Shape, object_shape
from trundle.api._subresources import ignored, restricted
from trundle.api.access import Access, AccessFileError, Tls, certificate_files, read_tokens

__all__ = [
    "Access",
    "AccessFileError",
    "Api",
    "ApplyConflictError",
    "Conflict",
    "ElementError",
    "LineageWords",
    "ListCode",
    "ListError",
    "Manager",
    "SameWords",
    "ServedKind",
    "ServedVersion",
    "Server",
    "Shape",
    "Tls",
    "UnreadableFieldsError",
    "Words",
    "Writer",
    "applied",
    "certificate_files",
    "ignored",
    "listening",
    "object_shape",
    "printing",
    "read_tokens",
    "require_elements",
    "resource_shape",
    "restricted",
    "served_kinds",
    "updated",
    "with_shown_owners",
]
