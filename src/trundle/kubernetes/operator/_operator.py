"""The operator: looks at all installations of a cluster, again and again, and whenever one of them changes.

It has no state of its own but what the cluster keeps: whenever it dies, the next one continues.
"""

import datetime as dt
import math
import threading
import traceback
from collections.abc import Callable, Collection, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from trundle.errors import TrundleError
from trundle.installation import INTERVAL, Installation
from trundle.kubernetes._cluster import Cluster, ClusterError
from trundle.kubernetes.operator._delivering import owner_of
from trundle.kubernetes.operator._fetching import BackgroundContent
from trundle.kubernetes.operator._following import Follower, is_leaving
from trundle.kubernetes.operator._installations import Installations
from trundle.kubernetes.operator._leadership import Leadership, LostLeaseError
from trundle.kubernetes.operator._reachability import Doorbell, servers_of
from trundle.kubernetes.operator._remembered import Keeper, SupersededError
from trundle.kubernetes.operator._reporting import Report, status_document
from trundle.kubernetes.operator._rolling import Rolling
from trundle.kubernetes.operator._schedule import SOON, Look, Pace
from trundle.kubernetes.operator._tidying import Tidying
from trundle.registry import HttpSettings, Outages, ServerToken
from trundle.runtime import prepare_types

PATIENCE = HttpSettings(connect_timeout=5, read_timeout=10, request_time=15, retries=1)
"""How long a look waits for what a registry says, as the others wait with it. The content of packages is fetched beside the looks, with the usual patience."""
_CONTENT = 2.0
"""How many seconds a look waits for content, for all that it begins to fetch; what arrives sooner needs no other look."""


class Operator:
    """Follows the installations of a cluster until it is stopped.

    Args:
        cluster: the cluster.
        folder: where content is kept that was fetched; it may be lost at any time.
        clock: the time.
        home: the namespace of what the operator remembers.
        rolling: brings resource types into the cluster.
        namespace: the namespace whose installations are followed; `*` for all.
        leadership: says whether this operator acts; None where there is no other.
        log: is called with what there is to report.
        interval: the pause between two looks at channels.
        settings: times and sizes for what looks ask of registries; `PATIENCE` where None.
        token: asked at each look, says what one server is shown where channels are read from it; None for none.
    """

    def __init__(
        self,
        cluster: Cluster,
        folder: Path,
        *,
        clock: Callable[[], dt.datetime],
        home: str,
        rolling: Rolling,
        namespace: str = "*",
        leadership: Leadership | None = None,
        log: Callable[[str], object] = lambda _: None,
        interval: dt.timedelta = INTERVAL,
        settings: HttpSettings | None = None,
        token: Callable[[], ServerToken | None] = lambda: None,
    ) -> None:
        self._cluster = cluster
        self._found = Installations(cluster)
        self._folder = folder
        self._clock = clock
        self._home = home
        self._rolling = rolling
        self._namespace = namespace
        self._leadership = leadership
        self._log = log
        self._interval = interval
        self._outages = Outages()
        self._settings = msgspec.structs.replace(settings or PATIENCE, outages=self._outages)
        self._token = token
        self._keepers: dict[str, Keeper] = {}
        self._recorded: dict[str, tuple[str, str]] = {}
        self._is_clean = False
        self._wake = threading.Event()
        self._doorbell = Doorbell(self._outages, settings or PATIENCE, self._wake.set)
        # No namespace has such a name.
        self._content = BackgroundContent(folder / ".content", HttpSettings(), self._wake.set)
        self._tidying = Tidying(folder, self._content)
        self.stopped = threading.Event()

    def stop(self) -> None:
        """Ends `run`, after what it is doing."""
        self.stopped.set()
        self._wake.set()

    def run(self) -> None:
        """Follows until it is stopped."""
        prepare_types()
        threading.Thread(target=self._watch, name="watch", daemon=True).start()
        lead = threading.Thread(target=self._lead, name="lease", daemon=True)
        if self._leadership is not None:
            lead.start()
        pace = Pace(self._interval)
        while not self.stopped.is_set():
            if self._leadership is not None and not self._leadership.holds:
                self._is_clean = False
                self.stopped.wait(0.2)
                continue
            self._wake.clear()
            try:
                found = self.look(_CONTENT)
            except Exception:  # noqa: BLE001 - a fault in one look must not end all others
                self._log(traceback.format_exc())
                found = Look(away=True)
            self._wake.wait(pace.pause(found, self._clock()))
        if self._leadership is not None:
            lead.join()  # It would take again what is given up here.
            try:
                self._leadership.release()
            except ClusterError as error:  # Others wait until it expires.
                self._log(str(error))

    def look(self, patience: float = math.inf) -> Look:
        """Looks at all installations once; what goes wrong is in their status, and among the lines.

        Servers that do not answer are asked for nothing, and looks go on without them.

        Args:
            patience: for how many seconds it waits for the content of packages, for all together.
        """
        self._outages.begin_round()
        self._content.begin_look(patience)
        self._settings = msgspec.structs.replace(self._settings, token=self._token())
        lines: list[str] = []
        reports: list[Report] = []
        try:
            listed = self._found.listed(self._namespace)
        except ClusterError as error:
            return self._reported(Look((str(error),), away=True))
        self._doorbell.ring(servers_of(listed))
        self._rolling.begin_look()
        failed = not self._is_tidy(listed)
        spaces = {
            space: list(documents)
            for space, documents in groupby(listed, lambda each: each["metadata"]["namespace"])
        }
        yielding = {owner_of(each) for each in filter(is_leaving, listed)}
        # What takes objects over of one that leaves applies them before they would be deleted.
        for space in sorted(spaces, key=lambda each: any(map(is_leaving, spaces[each]))):
            try:
                reports += self._namespace_looked_at(space, spaces[space], yielding)
            except (TrundleError, OSError) as error:
                lines.append(f"{space}: {error}")
                failed = True
        self._tidy_folder(spaces)
        times = [each.status.next_change for each in reports if each.status is not None]
        return self._reported(
            Look(
                tuple(lines),
                pending=any(_is_pending(each) for each in reports),
                away=failed or any(_is_away(each) for each in reports),
                next_change=min((each for each in times if each), default=None),
            )
        )

    def _is_tidy(self, documents: list[dict[str, Any]]) -> bool:
        """Ends converting for installations that are gone, and completes what an operator before left; whether that could be done."""
        try:
            if not self._is_clean:
                self._rolling.clean()
                self._is_clean = True
            if self._namespace == "*":
                self._rolling.tidy(map(owner_of, documents))
        except TrundleError as error:
            self._log(str(error))
            return False
        return True

    def _tidy_folder(self, spaces: Collection[str]) -> None:
        """Removes what no installation needs any more; where that fails, looks go on."""
        tidied = self._tidying.tidy(spaces, self._namespace, self._clock())
        for each in tidied.gone:
            self._keepers.pop(each, None)  # Where it comes back, it is restored.
        for each in tidied.errors:
            self._log(each)

    def _reported(self, found: Look) -> Look:
        for each in found.lines:
            self._log(each)
        return found

    def _namespace_looked_at(
        self, space: str, documents: list[dict[str, Any]], yielding: Collection[str]
    ) -> list[Report]:
        folder = self._folder / space
        keeper = self._keepers.get(space)
        if keeper is None:
            keeper = self._keepers[space] = Keeper(self._cluster, self._home, space, folder)
        keeper.load()
        with Installation(
            folder,
            clock=self._clock,
            settings=self._settings,
            content=self._content,
            unreadable=lambda _, after: self._rolling.unreadable(space, after.name, after.storage),
        ) as installation:
            follower = Follower(
                self._cluster,
                installation,
                keeper,
                self._check,
                self._rolling,
                documents,
                yielding,
            )
            try:
                follower.tidy()
                # What stays is looked at first: what leaves may be what it needs.
                reports = [
                    self._looked_at(each, follower) for each in sorted(documents, key=is_leaving)
                ]
            finally:
                self._tidying.note(space, installation)
            keeper.save()
        return reports

    def _looked_at(self, document: Mapping[str, Any], follower: Follower) -> Report:
        """Looks at one installation; one that cannot be written holds up no other.

        Raises:
            SupersededError: another operator has written meanwhile.
            LostLeaseError: another operator acts.
        """
        try:
            return self._brought_on(document, follower)
        except (SupersededError, LostLeaseError):
            raise
        except ClusterError as error:
            self._log(f"{owner_of(document)}: {error}")
            report = Report()
            report.says("Failed", str(error))
            return report

    def _brought_on(self, document: Mapping[str, Any], follower: Follower) -> Report:
        """Brings one installation on, and writes its status."""
        self._check()
        leaves = is_leaving(document)
        if not leaves:
            self._found.set_finalizer(document, there=True)
        report = follower.remove(document) if leaves else follower.follow(document)
        self._check()
        self._record(document, report)
        if leaves and report.ready:
            self._found.set_finalizer(document, there=False)
        else:
            generation = document["metadata"].get("generation", 0)
            before = document.get("status") or {}
            status = status_document(report, before, generation, self._clock())
            self._found.write_status(document, status)
        return report

    def _record(self, document: Mapping[str, Any], report: Report) -> None:
        """Writes events about what is new, once."""
        metadata = document["metadata"]
        what = f"{metadata['namespace']}/{metadata['name']}"
        # How much of it has arrived is no news.
        stops = [words for reason, words in report.blocked.items() if reason != "Fetching"]
        blocked = "\n".join(stops)
        new = (f"{report.reason} {report.version} {report.digest}", blocked)
        conditions = {e["type"]: e for e in (document.get("status") or {}).get("conditions") or []}
        before = self._recorded.get(metadata["uid"])
        if before is None and conditions:
            ready, stop = conditions.get("Ready"), conditions.get("Blocked")
            there = (document.get("status") or {}).get("installed") or {}
            release = f"{there.get('version', '')} {there.get('digest', '')}"
            before = (
                f"{ready['reason'] if ready else ''} {release}",
                stop["message"] if stop and stop["status"] == "True" else "",
            )
        self._recorded[metadata["uid"]] = new
        now = self._clock()

        def record(reason: str, message: str, line: str, *, warning: bool) -> None:
            self._log(f"{what}: {line}")
            try:
                self._found.record(document, reason, message, now, warning=warning)
            except ClusterError as error:  # A namespace that is being deleted takes none.
                self._log(f"{what}: {error}")

        if before is None or before[0] != new[0]:
            line = f"{report.reason}: {report.message}"
            record(report.reason, report.message, line, warning=not _is_fine(report))
        said = report.message if before is None or before[0] != new[0] else ""
        if blocked not in {"", said} and (before is None or before[1] != blocked):
            record("Blocked", blocked, f"blocked: {blocked}", warning=True)
        published = report.status and report.status.condition("Published")
        was = conditions.get("Published")
        if published and published.status == "False" and (was is None or was["status"] != "False"):
            record(published.reason, published.message, published.message, warning=True)

    def _check(self) -> None:
        if self._leadership is not None:
            self._leadership.check()

    def _watch(self) -> None:
        """Wakes the operator whenever the spec or the annotations of an installation change."""
        seen: dict[str, str] = {}
        while not self.stopped.is_set():
            try:
                for uid, words in self._found.watched(self._namespace):
                    if seen.get(uid) != words:
                        seen[uid] = words
                        self._wake.set()
            except ClusterError as error:
                self._log(f"watching: {error}")
            except Exception:  # noqa: BLE001 - whatever an answer is, watching goes on
                self._log(traceback.format_exc())
            self.stopped.wait(SOON)
            self._wake.set()

    def _lead(self) -> None:
        """Keeps the Lease."""
        leadership = self._leadership
        assert leadership is not None
        while not self.stopped.is_set():
            held = leadership.holds
            try:
                if leadership.renew() != held:
                    self._log("this operator acts" if leadership.holds else "another operator acts")
                    self._wake.set()
                if leadership.holds and self._rolling.has_moved():
                    self._wake.set()
            except ClusterError as error:
                self._log(str(error))
            except Exception:  # noqa: BLE001 - without the Lease, this operator would never act again
                self._log(traceback.format_exc())
            self.stopped.wait(leadership.seconds / 5)


def _is_pending(report: Report) -> bool:
    return (
        report.changed
        or report.reason in {"Waiting", "Uninstalling"}
        or (report.migration is not None and report.migration.goes_on)
        or not {"DependencyConflict", "PackageMissing"}.isdisjoint(report.blocked)
    )


def _is_away(report: Report) -> bool:
    failed = report.migration is not None and report.migration.failed
    return report.away or report.reason == "Failed" or failed


def _is_fine(report: Report) -> bool:
    return report.ready or report.reason in {"Waiting", "Uninstalling", "Fetching"}
