"""Writes objects as models: each in full once, where its owner has it, and by its id everywhere else.

Where that is gone, because code moved the object or dropped its owner, it is in full where it is met first.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias, get_args

from trundle.engine._header import HEADER
from trundle.engine._layout import Layout, Slot
from trundle.engine._object import PENDING, Instance, Part
from trundle.engine._scene import TypeValue
from trundle.engine._type import Type
from trundle.engine._world import World
from trundle.engine.expressions import check_size
from trundle.errors import did_you_mean, expectation, shown

Form: TypeAlias = Literal["Serializable", "Mixed", "Inline"]
"""How a dump names classes: as text, as types, or as the key before the properties."""


class Dump:
    """Writes one tree of objects, however deep, without recursion over objects."""

    def __init__(
        self,
        world: World,
        form: Form = "Serializable",
        excluded: frozenset[str] = frozenset(),
        *,
        is_part: bool = False,
    ) -> None:
        """Begins a dump.

        Args:
            world: the session.
            form: how classes are named.
            excluded: properties to leave out, as names or dotted paths from the root.
            is_part: whether the tree is for code, which has the other objects: what one of these owns stands in it by its id.

        Raises:
            ValueError: there is no such form.
        """
        if form not in get_args(Form):
            advice = did_you_mean(str(form), get_args(Form))
            raise ValueError(expectation("a form of a dump", shown(form), advice))
        self._world = world
        self._form = form
        self._excluded = excluded
        self._is_part = is_part
        self.written: dict[str, Instance] = {}
        self._left: list[tuple[Instance, dict[Any, Any], frozenset[str]]] = []
        self._references: list[tuple[Any, Any, Instance]] = []

    def tree(self, root: Instance) -> dict[Any, Any]:
        """The model of an object with all that it owns; what nothing in it owns is in full where it is met first."""
        found = self._begin(root, self._excluded)
        self._write_all()
        while self._references:
            references, self._references = self._references, []
            for container, key, instance in references:
                if instance.id in self.written or (self._is_part and self._is_elsewhere(instance)):
                    container[key] = instance.id
                else:
                    container[key] = self._begin(instance, frozenset())
                    self._write_all()
        return found

    def _is_elsewhere(self, instance: Instance) -> bool:
        """Whether an object that is not in the tree owns an object."""
        at = instance.holder
        return at is not None and not any(each.id in self.written for each in _and_owners(at))

    def _begin(self, instance: Instance, excluded: frozenset[str]) -> dict[Any, Any]:
        self.written[instance.id] = instance
        made: dict[Any, Any] = {}
        self._left.append((instance, made, excluded))
        return made

    def _write_all(self) -> None:
        while self._left:
            self._write(*self._left.pop())

    def _write(self, instance: Instance, made: dict[Any, Any], excluded: frozenset[str]) -> None:
        layout = self._world.layouts.of(instance.type)
        properties = self._header(instance, made, layout)
        for slot in layout.slots:
            if not slot.in_model or slot.name in excluded or slot.name in properties:
                continue
            value = instance.values.get(slot.key, PENDING)
            if value is not PENDING:
                check_size(value, self._world.limits.values)
                inner = frozenset(
                    each.partition(".")[2] for each in excluded if each.startswith(f"{slot.name}.")
                )
                self._put(properties, slot.name, value, (instance, slot, inner))
            elif slot.name in instance.arguments:
                given = instance.arguments[slot.name]
                self._put(properties, slot.name, given, (instance, slot, frozenset()))
        for name, value in instance.arguments.items():
            if name not in properties and name not in layout.by_key:
                properties[name] = self._plain(value)

    def _header(self, instance: Instance, made: dict[Any, Any], layout: Layout) -> dict[Any, Any]:
        """Writes who an object is; returns where its properties go."""
        type_ = instance.type
        header = self._world.subscriptions.header(instance)
        kept = {key: self._plain(value) for key, value in header.items()}
        if self._form == "Inline":
            properties = made[type_] = {}
            made["id"] = instance.id
            if instance.name is not None:
                made["name"] = instance.name
            if "metadata" in kept:
                made["metadata"] = kept["metadata"]
            return properties
        made[HEADER] = {
            "type": type_ if self._form == "Mixed" else type_.label,
            "id": instance.id,
            **({} if instance.name is None else {"name": instance.name}),
            **kept,
        }
        if layout.actions and self._form == "Serializable":
            made[HEADER]["_actions"] = {
                f"{instance.id}_{name}": dict(each) for name, each in layout.actions.items()
            }
        return made

    def _put(
        self,
        container: Any,
        key: Any,
        value: Any,
        within: tuple[Instance, Slot, frozenset[str]],
    ) -> None:
        """Puts the plain form of a value into a list or map."""
        if isinstance(value, Instance | Part):
            instance, (owner, slot, excluded) = value.instance, within
            if slot.is_reference:
                container[key] = instance.id
            elif (
                instance.holder is owner
                and instance.home == slot.name
                and instance.id not in self.written
            ):
                container[key] = self._begin(instance, excluded)
            else:
                container[key] = instance.id
                self._references.append((container, key, instance))
        elif isinstance(value, tuple):
            made: list[Any] = [None] * len(value)
            for at, each in enumerate(value):
                self._put(made, at, each, within)
            container[key] = made
        elif isinstance(value, Mapping):
            entries: dict[Any, Any] = {}
            for name, each in value.items():
                self._put(entries, self._key(name), each, within)
            container[key] = entries
        elif isinstance(value, TypeValue):
            container[key] = self._key(value)
        else:
            container[key] = value

    def _key(self, value: Any) -> Any:
        """A scalar of a value: types as this form names them."""
        if isinstance(value, Type) and self._form != "Mixed":
            return value.label
        return value

    def _plain(self, value: Any) -> Any:
        if isinstance(value, tuple | list):
            return [self._plain(each) for each in value]
        if isinstance(value, Mapping):
            return {self._key(key): self._plain(each) for key, each in value.items()}
        return self._key(value)


def _and_owners(instance: Instance) -> Iterator[Instance]:
    """An object, what owns it, and so on."""
    at: Instance | None = instance
    while at is not None:
        yield at
        at = at.holder
