"""Fetches the content of packages beside the looks: however slowly one arrives, looks go on with the others."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from trundle.channels.artifacts import Artifact
from trundle.errors import Finding, Place
from trundle.installation import ArrivingError, ContentStore
from trundle.kubernetes._errors import KubernetesCode
from trundle.registry import HttpSettings, Progress, Repository, open_repository

_MOST = 8
"""How many releases arrive at a time; registries refuse those who ask for all at once."""

_MIB = 2**20
_ADVICE = "wait; it is fetched beside all else, and goes on where it breaks off"


class _Transfer:
    """The content of a release, on its way.

    Attributes:
        before: why it could not be fetched the time before; None where it was not tried.
        size: how many bytes have arrived.
        done: whether it has ended.
        error: why it could not be fetched; None where it could.
        is_awaited: whether a look waits for its end.
        look: the look that was the last to ask for it.
        shown: the look that was the first to see its error; None where none has.
    """

    def __init__(self, look: int, before: Exception | None) -> None:
        self.before = before
        self.size = 0
        self.done = threading.Event()
        self.error: Exception | None = None
        self.is_awaited = True
        self.look = look
        self.shown: int | None = None

    def count(self, size: int) -> None:
        """Counts bytes that have arrived."""
        self.size += size


class BackgroundContent(ContentStore):
    """The content of packages, of all namespaces together.

    The look that begins to fetch a release waits for it, with a patience that is one for all releases. Looks that follow are refused the release until it
    is here, or cannot be had; what could not be had is fetched again by the look after that which says so.

    Args:
        folder: the folder of the image layout.
        settings: times and sizes for registries.
        ended: is called when a release is here or cannot be had, and no look waits for it any more.
    """

    def __init__(self, folder: Path, settings: HttpSettings, ended: Callable[[], object]) -> None:
        super().__init__(folder)
        self._settings = settings
        self._ended = ended
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(_MOST)
        self._transfers: dict[tuple[str, str], _Transfer] = {}
        self._look = 0
        self._deadline = 0.0
        self._asked: set[str] = set()

    def begin_look(self, patience: float) -> None:
        """Begins a look that waits for at most so many seconds. What has ended, and the look before did not ask for, is forgotten."""
        self._deadline = time.monotonic() + patience
        with self._lock:
            self._transfers = {
                key: each
                for key, each in self._transfers.items()
                if each.look == self._look or not each.done.is_set()
            }
            self._look += 1

    def fetch(
        self,
        source: Repository,
        artifact: Artifact,
        where: str,
        progress: Progress | None = None,
    ) -> None:
        """Brings an artifact here with its files, as `ContentStore.fetch` does.

        Raises:
            RefusedError: it cannot be had; an `ArrivingError` where it is not here yet.
            StorageError: the local store cannot be written. So for OSError.
        """
        del progress
        self._asked.add(artifact.digest)
        key = source.location, artifact.digest
        with self._lock:
            transfer = self._transfers.get(key)
            is_new = transfer is None or transfer.shown not in {None, self._look}
            if transfer is None or is_new:
                transfer = _Transfer(self._look, None if transfer is None else transfer.error)
                self._transfers[key] = transfer
            transfer.look = self._look
        if is_new:
            threading.Thread(
                target=self._run,
                args=(transfer, source, artifact, where),
                name="content",
                daemon=True,
            ).start()
            left = max(0.0, self._deadline - time.monotonic())
            transfer.done.wait(min(left, threading.TIMEOUT_MAX))
        self._show(key, transfer, artifact, where)

    def unpack(self, artifact: Artifact, folder: Path, where: str) -> None:
        """Unpacks an artifact that is here, as `ContentStore.unpack` does."""
        self._asked.add(artifact.digest)
        super().unpack(artifact, folder, where)

    def asked(self) -> set[str]:
        """The digests of what was asked for since this was called last, and of what is on its way. Called by the thread of the looks."""
        found, self._asked = self._asked, set()
        with self._lock:
            arriving = {key for key, each in self._transfers.items() if not each.done.is_set()}
        return found | {digest for _, digest in arriving}

    def _show(
        self, key: tuple[str, str], transfer: _Transfer, artifact: Artifact, where: str
    ) -> None:
        """Says how far a release is.

        Raises:
            Exception: it cannot be had, or is not here yet.
        """
        with self._lock:
            transfer.is_awaited = False
            is_done = transfer.done.is_set()
            if is_done and transfer.error is None:
                self._transfers.pop(key, None)
                return
            if is_done and transfer.shown is None:
                transfer.shown = self._look
        error = transfer.error if is_done else transfer.before
        if error is None:
            raise ArrivingError(_unfinished(transfer.size, artifact, where))
        raise error.with_traceback(None)  # It is raised again and again.

    def _run(self, transfer: _Transfer, source: Repository, artifact: Artifact, where: str) -> None:
        """Fetches a release, with more patience than looks have for what else they ask for."""
        try:
            with self._slots:
                patient = open_repository(source.location, settings=self._settings)
                super().fetch(patient, artifact, where, transfer.count)
        except Exception as error:  # noqa: BLE001 - the look that asks for it raises it
            transfer.error = error
        with self._lock:
            transfer.done.set()
            is_awaited = transfer.is_awaited
        if not is_awaited:
            self._ended()


def _unfinished(size: int, artifact: Artifact, where: str) -> Finding:
    expected = f"its content, {artifact.layer.size / _MIB:.1f} MiB"
    found = f"{size / _MIB:.1f} MiB until now"
    return Finding(KubernetesCode.FETCHING, Place(object=where), expected, found, _ADVICE)
