"""Keeps each object once, in the shape of its hub, for clients of all versions; gives watchers each change once.

`Store` is bound to a database and to the scheme of a generated package.
"""

from trundle.store._checking import CheckPart, check, check_part, plan_check
from trundle.store._compaction import Compaction, compact
from trundle.store._decisions import PreparedWrite, WriteDecision, missing
from trundle.store._documents import columns_shown
from trundle.store._errors import (
    ConflictError,
    FutureVersionError,
    GoneError,
    InvalidContinueError,
    InvalidKeyError,
    InvalidMetadataError,
    InvalidSelectorError,
    MovedVersionError,
    NewerShapeError,
    NoSuchObjectError,
    ObjectExistsError,
    RefusedImportError,
    StoreCode,
    StoreError,
    UnknownResourceError,
    UnknownVersionError,
    UnrecordedShapeError,
)
from trundle.store._exchange import Imported, export, import_
from trundle.store._leases import Holder, Move, ServerLease, move_storage_versions
from trundle.store._losses import LostPlace, TypeLosses, losses
from trundle.store._records import Changes, Key, ObjectChange, ObjectChoice, Page, StoredObject
from trundle.store._rolling import (
    Pace,
    Roll,
    Rolled,
    RollPart,
    plan_roll,
    roll,
    roll_part,
    together,
)
from trundle.store._selectors import LabelRequirement, LabelSelector
from trundle.store._status import (
    OWN_GROUP,
    CountedType,
    CountedVersion,
    StoreCounts,
    StoredVersion,
    StoreStatus,
    TypeStatus,
    counted,
    dropped,
    status,
    unreadable_types,
    unserved,
)
from trundle.store._store import Store, refuse_emptied
from trundle.store._work_log import BusyStoreError, WorkLog, WorkNote
from trundle.store._writer import Write

__all__ = [
    "OWN_GROUP",
    "BusyStoreError",
    "Changes",
    "CheckPart",
    "Compaction",
    "ConflictError",
    "CountedType",
    "CountedVersion",
    "FutureVersionError",
    "GoneError",
    "Holder",
    "Imported",
    "InvalidContinueError",
    "InvalidKeyError",
    "InvalidMetadataError",
    "InvalidSelectorError",
    "Key",
    "LabelRequirement",
    "LabelSelector",
    "LostPlace",
    "Move",
    "MovedVersionError",
    "NewerShapeError",
    "NoSuchObjectError",
    "ObjectChange",
    "ObjectChoice",
    "ObjectExistsError",
    "Pace",
    "Page",
    "PreparedWrite",
    "RefusedImportError",
    "Roll",
    "RollPart",
    "Rolled",
    "ServerLease",
    "Store",
    "StoreCode",
    "StoreCounts",
    "StoreError",
    "StoreStatus",
    "StoredObject",
    "StoredVersion",
    "TypeLosses",
    "TypeStatus",
    "UnknownResourceError",
    "UnknownVersionError",
    "UnrecordedShapeError",
    "WorkLog",
    "WorkNote",
    "Write",
    "WriteDecision",
    "check",
    "check_part",
    "columns_shown",
    "compact",
    "counted",
    "dropped",
    "export",
    "import_",
    "losses",
    "missing",
    "move_storage_versions",
    "plan_check",
    "plan_roll",
    "refuse_emptied",
    "roll",
    "roll_part",
    "status",
    "together",
    "unreadable_types",
    "unserved",
]
