"""What is kept of environments."""

import contextlib
import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from trundle.engine.effects import EffectChange, Provider
from trundle.errors import Finding

Model: TypeAlias = dict[str, Any]
"""One object with all that it owns, as plain values."""

Lock: TypeAlias = dict[str, dict[str, str]]
"""Which versions the requirements of packages got."""

Uses: TypeAlias = tuple[tuple[str, str], ...]
"""Names and versions of packages."""

Providers: TypeAlias = dict[str, dict[str, str]]
"""The settings of providers, by their names."""

Outcome: TypeAlias = Literal["unfinished", "succeeded", "failed", "interrupted"]
"""How a deployment came out; `unfinished` while it runs, and after it was killed until the next one begins."""

State: TypeAlias = Literal["new", "deployed", "unfinished", "deleted"]

_LONGEST_IN_MANAGER = 63
"""How much of the name is in the name of its manager, which has at most 128 characters."""


class Environment(msgspec.Struct, frozen=True):
    """An environment of a tenant.

    Attributes:
        tenant: whose it is.
        name: its name.
        root: the id of the object that has its applications.
        providers: what its deployments may reach.
        revision: the number of its last deployment; 0 for none.
        run: the number of the last run that was begun.
        created: when it was made.
        deleted: whether what it deployed is gone, and only its history is left.
        place: the place of a server that it was made at; empty where it was made at none, None where that is not known, since an earlier release made it.
    """

    tenant: str
    name: str
    root: str
    providers: Providers
    revision: int
    run: int
    created: str
    deleted: bool
    place: str | None

    @property
    def manager(self) -> str:
        """The name by which it owns fields of objects: its own, with any tenant and in any database."""
        return f"trundle-deploy/{self.name[:_LONGEST_IN_MANAGER]}/{self.root}"


Opening: TypeAlias = Callable[
    [Environment], contextlib.AbstractContextManager[Mapping[str, Provider]]
]
"""Opens what acts on the world for an environment, by the names of its providers."""


class Overview(msgspec.Struct, frozen=True):
    """What a list of environments says of each.

    Attributes:
        environment: the environment.
        state: whether it is deployed as it is wanted.
        uses: the versions of packages that its drafts and its last deployments use.
        drafts: the names of its drafts.
        secrets: the names of its secrets.
    """

    environment: Environment
    state: State
    uses: Uses
    drafts: tuple[str, ...]
    secrets: tuple[str, ...]

    def to_plain(self) -> dict[str, Any]:
        """Its line in a list as plain values, for programs."""
        return {
            "environment": self.environment.name,
            "tenant": self.environment.tenant,
            "state": self.state,
            "deployment": self.environment.revision or None,
            "uses": [{"name": name, "version": version} for name, version in self.uses],
        }


class Deployment(msgspec.Struct, frozen=True):
    """A kept version of an environment.

    Attributes:
        number: its number; they count up.
        action: what was done: `deploy`, `rollback to 3`, `upgrade`, `call web.scale`, `delete`.
        by: who did it; empty where that is not known.
        begun: when it began.
        ended: when it ended; empty where it did not.
        outcome: how it came out.
        error: why it failed.
        wanted: the model that was wanted; None for no objects.
        upgraded: the objects whose `upgrade` method is to run, each with the version that it comes from.
        uses: the packages that it uses.
        lock: which versions requirements got.
        model: what became of the model: `{"Objects": ..., "Attributes": ...}`; None unless it succeeded.
        changes: what it did: action and key of each effect.
        draft: the draft whose model it took, itself or the deployment that it goes on with; empty for none, None where that is not known, since an earlier release made it.
    """

    number: int
    action: str
    by: str
    begun: str
    ended: str
    outcome: Outcome
    error: str
    wanted: Model | None
    upgraded: dict[str, str]
    uses: Uses
    lock: Lock
    model: Model | None
    changes: tuple[tuple[str, str], ...]
    draft: str | None

    @property
    def objects(self) -> Model | None:
        """The model as it was left: what became of the wanted one, or that one itself."""
        return self.wanted if self.model is None else self.model["Objects"]

    def to_plain(self) -> dict[str, Any]:
        """What happened as plain values, for programs; without its models."""
        return {
            "number": self.number,
            "action": self.action,
            "by": self.by,
            "begun": self.begun,
            "ended": self.ended,
            "outcome": self.outcome,
            "error": self.error,
            "uses": [{"name": name, "version": version} for name, version in self.uses],
            "changes": [{"action": action, "key": key} for action, key in self.changes],
        }


class Draft(msgspec.Struct, frozen=True):
    """A model that is to be deployed next.

    Attributes:
        name: its name, by default that of the user.
        base: the number of the deployment that it began with; 0 for none.
        edition: how often it was written.
        by: who wrote it last.
        at: when.
        uses: the packages that it uses.
        lock: which versions requirements got.
        model: the model.
    """

    name: str
    base: int
    edition: int
    by: str
    at: str
    uses: Uses
    lock: Lock
    model: Model

    @property
    def tag(self) -> str:
        """A text that is another one after each change."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()[:16]

    def to_plain(self) -> dict[str, Any]:
        """The draft as plain values, for programs."""
        return {"draft": self.name, "base": self.base, "model": self.model}


class RunResult(msgspec.Struct, frozen=True):
    """What a run came to.

    Attributes:
        number: the deployment that has it; None for a dry run, and for a call that changed nothing.
        changes: what was done, or would be.
        value: what a called method returned, as plain values.
        findings: what is to be known of a conversion.
        upgraded: the packages that have another version now: from which to which.
    """

    number: int | None
    changes: tuple[EffectChange, ...]
    value: Any = None
    findings: tuple[Finding, ...] = ()
    upgraded: Mapping[str, tuple[str, str]] = {}

    def to_plain(self) -> dict[str, Any]:
        """The deployment, and what was done, as plain values."""
        return {"deployment": self.number, "changes": [each.to_plain() for each in self.changes]}
