"""Labels and annotations that hooks write: documents have them in `metadata`, a store keeps them apart from it.

A document is put together so that reading it gives just what was written: of the three parts, what all versions share,
what the version has for itself, and whether there is an object where nothing is in it, the last is the shared one's.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from trundle.errors import expectation
from trundle.runtime._errors import LabelError
from trundle.runtime._objects import ABSENT, Absent, FreeForm


def read_label(metadata: FreeForm | Absent, field: str, key: str, holder: object) -> str | Absent:
    """A label or annotation of a document.

    Args:
        metadata: the document's metadata.
        field: `labels` or `annotations`.
        key: its key.
        holder: the object that has the metadata, for messages.

    Raises:
        LabelError: it is not text.
    """
    found = _members(_members(metadata).get(field, ABSENT)).get(key)
    if found is None:
        return ABSENT
    value = msgspec.json.decode(found)
    if isinstance(value, str):
        return value
    expected = f"text as metadata.{field}[{msgspec.json.encode(key).decode()}]"
    raise LabelError(expectation(expected, bytes(found).decode(), "write it as text"), holder)


def with_labels(
    metadata: FreeForm | Absent, labels: Sequence[tuple[str, str, str | Absent]]
) -> FreeForm | Absent:
    """Metadata as a document shows it.

    Args:
        metadata: what all versions share. What was stored under a key before a hook wrote that is still there.
        labels: field, key and value of each label and annotation that the version has for itself.
    """
    members = dict(_members(metadata))
    present = [each for each in labels if each[2] is not ABSENT]
    for field, key, value in present:
        known = _members(members.get(field, ABSENT))
        members[field] = _written({**known, key: _written(value)})
    return _written(members) if present else metadata


def without_labels(
    metadata: FreeForm | Absent,
    labels: Sequence[tuple[str, str]],
    base: FreeForm | Absent | None = None,
) -> FreeForm | Absent:
    """The metadata that all versions share, of a document.

    Args:
        metadata: the document's. It is as it is spelled where it has none of the labels.
        labels: field and key of each label and annotation that the document has for itself.
        base: the metadata that is written over; None for none. It says what is there where nothing is left.
    """
    stored = _members(ABSENT if base is None else base)
    members = dict(_members(metadata))
    own = [(at, key) for at, key in labels if key in _members(members.get(at, ABSENT))]
    for field in dict.fromkeys(field for field, _ in own):
        before = _members(stored.get(field, ABSENT))
        taken = {key for at, key in own if at == field}
        rest = {key: each for key, each in _members(members[field]).items() if key not in taken}
        rest |= {key: before[key] for key in sorted(taken & before.keys())}
        if rest:
            members[field] = _written(rest)
        elif field in stored and not before:
            members[field] = stored[field]
        else:
            del members[field]
    if not own:
        return metadata
    return base if base is not None and not members and not stored else _written(members)


def _written(value: object) -> FreeForm:
    return FreeForm(msgspec.json.encode(value))


def _members(value: FreeForm | Absent) -> Mapping[str, FreeForm]:
    """The members of a JSON object, undecoded; none of anything else."""
    if value is ABSENT:
        return {}
    try:
        found: Mapping[str, FreeForm] = _DECODER.decode(value)
    except msgspec.ValidationError:
        return {}
    return found


_DECODER: msgspec.json.Decoder[Any] = msgspec.json.Decoder(dict[str, msgspec.Raw])
