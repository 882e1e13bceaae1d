"""The answers to clients that may not do what they ask for, word for word as Kubernetes' API server gives them."""

import json
from typing import TYPE_CHECKING, Any

from trundle.api._status import ApiError
from trundle.api.access._attributes import Attributes
from trundle.api.access._users import User

if TYPE_CHECKING:
    from collections.abc import Mapping


def unauthorized() -> ApiError:
    """The credentials are not known."""
    return ApiError(401, "Unauthorized", "Unauthorized")


def forbidden(user: User, asked: Attributes, reason: str = "") -> ApiError:
    """The user may not do it.

    Args:
        user: who asks.
        asked: what for.
        reason: what kept rules from counting; may be empty.
    """
    text = f"User {_quoted(user.name)} cannot {asked.verb}"
    if not asked.is_resource:
        text += f" path {_quoted(asked.path)}"
    else:
        text += f" resource {_quoted(asked.combined)} in API group {_quoted(asked.group)}"
        where = (
            f" in the namespace {_quoted(asked.namespace)}"
            if asked.namespace
            else " at the cluster scope"
        )
        text += where
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    if reason:
        text += f": {reason}"
    details: Mapping[str, Any] = {
        "name": asked.name,
        "group": asked.group,
        "kind": asked.resource,
    }
    what = f"{asked.resource}.{asked.group}" if asked.group else asked.resource
    named = f' "{asked.name}"' if asked.name else ""
    message = f"{what}{named} is forbidden: {text}" if asked.resource else f"forbidden: {text}"
    return ApiError(403, "Forbidden", message, {k: v for k, v in details.items() if v})


def _quoted(text: str) -> str:
    """A text as Go's `%q` has it, for what can stand in a request."""
    return json.dumps(text, ensure_ascii=False)
