"""Documents that say what they are, as an API wants it: made of what a test writes and of the path that it sends it to."""

import re
from typing import Any

_PATH = re.compile(r"/apis/(?P<version>[^/]+/[^/]+)(?:/namespaces/[^/]+)?/(?P<plural>[^/?]+)")
_KINDS = {"people": "Person"}
_WHOLE = {"POST": {"", "application/json"}, "PUT": {"", "application/json"}}
_APPLY = "application/apply-patch+yaml"


def saying(method: str, path: str, body: Any, media_type: str) -> Any:
    """A body with its `apiVersion` and `kind`; bytes, patches and documents that have them stay as they are."""
    match = _PATH.match(path)
    whole = media_type == _APPLY or media_type in _WHOLE.get(method, ())
    is_own = match is not None and ".k8s.io/" in match["version"]
    if match is None or is_own or not whole or not isinstance(body, dict):
        return body
    return {"apiVersion": match["version"], "kind": _kind(match["plural"]), **body}


def _kind(plural: str) -> str:
    if plural in _KINDS:
        return _KINDS[plural]
    singular = re.sub(r"(?:(?<=[sxz])|(?<=ch)|(?<=sh))es$|s$", "", plural)
    return re.sub("ie$", "y", singular).capitalize()
