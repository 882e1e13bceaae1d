"""Clients of all versions write over one stored object, and see what a model of plain data says.

Servers of several releases share the store: each write may leave the object in the shape of another version.

The model keeps, for each object, the values of all properties by what they are in every version, and beside them those
that no version knows. A client replaces what its version can show, and nothing else.
"""

import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pytest
from amounts import amount, some_of
from evolving import evolution, forget, hooked, load, rules, thing
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trundle.runtime import Lenience, Scheme

VERSIONS = V1, V2, V3 = "2020-01-01", "2021-01-01", "2022-01-01"
Model = dict[str, Any]


class Line(NamedTuple):
    """A property through all versions.

    Attributes:
        type: `string`, `integer`, the name of a type, `[T;id]` or `{T}`.
        names: what each version calls it; empty where it has none.
        required: the versions that require it.
        coded: whether the first version writes numbers where the others write texts, between which hooks convert.
    """

    type: str
    names: tuple[str, str, str]
    required: tuple[str, ...] = ()
    coded: bool = False

    def name(self, version: str) -> str:
        return self.names[VERSIONS.index(version)]


def everywhere(name: str, type_: str = "string", **more: Any) -> Line:
    return Line(type_, (name, name, name), **more)


TYPES: dict[str, dict[str, Line]] = {
    "Thing": {
        "a": everywhere("a"),
        "b": Line("string", ("b", "bb", "bb")),
        "c": Line("string", ("c", "", "")),
        "d": Line("integer", ("", "d", "")),
        "e": Line("integer", ("e", "e", "")),
        "f": Line("string", ("f", "", "f")),
        "g": Line("[Item;id]", ("", "g", "g")),
        "j": Line("integer", ("j", "", "jj"), required=(V1,)),
        "k": everywhere("k", required=(V2, V3)),
        "o": everywhere("o", "Inner"),
        "l": everywhere("l", "[Item;id]"),
        "m": everywhere("m", "{Inner}"),
        "q": Line("Inner", ("q", "", "q")),
        "r": Line("[Item;id]", ("r", "rr", "rrr")),
        "s": Line("{Inner}", ("s", "", "s")),
    },
    "Inner": {
        "x": everywhere("x"),
        "y": Line("string", ("y", "", "")),
        "z": Line("integer", ("", "z", "z")),
        "u": Line("string", ("", "u", "")),
        "n": Line("string", ("n", "nn", "nn")),
        "t": everywhere("t", "integer", required=(V2,)),
    },
    "Item": {
        "id": everywhere("id", required=VERSIONS),
        "x": Line("integer", ("x", "x", "")),
        "w": Line("string", ("", "", "w")),
        "v": Line("string", ("v", "", "v")),
        "h": Line("string", ("", "h", "h"), required=(V2,)),
        "o": everywhere("o", "Inner", required=(V3,)),
    },
}
ZERO = {"string": "", "integer": 0}
NOTHING: Model = {"own": {}, "unknown": {}}
RENAMES = [
    rules(V1, rename={"b": "bb", "r": "rr", "j": "jj"}),
    rules(V2, rename={"rr": "rrr"}),
    rules(V1, "Inner", rename={"n": "nn"}),
]
CODE = Line("string", ("code", "label", "label"), coded=True)


class Labels:
    def assign_to(self, source: Any) -> dict[str, Any]:
        return {"label": f"n{source.code}"}

    def assign_from(self, source: Any) -> dict[str, Any]:
        return {"code": int(source.label[1:])}


def written_type(line: Line, version: str) -> str:
    return "integer" if line.coded and version == V1 else line.type


def declared(types: Mapping[str, Mapping[str, Line]], type_: str, version: str) -> dict[str, Any]:
    """The properties of a type in one version, by name: what they are in the model, and the line."""
    lines = types[type_].items()
    return {line.name(version): (own, line) for own, line in lines if line.name(version)}


class World:
    """A scheme, and the model that says what it does."""

    def __init__(self, *, hub: str, unknown: str, hooks: bool) -> None:
        self.types: dict[str, dict[str, Line]] = {name: {**each} for name, each in TYPES.items()}
        more = []
        if hooks:
            del (
                self.types["Thing"]["q"],
                self.types["Thing"]["s"],
            )  # hooks are of the first two versions
            for name in self.types:
                self.types[name]["code"] = CODE
                ways = {"to": (("code",), ("label",)), "back": (("label",), ("code",))}
                more.append(hooked(V1, V2, Labels, name, **ways))
        self.unknown = unknown == "keep"
        definitions = {
            version: {
                type_: {
                    f"{name}{'!' if version in line.required else ''}": written_type(line, version)
                    for name, (_, line) in declared(self.types, type_, version).items()
                }
                for type_ in self.types
            }
            for version in VERSIONS
        }
        made = evolution(definitions, *RENAMES, *more, hub=hub, kept=VERSIONS)
        self.scheme = load(made, unknown=unknown)
        self.schemes = [self.scheme, *(self.scheme.storing({"Thing": each}) for each in VERSIONS)]

    def documents(
        self, version: str, type_: str = "Thing", *, partial: bool = False
    ) -> st.SearchStrategy[Any]:
        required: dict[str, Any] = {}
        optional: dict[str, Any] = {}
        names = declared(self.types, type_, version)
        for name, (_, line) in names.items():
            needed = version in line.required and not (partial and name != "id")
            (required if needed else optional)[name] = self.values(line, version, partial=partial)
        if self.unknown:
            others = {each for line in self.types[type_].values() for each in line.names if each}
            for name in sorted((others | {"zzz", "$unknown"}) - set(names)):
                optional[name] = st.sampled_from(["odd", 7, {"odd": [1]}])
        return st.fixed_dictionaries(required, optional=optional).flatmap(self._fewer(required))

    @staticmethod
    def _fewer(required: Mapping[str, Any]) -> Any:
        def fewer(value: dict[str, Any]) -> st.SearchStrategy[Any]:
            names = sorted(set(value) - set(required))
            if not names:
                return st.just(value)
            kept = st.sets(st.sampled_from(names), max_size=4)
            return kept.map(
                lambda some: {k: v for k, v in value.items() if k not in names or k in some}
            )

        return fewer

    def values(self, line: Line, version: str, *, partial: bool) -> st.SearchStrategy[Any]:
        match written_type(line, version):
            case "string" if line.coded:
                return st.sampled_from(["n0", "n1", "n2"])
            case "string":
                return st.sampled_from(["", "p", "q"])
            case "integer":
                return st.integers(0, 2)
            case "Inner":
                return self.documents(version, "Inner", partial=partial)
            case "{Inner}":
                return st.dictionaries(
                    st.sampled_from(["", "p", "x", "nn"]),
                    self.documents(version, "Inner", partial=partial),
                    max_size=2,
                )
            case "[Item;id]":
                ids = st.lists(st.sampled_from(["", "p", "q", "1"]), max_size=3, unique=True)
                return ids.flatmap(
                    lambda found: st.tuples(
                        *(
                            self.documents(version, "Item", partial=partial).map(
                                lambda each, id_=id_: {**each, "id": id_}
                            )
                            for id_ in found
                        )
                    ).map(list)
                )
            case other:
                raise AssertionError(other)

    def show(self, version: str, model: Model, type_: str = "Thing") -> dict[str, Any]:
        """What a version sees of an object of the model."""
        names = declared(self.types, type_, version)
        found = {}
        for name, (own, line) in names.items():
            if own in model["own"]:
                found[name] = self._show(line, version, model["own"][own])
            elif version in line.required:
                found[name] = self._nothing(line, version)
        return {**found, **{k: v for k, v in model["unknown"].items() if k not in names}}

    def _nothing(self, line: Line, version: str) -> Any:
        """What a required property shows where no client has written it."""
        return ZERO[line.type] if line.type in ZERO else self.show(version, NOTHING, line.type)

    def _show(self, line: Line, version: str, value: Any) -> Any:
        if line.coded:
            return int(value[1:]) if version == V1 else value
        match value:
            case {"own": _}:
                return self.show(version, value, line.type.strip("{}"))
            case dict():
                return {key: self.show(version, each, "Inner") for key, each in value.items()}
            case list():
                return [self.show(version, each, "Item") for each in value]
            case _:
                return value

    def write(self, version: str, model: Model | None, seen: Any, type_: str = "Thing") -> Model:
        """An object of the model, with what a client of a version writes over it."""
        shown = {} if model is None else self.show(version, model, type_)
        model = model or NOTHING
        names = declared(self.types, type_, version)
        visible = {own for own, _ in names.values()}
        own = {key: each for key, each in model["own"].items() if key not in visible}
        unknown = {key: each for key, each in model["unknown"].items() if key in names}
        for name, value in seen.items():
            if name in names:
                key, line = names[name]
                if key not in model["own"] and name in shown and shown[name] == value:
                    continue  # it writes back what it was shown
                own[key] = self._write(line, version, model["own"].get(key), value)
            else:
                unknown[name] = value
        return {"own": own, "unknown": unknown}

    def _write(self, line: Line, version: str, model: Any, value: Any) -> Any:
        if line.coded:
            return f"n{value}" if version == V1 else value
        match line.type:
            case "Inner":
                return self.write(version, model, value, "Inner")
            case "{Inner}":
                kept = model or {}
                return {
                    key: self.write(version, kept.get(key), each, "Inner")
                    for key, each in value.items()
                }
            case "[Item;id]":
                kept = {each["own"]["id"]: each for each in model or []}
                return [self.write(version, kept.get(each["id"]), each, "Item") for each in value]
            case _:
                return value


@pytest.fixture(
    scope="module",
    params=some_of(
        (
            {"hub": hub, "unknown": unknown, "hooks": number % 2 == 1}
            for number, (unknown, hub) in enumerate(itertools.product(("error", "keep"), VERSIONS))
        ),
        5,
    ),
    ids=lambda said: " ".join(map(str, said.values())),
)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    made = World(**request.param)
    yield made
    forget(made.scheme)


def put(
    scheme: Scheme, version: str, document: Any, stored: Any, *, as_json: bool, **options: Any
) -> Any:
    """What a store keeps, written by one of the two ways."""
    if not as_json:
        return scheme.put(version, document, stored, **options)
    data, base = (json.dumps(each).encode() for each in (document, stored))
    return json.loads(scheme.put(version, data, None if stored is None else base, **options))


@settings(max_examples=amount(30), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_client_sees_what_the_model_says(world: World, data: st.DataObject) -> None:
    lenient = Lenience(missing=True, unknown="keep" if world.unknown else "error")
    stored, model = None, None
    for _ in range(data.draw(st.integers(1, 4))):
        version = data.draw(st.sampled_from(VERSIONS))
        scheme = data.draw(st.sampled_from(world.schemes))
        partial = data.draw(st.booleans())
        document = data.draw(world.documents(version, partial=partial))
        if model is not None:  # a client takes a part of a document into what it sees
            seen = world.show(version, model)
            names = data.draw(st.sets(st.sampled_from(sorted({*seen, *document, "a"})), max_size=3))
            kept = {name: each for name, each in seen.items() if name not in names}
            document = {**kept, **{name: document[name] for name in names if name in document}}
        model = world.write(version, model, document)
        options = {"lenience": lenient} if partial else {}
        as_json = data.draw(st.booleans())
        stored = put(
            scheme, version, thing(version, **document), stored, as_json=as_json, **options
        )
        for each in VERSIONS:
            seen = world.scheme.read(each, stored)
            assert seen == thing(each, **world.show(each, model))
            assert put(scheme, each, seen, stored, as_json=data.draw(st.booleans())) == stored
