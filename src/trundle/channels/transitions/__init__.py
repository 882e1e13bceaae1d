"""Transitions: what can happen to a channel, as records; one applied, or many folded in any order."""

from trundle.channels.transitions._applying import Transition, apply
from trundle.channels.transitions._folding import Folded, Outcome, fold
from trundle.channels.transitions._operations import (
    Deprecate,
    Operation,
    Promote,
    Publish,
    Refresh,
    Restore,
    Unpublish,
    id_of_operation,
    kind_of,
    operation_from_json,
    operation_to_json,
)
from trundle.channels.transitions._publishing import (
    confirmation_needed,
    deprecate,
    new_entry,
    promote,
    publish,
    refresh,
    restore,
    touches_latest,
    unpublish,
    version_to_publish,
)

__all__ = [
    "Deprecate",
    "Folded",
    "Operation",
    "Outcome",
    "Promote",
    "Publish",
    "Refresh",
    "Restore",
    "Transition",
    "Unpublish",
    "apply",
    "confirmation_needed",
    "deprecate",
    "fold",
    "id_of_operation",
    "kind_of",
    "new_entry",
    "operation_from_json",
    "operation_to_json",
    "promote",
    "publish",
    "refresh",
    "restore",
    "touches_latest",
    "unpublish",
    "version_to_publish",
]
