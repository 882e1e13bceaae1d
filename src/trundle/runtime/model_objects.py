"""Bases of the Python classes that stand for classes of packages: authors build object models with them.

An object becomes a map of a model by `to_model`, and `read_model` makes objects of such a map. Both keep every
byte that a dump of the engine has.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias, TypeVar

from trundle.errors import did_you_mean, expectation, shown
from trundle.runtime._objects import ABSENT, Absent

__all__ = [
    "ABSENT",
    "OBJECT",
    "PLAIN",
    "Absent",
    "Entries",
    "Items",
    "ModelField",
    "ModelHeader",
    "ModelObject",
    "OtherObject",
    "read_model",
]

_HEADER = "?"
_OWN = ("type", "id", "name")


class _Plain(NamedTuple):
    """A value in which no objects are."""


class _Object(NamedTuple):
    """An object as a map, or the id of one."""


class Items(NamedTuple):
    """A list.

    Attributes:
        shape: what its items are.
    """

    shape: "Shape"


class Entries(NamedTuple):
    """A map.

    Attributes:
        named: what stands under keys that have a meaning.
        others: what stands under all other keys.
    """

    named: Mapping[str, "Shape"]
    others: "Shape"


Shape: TypeAlias = "_Plain | _Object | Items | Entries"
"""Where in a value objects are."""

PLAIN: Final = _Plain()
OBJECT: Final = _Object()


class ModelField(NamedTuple):
    """A property of a class.

    Attributes:
        name: what models call it.
        attribute: what Python calls it.
        shape: where in its value objects are.
        is_reference: whether objects in it stand in full elsewhere.
    """

    name: str
    attribute: str
    shape: Shape = PLAIN
    is_reference: bool = False


@dataclass(kw_only=True)
class ModelHeader:
    """Who an object is.

    Attributes:
        id: its id in the model; a new one by default.
        name: what people call it.
        kept: other entries of the header, which stay with the object.
    """

    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    name: str | None = None
    kept: dict[str, Any] = field(default_factory=dict)


@dataclass(kw_only=True, eq=False)
class ModelObject:
    """An object of a model; each class of a package is a subclass.

    Attributes:
        header: who it is.
    """

    MODEL_CLASS: ClassVar[str] = ""
    MODEL_FIELDS: ClassVar[tuple[ModelField, ...]] = ()

    header: ModelHeader = field(default_factory=ModelHeader)

    def to_model(self) -> dict[str, Any]:
        """The object as a map that `Session.load` takes, with all objects that it leads to.

        An object that stands at several places is in full at one of them, and its id is at the others. Properties without a value
        are left out.

        Raises:
            ValueError: an object stands only where ids have to be, two objects have one id, or a property has a value that models do
                not give.
        """
        writer = _Writer()
        found = writer.write(self)
        writer.check()
        return found

    def model_properties(self) -> "list[tuple[ModelField, Any]]":
        """The properties that have a value, in the order in which models have them."""
        given = {each.attribute for each in self.MODEL_FIELDS}
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name != "header" and each.name not in given and value is not ABSENT:
                where = f"{self.MODEL_CLASS}: {each.name}"
                message = expectation("no value, as models do not give it", shown(value))
                raise ValueError(f"{where}: {message}")
        values = ((each, getattr(self, each.attribute)) for each in self.MODEL_FIELDS)
        return [(each, value) for each, value in values if value is not ABSENT]


@dataclass(kw_only=True, eq=False)
class OtherObject(ModelObject):
    """An object of a class that the package has no Python class for.

    Attributes:
        model_class: its class, as models spell it.
        properties: its properties, as they stand in the model.
    """

    model_class: str
    properties: dict[str, Any]


class _Writer:
    """Writes a tree of objects without recursion over objects."""

    def __init__(self) -> None:
        self._places: dict[str, ModelObject] = {}
        self._referred: list[tuple[str, ModelObject]] = []
        self._left: list[tuple[ModelObject, dict[str, Any]]] = []

    def write(self, root: ModelObject) -> dict[str, Any]:
        """The map of an object."""
        found = self._begin(root)
        while self._left:
            each, made = self._left.pop()
            header = each.header
            made[_HEADER] = {
                "type": _label(each),
                "id": header.id,
                **({} if header.name is None else {"name": header.name}),
                **header.kept,
            }
            if isinstance(each, OtherObject):
                for name, value in each.properties.items():
                    self._put(made, name, value, name, is_reference=False)
                continue
            for one, value in each.model_properties():
                where = f"{each.MODEL_CLASS}.{one.name}"
                self._put(made, one.name, value, where, is_reference=one.is_reference)
        return found

    def check(self) -> None:
        """Makes sure that each object is in full somewhere."""
        for where, each in self._referred:
            if self._places.get(each.header.id) is not each:
                found = f"{each.header.id}, which stands in full nowhere"
                advice = "give it to a property that owns it as well, or give the id alone"
                raise ValueError(f"{where}: {expectation('an object of the model', found, advice)}")

    def _begin(self, each: ModelObject) -> dict[str, Any]:
        other = self._places.setdefault(each.header.id, each)
        if other is not each:
            advice = "give one of them another id"
            message = expectation("one object for each id", f"two with {each.header.id!r}", advice)
            raise ValueError(message)
        made: dict[str, Any] = {}
        self._left.append((each, made))
        return made

    def _put(self, container: Any, key: Any, value: Any, where: str, *, is_reference: bool) -> None:
        if isinstance(value, ModelObject):
            if is_reference:
                self._referred.append((where, value))
            is_written = self._places.get(value.header.id) is value
            container[key] = value.header.id if is_reference or is_written else self._begin(value)
        elif isinstance(value, Mapping):
            entries: dict[Any, Any] = {}
            container[key] = entries
            for name, each in value.items():
                self._put(entries, name, each, where, is_reference=is_reference)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            items: list[Any] = [None] * len(value)
            container[key] = items
            for at, each in enumerate(value):
                self._put(items, at, each, where, is_reference=is_reference)
        else:
            container[key] = value


Found = TypeVar("Found", bound=ModelObject)


def read_model(
    model: Mapping[str, Any], classes: Mapping[str, type[ModelObject]], type_: type[Found]
) -> Found:
    """The object that a map of a model is, with all objects in it.

    Args:
        model: a map, with exact versions as dumps have them.
        classes: the Python classes by `name/1.2.3@package`. An object of any other class is an `OtherObject`.
        type_: the class that the object has to be of.

    Raises:
        ValueError: the map is none of an object of that class in an exact version, or has other properties than its class.
    """
    made: list[Any] = [None]
    left: list[tuple[Any, Any, Mapping[str, Any], str]] = [(made, 0, model, "$")]
    order: list[tuple[Any, Any, _Read]] = []
    while left:
        container, key, each, path = left.pop()
        found = _Read(each, classes, path)
        order.append((container, key, found))
        left += found.inner
    for container, key, found in reversed(order):  # What is within an object is made before it.
        container[key] = found.object()
    result = made[0]
    if not isinstance(result, type_):
        wanted = type_.MODEL_CLASS or type_.__name__
        raise ValueError(  # noqa: TRY004 - the model is wrong, not the call
            expectation(f"an object of {wanted}", _label(result))
        )
    return result


def _label(each: ModelObject) -> str:
    return each.model_class if isinstance(each, OtherObject) else each.MODEL_CLASS


class _Read:
    """A map of a model, taken apart.

    Attributes:
        inner: the objects in it: where they go, and their maps.
    """

    def __init__(
        self, model: Mapping[str, Any], classes: Mapping[str, type[ModelObject]], path: str
    ) -> None:
        self.inner: list[tuple[Any, Any, Mapping[str, Any], str]] = []
        self._path = path
        self._header, self._label = _header_of(model, path)
        self._class = classes.get(self._label)
        given = {name: value for name, value in model.items() if name != _HEADER}
        self._values: dict[str, Any] = {}
        if self._class is None:
            self._values = {"model_class": self._label, "properties": given}
            return
        for each in self._class.MODEL_FIELDS:
            if each.name in given:
                value = given.pop(each.name)
                self._take(self._values, each.attribute, value, each.shape, f"{path}.{each.name}")
        if given:
            name = next(iter(given))
            names = [each.name for each in self._class.MODEL_FIELDS]
            message = expectation(
                f"a property of {self._label}", repr(name), did_you_mean(name, names)
            )
            raise ValueError(f"{path}: {message}")

    def object(self) -> ModelObject:
        """The object, once all that is in it is made."""
        if self._class is None:
            return OtherObject(header=self._header, **self._values)
        try:
            return self._class(header=self._header, **self._values)
        except TypeError as error:
            raise ValueError(f"{self._path}: {error}") from None

    def _take(self, container: Any, key: Any, value: Any, shape: Shape, path: str) -> None:
        match shape:
            case _Object() if isinstance(value, Mapping):
                container[key] = None
                self.inner.append((container, key, value, path))
            case Items(inner) if isinstance(value, list):
                items: list[Any] = [None] * len(value)
                container[key] = items
                for at, each in enumerate(value):
                    self._take(items, at, each, inner, f"{path}[{at}]")
            case Entries(named, others) if isinstance(value, Mapping):
                entries: dict[Any, Any] = {}
                container[key] = entries
                for name, each in value.items():
                    inner = named.get(name, others)
                    self._take(entries, name, each, inner, f"{path}[{name!r}]")
            case _:
                container[key] = value


def _header_of(model: Mapping[str, Any], path: str) -> tuple[ModelHeader, str]:
    header = model.get(_HEADER)
    label = header.get("type") if isinstance(header, Mapping) else None
    if not isinstance(header, Mapping) or not isinstance(label, str) or label.count("/") != 1:
        expected = "the class of an object as `type: name/1.2.3@package` under `?`"
        advice = "dump the model; a dump has exact versions"
        found = shown(header if label is None else label)
        raise ValueError(f"{path}: {expectation(expected, found, advice)}")
    kept = {key: value for key, value in header.items() if key not in _OWN}
    given = {"id": str(header["id"])} if "id" in header else {}
    return ModelHeader(name=header.get("name"), kept=kept, **given), label
