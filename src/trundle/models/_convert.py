"""Carries a whole model to other versions of packages: object by object, by the plans of their classes."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from trundle.engine import HEADER, EngineCode, EngineError, Header, Type, read_header
from trundle.errors import Finding, Place, Severity
from trundle.evolution import PlanKey, Shape
from trundle.models._errors import ModelCode, ModelError
from trundle.models._graph import (
    CONTENT,
    OWNED,
    UNKNOWN,
    Marking,
    changed_marks,
    id_of_place,
    unfit,
    without_marks,
)
from trundle.models._nested_bags import NESTED, gather_bags, spread_bags
from trundle.project.package_evolution import (
    PackageEvolution,
    PackageEvolutions,
)
from trundle.runtime import HookError, PlacedError, find_path
from trundle.version import ApiVersion

BAG = "_bag"
"""Where the header of an object has what the class of its version has no property for."""

_WHOLE = ("Objects", "ObjectsCopy")
_ENVELOPE = ("apiVersion", "classname")


class ConvertedModel(msgspec.Struct, frozen=True):
    """A model that was carried to other versions.

    Attributes:
        model: the model.
        findings: what stays as it is, and why.
    """

    model: dict[str, Any]
    findings: tuple[Finding, ...]


def convert_model(
    evolutions: PackageEvolutions, model: Mapping[str, Any], wanted: Mapping[str, ApiVersion]
) -> ConvertedModel:
    """Carries a model to other versions of packages.

    Objects of other packages stay as they are, but for what stands in them. What a version has no property for is in the bag of the object, under
    `?/_bag`, and comes back with a version that has it.

    Args:
        evolutions: the packages in all their versions.
        model: `{"Objects": ..., "Attributes": ..., "ObjectsCopy": ...}`, or one object.
        wanted: the version by package.

    Returns:
        The model, which shares nothing with the one that was given.

    Raises:
        ModelError: it cannot be converted; nothing of it is.
        EngineError: a class cannot be built.
        ChangeError: the rules of a release contradict each other.
        ConfigError: the rules of a release cannot be read.
    """
    work = _Conversion(evolutions, wanted)
    try:
        if HEADER in model:
            made = work.later(_Waiting(model, "", "$"))
        else:
            made = {
                name: work.later(_Waiting(each, "", f"$.{name}"))
                if name in _WHOLE and each
                else each
                for name, each in model.items()
            }
        work.run()
    except RecursionError:
        advice = "split the model"
        deep = Finding(ModelCode.DEPTH, Place(path="$"), "fewer levels", "too many", advice)
        raise ModelError([deep]) from None
    if work.errors:
        raise ModelError(work.errors)
    return ConvertedModel(msgspec.to_builtins(made), tuple(work.notes))


class _Waiting(NamedTuple):
    """An object that is still to be converted.

    Attributes:
        model: its map.
        default: the class that is meant where the map names none.
        path: where it stands.
        code: the class whose contract names that class.
    """

    model: Any
    default: str
    path: str
    code: Type | None = None


class _Conversion:
    def __init__(self, evolutions: PackageEvolutions, wanted: Mapping[str, ApiVersion]) -> None:
        self.evolutions = evolutions
        self.wanted = wanted
        self.errors: list[Finding] = []
        self.notes: list[Finding] = []
        self._types: dict[tuple[str, str | None, str | None], Type] = {}
        self._keys: dict[Type, tuple[PlanKey, str]] = {}
        self._left: list[tuple[dict[str, Any], _Waiting]] = []

    def later(self, waiting: _Waiting) -> dict[str, Any]:
        """The map of an object that is converted by `run`: no depth of a model is a depth of calls."""
        made: dict[str, Any] = {}
        self._left.append((made, waiting))
        return made

    def run(self) -> None:
        """Converts all objects that wait, and those that stand in them."""
        while self._left:
            made, waiting = self._left.pop()
            made.update(self._object(waiting))

    def _object(self, waiting: _Waiting) -> Mapping[str, Any]:
        header = _header(waiting.model, waiting.path)
        try:
            type_ = self._type(header, waiting.default, waiting.code)
        except EngineError as error:
            self._note(ModelCode.NO_CLASS, waiting.path, "", error.message)
            found: Mapping[str, Any] = waiting.model
            return found
        version = ApiVersion.of_package(type_.version)
        return _Object(self, header, type_, version, waiting.path).converted()

    def _type(self, header: Header, default: str, code: Type | None) -> Type:
        session = self.evolutions.session
        if isinstance(header.type, str):
            spelled = (header.type, header.spec, header.package)
            if spelled not in self._types:
                self._types[spelled] = session.type(*spelled)
            return self._types[spelled]
        if isinstance(header.type, Type):
            return header.type
        if code is None:
            message = "an object without a class under `?`"
            raise EngineError(EngineCode.SYNTAX, message)
        return session.resolve(default, code)

    def key(self, type_: Type, version: ApiVersion, path: str) -> tuple[PlanKey, str] | None:
        """How objects of a class convert, and what the class is called then; None where they stay."""
        if type_ in self._keys:
            return self._keys[type_]
        to = self.wanted.get(type_.package)
        if to is None or to == version:
            return None
        found = self._evolution(type_.package)
        resource = found.resource(version, type_.class_name)
        name = None if resource is None else found.class_at(resource, to)
        if resource is None or name is None:
            expected = f"a class of {type_.package} {to}"
            self._note(ModelCode.NOT_THERE, path, expected, f"{type_.label}, which stays")
            return None
        key = PlanKey(resource.root, Shape("storage", version), Shape("storage", to))
        self._keys[type_] = key, name
        return key, name

    def _evolution(self, package: str) -> PackageEvolution:
        """How a package evolves; rules that do not fit are errors."""
        found = self.evolutions.of(package)
        self.errors += (each for each in found.findings if each not in self.errors)
        return found

    def error(self, code: ModelCode, path: str, expected: str, found: str, advice: str) -> None:
        """Notes what is wrong."""
        self.errors.append(Finding(code, Place(path=path), expected, found, advice))

    def _note(self, code: ModelCode, path: str, expected: str, found: str) -> None:
        severity: Severity = "warning"
        advice = "name the packages of all versions, or leave it"
        self.notes.append(Finding(code, Place(path=path), expected, found, advice, severity))


def _within(bag: Any) -> Any:
    """The bags of maps in a bag; a map where there is none to look at."""
    return bag.get(NESTED, {}) if isinstance(bag, Mapping) else {}


def _header(model: Any, path: str) -> Header:
    try:
        return read_header(model)
    except EngineError as error:
        error.path = error.path or path
        raise


class _Object:
    """One object on its way."""

    def __init__(
        self, work: _Conversion, header: Header, type_: Type, version: ApiVersion, path: str
    ) -> None:
        self.work = work
        self.header = header
        self.type = type_
        self.version = version
        self.path = path
        self.held: dict[str, tuple[Any, str, str]] = {}
        self.shown: set[str] = set()

    def converted(self) -> dict[str, Any]:
        key = self.work.key(self.type, self.version, self.path)
        try:
            bag = changed_marks(self._bag(), self._taken_from_bag)
            marked = self._marked()
        except ModelError as error:
            self.work.errors += error.findings
            return {}
        label = self.type.label
        if key is not None:
            plan, name = key
            marked, bag = self._carried(plan, marked, bag)
            package = self.work.evolutions.packages[self.type.package][plan.target.version]
            label = f"{name}/{package.version}@{package.name}"
        properties = without_marks(marked, self._stands)
        bag = changed_marks(bag, self._put_into_bag)
        kept = {name: each for name, each in self.header.kept.items() if name != BAG}
        header: dict[str, Any] = {"type": label}
        if self.header.id is not None:
            header["id"] = self.header.id
        if self.header.name is not None:
            header["name"] = self.header.name
        return {HEADER: {**header, **kept, **({BAG: bag} if bag else {})}, **properties}

    def _bag(self) -> Mapping[str, Any]:
        """What the model says of the bag of the object."""
        found = self.header.kept.get(BAG, {})
        path = f"{self.path}['?'].{BAG}"
        for each, at in ((found, path), (_within(found), f"{path}['{NESTED}']")):
            if not isinstance(each, Mapping):
                raise unfit(at, "a map of entries, as a conversion writes it", each)
        return found  # type: ignore[no-any-return]

    def _marked(self) -> dict[str, Any]:
        schema = self.type.schema
        definition = schema.object(self.type.class_name)
        return Marking(schema, self._own).members(
            definition, {k: v for k, v in self.header.properties.items() if k != HEADER}, self.path
        )

    def _carried(
        self, key: PlanKey, marked: dict[str, Any], bag: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The properties and the bag of the object in the target's version."""
        live = self.work.evolutions.conversions(self.type.package, key)
        class_ = live.source(key)
        wire = dict(zip(class_.__struct_fields__, class_.__struct_encode_fields__, strict=True))
        document, own = spread_bags(marked, bag)
        unknown = document.pop(UNKNOWN, None)
        document |= {wire["property_bag"]: own} if own else {}
        document |= {wire["unknown"]: unknown} if unknown else {}
        try:
            source = msgspec.json.decode(msgspec.json.encode(document), type=class_)
        except (msgspec.MsgspecError, TypeError) as error:
            self.work.errors += unfit(self.path, f"an object of {self.type.label}", error).findings
            return {}, {}
        try:
            target = live.function(key)(source)
        except PlacedError as error:
            self._failed(key, error, error.path or find_path(source, error.holder))
            return {}, {}
        found = msgspec.json.decode(msgspec.json.encode(target))
        made = type(target)
        wire = dict(zip(made.__struct_fields__, made.__struct_encode_fields__, strict=True))
        for name in (*_ENVELOPE, wire["written_with"]):
            found.pop(name, None)
        own = found.pop(wire["property_bag"], {})
        unknown = found.pop(wire["unknown"], {})
        for property_, default in self._defaults(key).items():
            found.setdefault(property_, default)
        return gather_bags({**found, **({UNKNOWN: unknown} if unknown else {})}, own)

    def _failed(self, key: PlanKey, error: PlacedError, within: str | None) -> None:
        """Notes that an entry of the bag cannot be read, or that a hook failed, with the methods that it called."""
        cause = error.__cause__
        frames = cause.frames if isinstance(cause, EngineError) else ()
        calls = f"; called {', in '.join(map(str, frames))}" if frames else ""
        path = f"{self.path}{(within or '$').removeprefix('$')}"
        expected = f"to convert {self.type.label} to {key.target.version}"
        code, advice = ModelCode.VALUE, f"correct `{BAG}` in the header of the object"
        if isinstance(error, HookError):
            code, advice = ModelCode.HOOK, "correct the object, or the method in a new release"
        self.work.error(code, path, expected, f"{error.reason}{calls}", advice)

    def _defaults(self, key: PlanKey) -> Mapping[str, Any]:
        """What the rules say for properties that the target requires."""
        version = key.target.version
        evolution = self.work.evolutions.of(self.type.package).evolution
        changes = evolution.changes(version, key.lineage.definition(version).name)
        return {} if changes is None else changes.default

    def _own(self, model: Any, class_name: str, path: str) -> str:
        """Takes an object that stands in this one."""
        header = _header(model, path)
        identifier = header.id or id_of_place(path)
        if header.id is None:
            model = {**model, HEADER: {**(model.get(HEADER) or {}), "id": identifier}}
        self.held[identifier] = (model, class_name, path)
        return identifier

    def _taken_from_bag(self, mark: dict[str, Any]) -> dict[str, Any]:
        content = mark.get(CONTENT)
        if content is not None:
            self.held.setdefault(mark["id"], (content, "", f"{self.path}['?']"))
        return {OWNED: True, "id": mark["id"]}

    def _stands(self, identifier: str) -> Any:
        self.shown.add(identifier)
        if identifier not in self.held:
            return identifier
        model, class_name, path = self.held[identifier]
        return self.work.later(_Waiting(model, class_name, path, self._declaring(path)))

    def _declaring(self, path: str) -> Type:
        """The class that declares the property that a path leads into."""
        name = re.split(r"[.\[]", path.removeprefix(self.path).lstrip("."))[0]
        declared = self.type.properties.get(name)
        return self.type if declared is None else declared.declaring_type

    def _put_into_bag(self, mark: dict[str, Any]) -> dict[str, Any]:
        held = self.held.get(mark["id"])
        if held is None or mark["id"] in self.shown:
            return mark
        return {**mark, CONTENT: held[0]}
