"""Decisions: from channel, state, policy and clock to a plan, and from a plan to a status."""

from trundle.channels.decision._deciding import candidates, check_holds, decide, weighed, withheld
from trundle.channels.decision._model import (
    Approval,
    Block,
    Blocked,
    Bringing,
    Hold,
    Installed,
    Ready,
    Request,
    Scheduled,
    State,
    UpgradePlan,
)
from trundle.channels.decision._trust import check_trust
from trundle.channels.decision.status import (
    Condition,
    InstallationStatus,
    condition_reason,
    status_of,
)

__all__ = [
    "Approval",
    "Block",
    "Blocked",
    "Bringing",
    "Condition",
    "Hold",
    "InstallationStatus",
    "Installed",
    "Ready",
    "Request",
    "Scheduled",
    "State",
    "UpgradePlan",
    "candidates",
    "check_holds",
    "check_trust",
    "condition_reason",
    "decide",
    "status_of",
    "weighed",
    "withheld",
]
