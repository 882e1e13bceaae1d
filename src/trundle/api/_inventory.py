"""All objects that a server keeps: those of its project, and its own, such as namespaces, where it has them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from trundle.api._core import kept_scheme
from trundle.api._kinds import ServedKind
from trundle.store import InvalidKeyError, Key, Store, StoredObject


@dataclass(frozen=True, slots=True)
class Kept:
    """An object, and where it is kept.

    Attributes:
        kind: its resource type.
        store: keeps it.
        object: the object.
    """

    kind: ServedKind
    store: Store
    object: StoredObject

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Its metadata, as it is stored."""
        found: Any = msgspec.json.decode(self.object.data).get("metadata")
        return found if isinstance(found, dict) else {}


class Inventory:
    """The resource types of a server, and the stores of their objects.

    Args:
        store: keeps the objects of the project.
        kinds: the resource types of the project.
        core: those of the server itself.
    """

    def __init__(
        self, store: Store, kinds: Iterable[ServedKind], core: Iterable[ServedKind]
    ) -> None:
        self.store = store
        self.core = store.beside(kept_scheme)
        self._stores = dict.fromkeys(kinds, store) | dict.fromkeys(core, self.core)
        self._by_name = {(each.group, each.kind): each for each in self._stores}

    @property
    def kinds(self) -> tuple[ServedKind, ...]:
        """The resource types."""
        return tuple(self._stores)

    @property
    def stored_kinds(self) -> tuple[ServedKind, ...]:
        """The resource types, one of those that show the same objects in several groups."""
        found: dict[tuple[bool, str], ServedKind] = {}
        for kind, store in self._stores.items():
            found.setdefault((store is self.core, kind.resource), kind)
        return tuple(found.values())

    def store_of(self, kind: ServedKind) -> Store:
        """Keeps the objects of a resource type."""
        return self._stores[kind]

    def core_kind(self, name: str) -> ServedKind:
        """A resource type that is not the project's: `Namespace` or `Event`."""
        return self._by_name["", name]

    def named(self, reference: Mapping[str, Any]) -> ServedKind | None:
        """The resource type that a reference names by `apiVersion` and `kind`; None where it is not served."""
        group, slash, _ = str(reference.get("apiVersion", "")).partition("/")
        return self._by_name.get((group if slash else "", str(reference.get("kind", ""))))

    def find(self, kind: ServedKind, namespace: str, name: str) -> Kept | None:
        """An object; None where there is none."""
        store = self._stores[kind]
        key = Key(kind.resource, namespace if kind.namespaced else "", name)
        try:
            found = store.find(key)
        except InvalidKeyError:  # No object can be called so.
            return None
        return None if found is None else Kept(kind, store, found)

    def dependents(self, uid: str) -> Iterator[Kept]:
        """The objects that name an owner."""
        kinds = {each.resource: each for each in self._stores if self._stores[each] is self.store}
        for found in self.store.dependents(uid):
            if found.key.resource in kinds:
                yield Kept(kinds[found.key.resource], self.store, found)

    def inside(self, namespace: str) -> Iterator[Kept]:
        """The objects in a namespace."""
        for kind in self.stored_kinds:
            if kind.namespaced:
                store = self._stores[kind]
                for found in store.stream(kind.resource, namespace=namespace):
                    yield Kept(kind, store, found)
