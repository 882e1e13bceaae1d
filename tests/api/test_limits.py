"""Requests and watches of one user are counted, by a clock that the test sets."""

import asyncio

from trundle.api import UserLimits
from trundle.api._limits import Limited
from trundle.api.access import Attributes, User


class Timer:
    now = 0.0

    def seconds(self):
        return self.now


def ask(limited, name, verb="get"):
    """The status of an answer."""
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "user": User(name), "attributes": Attributes(verb), "method": "GET"}
    asyncio.run(limited(scope, None, send))
    return sent[0]["status"]


async def answering(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})


def test_a_user_saves_up_requests_for_two_seconds_at_most():
    timer = Timer()
    limited = Limited(answering, UserLimits(requests=5), timer)
    assert [ask(limited, "ann") for _ in range(12)] == [200] * 10 + [429] * 2
    assert ask(limited, "ben") == 200
    timer.now += 0.2
    assert [ask(limited, "ann") for _ in range(2)] == [200, 429]
    timer.now += 3600
    assert [ask(limited, "ann") for _ in range(11)] == [200] * 10 + [429]


def test_users_without_a_limit_are_not_counted():
    limited = Limited(answering, UserLimits())
    assert {ask(limited, "ann", "watch") for _ in range(100)} == {200}


def test_a_watch_counts_while_it_is_open():
    limited = None
    inside = []

    async def watching(scope, receive, send):
        await answering(scope, receive, send)
        if not inside:
            inside.append("first")
            nested = []

            async def sending(message):
                nested.append(message)

            await limited(scope, receive, sending)
            inside.append(nested[0]["status"])

    limited = Limited(watching, UserLimits(watches=1))
    assert ask(limited, "ann", "watch") == 200
    assert inside == ["first", 429]
    assert ask(limited, "ann", "watch") == 200
