"""A repository in memory whose users take turns in an order that a test chooses, and die where it says."""

import contextlib
import threading
import zlib

from trundle.registry import NotFoundError, describe, digest_of
from trundle.registry._interface import StoredManifest, is_internal


class Killed(BaseException):
    """The process died."""


class Endless:
    """A lease that excludes no process: the worst that a lease can do."""

    def check(self):
        pass


class MemoryRepository:
    """Blobs, manifests and tags in dictionaries; every call is one step. A list of tags is no snapshot."""

    location = "memory"

    def __init__(self, step=lambda: None):
        self.step = step
        self.blobs = {}
        self.manifests = {}
        self.tagged = {}

    def as_seen_by(self, step):
        """The same repository for another process."""
        other = MemoryRepository(step)
        other.blobs, other.manifests, other.tagged = self.blobs, self.manifests, self.tagged
        return other

    def put_blob(self, content, descriptor, *, progress=None):
        self.step()
        self.blobs[descriptor.digest] = content

    def read_blob(self, descriptor, *, limit):
        self.step()
        return self.blobs[descriptor.digest]

    def put_manifest(self, content, media_type, *, tag=None, expected=None):
        self.step()
        digest = digest_of(content)
        self.manifests[digest] = (content, media_type)
        if tag is not None:
            self.tagged[tag] = digest
        return describe(content, media_type)

    def get_manifest(self, reference):
        self.step()
        digest = self.tagged.get(reference, reference)
        if digest not in self.manifests:
            raise NotFoundError(reference, "it", "nothing", "look")
        content, media_type = self.manifests[digest]
        return StoredManifest(reference, describe(content, media_type), content)

    def resolve(self, tag):
        return self.get_manifest(tag).descriptor

    def set_tag(self, tag, digest, *, expected=None):
        self.step()
        self.tagged[tag] = digest

    def tags(self, *, internal=False):
        # Read in two halves, with others in between.
        found = set()
        for half in (0, 1):
            self.step()
            found |= {tag for tag in self.tagged if zlib.crc32(tag.encode()) % 2 == half}
        return sorted(tag for tag in found if is_internal(tag) == internal)

    def remove_unique_tag(self, tag):
        self.step()
        digest = self.tagged.get(tag)
        if digest is not None:
            for each in [each for each, found in self.tagged.items() if found == digest]:
                del self.tagged[each]
            self.manifests.pop(digest, None)

    @contextlib.contextmanager
    def lease(self, name, *, wait):
        yield Endless()


class Schedule:
    """Runs processes as threads of which one at a time does a step.

    Args:
        order: numbers that choose who is next; when they are used up, all continue in turn.
        deaths: process number to the number of its step before which it dies.
    """

    def __init__(self, order, deaths):
        self._order = list(order)
        self._deaths = deaths
        self._ready = {}
        self._arrived = threading.Semaphore(0)
        self._gone = set()
        self.errors = []

    def run(self, jobs):
        """Runs `job(step)` for each; returns who finished."""
        finished, threads = set(), []
        for number, job in enumerate(jobs):
            self._ready[number] = threading.Semaphore(0)
            threads.append(
                threading.Thread(target=self._thread, args=(number, job, finished), daemon=True)
            )
        for thread in threads:
            thread.start()
            self._arrived.acquire()
        alive, turn = list(range(len(jobs))), 0
        while alive:
            choice = self._order[turn] if turn < len(self._order) else turn
            number = alive[choice % len(alive)]
            turn += 1
            self._ready[number].release()
            self._arrived.acquire()
            alive = [each for each in alive if each not in self._gone]
        for thread in threads:
            thread.join()
        return finished

    def _thread(self, number, job, finished):
        steps = 0

        def step():
            nonlocal steps
            if steps == self._deaths.get(number):
                raise Killed
            steps += 1
            self._arrived.release()
            self._ready[number].acquire()

        try:
            step()
            job(step)
            finished.add(number)
        except Killed:
            pass
        except Exception as error:  # noqa: BLE001 - a test looks at it
            self.errors.append(error)
        self._gone.add(number)
        self._arrived.release()
