"""Drawn evolutions with rules of all kinds, and what clients of their versions write in turns.

Properties go through two to four versions: they move into nested objects, out of them and between them, are renamed, wrapped,
converted, may be null or free-form, come and go, and take other types without a rule. Nested objects may be required, null, or
missing. A client of any version writes any document, or a part of what it sees otherwise.

There is no model of what other versions see: what is asked holds whatever the rules are.

- A client reads what it wrote.
- Writing back what is read, by a client of any version, changes nothing that is stored.
- A value that the writer's version lacks stays as it was, where its name means nothing else and no object was made or removed.

With `TRUNDLE_TESTS=all EVOLUTIONS=1000-2000` the test tries others than the usual ones, and each with more sequences of writes.
"""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from evolving import evolve, forget, hooked, rules, thing

from trundle.evolution import ChangeError, HookDeclaration, TypeChanges
from trundle.runtime import ABSENT, Scheme

VERSIONS = ["2020-01-01", "2021-01-01", "2022-01-01", "2023-01-01"]
OBJECTS = ["o", "p", "o.s", "p.t"]
NAMES = ["a", "b", "c", "d"]
SCALARS = ["string", "integer", "boolean"]
TYPES = [
    *SCALARS, *("string", "integer", "string?", "integer?", "any", "E"),
    *("[string]", "[string?]", "{string}", "[Item]", "[Item;id]", "Item", "Item?"),
]  # fmt: skip
MEMBERS = ["string", "integer", "string?", "[string]", "any"]

Document = dict[str, Any]


class Place(NamedTuple):
    """Where a version has a value, and how."""

    path: str
    type: str


class Write(NamedTuple):
    """What a client writes."""

    version: str
    document: Document


def outer(path: str) -> str:
    return path.rpartition(".")[0]


def value_at(document: Document, path: str) -> Any:
    """What a document has at a path; absent where it has nothing."""
    found: Any = document
    for name in path.split("."):
        found = found.get(name, ABSENT) if isinstance(found, dict) else ABSENT
    return found


def _kind(value: Any) -> str:
    return "object" if isinstance(value, dict) else repr(value)


def _hook(one: str, other: str) -> type[Any]:
    """A hook that adds one to a number at a path, which a later version has at another."""

    def reading(path: str, target: str, added: int) -> Any:
        def assign(_self: Any, source: Any) -> dict[str, Any]:
            found = getattr(source, path.replace(".", "__"))
            return {target.replace(".", "__"): found + added if isinstance(found, int) else ABSENT}

        return assign

    methods = {"assign_to": reading(one, other, 1), "assign_from": reading(other, one, -1)}
    return type("Adding", (), methods)


class DrawnEvolution:
    """A drawn evolution, and what clients do with it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.versions = VERSIONS[: self.random.randint(2, 4)]
        self.objects = [self._draw_objects() for _ in self.versions]
        self.more: list[TypeChanges | HookDeclaration] = []
        self._rules: list[dict[str, dict[str, Any]]] = [{} for _ in self.versions]
        self._values: list[dict[str, str]] = [{} for _ in self.versions]
        self._lines: list[list[Place | None]] = []
        for _ in range(self.random.randint(1, 4)):
            self._draw_values()
        self.definitions = {
            version: self._types(number) for number, version in enumerate(self.versions)
        }
        for number, said in enumerate(self._rules):
            if said:
                self.more.append(rules(self.versions[number], **said))
        self.hub = self.random.choice(self.versions)

    def scheme(self) -> Scheme:
        """The package.

        Raises:
            ChangeError: the drawn rules do not go together.
        """
        return evolve(self.definitions, *self.more, hub=self.hub)

    def described(self) -> str:
        """The evolution, as a test would have it."""
        return "\n".join(
            [
                *(f"{version}: {each}" for version, each in self.definitions.items()),
                *(f"rules({each.version}, {self._said(each)})" for each in self.more
                  if isinstance(each, TypeChanges)),
                *(f"hook {each.reference.older} {each.assign}" for each in self.more
                  if isinstance(each, HookDeclaration)),
                f"hub {self.hub}",
            ]
        )  # fmt: skip

    def _said(self, changes: TypeChanges) -> str:
        kinds = ("rename", "move", "wrap", "unwrap", "convert", "values")
        said = {kind: getattr(changes, kind) for kind in kinds}
        return ", ".join(f"{kind}={each}" for kind, each in said.items() if each)

    def _draw_objects(self) -> dict[str, str]:
        """The nested objects of a version, each with `?` where it may be null, or `!` where it is required."""
        found: dict[str, str] = {}
        for each in OBJECTS:
            if (not outer(each) or outer(each) in found) and self.random.random() < 0.55:
                found[each] = self.random.choice(["", "", "", "", "?", "!"])
        return found

    def _draw_values(self) -> None:
        """Draws where all versions have a value, and the rules that say so."""
        before: Place | None = None
        line: list[Place | None] = []
        self._lines.append(line)
        for number in range(len(self.versions)):
            place = self._draw_first(number) if before is None else self._draw_next(number, before)
            if place is not None and not self._is_free(number, place.path):
                place = None
            if place is not None:
                self._values[number][place.path] = place.type
                if before is not None:
                    self._rule(number - 1, before, place)
            line.append(place)
            before = place

    def _is_free(self, number: int, path: str) -> bool:
        taken = path in self._values[number] or path in self.objects[number]
        return not taken and (not outer(path) or outer(path) in self.objects[number])

    def _path(self, number: int) -> str:
        holder = self.random.choice(["", *self.objects[number]])
        return f"{holder}.{self.random.choice(NAMES)}".lstrip(".")

    def _draw_first(self, number: int) -> Place | None:
        chance = self.random.random()
        return Place(self._path(number), self.random.choice(TYPES)) if chance < 0.7 else None

    def _draw_next(self, number: int, before: Place) -> Place | None:
        chance = self.random.random()
        if chance < 0.12:
            return None
        path = before.path if self.random.random() < 0.5 else self._path(number)
        if chance < 0.65:
            return Place(path, before.type)
        bare = before.type.rstrip("?")
        if chance < 0.8 and bare in ("string", "integer"):
            return Place(path, "integer" if bare == "string" else "string")
        if chance < 0.9 and bare in ("string", "integer", "Item"):
            return Place(path, f"[{before.type}]")
        if chance < 0.9 and bare.startswith("["):
            return Place(path, bare[1:-1].partition(";")[0])
        if chance < 0.95:
            other = bare if bare != before.type or bare == "any" else f"{bare}?"
            return Place(path, other)
        return Place(before.path, self.random.choice(TYPES))

    def _rule(self, older: int, before: Place, after: Place) -> None:
        """Says how a value changes from a version to the next, where the schemas alone do not say it."""
        one, other = before.path, after.path
        bare, later = before.type.rstrip("?"), after.type.rstrip("?")
        said = self._rules[older]
        hooks = [each for each in self.more if isinstance(each, HookDeclaration)]
        if bare == later == "integer" and one != other and not hooks:
            versions, ways = self.versions[older : older + 2], ((one,), (other,))
            self.more.append(hooked(*versions, _hook(one, other), to=ways, back=ways[::-1]))
            return
        if later.startswith(f"[{bare}"):
            said.setdefault("wrap", {})[one] = other
        elif bare.startswith(f"[{later}"):
            said.setdefault("unwrap", {})[one] = other
        elif one != other:
            said.setdefault("move", {})[one] = other
        if {bare, later} == {"string", "integer"} and self.random.random() < 0.7:
            said.setdefault("convert", {})[one] = f"{bare}-to-{later}"

    def _types(self, number: int) -> dict[str, Any]:
        def type_of(path: str) -> str:
            return path.replace(".", "").upper() if path else "Thing"

        objects, values = self.objects[number], self._values[number]
        found: dict[str, Any] = {type_of(each): {} for each in ("", *objects)}
        for path, mark in objects.items():
            name = path.rpartition(".")[2] + ("!" if mark == "!" else "")
            found[type_of(outer(path))][name] = type_of(path) + mark.rstrip("!")
        for path, type_ in values.items():
            required = "!" if self.random.random() < 0.08 else ""
            found[type_of(outer(path))][path.rpartition(".")[2] + required] = type_
        used = " ".join(values.values())
        if "E" in used:
            found["E"] = self.random.choice([["x", "y"], ["x", "z"]])
        if "Item" in used:
            members = self.random.sample(["m", "n", "w"], self.random.randint(1, 2))
            found["Item"] = {"id!": "string"}
            found["Item"] |= {each: self.random.choice(MEMBERS) for each in members}
        return found

    def document(self, version: str) -> Document:
        """Any document of a version."""
        return self._object(version, "Thing")

    def _object(self, version: str, type_: str, chance: float = 0.6) -> Document:
        found: Document = {}
        for name, each in self.definitions[version][type_].items():
            if name.endswith("!") or self.random.random() < chance:
                found[name.rstrip("!")] = self._value(version, each)
        return found

    def _value(self, version: str, type_: str) -> Any:
        if type_.endswith("?"):
            return None if self.random.random() < 0.4 else self._value(version, type_[:-1])
        if type_.startswith("["):
            inner, _, keys = type_[1:-1].partition(";")
            items = [self._value(version, inner) for _ in range(self.random.randint(0, 2))]
            return items[:1] if keys and len({each["id"] for each in items}) < len(items) else items
        if type_.startswith("{"):
            names = self.random.sample(["k", "l"], self.random.randint(0, 2))
            return {name: self._value(version, type_[1:-1]) for name in names}
        plain: dict[str, list[Any]] = {
            "string": ["", "1", "x"],
            "integer": [0, 1, 2],
            "boolean": [False, True],
            "any": ["", 0, None, {}, {"a": "1"}, [], ["x"]],
        }
        if type_ == "Item":
            return {**self._object(version, type_), "id": self.random.choice(["i", "j"])}
        held = plain.get(type_, self.definitions[version][type_] if type_ == "E" else None)
        return self._object(version, type_) if held is None else self.random.choice(held)

    def edited(self, version: str, seen: Document) -> Document:
        """What a client makes of what it sees: it writes, empties and removes values and objects."""
        made = copy.deepcopy(seen)
        for _ in range(self.random.randint(1, 3)):
            self._edit(version, "Thing", made)
        return made

    def _edit(self, version: str, type_: str, held: Document) -> None:
        properties = self.definitions[version][type_]
        if not properties:
            return
        declared = self.random.choice([*properties])
        name, inner = declared.rstrip("!"), properties[declared]
        bare = inner.rstrip("?")
        is_object = bare in self.definitions[version] and bare != "E"
        chance = self.random.random()
        if is_object and isinstance(held.get(name), dict) and chance < 0.6:
            self._edit(version, bare, held[name])
        elif is_object and chance < 0.75:
            held[name] = self._object(version, bare, 0) | ({"id": "i"} if bare == "Item" else {})
        elif name == declared and chance < 0.9 and name in held:
            del held[name]
        else:
            held[name] = self._value(version, inner)

    def kept(self, write: Write, seen: Document) -> Iterator[tuple[str, str]]:
        """The values that a write leaves alone: the version that has each, and its path there.

        Args:
            write: the write.
            seen: what its client saw.
        """
        writer = self.versions.index(write.version)
        objects = [
            [_kind(value_at(each, path)) for path in self.objects[writer]]
            for each in (seen, write.document)
        ]
        if objects[0] != objects[1]:
            return
        taken = [
            *(path for each in self.objects for path in each),
            *(path for line in self._lines for path in {each.path for each in line if each}),
        ]
        for line in self._lines:
            paths = {each.path for each in line if each}
            if line[writer] is None and all(taken.count(path) == 1 for path in paths):
                pairs = zip(self.versions, line, strict=True)
                yield from ((version, each.path) for version, each in pairs if each)

    def writes(self, scheme: Scheme, count: int) -> Iterator[tuple[Any, Write]]:
        """What clients write over one stored object: each write, and what is stored before it."""
        stored: Any = None
        for _ in range(count):
            version = self.random.choice(self.versions)
            if stored is None or self.random.random() < 0.4:
                document = self.document(version)
            else:
                document = self.edited(version, plain(scheme.read(version, stored)))
            write = Write(version, document)
            yield stored, write
            stored = put(scheme, write, stored)


def plain(document: Document) -> Document:
    """A document without what says its version."""
    return {name: each for name, each in document.items() if name not in ("apiVersion", "kind")}


def put(scheme: Scheme, write: Write, stored: Any) -> Any:
    """What a store keeps after a write."""
    return scheme.put(write.version, thing(write.version, **write.document), stored)


def _is_written(value: Any) -> bool:
    """Whether clients may have written a value: what is required may be shown or not, as empty. No client writes an empty id."""
    shown = value is ABSENT or not value or (isinstance(value, dict) and value.get("id") == "")
    return not shown


def _compact(document: Document) -> bytes:
    """A document in the spelling that a store keeps; a digest is of the text of free-form data."""
    return json.dumps(document, separators=(",", ":")).encode()


class BadWriteError(AssertionError):
    """A write after which a version does not see what it should."""


def hold(drawn: DrawnEvolution, scheme: Scheme, write: Write, stored: Any) -> None:
    """Holds a write to what has to be so after it.

    Raises:
        BadWriteError: it is not so.
    """
    written = put(scheme, write, stored)
    found = plain(scheme.read(write.version, written))
    if found != write.document:
        raise BadWriteError(f"{write} over {stored}\n is stored as {written}\n and read as {found}")
    base = None if stored is None else _compact(stored)
    by_json = scheme.put(write.version, _compact(thing(write.version, **write.document)), base)
    if json.loads(by_json) != written:
        raise BadWriteError(
            f"{write} over {stored}\n is stored as {written},\n and as JSON {by_json!r}"
        )
    if stored is not None:
        for version, path in drawn.kept(write, plain(scheme.read(write.version, stored))):
            had, has = (value_at(scheme.read(version, each), path) for each in (stored, written))
            if _is_written(had) and has != had:
                raise BadWriteError(
                    f"{write} over {stored}\n is stored as {written}\n {version} had {path} {had}"
                )
    for version in scheme.resources["Thing"].versions:
        again = scheme.put(version, scheme.read(version, written), written)
        if again != written:
            raise BadWriteError(f"{version} writes back what it reads of {written}\n: {again}")


def try_evolution(seed: int, sequences: int) -> Iterator[str]:
    """What is wrong after the writes of some sequences by a drawn evolution; nothing where its rules do not go together."""
    drawn = DrawnEvolution(seed)
    try:
        scheme = drawn.scheme()
    except ChangeError:
        return
    try:
        for number in range(sequences):
            drawn.random.seed(f"{seed} {number}")
            for stored, write in drawn.writes(scheme, 4):
                try:
                    hold(drawn, scheme, write, stored)
                except BadWriteError as error:
                    yield f"seed {seed}, sequence {number}\n{drawn.described()}\n{error}"
                    break
    finally:
        forget(scheme)
