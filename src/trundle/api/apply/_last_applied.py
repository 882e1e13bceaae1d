"""What client-side apply leaves behind: an annotation with the configuration that was applied last.

`kubectl apply` without `--server-side` owns fields as an update does. The annotation says which of them it applied, so that the same
user's first `kubectl apply --server-side` meets no conflicts with it.
"""

import json

from trundle.api.apply._differences import differences, fields_of
from trundle.api.apply._fields import EMPTY, FieldSet, Json, json_text
from trundle.api.apply._shapes import Shape

MANAGER = "kubectl"
"""The only manager that this is for."""
_ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"


def applied_by_client(shape: Shape, live: Json, version: str) -> FieldSet:
    """The fields that client-side apply set, and that no other manager has changed since."""
    last = _last(live)
    if last is None or last.get("apiVersion") != version:
        return EMPTY
    found = differences(shape, last, live)
    return fields_of(shape, last) - found.changed - found.removed


def with_last_applied(document: Json, config: Json) -> Json:
    """A document whose annotation, if it has one, is the configuration that was applied now."""
    if not _text(document):
        return document
    said = config
    if _text(config):
        others = {key: value for key, value in _annotations(config).items() if key != _ANNOTATION}
        said = {**config, "metadata": {**config["metadata"], "annotations": others}}
    annotations = {**_annotations(document), _ANNOTATION: f"{json_text(said)}\n"}
    return {**document, "metadata": {**document["metadata"], "annotations": annotations}}


def _annotations(document: Json) -> dict[str, str]:
    return document.get("metadata", {}).get("annotations") or {}


def _last(live: Json) -> Json:
    try:
        found = json.loads(_text(live) or "null")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _text(document: Json) -> str:
    return _annotations(document).get(_ANNOTATION, "")
