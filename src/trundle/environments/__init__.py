"""Kept object models of tenants: drafted, deployed, called, upgraded, rolled back; with a journal and a history in the database.

`Environments` keeps them beside the catalog. Providers are given to what runs.
"""

from trundle.environments._calling import call
from trundle.environments._environments import Environments
from trundle.environments._errors import (
    EnvironmentBusyError,
    EnvironmentExistsError,
    EnvironmentsError,
    InvalidNameError,
    MajorError,
    NoSuchDeploymentError,
    NoSuchDraftError,
    NoSuchEnvironmentError,
    NoSuchObjectError,
    OutdatedDraftError,
    ProviderInUseError,
    SupersededError,
    UnfinishedError,
)
from trundle.environments._models import APPLICATIONS, label_of, objects_in, pinned
from trundle.environments._records import (
    Deployment,
    Draft,
    Environment,
    Model,
    Providers,
    Result,
)
from trundle.environments._running import delete, deploy, rollback
from trundle.environments._upgrading import newer_majors, upgrade

__all__ = [
    "APPLICATIONS",
    "Deployment",
    "Draft",
    "Environment",
    "EnvironmentBusyError",
    "EnvironmentExistsError",
    "Environments",
    "EnvironmentsError",
    "InvalidNameError",
    "MajorError",
    "Model",
    "NoSuchDeploymentError",
    "NoSuchDraftError",
    "NoSuchEnvironmentError",
    "NoSuchObjectError",
    "OutdatedDraftError",
    "ProviderInUseError",
    "Providers",
    "Result",
    "SupersededError",
    "UnfinishedError",
    "call",
    "delete",
    "deploy",
    "label_of",
    "newer_majors",
    "objects_in",
    "pinned",
    "rollback",
    "upgrade",
]
