"""Kubernetes' rules of server-side apply: who owns which fields of an object, at the version of a request.

`applied` and `updated` take an object, and give it as it is after a write, with its `managedFields`.
"""

from trundle.api.apply._checking import ListCode, ListError, duplicates, require_elements
from trundle.api.apply._fields import (
    FieldSet,
    Path,
    UnreadableFieldsError,
    decode,
    encode,
    size_of,
)
from trundle.api.apply._lineage_words import LineageWords
from trundle.api.apply._managed_fields import (
    APPLIES,
    KEPT_BY,
    UPDATES,
    Elsewhere,
    Writer,
    applied,
    given_back_elsewhere,
    given_up_elsewhere,
    hidden_fields,
    owned_elsewhere,
    remaining_elsewhere,
    shown_fields,
    updated,
)
from trundle.api.apply._owning import (
    NOWHERE,
    ApplyConflictError,
    AtOthers,
    Conflict,
    Manager,
)
from trundle.api.apply._schema_shapes import resource_shape
from trundle.api.apply._shapes import ElementError, Shape
from trundle.api.apply._subresources import STATUS, ignored, restricted
from trundle.api.apply._words import SameWords, Words

__all__ = [
    "APPLIES",
    "KEPT_BY",
    "NOWHERE",
    "STATUS",
    "UPDATES",
    "ApplyConflictError",
    "AtOthers",
    "Conflict",
    "ElementError",
    "Elsewhere",
    "FieldSet",
    "LineageWords",
    "ListCode",
    "ListError",
    "Manager",
    "Path",
    "SameWords",
    "Shape",
    "UnreadableFieldsError",
    "Words",
    "Writer",
    "applied",
    "decode",
    "duplicates",
    "encode",
    "given_back_elsewhere",
    "given_up_elsewhere",
    "hidden_fields",
    "ignored",
    "owned_elsewhere",
    "remaining_elsewhere",
    "require_elements",
    "resource_shape",
    "restricted",
    "shown_fields",
    "size_of",
    "updated",
]
