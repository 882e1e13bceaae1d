"""Tokens that give the next page of a list: at which resource version it is, and behind which object to go on."""

import base64
import binascii
from typing import Any

import msgspec

from trundle.errors import shown
from trundle.store._errors import InvalidContinueError


class Token(msgspec.Struct, array_like=True, frozen=True, forbid_unknown_fields=True):
    """Where a list goes on.

    Attributes:
        resource: the resource type.
        at: the resource version that all pages show.
        namespace: the namespace of the last object before.
        name: its name.
        remaining: how many objects follow that one; None where that is not known.
    """

    resource: str
    at: int
    namespace: str
    name: str
    remaining: int | None = None

    def text(self) -> str:
        """The token as text that can stand in a URL."""
        return base64.urlsafe_b64encode(msgspec.json.encode(self)).decode().rstrip("=")

    @classmethod
    def parse(cls, text: str, resource: str) -> "Token":
        """Reads a token of a list of a resource type.

        Raises:
            InvalidContinueError: it is none.
        """
        found: Any = None
        try:
            data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
            found = msgspec.json.decode(data, type=cls)
        except (ValueError, binascii.Error, msgspec.DecodeError):
            pass
        if found is None or found.resource != resource:
            expected = f"the token of a page of {resource}"
            advice = "list again from the beginning"
            raise InvalidContinueError("the continue token", expected, shown(text), advice)
        return found  # type: ignore[no-any-return]
