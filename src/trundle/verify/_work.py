"""A piece of work: some versions of one resource type to be proved, as plain data for any process."""

import functools
from collections.abc import Iterator, Mapping

import msgspec

from trundle.codegen import hooked_properties
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
        seed: determines the examples.
        examples: how many there are for each version.
        covering: whether the covering documents are tried, too, which are the same for every seed.
        mentioned: what rules and hooks mention, by the name of the type that they are for.
        renamed: newer property names by older ones.
    """

    part: Part
    versions: tuple[str, ...]
    seed: int
    examples: int
    covering: bool = True
    mentioned: Mapping[str, Mentioned] = {}
    renamed: Mapping[str, str] = {}


class Prover:
    """Proves pieces of work, one after the other; what is known of a resource type serves all pieces of it.

    Args:
        scheme: the scheme of the generated package.
    """

    def __init__(self, scheme: Scheme) -> None:
        self._scheme = scheme
        self._known: _Known | None = None

    def prove(self, work: Work) -> Iterator[Proof]:
        """The proof of each version of a piece of work, one after the other.

        Only the first counterexample of each law is made small; what breaks one version breaks most.
        """
        known = self._known
        if known is None or not known.serves(work):
            self.close()
            known = self._known = _Known(self._scheme, work)
        shrunk: set[str] = set()
        for version in work.versions:
            proof = prove(
                known.subject,
                version,
                seed=work.seed,
                examples=work.examples,
                covering=known.documents if work.covering else lambda _: (),
                rough=shrunk,
            )
            shrunk.update(each.law for each in proof.findings)
            yield proof

    def close(self) -> None:
        """Lets go of what is known of a resource type."""
        if self._known is not None:
            self._known.hops.forget()
            self._known = None


class _Known:
    """What all proofs of a resource type need: the subject, and the covering documents of its versions."""

    def __init__(self, scheme: Scheme, work: Work) -> None:
        part = work.part
        self._inputs = (part, work.mentioned, work.renamed)
        said = together(work.mentioned, texts_of_others(part))
        mention(scheme.package, said)
        self.hops = Hops(part)
        self.subject = Subject(
            scheme,
            part.resource,
            hooks=bool(part.hooks),
            written=hooked_properties(part.evolution()),
            renamed=work.renamed,
            way=self.hops.way,
            hop=self.hops.hop,
            world=world_of(part, scheme.resources[part.resource].hub),
            declared=part.hooks,
        )

        @functools.lru_cache(_KEPT)
        def documents(version: str) -> tuple[bytes, ...]:
            schema = part.versions[version]
            return tuple(covering(schema, schema.resources[0], said))

        self.documents = documents

    def serves(self, work: Work) -> bool:
        """Whether a piece of work is about the same."""
        return self._inputs == (work.part, work.mentioned, work.renamed)
