"""The laws of conversion as functions that raise `LawBroken`.

`read(v, S)` is the stored object S seen at version v; `put(v, D, S)` writes document D of version v over S.
Values are compared as JSON, spelling of numbers included.
"""

import importlib
import json
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec

from trundle.runtime import Scheme, StorageObject
from trundle.verify._broken import MISSING, Difference, LawBroken, differences, shown
from trundle.verify._edit_laws import law_of_edits
from trundle.verify._seen import (
    complete,
    context_of,
    equal,
    in_one_spelling,
    in_stored_order,
    labelled,
    named,
    reloaded,
    some_versions,
    tree_of,
    view,
)


def laws(scheme: Scheme, stored: Any, document: Any, edited: Any) -> None:
    """All laws at once, for one version's write over a stored object.

    Args:
        scheme: the scheme of the generated package.
        stored: a storage object that any versions have written.
        document: a valid object of the version that writes.
        edited: an edited copy of what that version reads of the stored object.

    Raises:
        LawBroken: a law does not hold.
    """
    law_identity(scheme, document)
    law1(scheme, stored, document)
    law1(scheme, stored, edited)
    law2(scheme, stored)
    law_of_edits(scheme, stored, edited)
    law6(scheme, stored, document)
    law_agreement(scheme, stored, document)


def law1(scheme: Scheme, stored: Any, document: Any) -> None:
    """What a client writes, it reads: `read(v, put(v, D, S)) = D`."""
    resource, version = named(scheme, document)
    written = scheme.to_storage(document, stored)
    for each in (written, reloaded(scheme, written)):
        found = scheme.from_storage(each, version)
        pair = (document, found)
        expected, shown = map(scheme.encode, pair)
        if expected != shown:
            alike = (in_one_spelling(in_stored_order(one, written)) for one in pair)
            expected, shown = map(scheme.encode, alike)
        equal(
            "law 1, what a client writes, it reads",
            (resource, (version,)),
            expected,
            shown,
            context_of(scheme, stored=stored, document=document, written=written),
            spelt=not labelled(document),
        )


def law2(scheme: Scheme, stored: Any, version: str | None = None) -> None:
    """Writing back what one read changes nothing: `put(v, read(v, S), S) = S`, byte for byte.

    Args:
        scheme: the scheme of the generated package.
        stored: a storage object.
        version: the version that reads and writes; all where it is not given.
    """
    resource, _ = named(scheme, stored)
    before = scheme.encode(stored)
    versions = some_versions(scheme, resource, before) if version is None else [version]
    for each in versions:
        for base in (stored, reloaded(scheme, stored)):
            seen = scheme.from_storage(base, each)
            copied = scheme.decode(scheme.encode(seen)) if complete(scheme, seen) else seen
            for document in (seen, copied):
                equal(
                    "law 2, writing back what one read changes nothing",
                    (resource, (each,)),
                    before,
                    scheme.encode(scheme.to_storage(document, base)),
                    context_of(scheme, seen=seen),
                )


def law4(scheme: Scheme, stored: Any, document: Any, edited: Any) -> None:
    """Nothing stale, nothing gone: when an edit is taken back, every version sees what it saw before.

    What another client's edit has made stale is not shown, but kept: only a write from its own side
    replaces it.

    Args:
        scheme: the scheme of the generated package.
        stored: a storage object.
        document: a valid object of some version.
        edited: a copy in which only scalars outside of lists and maps have changed; it is written first,
            so that the document's own values differ from defaults.
    """
    resource, version = named(scheme, document)
    explicit = scheme.to_storage(edited, stored)
    first = scheme.to_storage(document, explicit)
    second = scheme.to_storage(edited, first)
    third = scheme.to_storage(document, second)
    for other in sorted({version, *some_versions(scheme, resource, scheme.encode(second))}):
        equal(
            "law 4, an edit that is taken back leaves nothing stale and loses nothing",
            (resource, (version, other)),
            scheme.encode(scheme.from_storage(first, other)),
            scheme.encode(scheme.from_storage(third, other)),
            context_of(scheme, first=first, edited=edited, second=second, third=third),
        )


def law6(scheme: Scheme, stored: Any, document: Any) -> None:
    """The input is never changed, and equal inputs give equal bytes."""
    resource, version = named(scheme, document)
    where = (resource, (version,))
    before = scheme.encode(stored), scheme.encode(document)
    copies = reloaded(scheme, stored), scheme.decode(before[1])
    written = [
        scheme.encode(scheme.to_storage(one, base))
        for one, base in ((document, stored), (document, stored), (copies[1], copies[0]))
    ]
    context = context_of(scheme, stored=stored, document=document)
    for again in written[1:]:
        equal("law 6, equal inputs give equal bytes", where, written[0], again, context)
    for other in some_versions(scheme, resource, before[0]):
        one, two = scheme.from_storage(stored, other), scheme.from_storage(copies[0], other)
        equal(
            "law 6, equal inputs give equal bytes",
            (resource, (other,)),
            scheme.encode(one),
            scheme.encode(two),
            context,
        )
    after = scheme.encode(stored), scheme.encode(document)
    for one, other_bytes in zip(before, after, strict=True):
        equal("law 6, the input is never changed", where, one, other_bytes)


def law_identity(scheme: Scheme, document: Any) -> None:
    """From a version to storage and back, with no stored object there before, is the identity."""
    resource, version = named(scheme, document)
    stored = scheme.to_storage(document)
    for each in (stored, reloaded(scheme, stored)):
        equal(
            "storing and reading is the identity",
            (resource, (version,)),
            scheme.encode(document),
            scheme.encode(scheme.from_storage(each, version)),
            context_of(scheme, stored=stored),
            spelt=not labelled(document),
        )


def law_same_version(scheme: Scheme, document: Any, version: str) -> None:
    """Converting to the version that a document has already is the identity."""
    resource, _ = named(scheme, document)
    data = scheme.encode(document)
    law, where = "converting to the same version changes nothing", (resource, (version,))
    equal(law, where, data, scheme.encode(scheme.convert(document, version)))
    if complete(scheme, document):
        equal(law, where, data, scheme.convert_json(data, version))


def law_agreement(scheme: Scheme, stored: Any, document: Any) -> None:
    """`convert`, `convert_json` and the methods agree, and so do the straight way and the one by the hub."""
    resource, version = named(scheme, document)
    law = "convert, convert_json and the methods agree"
    data, base = scheme.encode(document), scheme.encode(stored)
    for other in some_versions(scheme, resource, data):
        where = (resource, (version, other))
        for one_base, base_data in ((None, None), (stored, base)):
            by_object = scheme.encode(scheme.convert(document, other, one_base))
            by_json = scheme.convert_json(data, other, base_data)
            equal(law, where, by_object, by_json)
            by_json = scheme.convert_json(data, other, base_data, strict=True)
            equal(law, where, by_object, by_json)
            by_hub = scheme.from_storage(scheme.to_storage(document, one_base), other)
            equal(law, where, scheme.encode(by_hub), by_object)
            plain = scheme.convert(json.loads(data), other, base_data)
            if plain != json.loads(by_object):
                raise LawBroken(law, *where, expected=json.loads(by_object), found=plain)
        read = scheme.from_storage(stored, other)
        hub = scheme.convert(stored)
        by_method = type(read).convert_from_storage(hub)
        equal(law, where, scheme.encode(read), scheme.encode(by_method))
    put, by_method = scheme.to_storage(document), document.convert_to_storage()
    put.written_with = by_method.written_with
    equal(law, (resource, (version,)), scheme.encode(put), scheme.encode(by_method))


def law_upgrade(
    scheme: Scheme, earlier: Any, enums: AbstractSet[tuple[str, str]] | None = None
) -> None:
    """Rolling an earlier stored object forward keeps what every version reads.

    Args:
        scheme: the scheme of the generated package.
        earlier: a storage object in the shape of an earlier storage version.
        enums: names of properties, each with a text that its enum lists. Such a text may come in the enum's letter
            case, because nothing says that a client of that version wrote another one. None where the schemas are
            not at hand; then any text may.
    """
    resource, version = named(scheme, earlier)
    rolled = scheme.convert(earlier)
    context = context_of(scheme, earlier=earlier, rolled=rolled)
    for other in some_versions(scheme, resource, scheme.encode(earlier)):
        expected = scheme.encode(scheme.from_storage(earlier, other))
        for each in (rolled, reloaded(scheme, rolled), reloaded(scheme, earlier)):
            found = scheme.encode(scheme.from_storage(each, other))
            equal(
                "rolling forward keeps what is read",
                (resource, (version, other)),
                expected,
                found,
                context,
            )
    own = view(scheme, earlier, version)
    for each in differences(tree_of(scheme, earlier), own):
        if _in_own_case(each, enums):
            continue
        if each.one is not MISSING and not str((*each.path, "")[0]).startswith("$"):
            raise LawBroken(
                "rolling forward keeps what an earlier version stored",
                resource,
                (version,),
                path=shown(each.path),
                expected=each.one,
                found=each.other,
                context=context(),
            )
    law2(scheme, earlier)


def _in_own_case(difference: Difference, enums: AbstractSet[tuple[str, str]] | None) -> bool:
    """Whether a text only takes the letter case in which the enum of its property lists it."""
    path, one, other = difference
    name = next((each for each in reversed(path) if isinstance(each, str)), "")
    texts = type(one) is str and type(other) is str
    return (
        texts and one.casefold() == other.casefold() and (enums is None or (name, other) in enums)
    )


def law_nested(scheme: Scheme, document: Any) -> None:
    """From a version to storage and back is the identity for a nested object, wherever it is kept.

    A storage class that is one variant of a union keeps objects of just one text; an object with another
    text goes into the bag of the object that holds it, which `law_identity` is about.
    """
    class_ = type(document)
    for each in scheme.conversions(class_):
        module, _, name = each.target.partition(":")
        target = getattr(importlib.import_module(f"{scheme.package}.{module}"), name)
        if not issubclass(target, StorageObject):
            continue
        tagged = _with_variant(document, target)
        stored = tagged.convert_to_storage(target)
        before = scheme.encode(tagged)
        equal(
            "storing and reading is the identity",
            (class_.__name__, (each.target,)),
            before,
            scheme.encode(class_.convert_from_storage(stored)),
            context_of(scheme, stored=stored),
        )


def _with_variant(document: Any, target: type[StorageObject]) -> Any:
    """An object with the text that identifies the variant of a storage class."""
    config = target.__struct_config__
    encoded = document.__struct_encode_fields__
    if config.tag_field not in encoded:
        return document
    field = document.__struct_fields__[encoded.index(config.tag_field)]
    if str(getattr(document, field)).casefold() == str(config.tag).casefold():
        return document
    return msgspec.structs.replace(document, **{field: config.tag})
