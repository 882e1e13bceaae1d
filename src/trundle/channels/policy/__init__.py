"""Policies: what an upgrade policy says, its windows and gates, and what is suspicious about it."""

from trundle.channels.policy._linting import lint
from trundle.channels.policy._model import (
    LEVELS,
    Exclusion,
    Policy,
    UpgradeAction,
    Window,
    is_spared,
)
from trundle.channels.policy._reading import PolicyError, policy_to_plain, read_policy
from trundle.channels.policy._schedule import CronError, Schedule
from trundle.channels.policy.gates import Gates, Wait, cooldown_end, gates_for
from trundle.channels.policy.windows import openings

__all__ = [
    "LEVELS",
    "CronError",
    "Exclusion",
    "Gates",
    "Policy",
    "PolicyError",
    "Schedule",
    "UpgradeAction",
    "Wait",
    "Window",
    "cooldown_end",
    "gates_for",
    "is_spared",
    "lint",
    "openings",
    "policy_to_plain",
    "read_policy",
]
