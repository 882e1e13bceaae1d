"""The laws of conversion as functions that raise `LawBroken`.

`read(v, S)` is the stored object S seen at version v; `put(v, D, S)` writes document D of version v over S.
Values are compared as JSON, spelling of numbers included.
"""

import functools
import importlib
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias

import msgspec

from trundle.runtime import DocumentError, Scheme, StorageObject
from trundle.verify._broken import (
    MISSING,
    Difference,
    LawBroken,
    differences,
    same,
    shown,
    spoken,
    tree,
)
from trundle.verify._removed import goes_with_an_object
from trundle.verify._views import Edit, Path, changed_wrongly, nothing_in, value_at

NOTHING: Mapping[str, str] = {}
Context: TypeAlias = Callable[[], str]
Apart: TypeAlias = Callable[[str, str, Path], bool]
_NO_CONTEXT: Context = lambda: ""  # noqa: E731 - a constant
_LAW_3 = "law 3, an edit is seen, and all else is as before"
_LAW_5 = "law 5, data stays with its element"
_MANY = 4
"""With more versions than these, an example is held to so many of them, chosen by its data."""


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
    resource, version = _named(scheme, document)
    written = scheme.to_storage(document, stored)
    for each in (written, _reloaded(scheme, written)):
        found = scheme.from_storage(each, version)
        _equal(
            "law 1, what a client writes, it reads",
            (resource, (version,)),
            scheme.encode(document),
            scheme.encode(found),
            _context(scheme, stored=stored, document=document, written=written),
            spelt=not _labelled(document),
        )


def law2(scheme: Scheme, stored: Any, version: str | None = None) -> None:
    """Writing back what one read changes nothing: `put(v, read(v, S), S) = S`, byte for byte.

    Args:
        scheme: the scheme of the generated package.
        stored: a storage object.
        version: the version that reads and writes; all where it is not given.
    """
    resource, _ = _named(scheme, stored)
    before = scheme.encode(stored)
    versions = _some_versions(scheme, resource, before) if version is None else [version]
    for each in versions:
        for base in (stored, _reloaded(scheme, stored)):
            seen = scheme.from_storage(base, each)
            copied = scheme.decode(scheme.encode(seen)) if _complete(scheme, seen) else seen
            for document in (seen, copied):
                _equal(
                    "law 2, writing back what one read changes nothing",
                    (resource, (each,)),
                    before,
                    scheme.encode(scheme.to_storage(document, base)),
                    _context(scheme, seen=seen),
                )


def law3(
    scheme: Scheme,
    stored: Any,
    edited: Any,
    *,
    hooks: bool = False,
    renamed: Mapping[str, str] = NOTHING,
) -> None:
    """After an edit, every version sees it where it can express it, and all else as before.

    A client that removes an object removes what is hidden from it in there, too, for all versions, even where another
    version has that outside of the object, because a rule moves it. That alone may go; what is stored beside the object stays.

    Lists whose elements were added, removed or moved are left to `law5`.

    Args:
        scheme: the scheme of the generated package.
        stored: a storage object.
        edited: an edited copy of what some version reads of it.
        hooks: whether hooks may derive the values of other properties from the edited ones.
        renamed: newer property names by older ones, as far as they were configured. A property may make
            a namesake stale, under any of its names.
    """
    law_of_edits(scheme, stored, edited, hooks=hooks, renamed=renamed, laws=(_LAW_3,))


def law5(
    scheme: Scheme,
    stored: Any,
    edited: Any,
    *,
    hooks: bool = False,
    renamed: Mapping[str, str] = NOTHING,
) -> None:
    """Data never moves to another list element.

    Elements are matched by their declared keys or a key property; what no version can match is left out.
    The arguments are those of `law3`.
    """
    law_of_edits(scheme, stored, edited, hooks=hooks, renamed=renamed, laws=(_LAW_5,))


def law_of_edits(
    scheme: Scheme,
    stored: Any,
    edited: Any,
    *,
    hooks: bool = False,
    renamed: Mapping[str, str] = NOTHING,
    laws: tuple[str, ...] = (_LAW_3, _LAW_5),
    apart: Apart = lambda *_: False,
) -> None:
    """`law3` and `law5` of one edit, which look at the same conversions.

    The arguments are those of `law3`; `laws` are the names of the laws that are asked for. `apart` says whether what one
    version has at a path has nothing but its name from another version: an edit of that makes all of its namesake stale.
    """
    resource, version = _named(scheme, edited)
    seen = scheme.from_storage(stored, version)
    alone = scheme.to_storage(seen), scheme.to_storage(edited)
    written = scheme.to_storage(edited, stored)
    made = tuple(differences(_tree(scheme, seen), _tree(scheme, edited)))
    storage = type(scheme.convert(stored))
    context = _context(scheme, stored=stored, seen=seen, edited=edited, written=written)
    for other in _some_versions(scheme, resource, scheme.encode(written)):
        if other == version:
            continue  # `law1` says it all
        edit = Edit(
            _view(scheme, stored, other),
            _view(scheme, written, other),
            _view(scheme, alone[0], other),
            _view(scheme, alone[1], other),
            made,
            storage,
            renamed,
            functools.partial(apart, other, version),
        )
        for law in laws:
            for place, expected, found in changed_wrongly(edit, lists=law == _LAW_5, hooks=hooks):
                if hidden_beside_more(scheme, (stored, written), other, place):
                    continue
                if edited.__labels__ and nothing_in(edit.was, edit.becomes, place):
                    continue
                if goes_with_an_object(scheme, (stored, written), alone, other, place):
                    continue
                raise LawBroken(
                    law,
                    resource,
                    (version, other),
                    path=shown(place),
                    expected=expected,
                    found=found,
                    context=context(),
                )


def hidden_beside_more(scheme: Scheme, puts: tuple[Any, Any], version: str, place: Path) -> bool:
    """Whether a version does not see an edit because the hub has more there than the version can express.

    That is so where the hub sees the edit, nothing that is kept beside it has a part in what the version sees,
    and the version sees what it saw before. Free-form data on the way, for one, shows all of an object or nothing.

    Args:
        scheme: the scheme of the generated package.
        puts: what is stored before the edit, and after it.
        version: the version that does not see it.
        place: where it should.
    """
    before, after = (value_at(_view(scheme, each, version), place) for each in puts)
    if not same(before, after):
        return False  # something has changed, in another way
    resource, _ = _named(scheme, puts[1])
    hub = scheme.resources[resource].hub
    if same(*(_view(scheme, each, hub) for each in puts)):
        return False  # the edit has gone nowhere
    bare = scheme.to_storage(scheme.from_storage(puts[1], hub))
    return same(value_at(_view(scheme, bare, version), place), after)


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
    resource, version = _named(scheme, document)
    explicit = scheme.to_storage(edited, stored)
    first = scheme.to_storage(document, explicit)
    second = scheme.to_storage(edited, first)
    third = scheme.to_storage(document, second)
    for other in sorted({version, *_some_versions(scheme, resource, scheme.encode(second))}):
        _equal(
            "law 4, an edit that is taken back leaves nothing stale and loses nothing",
            (resource, (version, other)),
            scheme.encode(scheme.from_storage(first, other)),
            scheme.encode(scheme.from_storage(third, other)),
            _context(scheme, first=first, edited=edited, second=second, third=third),
        )


def law6(scheme: Scheme, stored: Any, document: Any) -> None:
    """The input is never changed, and equal inputs give equal bytes."""
    resource, version = _named(scheme, document)
    where = (resource, (version,))
    before = scheme.encode(stored), scheme.encode(document)
    copies = _reloaded(scheme, stored), scheme.decode(before[1])
    written = [
        scheme.encode(scheme.to_storage(one, base))
        for one, base in ((document, stored), (document, stored), (copies[1], copies[0]))
    ]
    context = _context(scheme, stored=stored, document=document)
    for again in written[1:]:
        _equal("law 6, equal inputs give equal bytes", where, written[0], again, context)
    for other in _some_versions(scheme, resource, before[0]):
        one, two = scheme.from_storage(stored, other), scheme.from_storage(copies[0], other)
        _equal(
            "law 6, equal inputs give equal bytes",
            (resource, (other,)),
            scheme.encode(one),
            scheme.encode(two),
            context,
        )
    after = scheme.encode(stored), scheme.encode(document)
    for one, other_bytes in zip(before, after, strict=True):
        _equal("law 6, the input is never changed", where, one, other_bytes)


def law_identity(scheme: Scheme, document: Any) -> None:
    """From a version to storage and back, with no stored object there before, is the identity."""
    resource, version = _named(scheme, document)
    stored = scheme.to_storage(document)
    for each in (stored, _reloaded(scheme, stored)):
        _equal(
            "storing and reading is the identity",
            (resource, (version,)),
            scheme.encode(document),
            scheme.encode(scheme.from_storage(each, version)),
            _context(scheme, stored=stored),
            spelt=not _labelled(document),
        )


def law_same_version(scheme: Scheme, document: Any, version: str) -> None:
    """Converting to the version that a document has already is the identity."""
    resource, _ = _named(scheme, document)
    data = scheme.encode(document)
    law, where = "converting to the same version changes nothing", (resource, (version,))
    _equal(law, where, data, scheme.encode(scheme.convert(document, version)))
    if _complete(scheme, document):
        _equal(law, where, data, scheme.convert_json(data, version))


def law_agreement(scheme: Scheme, stored: Any, document: Any) -> None:
    """`convert`, `convert_json` and the methods agree, and so do the straight way and the one by the hub."""
    resource, version = _named(scheme, document)
    law = "convert, convert_json and the methods agree"
    data, base = scheme.encode(document), scheme.encode(stored)
    for other in _some_versions(scheme, resource, data):
        where = (resource, (version, other))
        for one_base, base_data in ((None, None), (stored, base)):
            by_object = scheme.encode(scheme.convert(document, other, one_base))
            by_json = scheme.convert_json(data, other, base_data)
            _equal(law, where, by_object, by_json)
            by_json = scheme.convert_json(data, other, base_data, strict=True)
            _equal(law, where, by_object, by_json)
            by_hub = scheme.from_storage(scheme.to_storage(document, one_base), other)
            _equal(law, where, scheme.encode(by_hub), by_object)
            plain = scheme.convert(json.loads(data), other, base_data)
            if plain != json.loads(by_object):
                raise LawBroken(law, *where, expected=json.loads(by_object), found=plain)
        read = scheme.from_storage(stored, other)
        hub = scheme.convert(stored)
        by_method = type(read).convert_from_storage(hub)
        _equal(law, where, scheme.encode(read), scheme.encode(by_method))
    put, by_method = scheme.to_storage(document), document.convert_to_storage()
    put.written_with = by_method.written_with
    _equal(law, (resource, (version,)), scheme.encode(put), scheme.encode(by_method))


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
    resource, version = _named(scheme, earlier)
    rolled = scheme.convert(earlier)
    context = _context(scheme, earlier=earlier, rolled=rolled)
    for other in _some_versions(scheme, resource, scheme.encode(earlier)):
        expected = scheme.encode(scheme.from_storage(earlier, other))
        for each in (rolled, _reloaded(scheme, rolled), _reloaded(scheme, earlier)):
            found = scheme.encode(scheme.from_storage(each, other))
            _equal(
                "rolling forward keeps what is read",
                (resource, (version, other)),
                expected,
                found,
                context,
            )
    own = _view(scheme, earlier, version)
    for each in differences(_tree(scheme, earlier), own):
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
        _equal(
            "storing and reading is the identity",
            (class_.__name__, (each.target,)),
            before,
            scheme.encode(class_.convert_from_storage(stored)),
            _context(scheme, stored=stored),
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


def _equal(
    law: str,
    where: tuple[str, tuple[str, ...]],
    expected: bytes,
    found: bytes,
    context: Context = _NO_CONTEXT,
    *,
    spelt: bool = True,
) -> None:
    """Raises the first difference between two documents.

    Args:
        law: the law, in words.
        where: the resource type and the versions.
        expected: the document that the law asks for.
        found: the other one.
        context: what the law says about the objects that take part.
        spelt: whether order and spelling count, too.
    """
    if expected == found:
        return
    one, other = tree(expected), tree(found)
    for each in differences(one, other):
        raise LawBroken(
            law,
            *where,
            path=shown(each.path),
            expected=each.one,
            found=each.other,
            context=context(),
        )
    if spelt:
        raise LawBroken(
            f"{law} (order or spelling)", *where, expected=one, found=other, context=context()
        )


def _labelled(document: Any) -> bool:
    """Whether labels of a document stand for properties: its metadata is put together anew when it is read."""
    return bool(document.__labels__)


def _some_versions(scheme: Scheme, resource: str, data: bytes) -> list[str]:
    """The versions that a law is held to: all, or a few of many; which ones depends on the data."""
    versions = list(scheme.resources[resource].versions)
    if len(versions) <= _MANY:
        return versions
    return sorted(versions, key=lambda each: zlib.crc32(each.encode() + data))[:_MANY]


def _named(scheme: Scheme, value: Any) -> tuple[str, str]:
    """The resource type and version of an object."""
    name = next(
        each.name
        for each in scheme.resources.values()
        if getattr(value, _attribute(each.name_property)).casefold() == each.name.casefold()
    )
    return name, value.api_version.rpartition("/")[2]


def _attribute(name_property: str) -> str:
    return name_property if name_property in {"kind", "type"} else "kind"


def _reloaded(scheme: Scheme, value: Any) -> Any:
    """An object as it comes back from where it was kept."""
    if value.written_with is MISSING:
        return value
    return scheme.decode(scheme.encode(value))


def _complete(scheme: Scheme, document: Any) -> bool:
    """Whether an object that was read can be written: nothing required is absent in it."""
    return not _lacking(scheme, document)


def _lacking(scheme: Scheme, document: Any) -> list[str]:
    """The paths at which an object that was read is not valid: what is required is absent there."""
    try:
        scheme.decode(scheme.encode(document))
    except DocumentError as error:
        return [each.place.path for each in error.findings]
    return []


def _tree(scheme: Scheme, value: Any) -> Any:
    return tree(scheme.encode(value))


def _view(scheme: Scheme, stored: Any, version: str) -> Any:
    return _tree(scheme, scheme.from_storage(stored, version))


def _context(scheme: Scheme, **values: Any) -> Context:
    """What a broken law shows of the objects that take part; made only where one is broken."""

    def lines() -> Iterator[str]:
        for name, value in values.items():
            yield f"  {name}: {spoken(_tree(scheme, value)) if value is not None else 'nothing'}"

    return lambda: "\n".join(lines())
