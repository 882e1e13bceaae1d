"""The case study through `trundle serve`, release by release: four clients of the served versions write throughout, also while a release is rolled."""

import signal
import subprocess
import threading
import time

import pytest
import trundle_servers
import urllib3
import warm
from clusters import until
from crm_packages import VERSIONS, write_project
from test_operator_crm import PREVIEW, document, path, served

CLIENTS, OTHERS = 4, 40
SHARED = "shared"


class Writer(threading.Thread):
    """Changes the family name of a person of its own, and a label of its own of a shared one; reads what was answered before each write.

    Attributes:
        turns: how many writes of both were answered.
        error: what went wrong.
    """

    def __init__(self, walk, number):
        super().__init__(daemon=True)
        self._walk, self._number = walk, number
        self._possible = {f"p{number}": set(), SHARED: set()}
        self._answered = set()
        self.turns, self.error = 0, None
        self.stopping = threading.Event()

    def run(self):
        try:
            turn = 0
            while not self.stopping.wait(0.02):
                turn += 1
                done = [self.write(name, str(turn)) for name in self._possible]
                self.turns += all(done)
        except BaseException as error:
            self.error = error
            raise

    def write(self, name, value):
        """Writes a value in place of the one before; whether that was answered."""
        known = self._walk.versions
        where = path(known[self._number % len(known)], name)
        try:
            status, found = self._walk.server.request("GET", where)
            if status == 404:  # Of a version that goes with this release.
                return False
            assert status == 200, found
            self.check(name, found)
            self.set(name, found, value)
            self._possible[name].add(value)  # It may be stored without an answer.
            status, answer = self._walk.server.request("PUT", where, found)
        except urllib3.exceptions.HTTPError:
            time.sleep(0.05)  # The next release starts.
            return False
        if status == 200:
            self._possible[name] = {value}
            self._answered.add(name)
        else:
            assert status in {404, 409}, answer
            self._possible[name].discard(value)
        return status == 200

    def check(self, name, found):
        """What was answered last is there."""
        if name in self._answered:
            label = f"client-{self._number}"
            names = {found[each] for each in ("lastName", "familyName") if each in found}
            kept = {found["metadata"]["labels"].get(label)} if name == SHARED else names
            assert kept, found
            assert kept <= self._possible[name], (name, kept, self._possible)

    def set(self, name, found, value):
        if name == SHARED:
            found["metadata"].setdefault("labels", {})[f"client-{self._number}"] = value
            return
        for each in ("lastName", "familyName"):
            if each in found:
                found[each] = value


class Walk:
    """The releases, one after the other over one store.

    Attributes:
        versions: what clients use now.
        server: the server.
    """

    def __init__(self, folder, url):
        self._folder, self._url = folder, url
        self._before = None
        self.server, self.versions = None, ()

    def release(self, *known):
        """Goes on with the next release."""
        folder = write_project(self._folder / known[-1], *known)
        if self._before is not None:
            (folder / "trundle.lock").write_bytes((self._before / "trundle.lock").read_bytes())
        self._before = folder
        self._trundle("generate")
        self._trundle("lock", "--accept")
        versions = [
            each for each in served(known) if each != PREVIEW
        ]  # No hook leads names to it and back.
        if self.server is None:
            self.server = trundle_servers.TrundleServer(folder, ("--store", self._url))
        else:
            self.versions = [each for each in self.versions if each in versions]
            self.server.end(signal.SIGTERM)
            self.server.folder = folder
        self.server.start()
        self.versions = versions

    def roll(self):
        """Rolls the store forward, and compares what all versions show."""
        self._trundle("store", "roll", "--verify", "--rate", "1000", "--store", self._url)

    def _trundle(self, *command):
        done = subprocess.run(
            [*warm.script(), *command], cwd=self._before, check=False, capture_output=True
        )
        assert done.returncode == 0, done.stderr.decode()


@pytest.fixture
def walk(url, tmp_path):
    """The first release."""
    begun = Walk(tmp_path, url)
    begun.release(VERSIONS[0])
    yield begun
    begun.server.end()


@pytest.mark.full
def test_nothing_is_lost_while_releases_are_rolled_beside_writers(walk):
    names = [SHARED, *(f"p{each}" for each in range(CLIENTS)), *map("o{}".format, range(OTHERS))]
    for each in names:
        body = document(VERSIONS[0], each)
        assert walk.server.request("POST", path(VERSIONS[0]), body)[0] == 201
    writers = [Writer(walk, number) for number in range(CLIENTS)]
    for each in writers:
        each.start()
    try:
        for count in range(2, len(VERSIONS) + 1):
            walk.release(*VERSIONS[:count])
            progress(writers)
            walk.roll()
            progress(writers)
    finally:
        for each in writers:
            each.stopping.set()
        for each in writers:
            each.join(60)
    for each in writers:
        assert each.error is None, each.error
        for name in (f"p{writers.index(each)}", SHARED):
            newest = walk.server.request("GET", path(VERSIONS[-1], name))[1]
            each.check(name, newest)


def progress(writers):
    """Waits until each writer has been answered twice more."""
    wanted = [each.turns + 2 for each in writers]

    def there():
        for each in writers:
            assert each.error is None, each.error
        return all(each.turns >= least for each, least in zip(writers, wanted, strict=True))

    until(there)
