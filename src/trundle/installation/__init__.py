"""Installing: packages are installed, upgraded under their policies, and rolled back; one folder keeps it all.

A reader of the link `current` sees one set of packages or the next, whenever a process dies.
"""

from typing import TYPE_CHECKING

from trundle._faces import on_demand

if TYPE_CHECKING:
    from trundle.installation._agent import (
        INTERVAL,
        Agent,
        LogLine,
        Round,
        pause_after,
        run_round,
    )
    from trundle.installation._applying import ChangeResult
    from trundle.installation._content import ArrivingError, ContentStore
    from trundle.installation._errors import StateBusyError, StateError
    from trundle.installation._folders import LOCK_FILE, Folders, exists, installed_folders
    from trundle.installation._install import Install, install
    from trundle.installation._installation import Installation
    from trundle.installation._notifying import NOTIFIED, NotificationError, notifier
    from trundle.installation._outlook import Outlook
    from trundle.installation._records import EventKind, InstalledPackage, PackageEvent
    from trundle.installation._rollback_protection import (
        forget_channels,
        forget_clock,
        forget_digest,
    )
    from trundle.installation._roots import check_root
    from trundle.installation._selection import Selection, UpgradeOffer, select
    from trundle.installation._snapshots import (
        complete,
        complete_before,
        restore,
        snapshot,
        unpacked_release,
    )
    from trundle.installation._stored import forget_store, remember_store
    from trundle.installation._tidy import Removed, Tidied, needed_content, tidy
    from trundle.installation._upgrade import (
        foresee,
        roll_back,
        roll_back_together,
        uninstall,
        uninstall_together,
        unpacked_before,
        upgrade,
        upgrade_waiting,
    )

__all__ = [
    "INTERVAL",
    "LOCK_FILE",
    "NOTIFIED",
    "Agent",
    "ArrivingError",
    "ChangeResult",
    "ContentStore",
    "EventKind",
    "Folders",
    "Install",
    "Installation",
    "InstalledPackage",
    "LogLine",
    "NotificationError",
    "Outlook",
    "PackageEvent",
    "Removed",
    "Round",
    "Selection",
    "StateBusyError",
    "StateError",
    "Tidied",
    "UpgradeOffer",
    "check_root",
    "complete",
    "complete_before",
    "exists",
    "foresee",
    "forget_channels",
    "forget_clock",
    "forget_digest",
    "forget_store",
    "install",
    "installed_folders",
    "needed_content",
    "notifier",
    "pause_after",
    "remember_store",
    "restore",
    "roll_back",
    "roll_back_together",
    "run_round",
    "select",
    "snapshot",
    "tidy",
    "uninstall",
    "uninstall_together",
    "unpacked_before",
    "unpacked_release",
    "upgrade",
    "upgrade_waiting",
]

on_demand(__name__)
