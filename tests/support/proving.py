"""The laws of conversion, held to a whole scheme with generated values."""

import json
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

from amounts import amount
from hypothesis import given
from hypothesis import strategies as st

from trundle import verify
from trundle.evolution import Evolution
from trundle.runtime import Scheme
from trundle.verify._parts import part_of, world_of
from trundle.verify.oracle import leads_to

Apart: TypeAlias = Callable[[str, str, tuple[str | int, ...]], bool]
NOTHING: Mapping[str, str] = {}


def none_apart(*_: object) -> bool:
    """No two properties of one name have nothing else in common."""
    return False


def apart_in(made: Evolution) -> Apart:
    """Whether what stands at a path of one version has nothing but its name from another: by version, version and path."""
    (resource,) = made.resources
    world = world_of(part_of(made, resource), resource.versions.hub.text)
    return lambda *each: not leads_to(world, *each)


def prove(
    scheme: Scheme,
    resource: str,
    *,
    examples: int = 25,
    hooks: bool = False,
    hooked: Collection[str] = (),
    renamed: Mapping[str, str] = NOTHING,
    apart: Apart = none_apart,
) -> None:
    """Holds a resource type to all laws: stored objects that any versions wrote, documents and edits.

    Args:
        scheme: the scheme of a generated package.
        resource: the name of a resource type.
        examples: how many objects are tried.
        hooks: whether hooks may derive properties from edited ones.
        hooked: the properties that hooks write.
        renamed: newer property names by older ones.
        apart: says where two versions have but a name in common, see `apart_in`.
    """
    found = scheme.resources[resource]
    versions = list(found.versions)
    earlier = [version for version in found.storage if version != found.hub]
    examples = min(examples, amount(examples))

    @verify.some_examples(examples)
    @given(data=st.data())
    def holds(data: st.DataObject) -> None:
        stored = data.draw(verify.stored_objects(scheme, resource))
        version = data.draw(st.sampled_from(versions))
        document = data.draw(verify.documents(scheme, resource, version))
        verify.law_identity(scheme, document)
        verify.law1(scheme, stored, document)
        verify.law2(scheme, stored, version)
        verify.law6(scheme, stored, document)
        verify.law_agreement(scheme, stored, document)
        edited = data.draw(verify.edits(scheme.from_storage(stored, version)))
        verify.law1(scheme, stored, edited)
        verify.law_of_edits(
            scheme, stored, edited, hooks=hooks, hooked=hooked, renamed=renamed, apart=apart
        )
        if not hooks:
            changed = data.draw(verify.edits(document, scalars=True))
            verify.law4(scheme, stored, document, changed)
        if earlier:
            before = data.draw(st.sampled_from(earlier))
            verify.law_upgrade(scheme, data.draw(verify.earlier_objects(scheme, resource, before)))

    holds()


def prove_release(
    old: Scheme,
    new: Scheme,
    resource: str,
    *,
    examples: int = 30,
    hooks: bool = False,
    hooked: Collection[str] = (),
    renamed: Mapping[str, str] = NOTHING,
    apart: Apart = none_apart,
) -> None:
    """What the earlier of two releases stored, the later reads as before, and writes under all laws.

    Args:
        old: the scheme of the earlier release.
        new: the scheme of the later release, which has all versions of the earlier.
        resource: the name of a resource type.
        examples: how many objects are tried.
        hooks: whether hooks may derive properties from edited ones.
        hooked: the properties that hooks write.
        renamed: newer property names by older ones.
        apart: says where two versions have but a name in common, see `apart_in`.
    """
    examples = min(examples, amount(examples))

    @verify.some_examples(examples)
    @given(data=st.data())
    def holds(data: st.DataObject) -> None:
        stored = data.draw(verify.stored_objects(old, resource))
        document = old.encode(stored)
        for version in old.resources[resource].versions:
            before = old.encode(old.from_storage(stored, version))
            assert json.loads(new.convert_json(document, version)) == json.loads(before)
        found = new.decode(document)
        verify.law2(new, found)
        version = data.draw(st.sampled_from(list(new.resources[resource].versions)))
        edited = data.draw(verify.edits(new.from_storage(found, version)))
        verify.law1(new, found, edited)
        verify.law_of_edits(
            new, found, edited, hooks=hooks, hooked=hooked, renamed=renamed, apart=apart
        )

    holds()


class Through:
    """A release whose writes go through another one, as if both wrote to one store.

    Objects are those of the release that reads.

    Args:
        reader: the scheme that reads, decodes and encodes.
        write: what a store keeps once a document was written, over what it keeps now: all as JSON.
    """

    def __init__(self, reader: Scheme, write: Callable[[bytes, bytes | None], bytes]) -> None:
        self._reader = reader
        self._write = write

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def to_storage(self, value: Any, base: Any = None) -> Any:
        """What is stored once a document was written, read again."""
        under = None if base is None else self._reader.encode(base)
        return self._reader.decode(self._write(self._reader.encode(value), under))


def prove_side_by_side(
    old: Scheme,
    new: Scheme,
    resource: str,
    *,
    examples: int = 30,
    hooks: bool = False,
    hooked: Collection[str] = (),
    renamed: Mapping[str, str] = NOTHING,
    apart: Apart = none_apart,
) -> None:
    """Two releases write one object in turns: each reads what the other wrote, and nothing is lost.

    Args:
        old: the scheme of the earlier release.
        new: the scheme of the later release, which has all versions of the earlier and stores its hub's shape.
        resource: the name of a resource type.
        examples: how many objects are tried.
        hooks: whether hooks may derive properties from edited ones.
        hooked: the properties that hooks write.
        renamed: newer property names by older ones.
        apart: says where two versions have but a name in common, see `apart_in`.
    """
    known = list(old.resources[resource].versions)
    hub = old.resources[resource].hub

    def by_old(document: bytes, base: bytes | None) -> bytes:
        writer = old if json.loads(document)["apiVersion"] in known else new
        return writer.encode(writer.to_storage(document, base))

    mixed: Any = Through(new, by_old)
    examples = min(examples, amount(examples))

    @verify.some_examples(examples)
    @given(data=st.data())
    def holds(data: st.DataObject) -> None:
        stored = data.draw(verify.stored_objects(new, resource))
        assert stored.api_version == hub
        for version in known:
            _same_view(old, new, new.encode(stored), version)
        version = data.draw(st.sampled_from(known))
        verify.law2(old, old.decode(new.encode(stored)), version)
        edited = data.draw(verify.edits(new.from_storage(stored, version)))
        verify.law1(mixed, stored, edited)
        verify.law_of_edits(
            mixed, stored, edited, hooks=hooks, hooked=hooked, renamed=renamed, apart=apart
        )
        written = mixed.to_storage(edited, stored)
        later = data.draw(st.sampled_from(list(new.resources[resource].versions)))
        again = data.draw(verify.edits(new.from_storage(written, later)))
        verify.law1(new, written, again)
        verify.law_of_edits(
            new, written, again, hooks=hooks, hooked=hooked, renamed=renamed, apart=apart
        )
        for each in known:
            _same_view(old, new, new.encode(new.to_storage(again, written)), each)

    holds()


def _same_view(one: Scheme, other: Scheme, stored: bytes, version: str) -> None:
    """Both releases show the same of a stored object to clients of a version that both know."""
    views = [json.loads(each.encode(each.from_storage(stored, version))) for each in (one, other)]
    assert _without_zeros(views[0], views[1]) == views[1], (version, stored)


def _without_zeros(view: Any, later: Any) -> Any:
    """A view of an earlier release, with the zero values that a later one shows for what is required.

    What every version of a release requires in a type that never changed is passed on as it is, so that there it
    may be absent when a later release wrote the object through a version that does not require it.
    """
    if isinstance(view, dict) and isinstance(later, dict):
        zeros = {name: each for name, each in later.items() if name not in view and not each}
        return {name: _without_zeros(each, later.get(name)) for name, each in view.items()} | zeros
    if isinstance(view, list) and isinstance(later, list) and len(view) == len(later):
        return [_without_zeros(each, other) for each, other in zip(view, later, strict=True)]
    return view
