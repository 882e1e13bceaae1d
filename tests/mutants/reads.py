"""What clients of all versions read, over many edits: the measure of whether only stored bytes differ."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trundle.runtime import Scheme
from trundle.verify._broken import spoken, tree
from trundle.verify._tree_edits import WAYS, edited_lists

_EXAMPLES = 16
_EDITS = 6


def as_json(value: Any) -> Any:
    """Outputs as JSON text without the spelling of spaces and escapes, which is no part of a value."""
    if isinstance(value, bytes):
        return spoken(tree(value))
    return [as_json(each) for each in value] if isinstance(value, list) else value


def reads(scheme: Scheme, documents: Mapping[str, Sequence[bytes]]) -> Iterator[Any]:
    """What every version reads of each example: stored once, edited by each version, written again, rolled forward.

    Args:
        scheme: the scheme of the package, damaged or not.
        documents: example documents by version.
    """
    (resource,) = scheme.resources.values()
    for version, examples in documents.items():
        for number, data in enumerate(examples[:_EXAMPLES]):
            yield [_tried(scheme.convert_json, data, each, version=version) for each in documents]
            bases = [_tried(scheme.convert_json, data, version=version)]
            if version in resource.storage:
                mark = json.dumps({"$writtenWith": version}).encode()
                bases.append(data[:-1] + b"," + mark[1:])
            for base in bases:
                yield _views(scheme, base, documents)
                yield from _edited(scheme, base, version, data, documents, number)


def _edited(
    scheme: Scheme,
    base: Any,
    version: str,
    data: bytes,
    documents: Mapping[str, Sequence[bytes]],
    number: int,
) -> Iterator[Any]:
    """What is read after an edit, after one more by the first version, and after the edit is taken back."""
    for other, examples in documents.items():
        seen = _tried(scheme.convert_json, base, other)
        for edit in _edits(seen, examples, number):
            written = _tried(scheme.convert_json, edit, None, base, version=other)
            yield _views(scheme, written, documents)
            own = documents[version]
            for again, by in ((own[(number + 1) % len(own)], version), (data, version)):
                yield _views(
                    scheme,
                    _tried(scheme.convert_json, again, None, written, version=by),
                    documents,
                )
            yield _views(
                scheme, _tried(scheme.convert_json, seen, None, written, version=other), documents
            )


def _edits(seen: Any, examples: Sequence[bytes], number: int) -> Iterator[bytes]:
    """What another version writes: what it reads with its lists or half of its properties changed, and other data."""
    if isinstance(seen, bytes):
        for way in range(len(WAYS)):
            yield spoken(edited_lists(tree(seen), way)).encode()
    for step in range(_EDITS):
        given = examples[(number + 5 * step + 1) % len(examples)]
        yield given
        if isinstance(seen, bytes):
            mixed = tree(seen)
            for place, (name, value) in enumerate(sorted(tree(given).items())):
                if (place + step) % 2:
                    mixed[name] = value
            yield spoken(mixed).encode()


def _views(scheme: Scheme, stored: Any, versions: Mapping[str, Any]) -> list[Any]:
    return [as_json(_tried(scheme.convert_json, stored, each)) for each in versions]


def _tried(convert: Any, data: Any, *arguments: Any, **options: Any) -> Any:
    """What a conversion makes of some data; the name of its error where it fails, which is passed on."""
    if isinstance(data, str):
        return data
    try:
        return convert(data, *arguments, **options)
    except Exception as error:  # noqa: BLE001 - a conversion that fails is an output of its own
        return type(error).__name__
