"""A case: what clients write, one after the other, and what a law then asks; all of it as JSON."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from trundle.errors import TrundleError
from trundle.evolution import HookDeclaration
from trundle.runtime import DocumentError, PlacedError, Scheme, reason_of
from trundle.verify import _edit_laws as edit_laws
from trundle.verify import _kept_laws as kept_laws
from trundle.verify import _laws as laws
from trundle.verify import _oracle_laws as oracle_laws
from trundle.verify._broken import LawBroken
from trundle.verify._hop_laws import law_hops
from trundle.verify._origin_law import law_of_origins
from trundle.verify._parts import enum_texts_of
from trundle.verify._stored import read_document, read_edited
from trundle.verify.oracle import World, leads_to, stays

Json = msgspec.Raw
CONVERTS = "every valid document converts"
"""What is broken where a conversion fails, whatever law was to be looked at."""


class Write(msgspec.Struct, frozen=True):
    """A client's write: the version and its whole document."""

    version: str
    document: Json


class Case(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What clients do to one object of a resource type, version by version.

    Attributes:
        version: the version that the laws are held to.
        writes: the writes that make the stored object, the first one over nothing.
        document: a document that is written over it.
        edited: an edited copy of what the version reads.
        touched: a copy of the document in which only scalars have changed.
        earlier: a document that an earlier release stored in its own shape.
        target: another version, for the laws that lead from one to another.
    """

    version: str
    writes: tuple[Write, ...] = ()
    document: Json | None = None
    edited: Json | None = None
    touched: Json | None = None
    earlier: Json | None = None
    target: str | None = None


Hop = Callable[[bytes, str, str], bytes]
"""Converts a document from one version to a neighbour by these two versions alone."""


class Subject(NamedTuple):
    """What is proved.

    Attributes:
        scheme: the scheme of the generated package.
        resource: the resource type.
        hooks: whether hooks have a part in it.
        written: the names of the properties that hooks write.
        renamed: newer property names by older ones, as far as they were configured.
        way: the versions on the way between two, both included, neighbour by neighbour.
        hop: converts between neighbours, as a reference; None where there is none.
        world: what an oracle knows of schemas and rules; None where there is none.
        declared: the hooks.
    """

    scheme: Scheme
    resource: str
    hooks: bool = False
    written: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = {}
    way: Callable[[str, str], list[str]] | None = None
    hop: Hop | None = None
    world: World | None = None
    declared: tuple[HookDeclaration, ...] = ()

    def hooked(self, one: str, other: str) -> Iterator[HookDeclaration]:
        """The hooks of whole documents between two neighbours."""
        for each in self.declared:
            ends = {each.reference.older.text, each.reference.newer.text}
            if self.world is not None and ends == {one, other}:
                root = self.world.root(each.reference.older.text)
                if self.world.object(root).name == each.reference.type:
                    yield each


class Made(NamedTuple):
    """The objects of a case, read from its JSON."""

    stored: Any
    document: Any
    edited: Any
    touched: Any
    earlier: Any


def make(subject: Subject, case: Case) -> Made:
    """The objects of a case."""
    scheme = subject.scheme
    kept = states(subject, case)
    stored = kept[-1] if kept else None

    def valid(data: Json | None) -> Any:
        return None if data is None else scheme.decode(bytes(data))

    edited = None
    if case.edited is not None:
        edited = read_edited(scheme, case.version, bytes(case.edited), stored)
    return Made(stored, valid(case.document), edited, valid(case.touched), valid(case.earlier))


def states(subject: Subject, case: Case) -> list[Any]:
    """The storage objects after each of the writes of a case."""
    found: list[Any] = []
    for each in case.writes:
        document = read_document(subject.scheme, bytes(each.document))
        found.append(subject.scheme.to_storage(document, found[-1] if found else None))
    return found


class Law(NamedTuple):
    """A law as it is held to a case.

    Attributes:
        needs: the parts of a case that it looks at.
        check: raises `LawBroken`.
    """

    needs: frozenset[str]
    check: Callable[[Subject, Case, Made], None]


def _law(*needs: str) -> Callable[[Callable[[Subject, Case, Made], None]], Law]:
    return lambda check: Law(frozenset(needs), check)


@_law("document")
def _identity(subject: Subject, case: Case, made: Made) -> None:
    laws.law_identity(subject.scheme, made.document)
    laws.law_same_version(subject.scheme, made.document, case.version)


@_law("writes", "document")
def _law1(subject: Subject, _: Case, made: Made) -> None:
    laws.law1(subject.scheme, made.stored, made.document)


@_law("writes", "edited")
def _law1_of_edits(subject: Subject, _: Case, made: Made) -> None:
    laws.law1(subject.scheme, made.stored, made.edited)


@_law("writes")
def _law2(subject: Subject, case: Case, made: Made) -> None:
    laws.law2(subject.scheme, made.stored, case.version)


@_law("writes", "edited")
def _edits(subject: Subject, _: Case, made: Made) -> None:
    world = subject.world
    edit_laws.law_of_edits(
        subject.scheme,
        made.stored,
        made.edited,
        hooks=subject.hooks,
        hooked=subject.written,
        renamed=subject.renamed,
        apart=lambda *each: world is not None and not leads_to(world, *each),
        stays=lambda *each: None if world is None else stays(world, *each),
    )


@_law("writes", "document", "touched")
def _law4(subject: Subject, _: Case, made: Made) -> None:
    if not subject.hooks:  # what a hook makes of an edit need not lead back
        laws.law4(subject.scheme, made.stored, made.document, made.touched)


@_law("writes", "document")
def _origins(subject: Subject, case: Case, made: Made) -> None:
    if not subject.hooks:  # what a hook makes of old and new values may be new
        law_of_origins(subject.scheme, states(subject, case), made.document)


@_law("writes", "edited")
def _origins_of_edits(subject: Subject, case: Case, made: Made) -> None:
    if not subject.hooks:
        law_of_origins(subject.scheme, states(subject, case), made.edited)


@_law("writes", "document")
def _law6(subject: Subject, _: Case, made: Made) -> None:
    laws.law6(subject.scheme, made.stored, made.document)


@_law("writes", "document")
def _agreement(subject: Subject, _: Case, made: Made) -> None:
    laws.law_agreement(subject.scheme, made.stored, made.document)


@_law("earlier")
def _upgrade(subject: Subject, case: Case, made: Made) -> None:
    world = subject.world
    enums = None if world is None else enum_texts_of(world.schemas[case.version])
    laws.law_upgrade(subject.scheme, made.earlier, enums)


@_law("document", "target")
def _hops(subject: Subject, case: Case, made: Made) -> None:
    if subject.way is None or subject.hop is None or case.target is None:
        return
    way = subject.way(case.version, case.target)
    written = frozenset[str]()
    if subject.world is not None:
        written = subject.world.written_beyond(case.version, case.target)
    law_hops(subject.scheme, made.document, way, subject.hop, written)


@_law("document", "target")
def _law7(subject: Subject, case: Case, made: Made) -> None:
    if subject.world is not None and case.target is not None and not subject.hooks:
        oracle_laws.law7(subject.scheme, subject.world, made.document, case.target)


@_law("document", "target")
def _law8(subject: Subject, case: Case, made: Made) -> None:
    if subject.world is not None and case.target is not None:
        oracle_laws.law8(subject.scheme, subject.world, made.document, case.target)
        for hook in subject.hooked(case.version, case.target):
            oracle_laws.law_of_hooks(
                subject.scheme, subject.world, hook, made.document, case.target
            )


@_law("writes", "edited")
def _law8_of_edits(subject: Subject, case: Case, made: Made) -> None:
    if subject.world is not None:
        once = make(subject, Case(version=case.version, writes=case.writes[-1:])).stored
        oracle_laws.law8_of_edits(subject.scheme, subject.world, once, made.edited)


@_law("writes", "edited")
def _shapes(subject: Subject, case: Case, made: Made) -> None:
    first = case.writes[-1]
    data = bytes(first.document)
    document = read_document(subject.scheme, data)
    stored = subject.scheme.to_storage(document)
    kept_laws.law_of_shapes(subject.scheme, document, made.edited, stored)


LAWS: Mapping[str, Law] = {
    "identity": _identity,
    "law 1": _law1,
    "law 1 of edits": _law1_of_edits,
    "law 2": _law2,
    "laws 3 and 5": _edits,
    "law 4": _law4,
    "origins": _origins,
    "origins of edits": _origins_of_edits,
    "law 6": _law6,
    "law 7": _law7,
    "law 8": _law8,
    "laws 4 and 8 of edits": _law8_of_edits,
    "agreement": _agreement,
    "storage versions": _shapes,
    "upgrade": _upgrade,
    "hop by hop": _hops,
}
"""Everything that a case is held to, by a short name."""


def fitting(law: Law, case: Case) -> Case | None:
    """A case with just what a law looks at; None where it lacks some of that."""
    if any(not getattr(case, need) for need in law.needs):
        return None
    kept = {"version", *law.needs}
    parts = {name: getattr(case, name) for name in case.__struct_fields__ if name in kept}
    return Case(**parts)


def hold(subject: Subject, name: str, case: Case) -> LawBroken | None:
    """How a case breaks a law; None where it does not."""
    try:
        LAWS[name].check(subject, case, make(subject, case))
    except LawBroken as broken:
        return broken
    except Exception as error:  # noqa: BLE001 - whatever fails is a finding
        return failed(subject, case, error)
    return None


def readable(subject: Subject, case: Case) -> bool:
    """Whether all documents of a case are such as clients may write."""
    try:
        make(subject, case)
    except DocumentError:
        return False
    except Exception:  # noqa: BLE001 - a conversion fails, which is a finding
        return True
    return True


def failed(subject: Subject, case: Case, error: Exception) -> LawBroken:
    """A conversion that fails, as a broken law."""
    versions = dict.fromkeys((case.version, *(each.version for each in case.writes)))
    found = error.findings if isinstance(error, TrundleError) else ()
    kind = reason_of(found[0]) if found else type(error).__name__
    return LawBroken(
        f"{CONVERTS} ({kind})",
        subject.resource,
        tuple(versions),
        path=(isinstance(error, PlacedError) and error.path) or "$",
        expected="a document",
        found=f"{type(error).__name__}: {error}",
    )
