"""The queue of tags, at a real registry."""

import contextlib
import functools
import threading
import time
from typing import NamedTuple

import pytest
import serving
from artifacts import QUICK, push
from passing import PassingTime
from simulating import Simulator

from trundle._clock import Timer
from trundle.registry import (
    BusyError,
    HttpSettings,
    InvalidReferenceError,
    LeaseLostError,
    RegistryRefusedError,
    UnreachableError,
    digest_of,
    open_registry,
)
from trundle.registry._lease import LEASE_ARTIFACT, TagLease
from trundle.registry._markers import set_marker


@pytest.fixture
def passing():
    return PassingTime()


def queue(repository, timer, *, name="x", seconds=6, poll=0.1):
    """The queue of a lease as a process with these settings sees it."""
    return TagLease(repository, name, seconds, poll, timer)


def lease_tags(repository):
    return [tag for tag in repository.tags(internal=True) if tag.startswith("_trundle.lease-")]


@pytest.mark.full
def test_one_at_a_time_holds_a_lease(repository):
    inside, most, total = 0, 0, 0
    guard = threading.Lock()

    def work():
        nonlocal inside, most, total
        for _ in range(2):
            with repository.lease("x", wait=120) as lease:
                with guard:
                    inside += 1
                    most = max(most, inside)
                time.sleep(0.002)
                lease.check()
                with guard:
                    inside -= 1
                    total += 1

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, total) == (1, 10)
    assert lease_tags(repository) == []


def test_leases_of_other_names_do_not_wait(repository):
    with repository.lease("x", wait=1), repository.lease("x-1", wait=1):
        pass


def test_waiting_ends(repository):
    with (
        repository.lease("x", wait=1),
        pytest.raises(BusyError, match="lease"),
        repository.lease("x", wait=0.2),
    ):
        pytest.fail("held twice")
    with repository.lease("x", wait=1):
        pass
    assert lease_tags(repository) == []


def test_a_lease_is_given_back_after_an_error(repository):
    with contextlib.suppress(ValueError), repository.lease("x", wait=1):
        raise ValueError
    with repository.lease("x", wait=0):
        pass


@pytest.mark.full
def test_a_dead_holder_is_waited_for_and_then_removed(remote, passing):
    assert queue(remote, passing, seconds=6)._queue(1)
    with queue(remote, passing, seconds=20).held(60):
        assert 6 <= passing.seconds() < 7
    assert lease_tags(remote) == []


@pytest.mark.full
def test_several_who_died_are_waited_for_at_once(remote, passing):
    for number in range(1, 5):
        push(remote, b"%d" % number, tag=f"_trundle.lease-x.t-{number:010d}-6000-{number:016x}")
    with queue(remote, passing).held(60):
        assert 6 <= passing.seconds() < 7
    assert lease_tags(remote) == []


@pytest.mark.full
def test_a_long_wait_is_logged_once(remote, passing, caplog):
    push(remote, b"1", tag=f"_trundle.lease-x.t-{1:010d}-9000-{1:016x}")
    with queue(remote, passing).held(60), queue(remote, passing, name="y").held(60):
        pass
    (logged,) = caplog.messages
    assert logged == (
        f"{remote.location}: waiting for another at work; a dead process is removed after 6 seconds"
    )


@pytest.mark.full
def test_one_that_waits_for_long_shows_that_it_lives(remote, passing):
    """Its ticket outlasts the time after which those behind it would remove a dead one's."""
    entered = []

    def work(name, seconds):
        with queue(remote, passing, seconds=seconds, poll=0.4).held(60):
            entered.append(name)

    with queue(remote, passing, seconds=20).held(1):
        threads = []
        for name, seconds in (("second", 4), ("third", 20)):
            threads.append(threading.Thread(target=work, args=(name, seconds)))
            threads[-1].start()
            while len(tags := lease_tags(remote)) <= len(threads) or any(".c-" in t for t in tags):
                passing.sleep(0.01)
        first = lease_tags(remote)
        passing.sleep(9)
        assert lease_tags(remote) == first
        assert entered == []
    for thread in threads:
        passing.join(thread)
    assert entered == ["second", "third"]


@pytest.mark.full
def test_one_that_died_while_it_chose_is_removed(remote, passing):
    push(remote, b"1", tag="_trundle.lease-x.c-0000000000-6000-0123456789abcdef")
    with queue(remote, passing).held(60):
        assert 6 <= passing.seconds() < 7
    assert lease_tags(remote) == []


def test_a_holder_that_works_for_long_keeps_its_lease(remote, passing):
    with queue(remote, passing, seconds=2).held(1) as lease:
        with pytest.raises(BusyError), queue(remote, passing, seconds=20, poll=0.4).held(5):
            pytest.fail("held twice")
        lease.check()


def test_a_holder_notices_that_it_shows_no_sign_of_life(remote, passing, monkeypatch):
    with queue(remote, passing, seconds=2).held(1) as lease:

        def unreachable(*_arguments, **_further):
            raise UnreachableError("here", "an answer", "none", "wait")

        monkeypatch.setattr("trundle.registry._lease.set_marker", unreachable)
        passing.sleep(1.2)
        with pytest.raises(LeaseLostError, match=r"within 1 seconds"):
            lease.check()


class Passing(Timer):
    """Time that passes where one waits, and what others do meanwhile."""

    def __init__(self):
        self.now = 0.0
        self.due = []

    def seconds(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds
        while self.due and self.due[0][0] <= self.now:
            self.due.pop(0)[1]()


class Tags:
    """A repository with nothing but tags, each answer of which takes some time."""

    location = "acme/crm"

    def __init__(self, timer, answer):
        self.timer, self.answer, self.digests = timer, answer, {}

    def tags(self, *, internal):
        self.timer.sleep(self.answer)
        return [*self.digests]

    def put_blob(self, _content, _descriptor):
        self.timer.sleep(self.answer)

    def put_manifest(self, content, _kind, *, tag):
        self.timer.sleep(self.answer)
        self.digests[tag] = digest_of(content)

    def resolve(self, tag):
        self.timer.sleep(self.answer)
        return Found(self.digests.get(tag, ""))

    def remove_unique_tag(self, tag):
        self.timer.sleep(2 * self.answer)
        self.digests.pop(tag, None)


class Found(NamedTuple):
    digest: str


def waited(answer, *, dead, renewals=0):
    """How long a publisher waits for each of three leases, one inside the other, from when their holder was killed."""
    settings, timer = HttpSettings(), Passing()
    repository, at_once = Tags(timer, answer), Tags(timer, 0)
    at_once.digests = repository.digests
    leases = [
        {"name": each, "seconds": settings.lease, "poll": settings.poll, "timer": timer}
        for each in ("ledger", "content", "tags")
    ]
    killed = timer.now
    if dead:
        holders = [TagLease(repository, **each) for each in leases]
        tags = [each._queue(60).tag for each in holders]
        killed = timer.now
        for number in range(1, renewals + 1):
            killed += max(each._seconds for each in holders) / 8
            for tag in tags:
                sign = functools.partial(set_marker, at_once, tag, LEASE_ARTIFACT, f"{number}")
                timer.due.append((killed, sign))
    sights = {}
    found = []
    for each in leases:
        assert TagLease(repository, **each, sights=sights)._queue(timer.now + 300)
        found.append(timer.now - killed)
    return found


@pytest.mark.parametrize("renewals", [0, 1, 2, 8, 9])
@pytest.mark.parametrize("answer", [0.001, 0.1, 0.2, 0.25, 0.35])
def test_a_process_that_was_killed_is_not_waited_for_long(answer, renewals):
    """With the settings that users have, for one that held three leases at a registry that may be slow."""
    killed, undisturbed = waited(answer, dead=True, renewals=renewals), waited(answer, dead=False)
    assert all(found - usual < 15 for found, usual in zip(killed, undisturbed, strict=True))


def test_one_whose_ticket_was_removed_queues_again(remote, passing):
    entered = threading.Event()

    def second():
        with queue(remote, passing).held(60):
            entered.set()

    with queue(remote, passing).held(1):
        thread = threading.Thread(target=second)
        thread.start()
        while len(tags := lease_tags(remote)) < 2 or any(".c-" in tag for tag in tags):
            passing.sleep(0.01)
        remote.remove_unique_tag(max(tags))
        passing.sleep(1)
        assert not entered.is_set()
    passing.join(thread)
    assert entered.is_set()


@pytest.mark.full
def test_a_tag_is_compared_and_set_by_one_of_many(repository):
    digests = [push(repository, b"%d" % number).digest for number in range(8)]
    won, lost = [], []

    def work(digest):
        try:
            repository.set_tag("stable", digest, expected=None)
            won.append(digest)
        except Exception as error:  # noqa: BLE001 - looked at below
            lost.append(type(error).__name__)

    threads = [threading.Thread(target=work, args=(digest,)) for digest in digests]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert lost == ["ConflictError"] * 7
    assert repository.resolve("stable").digest == won[0]


@pytest.mark.parametrize("name", ["", "a.b", "../a", "A", "a" * 43])
def test_a_name_that_would_not_fit_into_tags_is_refused_for_leases(repository, name):
    with pytest.raises(InvalidReferenceError), repository.lease(name, wait=0):
        pytest.fail("held")


def test_a_tag_that_a_registry_lists_but_does_not_find_is_removed():
    """As docker-registry leaves it when a deletion fails half way."""
    tag = "_trundle.lease-x.c-0000000000-100-0123456789abcdef"
    with Simulator(new=False) as simulator:
        repository = open_registry(simulator.address, settings=QUICK).repository("acme/crm")
        simulator.tags[tag] = "sha256:" + "0" * 64
        with repository.lease("x", wait=60):
            pass
        assert simulator.tags == {}


def test_a_registry_that_does_not_delete_is_named(tmp_path):
    with serving.registry(tmp_path / "registry", delete=False) as address:
        repository = open_registry(address, settings=QUICK).repository("acme/crm")
        with (
            pytest.raises(RegistryRefusedError, match=r"deletes.*switch it on"),
            repository.lease("x", wait=1),
        ):
            pytest.fail("held")
        assert lease_tags(repository) == []
        descriptor = push(repository, b"1", tag="1.0.0")
        repository.set_tag("latest", descriptor.digest)
        with pytest.raises(RegistryRefusedError, match="switch it on"):
            repository.remove_tag("latest")
        assert repository.resolve("latest") == descriptor


@pytest.mark.parametrize("seconds", [0.2, 0.20001])
def test_a_registry_that_answers_slowly_is_queued_at(repository, passing, seconds):
    """It makes a process claim more seconds, of which the tag has whole milliseconds only."""

    class Slow:
        def __getattr__(self, name):
            return getattr(repository, name)

        def tags(self, **options):
            passing.sleep(0.01643)
            return repository.tags(**options)

    lease = queue(Slow(), passing, seconds=seconds)
    with lease.held(10):
        assert len(lease_tags(repository)) == 1
    assert lease._seconds == 0.246


def test_waiting_ends_also_where_each_ticket_is_removed(repository):
    class Hostile:
        def __getattr__(self, name):
            return getattr(repository, name)

        def tags(self, **options):
            return []

    with (
        pytest.raises(BusyError, match="expected its turn, found its ticket removed"),
        queue(Hostile(), Timer()).held(0.1),
    ):
        raise AssertionError
