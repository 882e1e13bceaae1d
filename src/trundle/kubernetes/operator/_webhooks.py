"""The webhook of an operator: converts installations, and what installed packages carry.

Each operator has it, whether it acts or not. What is to be converted is kept in the cluster, and looked at again and again, so a package that is
installed or upgraded needs no restart.
"""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from trundle.errors import TrundleError
from trundle.kubernetes._connections import Answer, Answered
from trundle.kubernetes._conversions import Conversions
from trundle.kubernetes._metrics import WebhookMetrics
from trundle.kubernetes._own import converted_installations, scheme
from trundle.kubernetes._webhook import WebhookApplication
from trundle.kubernetes.operator._replicas import Replica
from trundle.kubernetes.operator._schemas import HeldSchemas, SchemaLoader, Schemas
from trundle.kubernetes.operator._serving import DamagedRecordError, Records, ServedRecord, name_of

_PAUSE = 0.5
"""How many seconds pass between two looks at what is to be converted."""

_MOST_WAITING = 4
"""How many reviews of one installation wait for the hooks of its package at a time; those of others go on."""
_UNREADY = "not all that is to be converted is loaded yet"
_VERBS = frozenset({"convert", "admit"})


@dataclass(frozen=True)
class _Converting:
    """What answers for an installation, with the schemas that it converts by; a request that it answers holds both."""

    application: WebhookApplication
    schemas: Schemas


class Webhooks:
    """Converts by what the records of a cluster say; it says by a Lease what that is.

    Installations are converted at `/convert`; objects of a package at `/convert/NAMESPACE/NAME`, after the installation that brought it.

    Args:
        records: what is to be converted.
        loader: loads the schemas.
        replica: the Lease.
        guarded: whether the resource types of packages have admission for their carriers.
        log: is called with what goes wrong.
    """

    def __init__(
        self,
        records: Records,
        loader: SchemaLoader,
        replica: Replica,
        *,
        guarded: bool,
        log: Callable[[str], object],
    ) -> None:
        self._records = records
        self._schemas = HeldSchemas(loader)
        self._replica = replica
        self._guarded = guarded
        self._log = log
        self._metrics = WebhookMetrics()
        own = Conversions(converted_installations(), scheme, self._metrics, guarded=False)
        self._own = WebhookApplication(own, self._metrics)
        self._converting: Mapping[str, _Converting] = {}
        self._serves: Mapping[str, str] = {}
        self._trouble = ""
        self._ready = False
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="webhooks", daemon=True)

    def start(self) -> None:
        """Begins to look at what is to be converted; `/readyz` says when all of it is loaded, but for what is damaged."""
        self._thread.start()

    def stop(self) -> None:
        """Makes `/readyz` say that no more requests should come; conversions go on."""
        self._own.stop()

    def close(self) -> None:
        """Ends looking, when requests are answered; others wait for this operator no longer."""
        self._stopped.set()
        self._thread.join()
        try:
            self._replica.leave()
        except TrundleError as error:
            self._log(str(error))

    def answer(self, method: str, path: str, body: bytes) -> Answered:
        """Answers a request, at once or in another thread."""
        verb, _, owner = path[1:].partition("/")
        if verb in _VERBS and owner:
            found = self._converting.get(owner)
            if found is not None:
                answered = found.application.answer(method, f"/{verb}", body)
                if not isinstance(answered, Answer):
                    answered.add_done_callback(lambda _: found)  # It holds the schemas until then.
                return answered
            if self._ready:
                return _refused(404, f"nothing of an installation {owner} is converted here")
            return _refused(503, _UNREADY)
        if path == "/readyz" and not self._ready:
            return _refused(503, _UNREADY)
        return self._own.answer(method, path, body)

    def _follow(self) -> None:
        while True:
            try:
                trouble = "\n".join(self._look())
            except Exception as error:  # noqa: BLE001 - whatever it is, what was converted goes on being so
                trouble = str(error) or type(error).__name__
            if trouble and trouble != self._trouble:
                self._log(f"not all that is to be converted is loaded: {trouble}")
            self._trouble = trouble
            if self._stopped.wait(_PAUSE):
                return

    def _look(self) -> list[str]:
        """Looks at what is to be converted; what is wrong with it."""
        # Said before looking: from then on, nothing is stored that this webhook has not been seen to read.
        self._replica.say(self._serves)
        self._schemas.begin_look()
        listed = self._records.listed()
        troubles = [str(each) for each in listed.damaged.values()]
        there = [owner for owner in self._converting if name_of(owner) in listed.damaged]
        converting = {owner: self._converting[owner] for owner in there}
        serves = {owner: self._serves[owner] for owner in there}
        complete = True
        for each in listed.records:
            owner, stamp = each.served.owner, each.served.stamp
            before = self._converting.get(owner)
            if before is not None and self._serves.get(owner) == stamp:
                converting[owner], serves[owner] = before, stamp
                continue
            try:
                converting[owner], serves[owner] = self._made(each), stamp
            except Exception as error:  # noqa: BLE001 - one that cannot be loaded holds up no other
                why = str(error) or type(error).__name__
                serves[owner] = f"{stamp}!{why}"
                troubles.append(f"{owner}: {why}")
                complete &= self._is_lost(each, error)
                if before is not None:
                    converting[owner] = before
        self._converting, self._serves = converting, serves
        self._replica.say(serves)
        self._ready |= complete
        return troubles

    def _is_lost(self, record: ServedRecord, error: Exception) -> bool:
        """Whether waiting is of no use, as the schemas of a record are damaged; not where another record names others by now."""
        return (
            isinstance(error, DamagedRecordError)
            and self._records.get(record.served.owner) == record
        )

    def _made(self, record: ServedRecord) -> _Converting:
        schemas = self._schemas.load(self._records.schemas(record.served.digest))
        conversions = Conversions(
            schemas.known,
            schemas.storing(record.served.storing),
            self._metrics,
            guarded=self._guarded,
        )
        threads = ThreadPoolExecutor(_MOST_WAITING, "hooks") if schemas.calls_methods else None
        return _Converting(WebhookApplication(conversions, self._metrics, threads), schemas)


def _refused(status: int, why: str) -> Answer:
    return Answer(status, "text/plain", why.encode())
