"""Drawn schemas in which values move between objects, and a model of plain data.

Each value has a path in some versions, and may be written otherwise in the later ones. Clients write documents and parts of
them: they remove objects, write beside them in the same edit, and write objects that are empty. The model says that

- a client reads what it wrote, and what a client of another version wrote of a value that both know;
- a value that the writer does not know stays, unless the writer removes an object that holds it in all versions that have it;
  then it goes;
- writing back what is read changes nothing that is stored.
"""

import copy
import json
import random
from typing import Any, NamedTuple

from evolving import evolve, rules, thing

from trundle.evolution import NamedConversion
from trundle.runtime import Scheme

VERSIONS = ["2020-01-01", "2021-01-01", "2022-01-01"]
OBJECTS = ["o", "p", "q", "o.s", "o.t", "p.s", "p.u", "q.w", "o.s.z"]
SPELLINGS: dict[str, tuple[list[Any], list[Any]]] = {
    "text": (["x", "y", "z"], ["x", "y", "z"]),
    "enum": (["Gold", "Iron", "Tin"], ["au", "fe", "sn"]),
    "number": (["0", "1", "2"], [0, 1, 2]),
}
"""How a value is written in earlier versions, and in later ones."""

ELEMENTS = {"document": ["d"], "object": ["o"], "list": ["a", "b"], "map": ["a", "b"]}
"""Where the values are, and how many of that a document may have."""

Document = dict[str, Any]
Elements = dict[str, Document]
"""The objects with the values, by what they are called."""


def outer(path: str) -> str:
    return path.rpartition(".")[0]


def value_at(document: Document, path: str) -> Any:
    """What a document has at a path; None where it has nothing."""
    found: Any = document
    for name in filter(None, path.split(".")):
        if not isinstance(found, dict) or name not in found:
            return None
        found = found[name]
    return found


def put_at(document: Document, path: str, value: Any) -> None:
    value_at(document, outer(path))[path.rpartition(".")[2]] = value


class Line(NamedTuple):
    """A value through all versions.

    Attributes:
        name: its name.
        kind: how it is written.
        paths: where each version has it; empty where it has none.
        later: the first version that writes it as later versions do.
    """

    name: str
    kind: str
    paths: list[str]
    later: int

    def written(self, version: int, value: int) -> Any:
        return SPELLINGS[self.kind][version >= self.later][value]

    def read(self, version: int, document: Document) -> int | None:
        """Which of its values a document has."""
        found = value_at(document, self.paths[version])
        return None if found is None else SPELLINGS[self.kind][version >= self.later].index(found)

    def type(self, version: int) -> str:
        later = version >= self.later
        kinds = {"text": "string", "enum": self.name.upper()}
        return kinds.get(self.kind, "integer" if later else "string")


class Drawn:
    """A drawn evolution, and what clients do with it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.place = [*ELEMENTS][seed % len(ELEMENTS)]
        self.versions = range(self.random.choice([2, 2, 3]))
        self.objects = [self._draw_objects() for _ in self.versions]
        self.lines = [self._draw_line(f"l{each}") for each in range(self.random.randint(2, 6))]
        self.hub = self.random.choice([*self.versions, self.versions[-1]])

    def _draw_objects(self) -> list[str]:
        found: list[str] = []
        for each in OBJECTS:
            if (not outer(each) or outer(each) in found) and self.random.random() < 0.6:
                found.append(each)
        return found

    def _draw_line(self, name: str) -> Line:
        first = self.random.choice([0, 0, 0, *self.versions])
        last = self.random.choice([self.versions[-1]] * 3 + [*self.versions[first:]])
        paths: list[str] = []
        for version in self.versions:
            before = paths[-1] if paths else ""
            stays = outer(before) in ("", *self.objects[version]) and self.random.random() < 0.4
            if not first <= version <= last:
                paths.append("")
            elif before and stays:
                paths.append(before)
            else:
                holder = self.random.choice(["", *self.objects[version]])
                paths.append(f"{holder}.{name}".lstrip("."))
        later = self.random.choice(self.versions[1:])
        return Line(name, self.random.choice(["text", *SPELLINGS]), paths, later)

    def scheme(self, hub: int | None = None) -> Scheme:
        """The package; with a storage version, where it is not the drawn one."""
        definitions = {VERSIONS[each]: self._types(each) for each in self.versions}
        changes = [self._rules(each) for each in self.versions[:-1]]
        type_ = "Thing" if self.place == "document" else "Item"
        said = [rules(VERSIONS[at], type_, **each) for at, each in enumerate(changes) if each]
        return evolve(definitions, *said, hub=VERSIONS[self.hub if hub is None else hub])

    def _types(self, version: int) -> dict[str, Any]:
        def type_of(path: str) -> str:
            return path.replace(".", "").upper() if path else "Thing"

        found: dict[str, Any] = {type_of(each): {} for each in ("", *self.objects[version])}
        for each in self.objects[version]:
            found[type_of(outer(each))][each.rpartition(".")[2]] = type_of(each)
        for line in self.lines:
            if line.paths[version]:
                found[type_of(outer(line.paths[version]))][line.name] = line.type(version)
            if line.kind == "enum":
                found[line.name.upper()] = SPELLINGS["enum"][version >= line.later]
        if self.place != "document":
            found["Item"] = found["Thing"] | ({"id!": "string"} if self.place == "list" else {})
            held = {"object": "Item", "list": "[Item;id]", "map": "{Item}"}
            found["Thing"] = {"held": held[self.place]}
        return found

    def wrapped(self, elements: Elements) -> Document:
        """The document in which there are some elements."""
        match self.place:
            case "document":
                return elements["d"]
            case "object":
                return {"held": elements["o"]} if elements else {}
            case "list":
                return {"held": [{"id": name, **each} for name, each in elements.items()]}
            case _:
                return {"held": elements}

    def unwrapped(self, document: Document) -> Elements:
        match self.place:
            case "document":
                return {"d": document}
            case "object":
                return {"o": document["held"]} if document else {}
            case "list":
                held = [{**each} for each in document.get("held", [])]
                return {each.pop("id"): each for each in held}
            case _:
                return {**document.get("held", {})}

    def elements(self, version: int, seen: Elements | None) -> Elements:
        """What a client makes of what it sees; a first write sees nothing."""
        found: Elements = {}
        for name in ELEMENTS[self.place]:
            chance = 0 if self.place == "document" else self.random.random()
            if seen is not None and name in seen:
                if chance < 0.85:
                    changes = self.random.random() < 0.8
                    found[name] = self.edited(version, seen[name]) if changes else seen[name]
            elif chance < (0.8 if seen is None else 0.4):
                found[name] = self.document(version)
        return found

    def _rules(self, older: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for line in self.lines:
            one, other = line.paths[older : older + 2]
            if not one or not other:
                continue
            if one != other:
                found.setdefault("move", {})[one] = other
            if line.later == older + 1 and line.kind == "enum":
                found.setdefault("values", {})[one] = dict(zip(*SPELLINGS["enum"], strict=True))
            if line.later == older + 1 and line.kind == "number":
                conversion = NamedConversion(name="string-to-integer")
                found.setdefault("convert", {})[one] = conversion
        return found

    def document(self, version: int) -> Document:
        made: Document = {}
        for each in self.objects[version]:
            if value_at(made, outer(each)) is not None and self.random.random() < 0.6:
                put_at(made, each, {})
        for line in self.lines:
            if self._fits(made, line.paths[version]) and self.random.random() < 0.7:
                put_at(made, line.paths[version], self._value(line, version))
        return made

    def edited(self, version: int, seen: Document) -> Document:
        """What a client makes of what it sees: it writes and removes values and objects."""
        made = copy.deepcopy(seen)
        for _ in range(self.random.randint(1, 3)):
            line = self.random.choice(self.lines)
            path = self.random.choice([*self.objects[version], line.paths[version]])
            choice = self.random.random()
            if choice < 0.1:
                return self.document(version)
            if not self._fits(made, path):
                continue
            if path != line.paths[version] and value_at(made, path) is None:
                put_at(made, path, {})
            elif path != line.paths[version] or choice < 0.4:
                value_at(made, outer(path)).pop(path.rpartition(".")[2], None)
            else:
                put_at(made, path, self._value(line, version))
        return made

    def _fits(self, document: Document, path: str) -> bool:
        return bool(path) and value_at(document, outer(path)) is not None

    def _value(self, line: Line, version: int) -> Any:
        return line.written(version, self.random.randrange(3))

    def expect(
        self, writer: int, wrote: Elements, before: list[Elements], after: list[Elements]
    ) -> None:
        """Holds what all versions read after a write to what it changes."""
        assert after[writer] == wrote
        for version in self.versions:
            assert after[version].keys() == wrote.keys()
        for name, document in wrote.items():
            known = bool(before) and name in before[writer]
            had = [each[name] for each in before] if known else []
            self._expect_element(writer, document, had, [each[name] for each in after])

    def _expect_element(
        self, writer: int, wrote: Document, before: list[Document], after: list[Document]
    ) -> None:
        for line in self.lines:
            goes = bool(before) and self._goes(line, writer, before[writer], wrote)
            for version in self.versions:
                if not line.paths[version]:
                    continue
                shown = line.read(version, after[version])
                between = line.paths[min(writer, version) : max(writer, version) + 1]
                if all(between):
                    assert shown == line.read(writer, wrote), line
                elif goes or not before:
                    assert shown is None, line
                else:
                    assert shown == line.read(version, before[version]), line

    def _goes(self, line: Line, writer: int, seen: Document, wrote: Document) -> bool:
        """Whether a client removes an object that holds a value in all versions that have it."""
        removed = [
            f"{each}."
            for each in self.objects[writer]
            if value_at(seen, each) is not None and value_at(wrote, each) is None
        ]
        paths = [path for path in line.paths if path]
        return any(all(path.startswith(each) for path in paths) for each in removed)


def put(scheme: Scheme, version: int, document: Document, stored: Any, *, as_json: bool) -> Any:
    """What a store keeps, written by one of the two ways."""
    named = thing(VERSIONS[version], **document)
    if not as_json:
        return scheme.put(VERSIONS[version], named, stored)
    base = None if stored is None else json.dumps(stored).encode()
    return json.loads(scheme.put(VERSIONS[version], json.dumps(named).encode(), base))


def read(scheme: Scheme, version: int, stored: Any) -> Document:
    found: Document = scheme.read(VERSIONS[version], stored)
    return {name: each for name, each in found.items() if name not in ("apiVersion", "kind")}
