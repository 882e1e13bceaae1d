"""What a client asks for, read from its request once."""

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

import msgspec

from trundle.api._kinds import ServedKind, ServedVersion
from trundle.api._status import ApiError, bad_request
from trundle.api.access import UNSECURED, User
from trundle.errors import expectation

FieldValidation = Literal["Ignore", "Warn", "Strict"]
_VALIDATIONS: tuple[FieldValidation, ...] = ("Ignore", "Warn", "Strict")


class Target(msgspec.Struct, frozen=True):
    """What a path names.

    Attributes:
        kind: the resource type.
        served: the version.
        namespace: the namespace; empty for all of them, or where there are none.
        name: the object; empty for all of them.
        subresource: a part of the object; empty for the whole.
        watched: whether it is a path of changes, as clients of early versions of Kubernetes write it.
    """

    kind: ServedKind
    served: ServedVersion
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    watched: bool = False


class Request(msgspec.Struct, frozen=True):
    """A request about objects.

    Attributes:
        target: what it is about.
        query: the parameters.
        body: the body.
        media_type: the form of the body.
        agent: the program that asks, as it names itself.
        user: who asks.
        creation_refusal: why the user may not create the object, where that is so and the request applies a configuration.
    """

    target: Target
    query: Mapping[str, str]
    body: bytes = b""
    media_type: str = ""
    agent: str = ""
    user: User = UNSECURED
    creation_refusal: ApiError | None = None

    @property
    def manager(self) -> str:
        """Who owns the fields that the request writes: what the client says, else the name of its program."""
        given = self.query.get("fieldManager", "")
        return given or self.agent.partition("/")[0] or "unknown"

    @property
    def dry_run(self) -> bool:
        """Whether nothing is to be stored."""
        return "dryRun" in self.query

    @property
    def versions(self) -> tuple[ServedVersion, ...]:
        """At which versions the answer shows the object, beside each other; none where it shows that of the path alone.

        Raises:
            ApiError: one of them is not served.
        """
        given = self.query.get("versions", "")
        known = self.target.kind.versions
        for each in given.split(",") if given else ():
            if each not in known:
                raise bad_request(expectation(f"versions to be of {', '.join(known)}", repr(each)))
        return tuple(known[each] for each in given.split(",")) if given else ()

    @property
    def field_validation(self) -> FieldValidation:
        """What becomes of unknown and duplicate fields."""
        given = self.query.get("fieldValidation")
        return next((each for each in _VALIDATIONS if each == given), "Warn")

    def flag(self, name: str) -> bool:
        """Whether a parameter is set: to anything but `false` and `0`, as API servers read it."""
        return is_set(self.query.get(name, "false"))

    def number(self, name: str) -> int | None:
        """A parameter that is a whole number; None where it is not given, or empty.

        Raises:
            ApiError: it is none.
        """
        given = self.query.get(name, "")
        if not given:
            return None
        if not given.isascii() or not given.isdigit() or len(given) > 18:  # noqa: PLR2004 - 64 bits
            raise bad_request(expectation(f"a whole number as {name}", repr(given)))
        return int(given)

    @property
    def limit(self) -> int | None:
        """How many objects a page has; None where a client does not limit it, or to less than one.

        Raises:
            ApiError: it is no whole number.
        """
        return self._positive("limit")

    @property
    def seconds(self) -> int | None:
        """After how many seconds a watch ends; None where a client does not say it, or none at all.

        Raises:
            ApiError: it is no whole number.
        """
        return self._positive("timeoutSeconds")

    def _positive(self, name: str) -> int | None:
        negative = re.fullmatch("-[0-9]{1,18}", self.query.get(name, ""))
        return None if negative else self.number(name) or None


def is_set(given: str) -> bool:
    """Whether the value of a parameter sets it."""
    return given.lower() not in {"false", "0"}


class Answer(NamedTuple):
    """What a client gets.

    Attributes:
        body: JSON.
        code: the status of HTTP.
        warnings: what the client shows its user.
    """

    body: bytes
    code: int = 200
    warnings: tuple[str, ...] = ()
