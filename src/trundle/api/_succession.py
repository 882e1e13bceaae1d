"""An API that follows what is installed: one API after another over one database, without an interruption.

What is installed is looked at every second. A change makes a new API beside the present one; new requests go to it from one moment on,
watches of the one before end, as they do when a server of Kubernetes gets another definition, and clients go on from where they were. When
requests of the one before are answered, the lease says what the new one can read, so what is stored moves on only then.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from starlette.types import ASGIApp, Receive, Scope, Send

from trundle.api._application import Api
from trundle.api._carried import CarriedPackages, CarriedTypes
from trundle.api._core import kept_scheme as core_scheme
from trundle.api.monitoring import Metrics, RequestRecord
from trundle.errors import TrundleError
from trundle.store import NewerShapeError, ServerLease, Store, unreadable_types

_EACH = 1.0
"""After how many seconds a change of what is installed is seen at the latest."""

_COUNTED = "metrics"
"""Where a request says who counts it."""

_GRACE = 30.0
"""How many seconds requests may take to the end on the API before."""


@dataclass(slots=True)
class _Stage:
    """An API that answers requests, until the next one does."""

    types: CarriedTypes
    store: Store
    api: Api
    application: ASGIApp
    running: int = 0


class InstalledApi:
    """Serves the resource types of installed packages; of those that there are at the moment.

    Has what `Server` needs of an `Api` and of a `ServerLease`.

    Args:
        store: keeps the objects; its scheme does not matter.
        packages: loads the projects of installed packages.
        installed: gives the folder of each installed package, by its name.
        make: makes the API of a store and of what is served.
        complain: is given why a package is not served as it is installed, and what else goes wrong without ending the server.
        report: is given what is served, when that changes.

    Raises:
        DatabaseError: the database cannot be used.
    """

    def __init__(
        self,
        store: Store,
        packages: CarriedPackages,
        installed: Callable[[], Mapping[str, Path]],
        make: Callable[[Store, CarriedTypes], Api],
        complain: Callable[[str], None],
        report: Callable[[str], None],
    ) -> None:
        self._store = store
        self._packages = packages
        self._installed = installed
        self._make = make
        self._complain = complain
        self._report = report
        self._complained: Mapping[str, str] = {}
        self._trouble = ""
        self._wanted: Mapping[str, Path] | None = dict(installed())
        self._lease: ServerLease | None = None
        self._stage = self._staged(self._wanted, {})
        self.access = self._stage.api.access
        self._leasing = threading.Lock()
        self._stopping = threading.Event()
        self.metrics = _RequestMetrics(self)
        self._tell()

    # What a server needs of an API

    async def application(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request by the API that there is when it begins."""
        stage = self._stage
        scope[_COUNTED] = stage.api.metrics
        stage.running += 1
        try:
            await stage.application(scope, receive, send)
        finally:
            stage.running -= 1

    @property
    def controllers(self) -> "InstalledApi":
        """Does what follows from changes, and follows what is installed."""
        return self

    def run(self) -> None:
        """Runs the controllers of one API after another, until it is stopped."""
        follower = threading.Thread(target=self._follow, name="installed")
        follower.start()
        try:
            while not self._stopping.is_set():
                self._stage.api.controllers.run()
        finally:
            follower.join()

    def stop(self) -> None:
        """Ends all watches, and `run`."""
        self._stopping.set()
        self._stage.api.stop()
        self._stage.api.controllers.stop()

    def current(self) -> Api:
        """The API that answers requests now."""
        return self._stage.api

    # What it needs of a lease

    def renew(self) -> None:
        """Says that the server is still there, and what it can read.

        Raises:
            DatabaseError: the database cannot be written.
        """
        with self._leasing:
            try:
                if self._lease is not None:
                    self._lease.renew()
            except (
                NewerShapeError
            ):  # Another server moved on; what this one can still read is served.
                self._wanted = None

    def __enter__(self) -> Self:
        self._lease = self._leased(self._stage.store)
        return self

    def _leased(self, store: Store, holder: str = "") -> ServerLease:
        return ServerLease(store, holder, beside=(core_scheme,), complain=self._complain)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._lease is not None:
            with contextlib.suppress(TrundleError):  # It ends by itself then.
                self._lease.end()

    # Following

    def _follow(self) -> None:
        while not self._stopping.wait(_EACH):
            try:
                found = dict(self._installed())
                if found != self._wanted:
                    self._wanted = found
                    self._succeed(found)
                self._trouble = ""
            except (TrundleError, OSError) as error:
                self._wanted = None  # It is tried anew.
                if str(error) != self._trouble:
                    self._complain(f"what is installed is not looked at: {error}")
                self._trouble = str(error)

    def _succeed(self, wanted: Mapping[str, Path]) -> None:
        """Lets an API of what is installed now take over."""
        before = self._stage
        after = self._staged(wanted, before.types.packages)
        self._stage = after
        before.api.stop()
        before.api.controllers.stop()
        self._tell()
        deadline = time.monotonic() + _GRACE
        while before.running and time.monotonic() < deadline and not self._stopping.is_set():
            time.sleep(0.01)
        with self._leasing:
            self._lease = self._leased(after.store, self._lease.holder if self._lease else "")
        self._packages.keep({*after.types.packages.values(), *wanted.values()})

    def _staged(self, wanted: Mapping[str, Path], before: Mapping[str, Path]) -> _Stage:
        """An API of what is installed, without what cannot read what is stored."""
        unreadable: dict[Path, str] = {}
        while True:
            types = self._packages.join(wanted, before, unreadable)
            store = self._store.beside(types.scheme)
            found = dict(self._unread(store, types))
            if not found:
                api = self._make(store, types)
                return _Stage(types, store, api, api.application)
            unreadable |= found

    def _unread(self, store: Store, types: CarriedTypes) -> Iterator[tuple[Path, str]]:
        """The folders of packages whose release cannot read what is stored, and why."""
        holder = self._lease.holder if self._lease else ""
        wrong = {(each.group, each.name): why for each, why in unreadable_types(store, holder)}
        for folder in types.packages.values():
            whys = [
                wrong[type_.group, type_.name]
                for project in self._packages.loaded(folder)
                for type_ in project.scheme.resources.values()
                if (type_.group, type_.name) in wrong
            ]
            if whys:
                yield folder, "; ".join(whys)

    def _tell(self) -> None:
        types = self._stage.types
        for name, why in types.refused.items():
            if self._complained.get(name) != why:
                as_before = "served as before" if name in types.packages else "not served"
                self._complain(f"{name} is {as_before}: {why}")
        self._complained = types.refused
        kinds = ", ".join(sorted(each.qualified for each in types.kinds)) or "no resource types"
        self._report(kinds)


class _RequestMetrics:
    """Counts each request in the metrics of the API that answered it, which a later one may have replaced."""

    def __init__(self, api: InstalledApi) -> None:
        self._api = api

    def started(self, record: RequestRecord) -> None:
        """The answer to a request starts."""
        self._of(record).started(record)

    def completed(self, record: RequestRecord) -> None:
        """A request was answered, or its client is gone."""
        self._of(record).completed(record)

    def _of(self, record: RequestRecord) -> Metrics:
        found = record.scope.get(_COUNTED)
        return found if isinstance(found, Metrics) else self._api.current().metrics
