"""A queue of tags that lets one process at a time change something at a registry.

A registry offers nothing that could be compared and set at once: its tags are registers that any client overwrites. But
each process can write tags of its own and read all of them, and that is enough for Lamport's bakery algorithm:

1. Set a tag "choosing". Read all tags, and take the number after the highest ticket. Set a tag "ticket" with it.
   Remove the tag "choosing".
2. Wait until no other process is choosing, and after that until none has a lower ticket; of equal numbers the lower
   name is first.
3. Do the work, and remove the ticket.

A process that begins to choose after a ticket was set sees it and queues behind it; one that was choosing before is
waited for. A list of tags is no snapshot, so choosing is looked for in one list and tickets in a later one: a process that is
missed in the first because it has just finished choosing has its ticket in the second.

A process may die. So each sets its ticket anew from time to time, to another manifest, while it waits and, in a thread,
while it holds the lease; and each watches all who are before it: what stays the same for longer than the seconds that it claims in its own name is removed. Each
measures that with its own monotonic clock from when it sees it. A process in turn counts from before it last set its
ticket; once half of its time has gone by it sets it no more, and is neither first nor holder any longer. So those who
died are waited for at the same time, not one after the other; also those in other queues of the repository, as one that
died may have held several leases. Seconds are few, so that a dead process does not keep others for long: 15 at most where
the registry takes up to a third of a second for an answer. Where it is slower, a process claims more, as it takes that
long to set its tags. What a holder started before and the registry still carries
out later than that would go unnoticed; a ledger (`Ledger`) loses nothing even then.
"""

import contextlib
import logging
import random
import re
import secrets
import threading
from collections.abc import Iterator

import msgspec

from trundle._clock import Timer
from trundle.registry._interface import INTERNAL_PREFIX, Repository
from trundle.registry._markers import prepare_markers, set_marker
from trundle.registry.errors import (
    BusyError,
    InvalidReferenceError,
    LeaseLostError,
    NotFoundError,
    RegistryError,
)

LEASE_ARTIFACT = "application/vnd.trundle.lease.v1"
"""The artifact type of the tags of a queue."""

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?")
_TAG = re.compile(
    rf"{re.escape(INTERNAL_PREFIX)}lease-(?P<name>{_NAME.pattern})"
    r"\.(?P<kind>[ct])-(?P<number>\d{10})-(?P<millis>\d{1,9})-(?P<id>[0-9a-f]{16})"
)
_LOG = logging.getLogger(__name__)
_QUIET = 5.0
"""Seconds of waiting that are not reported."""
_RAREST = 10
_RENEWED = 8
"""A ticket is set anew, and those of others are looked at, each time that this part of its seconds has gone by."""
_ANSWERS = 15
"""A process claims as many seconds as so many answers of the registry take, if that is more than is set. In half of them it sets its ticket,
with five requests, and sets it anew, with one."""


def check_lease_name(name: str, where: str) -> None:
    """Refuses what cannot be the name of a lease.

    Raises:
        InvalidReferenceError: it has other characters than lower-case letters, digits and hyphens, or too many.
    """
    if not _NAME.fullmatch(name):
        raise InvalidReferenceError(
            where,
            "the name of a lease: lower-case letters, digits and hyphens",
            repr(name),
            "choose another name",
        )


class _Ticket(msgspec.Struct, frozen=True, order=True):
    """A place in a queue, or one that is being chosen."""

    number: int
    id: str
    seconds: float
    tag: str
    queue: str
    kind: str


class Sight(msgspec.Struct, frozen=True):
    """What a tag of another process pointed to, since when it has, and when that was looked at."""

    digest: str
    since: float
    looked: float


class TagLease:
    """A queue at one repository, as one process sees it.

    Args:
        repository: the repository.
        name: the lease.
        seconds: how long its holder may show no sign of life, if the registry answers quickly.
        poll: the pause between two looks at the queue.
        timer: measures the time.
        sights: what was seen of other processes in all queues of the repository, by tag; leases of one process share it.
    """

    def __init__(
        self,
        repository: Repository,
        name: str,
        seconds: float,
        poll: float,
        timer: Timer | None = None,
        sights: dict[str, Sight] | None = None,
    ) -> None:
        check_lease_name(name, repository.location)
        self._repository = repository
        self._name = name
        self._prefix = f"{INTERNAL_PREFIX}lease-{name}."
        self._seconds = round(seconds, 3)
        self._poll = poll
        self._timer = timer or Timer()
        self._since = 0.0
        self._sights = {} if sights is None else sights
        self._begun = 0.0
        self._logged = False

    def check(self) -> None:
        """Makes sure that no other process may have taken over.

        Raises:
            LeaseLostError: half of the time has gone by.
        """
        passed = self._timer.seconds() - self._since
        if passed > self._seconds / 2:
            raise LeaseLostError(
                f"{self._repository.location}: lease {self._name}",
                f"to be done within {self._seconds / 2:g} seconds",
                f"{passed:.1f} seconds gone by",
                "see what was done, and try again",
            )

    @contextlib.contextmanager
    def held(self, wait: float) -> Iterator["TagLease"]:
        """Queues, and holds the lease.

        Raises:
            BusyError: others held it all the time.
        """
        self._begun = self._timer.seconds()
        deadline = self._begun + wait
        while (ticket := self._queue(deadline)) is None:
            if self._timer.seconds() >= deadline:
                raise self._busy("its ticket removed by others each time")
        stop = threading.Event()
        alive = threading.Thread(target=self._keep_alive, args=(ticket, stop), daemon=True)
        alive.start()
        try:
            yield self
        finally:
            stop.set()
            alive.join()
            # A ticket that cannot be removed is removed by others, in its time.
            with contextlib.suppress(RegistryError):
                self._repository.remove_unique_tag(ticket.tag)

    def _keep_alive(self, ticket: _Ticket, stop: threading.Event) -> None:
        """Renews the ticket until the work is done, or too much time has gone by."""
        while not self._timer.wait(stop, self._seconds / _RENEWED):
            try:
                if not self._renew(ticket):
                    return
            except RegistryError:
                continue  # The holder notices by `check` if this goes on for too long.

    def _queue(self, deadline: float) -> _Ticket | None:
        """Waits for the turn; None when others have removed the ticket meanwhile."""
        own = secrets.token_hex(8)
        prepare_markers(self._repository)
        start = self._timer.seconds()
        self._look()
        # In milliseconds, as the tag has it: a ticket is found by equality.
        self._seconds = max(self._seconds, round(_ANSWERS * (self._timer.seconds() - start), 3))
        start = self._timer.seconds()
        choosing = self._tag("c", 0, own)
        tags = [choosing]
        try:
            self._put(choosing)
            number = 1 + max((each.number for each in self._own(self._look(), "t")), default=0)
            tag = self._tag("t", number, own)
            ticket = _Ticket(number, own, self._seconds, tag, self._name, "t")
            tags.append(ticket.tag)
            self._since = self._timer.seconds()
            self._put(ticket.tag)
            self._repository.remove_unique_tag(choosing)
            if self._timer.seconds() - start < self._seconds / 2 and self._wait(ticket, deadline):
                return ticket
        except BaseException:
            self._remove(tags)
            raise
        self._remove(tags)
        return None

    def _wait(self, ticket: _Ticket, deadline: float) -> bool:
        """Waits until the ticket is first; False when others have removed it."""
        while True:
            begin = self._timer.seconds()
            found = self._look()
            choosing = [each for each in self._own(found, "c") if each.id != ticket.id]
            if not choosing and not self._before(ticket, found):
                found = self._look()
            lower = self._before(ticket, found)
            if ticket not in found or not self._renew(ticket):
                return False
            if not choosing and not lower:
                return True
            if begin >= deadline:
                raise self._busy(f"{len(lower)} before it")
            if not self._outlast([*choosing, *lower], begin, ticket):
                self._outlast(self._elsewhere(found), begin, ticket)
            self._log_waiting(len({each.id for each in (*choosing, *lower)}), begin)
            # The further behind, the less often.
            pause = self._poll * min(len(lower) + 1, _RAREST)
            self._timer.sleep(random.uniform(pause / 2, pause))  # noqa: S311 - no secret

    def _busy(self, found: str) -> BusyError:
        return BusyError(
            f"{self._repository.location}: lease {self._name}",
            "its turn",
            found,
            f"try again later; a dead process is removed after {self._seconds:g} seconds",
        )

    def _log_waiting(self, others: int, now: float) -> None:
        """Reports once, after some seconds, why nothing goes on."""
        if self._logged or now - self._begun < _QUIET:
            return
        self._logged = True
        _LOG.warning(
            "%s: waiting for %s; a dead process is removed after %g seconds",
            self._repository.location,
            "another at work" if others == 1 else f"{others} others at work",
            self._seconds,
        )

    def _renew(self, ticket: _Ticket) -> bool:
        """Shows that this process is alive, if it did not lately; False when others may be about to remove the ticket."""
        begin = self._timer.seconds()
        if begin - self._since < self._seconds / _RENEWED:
            return True
        if begin - self._since >= self._seconds / 2:
            return False
        self._put(ticket.tag, secrets.token_hex(8))
        if self._timer.seconds() - self._since > self._seconds / 2:
            return False
        self._since = begin
        return True

    def _outlast(self, watched: list[_Ticket], now: float, ticket: _Ticket) -> bool:
        """Removes processes that have blocked others without a sign of life for too long; whether there were any."""
        removed = False
        for each in watched:
            if not self._renew(ticket):  # In between, as many may have died.
                break
            sight = self._sights.get(each.tag)
            is_over = sight is not None and now - sight.since > each.seconds
            if sight and not is_over and now - sight.looked <= each.seconds / _RENEWED:
                continue
            digest = self._digest(each.tag)
            if sight is None or digest != sight.digest:
                # Counted from after it was looked at: by then its owner had set it.
                moment = self._timer.seconds()
                self._sights[each.tag] = Sight(digest, moment, moment)
            elif is_over:
                self._repository.remove_unique_tag(each.tag)
                removed = True
            else:
                self._sights[each.tag] = Sight(digest, sight.since, now)
        return removed

    def _digest(self, tag: str) -> str:
        """What a tag points to; nothing for one that is being removed, or is left over from that."""
        try:
            return self._repository.resolve(tag).digest
        except NotFoundError:
            return ""

    def _look(self) -> list[_Ticket]:
        """The tags of all queues; what was seen of others is forgotten."""
        found = []
        for tag in self._repository.tags(internal=True):
            parts = _TAG.fullmatch(tag)
            if parts:
                number, seconds = int(parts["number"]), int(parts["millis"]) / 1000
                found.append(
                    _Ticket(number, parts["id"], seconds, tag, parts["name"], parts["kind"])
                )
        for tag in {*self._sights} - {each.tag for each in found}:
            self._sights.pop(tag, None)
        return found

    def _own(self, found: list[_Ticket], kind: str) -> list[_Ticket]:
        """The tags of this queue of one kind."""
        return [each for each in found if (each.queue, each.kind) == (self._name, kind)]

    def _before(self, ticket: _Ticket, found: list[_Ticket]) -> list[_Ticket]:
        """The tickets that are before one."""
        return [each for each in self._own(found, "t") if each < ticket]

    def _elsewhere(self, found: list[_Ticket]) -> list[_Ticket]:
        """Who holds other leases of the repository, or is choosing there."""
        others = [each for each in found if each.queue != self._name]
        holders = {each.queue: each for each in sorted(others, reverse=True) if each.kind == "t"}
        return [*(each for each in others if each.kind == "c"), *holders.values()]

    def _put(self, tag: str, sign: str = "") -> None:
        set_marker(self._repository, tag, LEASE_ARTIFACT, sign)

    def _remove(self, tags: list[str]) -> None:
        for tag in tags:
            with contextlib.suppress(RegistryError):
                self._repository.remove_unique_tag(tag)

    def _tag(self, kind: str, number: int, own: str) -> str:
        return f"{self._prefix}{kind}-{number:010d}-{round(self._seconds * 1000)}-{own}"
