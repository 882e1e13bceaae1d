"""Sequences of writes of several versions, held to plain data: what was written last of each value, and of the object that holds it.

Rules lead into an object `o`, which some versions admit to be null. The model knows the names in the object and beside it, and no rules.
"""

import itertools
import json
import random
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pytest
from amounts import amount
from cases import V1, V2, V3, Case
from evolving import Store, evolve, thing
from moving_cases import MOVES
from test_nulls_over_three_versions import BETWEEN, EACH_ITS_OWN

SEQUENCES: dict[str, Case] = {
    **{name: case for name, case in MOVES.items() if "null" in name},
    "several into one object that both know more of": MOVES[
        "several into one object that both know more of"
    ],
    "each its own": Case(EACH_ITS_OWN, BETWEEN),
}
# A null that moves into the stored object shows the version that does not admit it an empty object, of which no model knows.
HUBS = [
    (name, hub)
    for name, case in SEQUENCES.items()
    for hub in case.versions
    if (name, hub) != ("nullable", V2)
]
Write = tuple[str, dict[str, Any]]
Names = Mapping[str, bool]
"""Properties, each with whether it may be null."""


class Version(NamedTuple):
    """What a version has: beside the object, in it if there is one, and whether the object may be null."""

    beside: Names
    within: Names | None
    nullable: bool

    @classmethod
    def of(cls, definitions: Mapping[str, Any]) -> "Version":
        thing = definitions["Thing"]
        beside = {name: each.endswith("?") for name, each in thing.items() if name != "o"}
        if "o" not in thing:
            return cls(beside, None, nullable=False)
        within = {name: each.endswith("?") for name, each in definitions["O"].items()}
        return cls(beside, within, nullable=thing["o"].endswith("?"))

    def documents(self) -> Iterator[dict[str, Any]]:
        """All documents with the values 1 and 2, and null where that may be."""
        objects: list[dict[str, Any]] = [{}]
        if self.within is not None:
            objects += [{"o": each} for each in _every(self.within)]
        if self.nullable:
            objects.append({"o": None})
        for beside, held in itertools.product(_every(self.beside), objects):
            yield {**beside, **held}


def _every(names: Names) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [{}]
    for name, nullable in names.items():
        values = ("1", "2", None) if nullable else ("1", "2")
        found += [{**each, name: value} for each in found for value in values]
    return found


class Model:
    """What clients have written.

    Args:
        versions: what each version has.
        hub: the version that is stored.

    Attributes:
        values: the value of each property, wherever a version has it.
        there: by version what it shows of the object where that has nothing of its own in it: absent, `{}` or null.
    """

    def __init__(self, versions: Mapping[str, Version], hub: str) -> None:
        self.versions = versions
        self.hub = versions[hub]
        self.values: dict[str, str | None] = {}
        self.there: dict[str, dict[str, Any]] = {version: {} for version in versions}

    def shown(self, version: str) -> dict[str, Any]:
        own = self.versions[version]
        beside = self._of(own.beside)
        if own.within is None:
            return beside
        if inner := self._of(own.within):
            return {**beside, "o": inner}
        if any(name not in own.beside and self._is_in_object(name) for name in self.values):
            return {**beside, "o": {}}
        there = self.there[version]
        return {**beside, **({} if there == {"o": None} and not own.nullable else there)}

    def _of(self, names: Names) -> dict[str, Any]:
        return {name: self.values[name] for name in names if self._is_shown(names, name)}

    def _is_shown(self, names: Names, name: str) -> bool:
        """Null is shown where it may be."""
        return (
            name in names and name in self.values and (names[name] or self.values[name] is not None)
        )

    def _is_in_object(self, name: str) -> bool:
        """Whether a version has a value in the object; of nulls that is so where the stored object has what another version has beside it."""
        if self.values[name] is not None:
            return any(name in (each.within or {}) for each in self.versions.values())
        moved = any(name in each.beside for each in self.versions.values())
        return moved and name in (self.hub.within or {})

    def write(self, version: str, document: dict[str, Any]) -> None:
        own, seen = self.versions[version], self.shown(version)
        if own.within is not None:
            for each, other in self.versions.items():
                before, after = (_said(one, other) for one in (seen, document))
                if before != after:
                    self.there[each] = {} if isinstance(after, str) else after
        inner = document.get("o") or {}
        for names, part in ((own.beside, document), (own.within or {}, inner)):
            for name in names:
                if name in part:
                    self.values[name] = part[name]
                elif self._is_shown(names, name):
                    del self.values[name]
        if seen.get("o") is not None and document.get("o") is None:
            beside = {name for each in self.versions.values() for name in each.beside}
            stored = self.hub.within or {}
            for name in [*self.values]:
                hidden = name in stored and self.values[name] is None and name in (own.within or {})
                if name not in own.beside and (name not in beside or hidden):
                    del self.values[name]
        self._forget()

    def _forget(self) -> None:
        """Forgets what the stored object was while it has something from elsewhere in it, where no other one says it.

        That is with the versions that have other things in the object.
        """
        others = [
            each
            for each in self.versions.values()
            if each.within is not None and self.hub.within is not None
            if each.within.keys() != self.hub.within.keys()
            or (each.nullable and not self.hub.nullable)
        ]
        for version, own in self.versions.items():
            there, held = self.there[version], own.within
            if held is None or self.hub.within is None or held.keys() != self.hub.within.keys():
                continue
            said = others if there == {"o": {}} else [each for each in others if each.nullable]
            if not said and self._of(held):
                self.there[version] = {}


def _said(document: Mapping[str, Any], other: Version) -> Any:
    """What a document says to a version of the object: absent, `{}`, null, that it has something, or only what is elsewhere.

    A null that the version does not admit is nothing.
    """
    if not document.get("o"):
        return {"o": document["o"]} if "o" in document else {}
    inner = {name: each for name, each in document["o"].items() if name not in other.beside}
    if not inner:
        return "elsewhere"
    within = other.within or {}
    seen = (each is not None or within.get(name) for name, each in inner.items())
    return "more" if any(seen) else {"o": {}}


class _Tried(NamedTuple):
    scheme: Any
    versions: Mapping[str, Version]
    hub: str

    def writes(self) -> list[Write]:
        return [(name, each) for name, own in self.versions.items() for each in own.documents()]

    def hold(self, sequence: tuple[Write, ...]) -> None:
        """Holds what every version sees after each write to the model."""
        store, model = Store(self.scheme), Model(self.versions, self.hub)
        for number, (version, document) in enumerate(sequence):
            base = None if store.stored is None else json.dumps(store.stored).encode()
            written = json.dumps(thing(version, **document)).encode()
            store.put(version, **document)
            assert json.loads(self.scheme.convert_json(written, base=base)) == store.stored
            model.write(version, document)
            seen = {each: store.read(each) for each in self.versions}
            assert seen == {each: model.shown(each) for each in self.versions}, sequence[
                : number + 1
            ]


@pytest.fixture
def tried(forgetting: Any, name: str, hub: str) -> _Tried:
    case = SEQUENCES[name]
    scheme = forgetting(evolve(case.versions, *case.more, hub=hub))
    versions = {version: Version.of(each) for version, each in case.versions.items()}
    return _Tried(scheme, versions, hub)


FOUND: list[tuple[str, str, tuple[Write, ...]]] = [
    ("each its own", V3, ((V2, {"x": "1", "z": "1", "o": None}), (V1, {"o": {"x": "1"}}))),
    (
        "each its own",
        V3,
        ((V2, {"z": "1", "o": {}}), (V3, {"y": "1", "o": {}}), (V3, {"o": {"z": "1"}})),
    ),
    (
        "each its own",
        V2,
        (
            (V3, {"x": "1", "o": {}}),
            (V1, {"y": "1", "o": {"x": "1"}}),
            (V2, {"o": {"y": "1"}}),
        ),
    ),
    (
        "each its own",
        V2,
        ((V1, {"y": "1", "o": {}}), (V2, {}), (V1, {"y": "1", "o": {"x": "1"}})),
    ),
    (
        "nullable",
        V2,
        ((V2, {"o": {"b": None}}), (V1, {"a": None}), (V2, {"o": {"a": "1", "b": "1"}})),
    ),
    ("nullable", V2, ((V1, {"a": None, "o": {}}), (V2, {"o": {"a": "1"}}))),
    (
        "null is new with the object",
        V1,
        ((V2, {"o": None}), (V1, {"a": "1", "o": {"b": "1"}}), (V1, {})),
    ),
    (
        "null is new in an object that is new",
        V1,
        ((V3, {"o": None}), (V2, {"o": {"a": "1"}}), (V1, {})),
    ),
]
"""Sequences after which a version once saw something else, each with the version that was stored."""


@pytest.mark.parametrize(("name", "hub", "sequence"), FOUND)
def test_sequences_that_came_to_something_else(tried: _Tried, sequence: tuple[Write, ...]) -> None:
    tried.hold(sequence)


@pytest.mark.parametrize(("name", "hub"), HUBS)
def test_four_writes_come_to_what_plain_data_comes_to(tried: _Tried) -> None:
    draw, writes = random.Random(0), tried.writes()
    for _ in range(amount(300)):
        tried.hold(tuple(draw.choices(writes, k=4)))


@pytest.mark.full
@pytest.mark.parametrize(("name", "hub"), [each for each in HUBS if each[0] != "each its own"])
def test_three_writes_come_to_what_plain_data_comes_to(tried: _Tried) -> None:
    """All sequences take minutes for each case, so there are some; four writes are drawn apart from these."""
    sequences = [*itertools.product(tried.writes(), repeat=3)]
    for sequence in random.Random(1).sample(sequences, min(4000, len(sequences))):
        tried.hold(sequence)
