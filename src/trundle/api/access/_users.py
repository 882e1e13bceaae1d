"""Who asks: users and their groups, in the names that Kubernetes has for them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
MASTERS = "system:masters"
_SERVICE_ACCOUNT = "system:serviceaccount:"


@dataclass(frozen=True, slots=True)
class User:
    """Who asks.

    Attributes:
        name: the name.
        uid: what distinguishes users of one name over time; may be empty.
        groups: the groups that the user is in.
        extra: what else is known, each key with its values.
    """

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def to_plain(self) -> dict[str, Any]:
        """The user as Kubernetes' `UserInfo`; what is empty is left out."""
        found = {
            "username": self.name,
            "uid": self.uid,
            "groups": list(self.groups),
            "extra": {key: list(values) for key, values in self.extra.items()},
        }
        return {key: value for key, value in found.items() if value}


ANONYMOUS = User("system:anonymous", groups=(UNAUTHENTICATED,))
"""Clients that bring no credentials."""

UNSECURED = User("system:unsecured", groups=(MASTERS, AUTHENTICATED))
"""Every client of a server without access control; it may do everything."""


def with_default_group(user: User) -> User:
    """A user with the group that all authenticated users are in, or the one of all others."""
    if user.name == ANONYMOUS.name:
        default, known = UNAUTHENTICATED, {UNAUTHENTICATED}
    else:
        default, known = AUTHENTICATED, {AUTHENTICATED, UNAUTHENTICATED}
    if known.intersection(user.groups):
        return user
    return User(user.name, user.uid, (*user.groups, default), user.extra)


def service_account(name: str) -> tuple[str, str] | None:
    """The namespace and the name of the service account that a user is; None for other users."""
    parts = name.removeprefix(_SERVICE_ACCOUNT).split(":")
    if not name.startswith(_SERVICE_ACCOUNT) or len(parts) != 2 or not all(parts):  # noqa: PLR2004
        return None
    return parts[0], parts[1]


def groups_of_service_account(namespace: str) -> tuple[str, ...]:
    """The groups that each service account of a namespace is in."""
    return "system:serviceaccounts", f"system:serviceaccounts:{namespace}"
