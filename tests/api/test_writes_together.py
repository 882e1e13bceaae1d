"""Requests that write at the same time: each has its own answer, and none fails another."""

import asyncio
import contextlib
import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from apis import NEW, member

from trundle.api._steps import Together

MERGE = "application/merge-patch+json"


def together(client, requests):
    """What requests are answered that come at the same time: status and body."""
    with ThreadPoolExecutor(len(requests)) as threads:
        return list(threads.map(lambda each: client.call(*each[:3], **each[3]), requests))


def patch(client, name, body):
    """A request that changes a member."""
    return "PATCH", client.at(NEW, name), body, {"media_type": MERGE}


@pytest.mark.full
def test_patches_of_one_object_are_all_stored(client):
    client.create(NEW, "ada", group="red")
    names = {f"note-{number}" for number in range(40)}
    sent = [patch(client, "ada", {"metadata": {"annotations": {each: "x"}}}) for each in names]
    found = together(client, sent)
    assert {code for code, _ in found} == {200}
    assert client.get(NEW, "ada")["metadata"]["annotations"].keys() >= names
    assert len({body["metadata"]["resourceVersion"] for _, body in found}) == len(names)


def test_a_request_that_is_refused_fails_no_other(client):
    old, _, _ = (client.create(NEW, each, group="red") for each in ("ada", "bea", "cyd"))
    label = {"metadata": {"labels": {"a": "b"}}}
    assert client.call(*patch(client, "ada", label)[:3], media_type=MERGE)[0] == 200
    sent = [
        ("PUT", client.at(NEW, "ada"), {**old, "group": "other"}, {}),
        patch(client, "bea", label),
        patch(client, "eve", label),
        patch(client, "bea", b"no JSON"),
        patch(client, "cyd", {"metadata": {"labels": {"a": "no label!"}}}),
        patch(client, "cyd", label),
        ("POST", client.at(NEW), member("dan", group="red"), {}),
        ("POST", client.at(NEW), member("bea", group="red"), {}),
    ]
    found = [code for code, _ in together(client, sent)]
    assert found == [409, 200, 404, 400, 422, 200, 201, 409]
    labels = [client.get(NEW, each)["metadata"].get("labels") for each in ("bea", "cyd", "dan")]
    assert labels == [{"a": "b"}, {"a": "b"}, None]


def test_a_request_is_answered_after_one_that_was_refused_at_once(client):
    for _ in range(3):
        assert client.call("POST", client.at(NEW), b"no JSON")[0] == 400
    client.create(NEW, "ada", group="red")


class CountedWaits(threading.Condition):
    """A condition that counts how often it is waited for, and never waits."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def wait(self, timeout=None):
        self.count += 1
        return False


def test_a_client_that_writes_alone_does_not_wait_after_others_wrote_together():
    writes = Together()
    waits = writes._lock = CountedWaits()
    have_come = threading.Event()

    def steps():
        have_come.wait()
        return "stored"
        yield

    async def write(number):
        written = [asyncio.create_task(writes.done(steps())) for _ in range(number)]
        await asyncio.sleep(0)  # All of them have come now.
        have_come.set()
        assert await asyncio.gather(*written) == ["stored"] * number
        writes._threads.submit(int).result()  # The thread takes this once nothing waits any more.

    asyncio.run(write(4))
    before = waits.count
    assert before
    asyncio.run(write(1))
    assert waits.count == before


def test_the_loop_is_woken_once_for_all_that_are_answered_together():
    writes = Together()
    have_come = threading.Event()

    def steps():
        have_come.wait()
        return "stored"
        yield

    async def write(number):
        loop = asyncio.get_running_loop()
        woken = []
        call = loop.call_soon_threadsafe
        loop.call_soon_threadsafe = lambda *given: (woken.append(given), call(*given))[1]
        written = [asyncio.create_task(writes.done(steps())) for _ in range(number)]
        await asyncio.sleep(
            0
        )  # All of them have come now; the thread has begun with the first one.
        have_come.set()
        assert await asyncio.gather(*written) == ["stored"] * number
        return len(woken)

    assert asyncio.run(write(20)) <= 2


class RefusedError(Exception):
    """What requests are refused with; each is known as long as it is there."""

    def __init__(self, there):
        super().__init__()
        there.add(self)


def test_a_request_that_was_refused_leaves_nothing_to_the_collector_of_circles():
    """An error has its traceback, and that what it was raised in: all that the request had read."""
    there = weakref.WeakSet()

    def refused():
        raise RefusedError(there)
        yield

    async def ask(writes):
        with contextlib.suppress(RefusedError):
            await writes.done(refused())

    async def write():
        writes = Together()
        await ask(writes)
        await asyncio.sleep(0)
        return len(there)

    gc.disable()
    try:
        assert asyncio.run(write()) == 0
    finally:
        gc.enable()
