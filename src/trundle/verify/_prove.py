"""Proves one version of a resource type: the examples it is held to, and what they find."""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec
from hypothesis import strategies as st

from trundle.verify._broken import LawBroken, spoken, tree
from trundle.verify._case import (
    CONVERTS,
    LAWS,
    Case,
    Json,
    Subject,
    Write,
    failed,
    fitting,
    hold,
    readable,
)
from trundle.verify._client_edits import APART, ClientEdits, Covering
from trundle.verify._edits import edits
from trundle.verify._seeded import each_example
from trundle.verify._shrink import shrink
from trundle.verify._stored import documents, earlier_objects
from trundle.verify._tree_edits import named_apart

_WRITES = 3
_COVERED = (
    *("identity", "law 2", "law 7", "law 8", "hop by hop"),
    *("law 1 of edits", "laws 3 and 5", "laws 4 and 8 of edits", "storage versions"),
)
_THOROUGH, _EVERY = 64, 8
"""So many covering documents are held to all of these laws, then each of so many; all are to the first two."""
_SHOWN = ("law 7", "law 8")
_OF_EDITS = ("laws 3 and 5", "laws 4 and 8 of edits")
_FEW = 4
"""Among so many versions, what each of them shows of a covering document is held to the oracle."""
_CLOSE = 16
"""So many covering documents are edited by each of few versions."""
_REPLACED = 3
"""Of so many covering documents, the next version replaces one; it edits the lists of the others."""


class Counterexample(msgspec.Struct, frozen=True, kw_only=True):
    """Values for which a law does not hold, made small.

    Attributes:
        law: which law, in words.
        resource: the resource type.
        version: the version that was held to the law.
        versions: all versions that take part in the difference.
        path: JSON path of the first difference.
        expected: the value that the law asks for, as JSON text.
        found: the value that is there instead, as JSON text.
        context: the objects that take part, as JSON, a line each.
        case: what the clients do.
        seed: determines the examples.
    """

    law: str
    resource: str
    version: str
    versions: tuple[str, ...]
    path: str
    expected: str
    found: str
    context: str
    case: Case
    seed: int

    def to_plain(self) -> dict[str, Any]:
        """The counterexample as plain values, for programs."""
        data: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return data


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """What was tried for one version of a resource type.

    Attributes:
        resource: the resource type.
        version: the version.
        seed: determines the examples.
        examples: how many examples were drawn.
        covering: how many documents came before them so that every value that matters comes up.
        held: how often each law held, by its short name.
        findings: counterexamples, at most one for each law.
    """

    resource: str
    version: str
    seed: int
    examples: int
    covering: int
    held: Mapping[str, int]
    findings: tuple[Counterexample, ...]


def prove(
    subject: Subject,
    version: str,
    *,
    seed: int,
    examples: int,
    covering: Covering = lambda _: (),
    rough: AbstractSet[str] = frozenset(),
    brief: bool = False,
) -> Proof:
    """Holds one version of a resource type to every law.

    Args:
        subject: the resource type, and what is needed to prove it.
        version: the version that writes and reads.
        seed: the same seed gives the same examples, in any process.
        examples: how many examples are drawn.
        covering: the documents of each version that are tried first.
        rough: laws whose counterexamples need not be made small.
        brief: whether no more is tried once a document has a finding.

    Returns:
        What was tried and found; nothing is raised, whatever fails is a finding.
    """
    return _Proving(subject, version, seed, covering, rough).prove(examples, brief=brief)


class _Proving:
    def __init__(
        self,
        subject: Subject,
        version: str,
        seed: int,
        covering: Covering,
        rough: AbstractSet[str],
    ) -> None:
        self.subject = subject
        self.version = version
        self.seed = seed
        self.covering = covering
        self.rough = rough
        self.edits = ClientEdits(subject, covering)
        self.versions = list(subject.scheme.resources[subject.resource].versions)
        self.held = dict.fromkeys(LAWS, 0)
        self.broken: dict[str, tuple[str, Case, LawBroken]] = {}

    def prove(self, examples: int, *, brief: bool) -> Proof:
        covered = 0
        for covered, data in enumerate(self.covering(self.version), start=1):
            self.cover(covered, Json(data))
            if brief and self.broken:
                examples = 0
                break
        source = f"{self.seed} {self.subject.resource} {self.version}"
        if examples:
            each_example(source, examples, self.example)
        return Proof(
            resource=self.subject.resource,
            version=self.version,
            seed=self.seed,
            examples=examples,
            covering=covered,
            held={name: count for name, count in self.held.items() if count},
            findings=tuple(self.findings()),
        )

    def cover(self, number: int, document: Json) -> None:
        other = self.near(number)
        names = _COVERED if number <= _THOROUGH or number % _EVERY == 0 else _COVERED[:4]
        self.hold(Case(version=self.version, document=document, target=other), names)
        few = len(self.versions) <= _FEW
        for further in self.versions if few else [self.versions[number % len(self.versions)]]:
            if further not in {self.version, other}:
                again = Case(version=self.version, document=document, target=further)
                self.hold(again, _SHOWN)
        apart = Json(spoken(named_apart(tree(bytes(document)))).encode())
        writes = (Write(self.version, apart),)
        edited = self.edited(writes, other, number) if names is _COVERED else None
        self.hold(Case(version=other, writes=writes, edited=edited), names)
        if names is _COVERED:
            editors = self.versions if few and number <= _CLOSE else [other]
            for editor in editors:
                read = self.edits.read(writes, editor)
                theirs = self.covering(editor)
                replaced = Json(theirs[APART * number % len(theirs)]) if theirs else None
                for changed in (
                    self.edits.mixed(read, number),
                    self.edits.emptied(read),
                    self.edits.without_one_scalar(read, number),
                    self.edits.without_one_object(read, number),
                    replaced,
                ):
                    self.hold(Case(version=editor, writes=writes, edited=changed), _OF_EDITS)
            self.write_again(writes[0], number)

    def write_again(self, first: Write, number: int) -> None:
        """Holds laws to what this version writes over a neighbour's writes and edits, and another version over both."""
        other = self.neighbour(number)
        ours, theirs = self.covering(self.version), self.covering(other)
        document = Json(ours[number % len(ours)])
        between = [Write(other, Json(theirs[number % len(theirs)]))]
        read = self.edits.read((first,), other)
        for changed in (self.edits.emptied(read), self.edits.with_other_scalars(read, number)):
            between += [] if changed is None else [Write(other, changed)]
        for each in between:
            for writes in ((each,), (first, each)):
                case = Case(version=self.version, writes=writes, document=document)
                self.hold(case, ("law 1", "origins"))
            read = self.edits.read((first, each), self.version)
            again = self.edits.with_other_scalars(read, number)
            case = Case(version=self.version, writes=(first, each), edited=again)
            self.hold(case, ("laws 3 and 5", "origins of edits"))
            gone = Case(version=self.version, writes=(first, each), edited=self.edits.emptied(read))
            self.hold(gone, ("laws 3 and 5",))
        third = self.versions[number % len(self.versions)]
        documents = self.covering(third)
        last = Json(documents[(APART * number + 1) % len(documents)])
        self.hold(Case(version=third, writes=(first, between[-1]), document=last), ("origins",))

    def edited(self, writes: tuple[Write, ...], other: str, number: int) -> Json | None:
        """What another version makes of a stored document: its lists edited, or all of it replaced."""
        if number % _REPLACED == 0:
            documents = self.covering(other)
            return Json(documents[number % len(documents)]) if documents else None
        first = number - number // _REPLACED  # the next way for each document that is not replaced
        return self.edits.with_other_lists(self.edits.read(writes, other), first)

    def neighbour(self, number: int) -> str:
        """The version before or after this one, as there are; itself where there is no other."""
        own = self.versions.index(self.version)
        near = [each for each in (own - 1, own + 1) if 0 <= each < len(self.versions)] or [own]
        return self.versions[near[number % len(near)]]

    def near(self, number: int) -> str:
        """One of the versions close by, another one for each number."""
        own = self.versions.index(self.version)
        apart = 1 + number // 2 % 3
        place = own + (apart if number % 2 else -apart)
        return self.versions[max(0, min(place, len(self.versions) - 1))]

    def example(self, data: st.DataObject) -> None:
        drawing = _Drawing(self.subject, self.version, data)
        try:
            drawing.draw()
        except Exception as error:
            if _by_hypothesis(error):
                raise
            case = drawing.case()
            self.broken.setdefault(CONVERTS, (CONVERTS, case, failed(self.subject, case, error)))
            return
        self.hold(drawing.case(), LAWS)

    def hold(self, case: Case, names: Iterable[str]) -> None:
        for name in names:
            own = None if name in self.broken else fitting(LAWS[name], case)
            if own is None:
                continue
            broken = hold(self.subject, name, own)
            if broken is None:
                self.held[name] += 1
            else:
                self.broken[name] = (name, own, broken)

    def findings(self) -> Iterator[Counterexample]:
        seen: set[tuple[str, str]] = set()
        for name, case, found in self.broken.values():
            small, broken = self.smallest(name, case, found)
            if (broken.law, broken.path) in seen:
                continue
            seen.add((broken.law, broken.path))
            yield Counterexample(
                law=broken.law,
                resource=self.subject.resource,
                version=self.version,
                versions=broken.versions,
                path=broken.path,
                expected=spoken(broken.expected),
                found=spoken(broken.found),
                context=str(broken).partition("found: ")[2].partition("\n")[2],
                case=small,
                seed=self.seed,
            )

    def smallest(self, name: str, case: Case, found: LawBroken) -> tuple[Case, LawBroken]:
        if name not in LAWS or found.law in self.rough:
            return case, found
        last = found
        valid = readable(self.subject, case)

        def fails(smaller: Case) -> bool:
            nonlocal last
            if valid and not readable(self.subject, smaller):
                return False
            broken = hold(self.subject, name, smaller)
            if broken is None or broken.law != found.law:
                return False
            last = broken
            return True

        return shrink(case, fails), last


def _by_hypothesis(error: Exception) -> bool:
    return type(error).__module__.partition(".")[0] == "hypothesis"


class _Drawing:
    """Draws what clients do, and keeps it as JSON even where a conversion fails midway."""

    def __init__(self, subject: Subject, version: str, data: st.DataObject) -> None:
        self.scheme = subject.scheme
        self.resource = subject.resource
        self.version = version
        self.draw_from = data.draw
        self.writes: list[Write] = []
        self.parts: dict[str, Any] = {}

    def case(self) -> Case:
        return Case(version=self.version, writes=tuple(self.writes), **self.parts)

    def json(self, value: Any) -> Json:
        return Json(self.scheme.encode(value))

    def draw(self) -> None:
        draw, scheme = self.draw_from, self.scheme
        versions = list(scheme.resources[self.resource].versions)
        stored = None
        for _ in range(draw(st.integers(1, _WRITES))):
            version = draw(st.sampled_from(versions))
            if stored is None or draw(st.booleans()):
                document = draw(documents(scheme, self.resource, version))
            else:
                document = draw(edits(scheme.from_storage(stored, version)))
            self.writes.append(Write(version, self.json(document)))
            stored = scheme.to_storage(document, stored)
        document = draw(documents(scheme, self.resource, self.version))
        self.parts["document"] = self.json(document)
        self.parts["touched"] = self.json(draw(edits(document, scalars=True)))
        if self.version in scheme.resources[self.resource].storage:
            self.parts["earlier"] = self.json(
                draw(earlier_objects(scheme, self.resource, self.version))
            )
        if len(versions) > 1:
            others = [each for each in versions if each != self.version]
            self.parts["target"] = draw(st.sampled_from(others))
        seen = scheme.from_storage(stored, self.version)
        self.parts["edited"] = self.json(draw(edits(seen)))
