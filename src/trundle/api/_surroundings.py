"""What the resource types of a project stand in: a server by itself, or a cluster that it is a part of."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from trundle._clock import Clock
from trundle.api._controllers import Controllers
from trundle.api._core import EVENTS, NAMESPACES, core_kinds, scheme
from trundle.api._event_rules import Events
from trundle.api._events import EventRecorder
from trundle.api._garbage import GarbageCollector
from trundle.api._inventory import Inventory
from trundle.api._kinds import ServedKind, ServedVersion
from trundle.api._namespaces import (
    DEFAULT,
    Host,
    HostNamespaces,
    NamespaceController,
    Namespaces,
)
from trundle.api._requests import Target
from trundle.api._resources import Resources
from trundle.api._responses import as_json
from trundle.api._reviews import Reviews
from trundle.api.access import Access, Gate
from trundle.store import Store, StoredObject

_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Surroundings(Protocol):
    """What the resource types of a project stand in.

    Attributes:
        access: who may do what.
        inventory: all objects.
        controllers: do what follows from changes.
        own: resource types that are not the project's, and what answers requests about them.
        waits: whether writes wait for others than the database.
        routes: what else clients ask for.
    """

    access: Gate
    inventory: Inventory
    controllers: Controllers
    own: Mapping[ServedKind, Resources]
    waits: bool
    routes: Sequence[BaseRoute]

    def require(self, target: Target) -> None:
        """Raises where nothing can be created in the namespace of a target.

        Raises:
            ApiError: it cannot.
        """

    def warn(
        self, kind: ServedKind, served: ServedVersion, found: StoredObject, reason: str, why: str
    ) -> None:
        """Takes note of what is wrong with an object.

        Args:
            kind: the resource type of the object.
            served: the version at which it is so.
            found: the object.
            reason: a word for programs.
            why: a sentence for people.
        """


class Alone:
    """A server by itself: it has namespaces, events and leases, deletes what has no owner, and answers who may do what.

    Args:
        store: keeps the objects.
        kinds: the resource types of the project.
        access: who may do what.
        clock: gives the time.
    """

    waits: bool = False

    def __init__(
        self, store: Store, kinds: Iterable[ServedKind], access: Access, clock: Clock
    ) -> None:
        self.access: Gate = access
        kinds = tuple(kinds)
        served = {(each.group, each.plural) for each in kinds}
        core_of = [each for each in core_kinds() if (each.group, each.plural) not in served]
        stored = [each for each in core_of if not each.is_review]
        inventory = self.inventory = Inventory(store, kinds, stored)
        self._recorder = EventRecorder(inventory, clock)
        self._namespaces = Namespaces(inventory, clock)
        for each in {DEFAULT, *store.namespaces()}:
            self._namespaces.ensure(each)
        core = Resources(inventory.core, clock, self.require)
        apart = {NAMESPACES: self._namespaces, EVENTS: Events(inventory.core, clock, self.require)}
        reviews = Reviews(store.beside(scheme), access, clock)
        self.own: Mapping[ServedKind, Resources] = {
            each: reviews if each.is_review else apart.get(each.kind, core) for each in core_of
        }
        self.controllers = Controllers(
            inventory,
            [GarbageCollector(inventory), NamespaceController(inventory, self._recorder)],
            self._recorder.flush,
        )
        self.routes: Sequence[BaseRoute] = [Route(_DEFINITIONS, _no_definitions)]

    def require(self, target: Target) -> None:
        """Raises where nothing can be created in the namespace of a target.

        Raises:
            ApiError: the namespace is not there, or is being deleted.
        """
        self._namespaces.require(target)

    def warn(
        self, kind: ServedKind, served: ServedVersion, found: StoredObject, reason: str, why: str
    ) -> None:
        """Writes an event about an object."""
        self._recorder.note(kind, served, found, reason, why, warning=True)


class Hosted:
    """A part of a cluster: all that is no resource type of the project is the cluster's, which also collects garbage by requests.

    Args:
        store: keeps the objects.
        kinds: the resource types of the project.
        host: the cluster.
        complain: is given what is wrong with objects.
    """

    waits: bool = True

    def __init__(
        self,
        store: Store,
        kinds: Iterable[ServedKind],
        host: Host,
        complain: Callable[[str], None],
    ) -> None:
        self.access: Gate = host
        self.inventory = Inventory(store, kinds, ())
        self._complain = complain
        (namespaces,) = [each for each in core_kinds() if each.kind == NAMESPACES]
        self._namespaces = HostNamespaces(host, namespaces)
        self.own: Mapping[ServedKind, Resources] = {}
        self.controllers = Controllers(Inventory(store, (), ()), [])
        self.routes: Sequence[BaseRoute] = ()

    def require(self, target: Target) -> None:
        """Raises where nothing can be created in the namespace of a target.

        Raises:
            ApiError: the namespace is not there, is being deleted, or the cluster cannot be asked.
        """
        self._namespaces.require(target)

    def warn(
        self, kind: ServedKind, served: ServedVersion, found: StoredObject, reason: str, why: str
    ) -> None:
        """Says what is wrong with an object at a version."""
        key = found.key
        named = f"{key.namespace}/{key.name}" if key.namespace else key.name
        self._complain(f"{kind.kind} {named} at {served.label}: {why} [{reason}]")


async def _no_definitions(_: Request) -> Response:
    """The answer to a list of CRDs: kubectl asks for it where a document has a kind that is not known."""
    head = {"kind": "CustomResourceDefinitionList", "apiVersion": "apiextensions.k8s.io/v1"}
    return as_json({**head, "metadata": {"resourceVersion": "0"}, "items": []})
