"""The laws of conversion, held to a whole scheme with generated values."""

import json
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from trundle import verify
from trundle.runtime import Scheme

NOTHING: Mapping[str, str] = {}


def prove(
    scheme: Scheme,
    resource: str,
    *,
    examples: int = 25,
    hooks: bool = False,
    renamed: Mapping[str, str] = NOTHING,
) -> None:
    """Holds a resource type to all laws: stored objects that any versions wrote, documents and edits.

    Args:
        scheme: the scheme of a generated package.
        resource: the name of a resource type.
        examples: how many objects are tried.
        hooks: whether hooks may tell properties from edited ones.
        renamed: newer property names by older ones.
    """
    found = scheme.resources[resource]
    versions = list(found.versions)
    earlier = [version for version in found.storage if version != found.hub]

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
        verify.law3(scheme, stored, edited, hooks=hooks, renamed=renamed)
        verify.law5(scheme, stored, edited, hooks=hooks, renamed=renamed)
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
    renamed: Mapping[str, str] = NOTHING,
) -> None:
    """What the earlier of two releases stored, the later reads as before, and writes under all laws.

    Args:
        old: the scheme of the earlier release.
        new: the scheme of the later release, which has all versions of the earlier.
        resource: the name of a resource type.
        examples: how many objects are tried.
        hooks: whether hooks may tell properties from edited ones.
        renamed: newer property names by older ones.
    """

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
        verify.law3(new, found, edited, hooks=hooks, renamed=renamed)
        verify.law5(new, found, edited, hooks=hooks, renamed=renamed)

    holds()
