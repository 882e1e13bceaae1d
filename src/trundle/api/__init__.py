"""Resources at every version over HTTP: so far, who owns which fields of an object (server-side apply)."""

from trundle.api._checking import ListCode, ListError, require_elements
from trundle.api._fields import UnreadableFieldsError
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
from trundle.api._shapes import ElementError, Shape, object_shape
from trundle.api._subresources import ignored, restricted

__all__ = [
    "ApplyConflictError",
    "Conflict",
    "ElementError",
    "LineageWords",
    "ListCode",
    "ListError",
    "Manager",
    "SameWords",
    "Shape",
    "UnreadableFieldsError",
    "Words",
    "Writer",
    "applied",
    "ignored",
    "object_shape",
    "require_elements",
    "resource_shape",
    "restricted",
    "updated",
    "with_shown_owners",
]
