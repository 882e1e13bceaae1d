"""The same story in a cluster and in `trundle serve`: what it takes to compare the two."""

import signal
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import warm
from clusters import Answer
from trundle_servers import TrundleServer


class Serving:
    """`trundle serve` of a release, over one store for all releases."""

    def __init__(self, folder):
        self._store = folder / "store.db"
        self._server = None

    def release(self, folder):
        """Goes on with another release, in whose shape all objects are rolled first."""
        self.close()
        options = ("--store", str(self._store))
        if self._server is not None:
            roll = [warm.TRUNDLE, "store", "roll", *options]
            subprocess.run(roll, cwd=folder, check=True, capture_output=True)
        self._server = TrundleServer(folder, options)
        self._server.start()

    def request(self, method, path, body=None, **further):
        return Answer(*self._server.request(method, path, body, **further))

    def close(self):
        if self._server is not None:
            self._server.end(signal.SIGTERM)  # One that is killed may still read what it could.


def edit(world, path, change):
    """Reads an object, changes it and writes it, until no other came between."""
    while True:
        found = world.request("GET", path).ok()
        change(found)
        answer = world.request("PUT", path, found)
        if answer.status != 409:
            return answer.ok()


def without_traces(found, group):
    metadata = found["metadata"]
    annotations = metadata.get("annotations") or {}
    kept = {key: value for key, value in annotations.items() if key != f"{group}/carrier"}
    head = {"labels": metadata.get("labels"), "annotations": kept}
    rest = {key: value for key, value in found.items() if key not in {"metadata", "kind"}}
    return {**rest, "metadata": head}


def during(edits, world, numbers, ends):
    """Lets clients edit as long as something goes on, each several times at least; how often each has."""
    ended = threading.Event()

    def working(number):
        turn = 0
        while turn < 3 or not ended.is_set():
            edits(world, number, turn)
            turn += 1
            ended.wait(0.1)
        return turn

    with ThreadPoolExecutor(len(numbers)) as pool:
        begun = [pool.submit(working, each) for each in numbers]
        try:
            ends()
        finally:
            ended.set()
        return [each.result() for each in begun]
