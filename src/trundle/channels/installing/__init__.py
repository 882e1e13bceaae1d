"""Installing: packages are installed, upgraded under their policies, and rolled back; one folder keeps it all.

Whoever reads through the link `current` sees one set of packages or the next, whatever moment a process dies at.
"""

from trundle.channels.installing._agent import (
    INTERVAL,
    Agent,
    LogLine,
    Round,
    pause_after,
    run_round,
)
from trundle.channels.installing._carrying import Result
from trundle.channels.installing._content import Artifact, ContentStore
from trundle.channels.installing._errors import StateBusyError, StateError
from trundle.channels.installing._folders import LOCK_FILE, Folders, exists
from trundle.channels.installing._install import Install, install
from trundle.channels.installing._installation import Installation
from trundle.channels.installing._looking import Follow, Outlook
from trundle.channels.installing._records import Deed, Event, Package
from trundle.channels.installing._selecting import Offer, Selection, select
from trundle.channels.installing._tidying import Removed, Tidied, tidy
from trundle.channels.installing._upgrading import foresee, roll_back, uninstall, upgrade

__all__ = [
    "INTERVAL",
    "LOCK_FILE",
    "Agent",
    "Artifact",
    "ContentStore",
    "Deed",
    "Event",
    "Folders",
    "Follow",
    "Install",
    "Installation",
    "LogLine",
    "Offer",
    "Outlook",
    "Package",
    "Removed",
    "Result",
    "Round",
    "Selection",
    "StateBusyError",
    "StateError",
    "Tidied",
    "exists",
    "foresee",
    "install",
    "pause_after",
    "roll_back",
    "run_round",
    "select",
    "tidy",
    "uninstall",
    "upgrade",
]
