"""Keeps each object once, in the shape of its hub, for clients of all versions; gives watchers each change once.

`Store` is bound to a database and to the scheme of a generated package.
"""

from trundle.store._decisions import Decision
from trundle.store._errors import (
    ConflictError,
    FutureVersionError,
    GoneError,
    InvalidContinueError,
    InvalidKeyError,
    InvalidMetadataError,
    InvalidSelectorError,
    NewerShapeError,
    NoSuchObjectError,
    ObjectExistsError,
    StoreError,
    UnknownResourceError,
)
from trundle.store._records import Change, Changes, Choice, Key, Page, StoredObject
from trundle.store._selectors import LabelRequirement, LabelSelector
from trundle.store._store import Store

__all__ = [
    "Change",
    "Changes",
    "Choice",
    "ConflictError",
    "Decision",
    "FutureVersionError",
    "GoneError",
    "InvalidContinueError",
    "InvalidKeyError",
    "InvalidMetadataError",
    "InvalidSelectorError",
    "Key",
    "LabelRequirement",
    "LabelSelector",
    "NewerShapeError",
    "NoSuchObjectError",
    "ObjectExistsError",
    "Page",
    "Store",
    "StoreError",
    "StoredObject",
    "UnknownResourceError",
]
