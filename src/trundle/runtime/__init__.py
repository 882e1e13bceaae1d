"""What generated code imports: bases of its classes, the property bag, the scheme, hooks and errors."""

from trundle.errors import Finding
from trundle.runtime._bag import (
    MISSING,
    Carried,
    Missing,
    Widened,
    carry,
    recall,
    settle,
    stash,
    unstash,
)
from trundle.runtime._bases import ApiObject, StorageObject
from trundle.runtime._by_class import forget_classes
from trundle.runtime._class_fields import struct_type
from trundle.runtime._contract import INTERFACE, OLDEST, PackageMismatchError, mismatch, require
from trundle.runtime._deferred import DeferredModule
from trundle.runtime._documents import find_path, member_path
from trundle.runtime._durations import read_duration
from trundle.runtime._entries import BagEntry, Entry, PropertyBag, StoredEntry
from trundle.runtime._errors import (
    BagError,
    ConversionError,
    DocumentError,
    HookError,
    LabelError,
    PlacedError,
    UnknownVersionError,
    ValueCode,
    reason_of,
)
from trundle.runtime._first_use import prepare_types
from trundle.runtime._hooks import (
    AssignFrom,
    AssignTo,
    HookMethodDeclaration,
    call_converter,
    call_hook,
    hook,
    plain_metadata,
)
from trundle.runtime._joined import JoinedScheme
from trundle.runtime._json import decoder
from trundle.runtime._keyed import keep_elements, to_list, to_map
from trundle.runtime._labels import read_label, with_labels, without_labels
from trundle.runtime._lenience import STRICT, WEBHOOK, Lenience, Tolerated
from trundle.runtime._lookup import Conversion, ConversionTable, conversion_module
from trundle.runtime._matching import aligned
from trundle.runtime._nested import (
    is_there,
    null_presence,
    opened,
    presence,
    said,
    solid,
    solid_or_marked,
    stripped,
)
from trundle.runtime._objects import (
    ABSENT,
    ADDITIONAL,
    BAG,
    BAG_FIELD,
    LACKING,
    UNKNOWN,
    WRITTEN_WITH,
    WRITTEN_WITH_FIELD,
    Absent,
    FreeForm,
    GeneratedObject,
    free_form,
)
from trundle.runtime._outcomes import Lost, Outcome
from trundle.runtime._presences import watch
from trundle.runtime._protocol import AnyScheme
from trundle.runtime._quantities import read_quantity
from trundle.runtime._quick_views import QuickView
from trundle.runtime._required_values import if_whole
from trundle.runtime._resource_types import ResourceType
from trundle.runtime._scalars import Unconverted, convert_scalar, unconverted
from trundle.runtime._scheme import Scheme
from trundle.runtime._stale import keep_places, refill, refill_by_hook
from trundle.runtime._values import (
    Wrapped,
    convert_each,
    fit,
    from_free_form,
    has_text,
    known_part,
    map_text,
    other_members,
    present,
    present_members,
    present_or_none,
    single,
    take_named,
    through,
    to_enum,
    to_free_form,
    with_named,
)

__all__ = [
    "ABSENT",
    "ADDITIONAL",
    "BAG",
    "BAG_FIELD",
    "INTERFACE",
    "LACKING",
    "MISSING",
    "OLDEST",
    "STRICT",
    "UNKNOWN",
    "WEBHOOK",
    "WRITTEN_WITH",
    "WRITTEN_WITH_FIELD",
    "Absent",
    "AnyScheme",
    "ApiObject",
    "AssignFrom",
    "AssignTo",
    "BagEntry",
    "BagError",
    "Carried",
    "Conversion",
    "ConversionError",
    "ConversionTable",
    "DeferredModule",
    "DocumentError",
    "Entry",
    "Finding",
    "FreeForm",
    "GeneratedObject",
    "HookError",
    "HookMethodDeclaration",
    "JoinedScheme",
    "LabelError",
    "Lenience",
    "Lost",
    "Missing",
    "Outcome",
    "PackageMismatchError",
    "PlacedError",
    "PropertyBag",
    "QuickView",
    "ResourceType",
    "Scheme",
    "StorageObject",
    "StoredEntry",
    "Tolerated",
    "Unconverted",
    "UnknownVersionError",
    "ValueCode",
    "Widened",
    "Wrapped",
    "aligned",
    "call_converter",
    "call_hook",
    "carry",
    "conversion_module",
    "convert_each",
    "convert_scalar",
    "decoder",
    "find_path",
    "fit",
    "forget_classes",
    "free_form",
    "from_free_form",
    "has_text",
    "hook",
    "if_whole",
    "is_there",
    "keep_elements",
    "keep_places",
    "known_part",
    "map_text",
    "member_path",
    "mismatch",
    "null_presence",
    "opened",
    "other_members",
    "plain_metadata",
    "prepare_types",
    "presence",
    "present",
    "present_members",
    "present_or_none",
    "read_duration",
    "read_label",
    "read_quantity",
    "reason_of",
    "recall",
    "refill",
    "refill_by_hook",
    "require",
    "said",
    "settle",
    "single",
    "solid",
    "solid_or_marked",
    "stash",
    "stripped",
    "struct_type",
    "take_named",
    "through",
    "to_enum",
    "to_free_form",
    "to_list",
    "to_map",
    "unconverted",
    "unstash",
    "watch",
    "with_labels",
    "with_named",
    "without_labels",
]

tells = has_text
"""The former name of `has_text`, which packages that were generated before it import."""
