"""Threads in which requests wait for hooks: they are few, wait for a place no longer than they may, and keep no process."""

import asyncio
import subprocess
import sys
import threading
import time

import pytest

from trundle.api._hook_threads import HookThreads
from trundle.api._status import ApiError


async def both(threads, *works):
    return await asyncio.gather(*map(threads.run, works), return_exceptions=True)


def test_work_is_done_side_by_side_and_errors_reach_who_waits():
    together = threading.Barrier(3)

    def fail():
        together.wait(10)
        raise TimeoutError("its own")

    threads = HookThreads(3, 0.1)
    for _ in range(3):
        found = asyncio.run(both(threads, lambda: together.wait(10) is None, fail, fail))
        assert [type(each) for each in found] == [bool, TimeoutError, TimeoutError]
        assert str(found[1]) == "its own"


def test_what_finds_no_thread_in_time_is_refused_and_not_done():
    free, done = threading.Event(), []
    threads = HookThreads(2, 0.2)

    async def run():
        hanging = [asyncio.ensure_future(threads.run(lambda: free.wait(30))) for _ in range(2)]
        await asyncio.sleep(0.05)
        with pytest.raises(ApiError, match="Too many requests") as refused:
            await threads.run(lambda: done.append("refused"))
        free.set()
        assert await asyncio.gather(*hanging) == [True, True]
        await threads.run(lambda: done.append("later"))
        return refused.value

    error = asyncio.run(run())
    assert (error.code, error.reason) == (429, "TooManyRequests")
    assert error.details["retryAfterSeconds"] > 0
    assert done == ["later"]


def test_a_hook_that_hangs_does_not_keep_the_process():
    code = (
        "import asyncio, time\n"
        "from trundle.api._hook_threads import HookThreads\n"
        "async def run():\n"
        "    hanging = asyncio.ensure_future(HookThreads(1, 9).run(lambda: time.sleep(60)))\n"
        "    await asyncio.sleep(0.1)\n"
        "    hanging.cancel()\n"
        "asyncio.run(run())\n"
    )
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", code], check=True)
    assert time.monotonic() - began < 30
