"""Does pieces of work on a Dask cluster.

Each worker must run the same Trundle, source and all. What a run opens is sent once to each of them, and again to one that takes the place of another. A
piece is done again where its worker died; after the scheduler died the run ends with an error.
"""

import contextlib
import itertools
import logging
import pickle
import pkgutil
import queue
import secrets
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any, Self, TypeVar

from trundle.workers._errors import DaskError, ForeignWorkerError, SchedulerAddressError
from trundle.workers._processes import packed, portable
from trundle.workers._spreading import KEPT, Opening

if TYPE_CHECKING:
    from distributed import Client, Future

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 4
"""How many pieces wait at the scheduler for each that is being done: enough that no worker waits for the client."""
_GRACE = 3.0
"""Seconds to say goodbye to the scheduler."""
_LAST_PORT = 65535
_LOOK = 1.0
"""Seconds between two looks at whether the cluster is still there."""
_RELEASE = "trundle.workers._release:RELEASE"
"""What a worker is asked for by a function of the standard library, which one without Trundle knows, too."""
_SAME = "install the same one, with the extra `parts`, where workers run"


class DaskCluster:
    """A Dask cluster; used as a context manager.

    Args:
        address: the address of its scheduler, such as `tcp://HOST:8786`.
        patience: seconds to wait for an answer of the scheduler, and for a worker where there is none.

    Raises:
        SchedulerAddressError: no scheduler can have such an address.
        DaskError: there is no scheduler that answers, or none of its workers does.
        ForeignWorkerError: a worker runs another version or another source of Trundle.
        ModuleNotFoundError: Dask is not installed.
    """

    def __init__(self, address: str, patience: float = 20.0) -> None:
        self.address = address
        self._patience = patience
        self._seen: tuple[str, ...] = ()
        self._looked = 0.0

    def __enter__(self) -> Self:
        self._client = _connected(self.address, self._patience)
        try:
            self._require_workers()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    @property
    def count(self) -> int:
        """How many pieces are done at the same time: one in each worker, since its threads would only take turns."""
        return max(1, len(self._workers()))

    def results(
        self, opening: Opening, work: Callable[[Any, T], R], pieces: Sequence[T]
    ) -> Generator[R, None, None]:
        """See `Workers.results`."""
        release, run = _release(), f"trundle-{secrets.token_hex(8)}"
        held = self._client.submit(bytes, packed(opening), key=f"{run}-opening", pure=False)
        done: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        under_way: set[Future[Any]] = set()
        waiting = iter(enumerate(pieces))
        try:
            while True:
                room = max(0, self.count * _AHEAD - len(under_way))
                for number, piece in itertools.islice(waiting, room):
                    sent = packed((work, piece))
                    future = self._client.submit(
                        _done, release, run, held, sent, key=f"{run}-{number}", pure=False
                    )
                    future.add_done_callback(done.put)
                    under_way.add(future)
                if not under_way:
                    return
                ready = self._next(done)
                under_way.discard(ready)
                yield self._result(ready)
        finally:
            self._abandon(run, [held, *under_way])

    def _next(self, done: "queue.SimpleQueue[Future[Any]]") -> "Future[Any]":
        """The next piece that is ready.

        Raises:
            DaskError: the scheduler ended, or there was no worker for too long.
        """
        seen = time.monotonic()
        while True:
            with contextlib.suppress(queue.Empty):
                return done.get(timeout=_LOOK)
            if self._client.status != "running":
                raise self._gone()
            if self._workers():
                seen = time.monotonic()
            elif time.monotonic() - seen > self._patience:
                raise self._idle()

    def _result(self, ready: "Future[Any]") -> Any:
        from distributed import KilledWorker  # noqa: PLC0415

        try:
            succeeded, result = pickle.loads(ready.result(self._patience))  # noqa: S301 - by an own worker
        except CancelledError:
            raise self._gone() from None
        except KilledWorker as error:
            expected, found = "workers to finish their work", f"that several ended: {error}"
            advice = "look at their logs, for want of memory above all, and run the command again"
            raise DaskError(self.address, expected, found, advice) from None
        except (ImportError, AttributeError) as error:  # It could not read what it was sent.
            raise self._foreign("a worker", str(error)) from None
        except (OSError, TimeoutError) as error:
            raise self._gone(_words(error)) from None
        if not succeeded:
            raise result
        return result

    def _workers(self) -> tuple[str, ...]:
        """The addresses of the workers, as they were known a moment ago."""
        if time.monotonic() - self._looked > _LOOK:
            try:
                self._seen = tuple(sorted(self._client.nthreads()))
            except (OSError, TimeoutError) as error:
                raise self._gone(_words(error)) from None
            self._looked = time.monotonic()
        return self._seen

    def _require_workers(self) -> None:
        """Waits for a worker, and refuses all that run another Trundle."""
        try:
            self._client.wait_for_workers(1, timeout=self._patience)
            found = self._client.run(pkgutil.resolve_name, _RELEASE, on_error="return")
        except TimeoutError:
            raise self._idle() from None
        except OSError as error:
            raise self._gone(_words(error)) from None
        for worker, release in found.items():
            if release != _release():
                is_absent = isinstance(release, BaseException)
                raise self._foreign(f"the worker {worker}", "none" if is_absent else str(release))

    def _foreign(self, worker: str, found: str) -> ForeignWorkerError:
        return ForeignWorkerError(
            f"{self.address}: {worker}", f"Trundle {_release()}", found, _SAME
        )

    def _gone(self, reason: str = "that it ended, or cannot be reached") -> DaskError:
        advice = "start it again, and run the command again; it goes on"
        return DaskError(self.address, "a scheduler that answers", reason, advice)

    def _idle(self) -> DaskError:
        found, advice = f"none for {self._patience:g} seconds", f"run `dask worker {self.address}`"
        return DaskError(self.address, "a worker", found, advice)

    def _abandon(self, run: str, futures: "Sequence[Future[Any]]") -> None:
        """Cancels what is under way, and closes what workers have opened."""
        with contextlib.suppress(Exception):
            if self._client.status == "running":
                self._client.cancel(futures, force=True)
                self._client.run(_closed, run, on_error="ignore")

    def _close(self) -> None:
        with contextlib.suppress(Exception):
            self._client.close(timeout=_GRACE)


def _words(error: OSError) -> str:
    """What an error says, without the connection that it begins with."""
    return str(error).rpartition(">: ")[2]


def _connected(address: str, patience: float) -> "Client":
    from distributed import Client  # noqa: PLC0415

    for each in ("distributed", "distributed.client"):  # What goes wrong is an error here.
        logging.getLogger(each).setLevel(logging.CRITICAL)
    _require_address(address)
    expected, advice = "a scheduler that answers", "check the address, and that it is running"
    try:
        return Client(address, timeout=patience, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise DaskError(address, expected, _words(error), advice) from None


def _require_address(address: str) -> None:
    """Raises where no scheduler can have an address.

    Raises:
        SchedulerAddressError: see above.
    """
    from distributed.comm import get_address_host_port  # noqa: PLC0415

    try:
        host, port = get_address_host_port(address)
    except (ValueError, NotImplementedError):
        host, port = "", 0
    if not host or not host.isprintable() or " " in host or not 0 < port <= _LAST_PORT:
        expected, advice = "the address of a scheduler", "write it as `tcp://HOST:8786`"
        raise SchedulerAddressError("scheduler", expected, repr(address), advice)


def _release() -> str:
    return str(pkgutil.resolve_name(_RELEASE))


def _done(release: str, run: str, opening: bytes, sent: bytes) -> bytes:
    """Does a piece of work in a worker; the result, or the error, is packed."""
    try:
        if release != _release():
            raise ForeignWorkerError("a worker", f"Trundle {release}", _release(), _SAME)  # noqa: TRY301
        work, piece = pickle.loads(sent)  # noqa: S301 - by the client, which the worker obeys
        result = KEPT.do(run, lambda: pickle.loads(opening), lambda opened: work(opened, piece))  # noqa: S301 - the same
        return packed((True, result))
    except Exception as error:  # noqa: BLE001 - it is raised again where the work was asked for
        return packed((False, portable(error)))


def _closed(run: str) -> None:
    """Closes in a worker what was opened for a run; it may not wait here, where a worker listens."""
    KEPT.close(run, wait=False)
