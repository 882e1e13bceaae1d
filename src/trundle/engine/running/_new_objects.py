"""What `new` makes: objects of a class with properties, and of models."""

from collections.abc import Mapping, Sequence
from typing import Any

from trundle.engine._classes import parse_range
from trundle.engine._described import described
from trundle.engine._errors import EngineCode, EngineError
from trundle.engine._header import HEADER, read_header
from trundle.engine._loading import Loading
from trundle.engine._object import Instance, Part
from trundle.engine._stage import Code
from trundle.engine._type import Type
from trundle.errors import expectation, listed

_ABOUT = ("owner", "objectName", "extra")


def new(scene: Code, type: Any, *given: Any, **named: Any) -> Instance:  # noqa: A002
    """A new object, of a type with properties by name or in a map, or of a model.

    Behind these stand the owner, the name of the object, and entries of its header. By name, these three are properties where no map has the properties, and
    objects of the type take one of that name.
    """
    if isinstance(type, Mapping):
        owner, _, _ = _about(given, named, most=1)
        return _from_model(scene, type, owner)
    made_type = type_of(scene, type)
    if given and isinstance(given[0], Mapping):
        properties, given = given[0], given[1:]
    else:
        takes = scene.world.layouts.of(made_type).takes
        properties = {key: each for key, each in named.items() if key not in _ABOUT or takes(key)}
        named = {key: each for key, each in named.items() if key not in properties}
    owner, name, extra = _about(given, named)
    header = {key: value for key, value in (extra or {}).items() if str(key).startswith("_")}
    if name is not None:
        header["name"] = name
    return made(scene, made_type, owner, {HEADER: header, **properties}, None)


def _about(
    given: Sequence[Any], named: Mapping[str, Any], most: int = len(_ABOUT)
) -> Sequence[Any]:
    """What stands behind the properties: the owner, the name and entries of the header.

    Args:
        given: what is given of them by position.
        named: what is given by name.
        most: how many of them there may be.
    """
    known = _ABOUT[:most]
    about = dict(zip(known, given, strict=False))
    wrong = [each for each in named if each in about or each not in known]
    if len(given) > most or wrong:
        found = listed(wrong) if wrong else f"{len(given)} values"
        expected = f"{listed(known)}, each once, behind the properties that `new` gets"
        message = expectation(expected, found)
        raise EngineError(
            EngineCode.NO_MATCH,
            message,
            advice="give it properties by name or in a map, and each of these once",
        )
    return [{**about, **named}.get(each) for each in _ABOUT]


def _from_model(scene: Code, model: Mapping[Any, Any], owner: Any) -> Instance:
    header = read_header(model)
    if header.type is None:
        message = expectation("a model with its class under `?`", described(model))
        raise EngineError(EngineCode.SYNTAX, message, advice="add `?: {type: NAME}`")
    kept = dict(header.kept)
    if header.id is not None:
        kept["id"] = header.id
    if header.name is not None:
        kept["name"] = header.name
    properties = {key: value for key, value in header.properties.items() if key != HEADER}
    type_ = type_of(scene, header.type)
    if header.spec is not None:
        versions = parse_range(header.spec)
        wanted = scene.world.wanted(scene.origin, type_.package, None)
        known = scene.world.classes.repository.versions(type_.package)
        if versions.choose([each for each in known if each in wanted]) is None:
            message = expectation(
                f"a version of {type_.name} that {scene.origin.package} requires", header.spec
            )
            raise EngineError(EngineCode.NO_CLASS, message, advice="correct the version")
    return made(scene, type_, owner, {HEADER: kept, **properties}, header.spec)


def made(
    scene: Code, type_: Type, owner: Any, model: Mapping[Any, Any], spec: str | None
) -> Instance:
    """A new object of a class, from its map of a model; a version spec chooses another version of the class."""
    if owner is not None and not isinstance(owner, Instance | Part):
        raise TypeError(expectation("an object as the owner of a new one", described(owner)))
    loading = Loading(scene.world, is_code=True)
    holder = None if owner is None else owner.instance
    found = loading.bring(model, holder, type_, spec)
    loading.run()
    loading.commit()
    return found


def type_of(scene: Code, value: Any) -> Type:
    """A type, or the one of a name in the code."""
    if isinstance(value, Type):
        return value
    if isinstance(value, str):
        return scene.resolve(value)
    raise TypeError(expectation("a type, or the name of one", described(value)))
