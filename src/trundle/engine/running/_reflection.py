"""What `typeinfo` gives: classes, their members and packages as values of the package language."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from trundle.engine._assigning import assign_by_code, assign_static, static_declaring
from trundle.engine._declarations import DESTRUCTOR, INITIALIZER
from trundle.engine._described import described
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._frozen import frozen
from trundle.engine._loading import Loading
from trundle.engine._nodes import ListNode, MapNode, Node, ScalarNode
from trundle.engine._object import Instance, Part, read
from trundle.engine._scene import Callee, Scene, TypeValue
from trundle.engine._sources import format_of
from trundle.engine._stage import Code
from trundle.engine._structure import structure
from trundle.engine._type import Method, Property, Type, method_key
from trundle.engine.expressions import FrozenDict, code_of
from trundle.engine.running._frame import Frame
from trundle.errors import did_you_mean, expectation
from trundle.packages import Package, PackageMeta
from trundle.version import SemVer

Values = Mapping[str, Callable[[], Any]]
"""Properties, each computed when it is read."""

Compute = Callable[[Sequence[Any], Mapping[str, Any]], Any]
"""What a method computes, with values by position and by name."""


class _Computed(NamedTuple):
    """A method of what `typeinfo` gives."""

    compute: Compute

    def call(
        self,
        _receiver: Any,
        values: Sequence[Any],
        named: Mapping[str, Any],
        _caller: Scene | None = None,
    ) -> Any:
        """Computes what it returns."""
        return self.compute(values, named)


class Info(TypeValue):
    """What is known of a class, a member, a package or a version.

    Args:
        key: what it is about; two of one thing are equal.
        values: its properties.
        methods: its methods.
        text: what `str` makes of it; its key where that is empty.
    """

    __slots__ = ("_methods", "_text", "_values", "key")

    def __init__(
        self,
        key: tuple[Any, ...],
        values: Values,
        methods: Mapping[str, Compute] | None = None,
        text: str = "",
    ) -> None:
        self.key = key
        self._text = text
        self._values = values
        self._methods = methods or {}

    @property
    def name(self) -> str:
        """Its name, if it has one."""
        return str(self._values["name"]()) if "name" in self._values else ""

    def read(self, name: str, scene: Scene) -> Any:  # noqa: ARG002 - anyone may read it
        """The value of a property.

        Raises:
            EngineError: there is no such property.
        """
        found = self._values.get(name)
        if found is None:
            message = expectation("a property of what `typeinfo` gives", name)
            advice = did_you_mean(name, list(self._values))
            raise EngineError(EngineCode.NO_PROPERTY, message, advice=advice)
        return found()

    def method(self, name: str) -> Callee | None:
        """One of its methods; None where it has none of that name."""
        found = self._methods.get(name)
        return None if found is None else _Computed(found)

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Info) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return self._text or f"<{' '.join(map(str, self.key))}>"


def typeinfo(scene: Code, type_: Type) -> Info:
    """What is known of a class.

    Args:
        scene: the code that asks.
        type_: the class.
    """
    declared = type_.declaration
    values: dict[str, Callable[[], Any]] = {
        "name": lambda: type_.name,
        "usage": lambda: declared.usage,
        "version": lambda: _version(type_.version),
        "package": lambda: _package(scene, type_.source),
        "ancestors": lambda: tuple([typeinfo(scene, each) for each in type_.ancestors]),
        "properties": lambda: tuple(
            [_property(scene, type_, each) for each in type_.properties.values()]
        ),
        "methods": lambda: tuple(
            [
                _method(scene, type_, each)
                for each in type_.methods.values()
                if each.name not in (INITIALIZER, DESTRUCTOR)
            ]
        ),
        "type": lambda: type_,
        "meta": lambda: metas(scene, type_, ""),
    }
    if type_.is_meta:
        values["cardinality"] = lambda: declared.cardinality
        values["targets"] = lambda: tuple(declared.applies)
        values["inherited"] = lambda: declared.is_inherited
    return Info(("type", type_), values)


def _version(version: SemVer) -> Info:
    return Info(
        ("version", version),
        {
            "major": lambda: version.major,
            "minor": lambda: version.minor,
            "patch": lambda: version.patch,
            "prerelease": lambda: ".".join(map(str, version.prerelease)),
            "build": lambda: ".".join(map(str, version.build)),
        },
        text=str(version),
    )


def _package(scene: Code, package: Package) -> Info:
    classes = scene.world.classes
    return Info(
        ("package", package.name, package.version),
        {
            "name": lambda: package.name,
            "version": lambda: _version(package.version),
            "types": lambda: tuple(
                [typeinfo(scene, classes.built(package, each)) for each in package.classes]
            ),
            "meta": lambda: tuple(
                [_package_meta(scene, package, each) for each in package.manifest.meta]
            ),
        },
    )


def _property(scene: Code, type_: Type, found: Property) -> Info:
    def get(values: Sequence[Any], _: Mapping[str, Any]) -> Any:
        holder = values[0] if values else None
        if holder is None:
            return type_.static(found.name)
        instance = instance_of(holder)
        return read(instance, instance.type, found.name, found.declaring_type)

    def set_(values: Sequence[Any], _: Mapping[str, Any]) -> None:
        holder, value = values
        if holder is None:
            assign_static(scene.world, static_declaring(type_, found.name), found.name, value)
            return
        instance = instance_of(holder)
        assign_by_code(scene.world, instance, instance.type, found.name, value, scene.origin)

    return Info(
        ("property", found.declaring_type, found.name),
        {
            "name": lambda: found.name,
            "usage": lambda: found.usage,
            "hasDefault": lambda: found.has_default,
            "declaringType": lambda: typeinfo(scene, found.declaring_type),
            "meta": lambda: metas(scene, type_, found.name),
        },
        {"getValue": get, "setValue": set_},
    )


def _method(scene: Code, type_: Type, found: Method) -> Info:
    key = method_key(found.name)

    def invoke(values: Sequence[Any], named: Mapping[str, Any]) -> Any:
        receiver = values[0] if values and values[0] is not None else type_
        callee = scene.method(receiver, found.name)
        if callee is None:
            message = expectation(f"an object with the method {found.name}", described(receiver))
            raise EngineError(EngineCode.NO_METHOD, message, advice="give an object of the class")
        return callee.call(receiver, values[1:], named, scene)

    info: Info

    def argument(name: str) -> Info:
        declared = next(each for each in found.declaration.arguments if each.name == name)
        return Info(
            ("argument", found.declaring_type, found.name, name),
            {
                "name": lambda: name,
                "usage": lambda: declared.usage,
                "hasDefault": lambda: declared.has_default,
                "declaringMethod": lambda: info,
                "meta": lambda: metas(scene, type_, f"{key} {name}"),
            },
        )

    info = Info(
        ("method", found.declaring_type, found.name),
        {
            "name": lambda: found.name,
            "arguments": lambda: tuple([argument(each) for each in found.arguments]),
            "declaringType": lambda: typeinfo(scene, found.declaring_type),
            "meta": lambda: metas(scene, type_, key),
        },
        {"invoke": invoke},
    )
    return info


def _package_meta(scene: Code, package: Package, meta: PackageMeta) -> Instance:
    """An object that describes a package."""
    type_ = scene.world.classes.resolve(package, meta.name)
    return _made(scene, type_, frozen(meta.properties, scene.world.limits))


def metas(scene: Code, type_: Type, key: str) -> tuple[Instance, ...]:
    """The objects that describe a class or a member: its own, and inherited ones.

    Args:
        scene: the code that asks.
        type_: the class.
        key: the member as `Type.own_members` names it; empty for the class. An argument stands behind its method.
    """
    found: list[Instance] = []
    single: set[Type] = set()
    own = type_ if not key else next(iter(type_.lineage.declarers(key.partition(" ")[0])), type_)
    for each in type_.lineage.order:
        for meta, node in list(_attached(scene, each, _node(each, key))):
            if each is not own and not meta.declaration.is_inherited:
                continue
            if meta.declaration.cardinality == "One":
                if meta in single:
                    continue
                single.add(meta)
            found.append(_object(scene, each, meta, node))
    return tuple(found)


def _node(type_: Type, key: str) -> Node | None:
    """What a class attaches to itself or to one of its members."""
    declared = type_.declaration
    if not key:
        return declared.meta
    name, _, argument = key.partition(" ")
    if not name.endswith("()"):
        return declared.properties[name].meta if name in declared.properties else None
    method = declared.methods.get(name.removesuffix("()"))
    if method is None or not argument:
        return None if method is None else method.meta
    return next((each.meta for each in method.arguments if each.name == argument), None)


def _attached(scene: Code, type_: Type, node: Node | None) -> Iterator[tuple[Type, Node | None]]:
    """The Meta classes in what is attached, each with its properties."""
    nodes = node.items if isinstance(node, ListNode) else () if node is None else (node,)
    code = Frame(scene.world, type_, type_, "Meta")
    for each in nodes:
        if isinstance(each, ScalarNode):
            yield code.resolve(each.text), None
        elif isinstance(each, MapNode):
            for key, value in each.entries:
                yield code.resolve(key.text), value


def _object(scene: Code, type_: Type, meta: Type, node: Node | None) -> Instance:
    world = scene.world
    model: Any = FrozenDict()
    if isinstance(node, MapNode):
        made = structure(code_of(node, type_.declaration.file), format_of(type_.source))
        model = made(Frame(world, type_, type_, "Meta"))
    return _made(scene, meta, model)


def _made(scene: Code, meta: Type, model: Mapping[Any, Any]) -> Instance:
    """An object of a Meta class."""
    loading = Loading(scene.world)
    found = loading.start(dict(model), None, meta, None)
    loading.run()
    loading.commit()
    return found


def instance_of(value: Any) -> Instance:
    """The object that code has in hand.

    Raises:
        TypeError: it is something else.
    """
    if isinstance(value, Instance | Part):
        return value.instance
    raise TypeError(expectation("an object", described(value)))
