"""A small world for contracts and expressions: types with ancestors and versions, objects with owners."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trundle.engine import EngineCode, EngineError
from trundle.engine._scene import ObjectValue, TypeValue
from trundle.engine.expressions import freeze
from trundle.version import SemVer, VersionRange


class Type(TypeValue):
    def __init__(self, name, version="1.0.0", parents=()):
        self._name, self.version, self.parents = name, SemVer.parse(version), tuple(parents)

    @property
    def name(self):
        return self._name

    def __str__(self):
        return f"{self._name}/{self.version}"

    def line(self):
        yield self
        for each in self.parents:
            yield from each.line()


class Thing(ObjectValue):
    def __init__(self, type_, identifier, owner=None, **properties):
        self._type, self._id, self._owner = type_, identifier, owner
        self.properties = {name: freeze(value) for name, value in properties.items()}

    id = property(lambda self: self._id)
    type = property(lambda self: self._type)
    owner = property(lambda self: self._owner)

    def read(self, name, scene):
        if name not in self.properties:
            raise EngineError(EngineCode.NO_PROPERTY, f"{self._type.name} has no property {name}")
        return self.properties[name]


@dataclass(frozen=True)
class Home:
    package: str = "app"
    version: SemVer = field(default_factory=lambda: SemVer(1, 0, 0))
    class_name: str = "a.App"


@dataclass
class World:
    """A scene; requirements are ranges by class name."""

    this: Any = None
    types: Mapping[str, Type] = field(default_factory=dict)
    objects: dict[str, Thing] = field(default_factory=dict)
    requirements: Mapping[str, str] = field(default_factory=dict)
    functions: Mapping[str, Any] = field(default_factory=dict)
    origin: Home = Home()
    loaded: list = field(default_factory=list)
    world: Any = None

    def method(self, receiver, name):
        return None

    def extension(self, name):
        return ""

    def builtin(self, name):
        raise EngineError(EngineCode.UNKNOWN_FUNCTION, f"there is no function {name}")

    def resolve(self, name):
        found = self.types.get(name.rpartition(":")[2])
        if found is None:
            raise EngineError(EngineCode.NO_CLASS, f"there is no class {name}")
        return found

    def is_instance(self, value, type_, spec=None):
        wanted = VersionRange.parse(spec or self.requirements.get(type_.name, "*"))
        return any(
            each.name == type_.name and wanted.contains(each.version) for each in value.type.line()
        )

    def mismatch(self, value, type_, spec=None):
        if all(each.name != type_.name for each in value.type.line()):
            return ()
        return (f"app/1.0.0 requires {type_.name} {self.requirements.get(type_.name)}",)

    def load(self, model, default, spec):
        type_ = self.resolve(model["?"]["type"]) if "?" in model else default
        made = Thing(
            type_, f"o{len(self.loaded)}", self.this, **{k: v for k, v in model.items() if k != "?"}
        )
        self.loaded.append(made)
        if "bad" in model:
            message = f"[{type_.name}.bad] expected an integer"
            raise EngineError(EngineCode.CONTRACT, message, class_name=type_.name)
        return made

    def find(self, identifier):
        return self.objects.get(identifier)

    def template(self, value, default, excluded, *, is_made=False):
        if isinstance(value, Thing):
            trial = value
        else:
            type_ = self.resolve(value["?"]["type"]) if "?" in value else default
            properties = {k: v for k, v in value.items() if k != "?" and k not in excluded}
            trial = Thing(type_, "trial", None, **properties)
        kept = {k: v for k, v in trial.properties.items() if k not in excluded}
        return trial, freeze({"?": {"type": trial.type}, **kept})
