"""Python classes written by hand for the model of `models.py`, with the checks that its contracts ask for.

As the engine does, loading reads whole models or nothing, lists all violations with their places, lets objects refer to objects that come later,
knows which object owns which, and copies what it keeps.
"""

from collections.abc import Callable
from typing import Any

VERSIONS = {"1.2.3"}
MOST = 65535
"""The greatest port."""


class Loading:
    """The objects of a model, what is wrong with it, and the references that are to be resolved in the end."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}
        self.errors: list[str] = []
        self.later: list[tuple[Any, str, type, str, str]] = []

    def make(self, model: Any, owner: Any, wanted: type, path: str) -> Any:
        """An object of a class, for a map or an id."""
        if type(model) is not dict:
            self.wrong(path, "an object", model)
            return None
        header = model.get("?")
        if type(header) is not dict:
            self.wrong(path, "a header", header)
            return None
        kind = KINDS.get(header.get("type"))
        if kind is None or not issubclass(kind, wanted):
            self.wrong(path, wanted.__name__, header.get("type"))
            return None
        if header.get("classVersion") not in VERSIONS:
            self.wrong(path, "a version that there is", header.get("classVersion"))
            return None
        identifier = header.get("id")
        if type(identifier) is not str:
            self.wrong(path, "an id", identifier)
            return None
        if identifier in self.objects:
            self.wrong(path, "each id once", identifier)
            return None
        made = kind(identifier, owner)
        self.objects[identifier] = made
        made.fill(model, self, path)
        return made

    def reference(self, holder: Any, name: str, model: Any, wanted: type, path: str) -> Any:
        """An object that the holder owns, or one that it refers to."""
        if type(model) is str:
            self.later.append((holder, name, wanted, model, path))
            return None
        return None if model is None else self.make(model, holder, wanted, path)

    def resolve(self) -> None:
        """Sets all references."""
        for holder, name, wanted, identifier, path in self.later:
            found = self.objects.get(identifier)
            if not isinstance(found, wanted):
                self.wrong(f"{path}.{name}", wanted.__name__, identifier)
            else:
                setattr(holder, name, found)

    def wrong(self, path: str, expected: str, found: object) -> None:
        """Notes what is wrong."""
        self.errors.append(f"{path}: expected {expected}, found {found!r}")

    def text(self, model: dict[str, Any], name: str, path: str, default: str | None = None) -> Any:
        """A text that has to be there."""
        value = model.get(name, default)
        if type(value) is not str:
            if type(value) not in (int, bool):
                self.wrong(f"{path}.{name}", "text", value)
                return None
            value = str(value)
        return value

    def integer(
        self, model: dict[str, Any], name: str, path: str, is_right: Callable[[int], bool]
    ) -> Any:
        """A number that satisfies a condition."""
        value = model.get(name)
        if type(value) is not int:
            try:
                value = int(value)  # type: ignore[arg-type]
            except (TypeError, ValueError):
                self.wrong(f"{path}.{name}", "a number", value)
                return None
        if not is_right(value):
            self.wrong(f"{path}.{name}", "a number that is allowed", value)
        return value


class Thing:
    """An object with an id and an owner."""

    def __init__(self, identifier: str, owner: "Thing | None") -> None:
        self.id = identifier
        self.owner = owner

    def fill(self, model: dict[str, Any], loading: Loading, path: str) -> None:
        """Sets all properties."""
        raise NotImplementedError


class App(Thing):
    """The root."""

    def fill(self, model: dict[str, Any], loading: Loading, path: str) -> None:
        """Sets all properties."""
        self.name = loading.text(model, "name", path)
        nodes = model.get("nodes")
        if nodes is None:
            nodes = []
        elif type(nodes) is not list:
            nodes = [nodes]
        self.nodes = tuple(
            [loading.make(each, self, Node, f"{path}.nodes[{at}]") for at, each in enumerate(nodes)]
        )


class Node(Thing):
    """A node of the root."""

    def fill(self, model: dict[str, Any], loading: Loading, path: str) -> None:
        """Sets all properties."""
        self.name = loading.text(model, "name", path)
        self.port = loading.integer(model, "port", path, lambda value: 0 < value <= MOST)
        self.size = loading.text(model, "size", path, "small")
        if self.size not in ("small", "medium", "large"):
            loading.wrong(f"{path}.size", "small, medium or large", self.size)
        self.is_public = model.get("isPublic", False)
        if self.is_public is None:
            loading.wrong(f"{path}.isPublic", "true or false", None)
        elif type(self.is_public) is not bool:
            self.is_public = bool(self.is_public)
        tags = model.get("tags")
        if tags is None:
            tags = []
        elif type(tags) is not list:
            tags = [tags]
        made = []
        for at, each in enumerate(tags):
            if type(each) is str:
                made.append(each)
            elif type(each) in (int, bool):
                made.append(str(each))
            else:
                loading.wrong(f"{path}.tags[{at}]", "text", each)
        self.tags = tuple(made)
        labels = model.get("labels")
        if labels is None:
            labels = {}
        self.labels = {}
        if type(labels) is not dict:
            loading.wrong(f"{path}.labels", "an object", labels)
        else:
            for key, value in labels.items():
                if type(key) is not str:
                    loading.wrong(f"{path}.labels", "text as key", key)
                elif value is None or type(value) is str:
                    self.labels[key] = value
                elif type(value) in (int, bool):
                    self.labels[key] = str(value)
                else:
                    loading.wrong(f"{path}.labels[{key!r}]", "text", value)
        self.disk = loading.make(model.get("disk"), self, Disk, f"{path}.disk")
        self.address = loading.make(model.get("address"), self, Address, f"{path}.address")
        self.peer = loading.reference(self, "peer", model.get("peer"), Node, path)


class Disk(Thing):
    """The disk of a node."""

    def fill(self, model: dict[str, Any], loading: Loading, path: str) -> None:
        """Sets all properties."""
        self.size = loading.integer(model, "size", path, lambda value: value > 0)
        self.device = loading.text(model, "device", path, "/dev/vdb")
        self.format = model.get("format", "ext4")
        if self.format is not None and type(self.format) is not str:
            self.format = loading.text(model, "format", path)


class Address(Thing):
    """The address of a node."""

    def fill(self, model: dict[str, Any], loading: Loading, path: str) -> None:
        """Sets all properties."""
        self.host = loading.text(model, "host", path)
        self.port = model.get("port", 80)
        if self.port is not None and type(self.port) is not int:
            self.port = loading.integer(model, "port", path, lambda _: True)


KINDS: dict[Any, type[Thing]] = {
    f"com.example.{each.__name__}": each for each in (App, Node, Disk, Address)
}


def load(model: dict[str, Any]) -> dict[str, Thing]:
    """The objects of a model by id.

    Raises:
        ValueError: the model is wrong; the message has all violations.
    """
    loading = Loading()
    loading.make(model, None, App, "$")
    loading.resolve()
    if loading.errors:
        raise ValueError("\n".join(loading.errors))
    return loading.objects
