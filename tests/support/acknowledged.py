"""Clients that write down each write that a server acknowledged, and look for it afterwards."""

import json
import random
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import urllib3
import widgets

SPACE = "default"
DONE = 300
"""Statuses of HTTP below it are successes."""


def path(version: str, name: str = "", part: str = "") -> str:
    """The path of widgets, or of one of them, at a version."""
    tail = "".join(f"/{each}" for each in (name, part) if each)
    return f"/apis/{widgets.GROUP}/{version}/namespaces/{SPACE}/widgets{tail}"


@dataclass
class Known:
    """What a client knows of an object.

    Attributes:
        states: what the object may be: the last acknowledged state, and those that were sent since; None for none at all.
        touched: how many writes were acknowledged.
    """

    states: list[int | None] = field(default_factory=lambda: [None])
    touched: int = 0


class Writer(threading.Thread):
    """Creates, changes and deletes objects of its own, at any version and in any way, until it is stopped.

    A state is a number that stands in two places of an object, which a write that was half done would set apart.

    Args:
        urls: where servers listen; each request goes to one of them.
        seed: decides what it does.

    Attributes:
        known: what it knows of each object.
        refused: the answers of 500 and more.
        error: what went wrong in it.
    """

    OBJECTS = 6

    def __init__(self, urls: list[str], seed: int) -> None:
        super().__init__(daemon=True)
        self.urls, self.random, self.seed = urls, random.Random(seed), seed
        self.pool = urllib3.PoolManager(retries=False, timeout=urllib3.Timeout(60, read=60))
        self.known = {f"w{seed}-{at}": Known() for at in range(self.OBJECTS)}
        self.refused: list[urllib3.BaseHTTPResponse] = []
        self.stopping = threading.Event()
        self.error: BaseException | None = None
        self.number = 0

    def run(self) -> None:
        """Writes until it is stopped."""
        try:
            while not self.stopping.is_set():
                self.number += 1
                try:
                    self.write(self.random.choice(list(self.known)))
                except urllib3.exceptions.HTTPError:
                    time.sleep(0.02)  # The server is gone, or is started again.
        except BaseException as error:
            self.error = error
            raise

    def write(self, name: str) -> None:
        """Writes an object once."""
        known, number = self.known[name], self.number
        version = self.random.choice(widgets.VERSIONS)
        there = known.states != [None]
        way = self.random.choice(["patch", "apply", "replace", "delete"]) if there else "create"
        wanted = None if way == "delete" else number
        body = self.document(version, name, number)
        if way == "replace":
            found = self.call("GET", path(version, name))
            if found.status >= DONE:
                return
            metadata = json.loads(found.data)["metadata"]
            body["metadata"] |= {"resourceVersion": metadata["resourceVersion"]}
        known.states.append(wanted)  # From now on it may be stored.
        answer = {
            "create": lambda: self.call("POST", path(version), body),
            "replace": lambda: self.call("PUT", path(version, name), body),
            "delete": lambda: self.call("DELETE", path(version, name)),
            "patch": lambda: self.call(
                "PATCH", path(version, name), body, "application/merge-patch+json"
            ),
            "apply": lambda: self.call(
                "PATCH",
                f"{path(version, name)}?fieldManager=w&force=true",
                body,
                "application/apply-patch+yaml",
            ),
        }[way]()
        if answer.status < DONE:
            known.states = [wanted]
            known.touched += 1
        elif answer.status >= 500:
            self.refused.append(answer)
            time.sleep(0.02)
        else:
            assert answer.status in {404, 409}, answer.data
            self.learn(name)

    def learn(self, name: str) -> None:
        """Looks at an object of which it is not known whether it is there; it must be in one of the states that it may be in."""
        found = self.call("GET", path("v2", name))
        if found.status < 500:
            state = state_of(found.status, json.loads(found.data))
            assert state in self.known[name].states, (name, state, self.known[name])
            self.known[name].states = [state]

    def document(self, version: str, name: str, number: int) -> dict[str, Any]:
        """An object in a state."""
        return {
            "apiVersion": f"{widgets.GROUP}/{version}",
            "kind": "Widget",
            "metadata": {"name": name, "annotations": {"number": str(number)}},
            "spec": {"title": "Ann", "weight": number},
        }

    def call(
        self, method: str, where: str, body: Any = None, kind: str = "application/json"
    ) -> urllib3.BaseHTTPResponse:
        """The answer of one of the servers."""
        return self.pool.request(
            method,
            self.random.choice(self.urls) + where,
            body=None if body is None else json.dumps(body),
            headers={"Content-Type": kind},
        )


def state_of(status: int, document: Any) -> int | None:
    """The state of an object as a server shows it; None where there is none."""
    if status == 404:
        return None
    assert status < DONE, document
    number = int(document["metadata"]["annotations"]["number"])
    assert document["spec"]["weight"] == number, "nothing is half there"
    return number


def start(urls: list[str], count: int = 8) -> list[Writer]:
    """Starts writers."""
    writers = [Writer(urls, seed) for seed in range(count)]
    for each in writers:
        each.start()
    return writers


def stop(writers: list[Writer]) -> None:
    """Stops writers; nothing went wrong in any of them."""
    for each in writers:
        each.stopping.set()
    for each in writers:
        each.join(90)
        assert not each.is_alive()
        assert each.error is None, each.error


def require_all(writers: list[Writer]) -> int:
    """Looks for all that was acknowledged, at each version; gives how many writes that were."""
    for writer in writers:
        for name, known in writer.known.items():
            for version in widgets.VERSIONS:
                found = writer.call("GET", path(version, name))
                state = state_of(found.status, json.loads(found.data))
                assert state in known.states, (name, state, known)
    return count(writers)


def count(writers: list[Writer]) -> int:
    """How many writes were acknowledged."""
    return sum(known.touched for writer in writers for known in writer.known.values())
