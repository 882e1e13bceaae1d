"""A piece of work: some versions of one resource type to be proved, as plain data for any process."""

import functools
from collections.abc import Iterator, Mapping

import msgspec

from trundle.runtime import Scheme
from trundle.verify._case import Subject
from trundle.verify._cover import covering
from trundle.verify._hops import Hops
from trundle.verify._literals import Mentioned, together
from trundle.verify._parts import Part, texts_of_others, world_of
from trundle.verify._prove import Proof, prove
from trundle.verify._values import mention

_KEPT = 8
"""Covering documents of so many versions are kept: a version is tried with those close by."""


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """Some versions of a resource type to be proved.

    Attributes:
        part: the resource type with all that it reaches.
        versions: the versions to be proved.
        seed: tells the examples.
        examples: how many there are for each version.
        mentioned: what rules and hooks mention, by the name of the type that they speak of.
        renamed: newer property names by older ones.
    """

    part: Part
    versions: tuple[str, ...]
    seed: int
    examples: int
    mentioned: Mapping[str, Mentioned] = {}
    renamed: Mapping[str, str] = {}


def do(scheme: Scheme, work: Work) -> Iterator[Proof]:
    """The proof of each version, one after the other.

    Only the first counterexample of each law is made small; what breaks one version breaks most.

    Args:
        scheme: the scheme of the generated package.
        work: what is to be proved.
    """
    said = together(work.mentioned, texts_of_others(work.part))
    mention(scheme.package, said)
    hops = Hops(work.part)
    subject = Subject(
        scheme,
        work.part.resource,
        hooks=bool(work.part.hooks),
        renamed=work.renamed,
        way=hops.way,
        hop=hops.hop,
        world=world_of(work.part, scheme.resources[work.part.resource].hub),
        declared=work.part.hooks,
    )
    schemas = work.part.versions

    @functools.lru_cache(_KEPT)
    def documents(version: str) -> tuple[bytes, ...]:
        schema = schemas[version]
        return tuple(covering(schema, schema.resources[0], said))

    shrunk: set[str] = set()
    try:
        for version in work.versions:
            proof = prove(
                subject,
                version,
                seed=work.seed,
                examples=work.examples,
                covering=documents,
                rough=shrunk,
            )
            shrunk.update(each.law for each in proof.findings)
            yield proof
    finally:
        hops.forget()
