"""What no installation needs any more leaves the operator's folder."""

import datetime as dt
import shutil
import threading
from pathlib import Path

import pytest
import sites
from simulating import Simulator, trickle

from trundle.channels import RefusedError
from trundle.installation import Install, Installation, install, roll_back, uninstall, upgrade
from trundle.kubernetes.operator._fetching import BackgroundContent
from trundle.kubernetes.operator._tidying import TidiedFolder, Tidying
from trundle.registry import HttpSettings, StorageError

CRM = "acme/crm"
LONG = 600
LARGE = 2**20
LATER = dt.datetime(2100, 1, 4, 12, 0, tzinfo=dt.UTC)


class Folder:
    """The folder of an operator, whose looks are made by hand."""

    def __init__(self, folder, reference=None, clock=None):
        self.site = sites.Site(folder, reference, clock=clock or sites.Clock(LATER))
        self.folder = folder / "operator"
        self.ended = threading.Event()
        self.again()

    def again(self):
        """Another process has begun with what is there."""
        settings = HttpSettings(retries=0)
        self.content = BackgroundContent(self.folder / ".content", settings, self.ended.set)
        self.tidying = Tidying(self.folder, self.content)

    def opened(self, space):
        return Installation(self.folder / space, clock=self.site.clock, content=self.content)

    def look(self, *spaces, there=None, within="*", patience=LONG, act=lambda _: None):
        """Looks at some namespaces, of those that are there, and tidies."""
        self.content.begin_look(patience)
        for each in spaces:
            with self.opened(each) as installation:
                act(installation)
                self.tidying.note(each, installation)
        return self.tidying.tidy(there or spaces, within, self.site.clock())

    def install(self, installation, name=CRM):
        asked = Install(reference=self.site.reference(name), unsigned=True, upgrade=True)
        install(installation, asked)

    def files(self):
        return sum(each.is_file() for each in (self.folder / ".content/blobs/sha256").iterdir())

    def looks(self, minutes, *spaces, **further):
        for _ in range(0, minutes, 10):
            self.site.clock.go(minutes=10)
            self.look(*spaces, **further)


@pytest.fixture
def operator(tmp_path):
    return Folder(tmp_path)


def test_what_is_installed_and_what_can_be_rolled_back_to_stays(operator):
    digests = []
    for version in ("1.0.0", "1.0.1", "1.0.2"):
        digests.append(operator.site.publish(version).entry.digest)
        operator.look("a", act=operator.install)
        operator.look("a", act=upgrade)
    operator.looks(20, "a")
    assert operator.content.artifacts() == sorted(digests)
    files = operator.files()
    operator.looks(20, "a")
    assert operator.content.artifacts() == sorted(digests[1:])
    assert operator.files() < files
    operator.looks(120, "a")
    assert operator.content.artifacts() == sorted(digests[1:])
    with operator.opened("a") as installation:
        assert roll_back(installation, CRM).after == "1.0.1"


def test_what_one_namespace_needs_stays_where_another_does_without(operator):
    digest = operator.site.publish("1.0.0").entry.digest
    operator.look("a", "b", act=operator.install)
    with operator.opened("a") as installation:
        uninstall(installation, CRM)
    operator.looks(120, "a", "b")
    assert operator.content.artifacts() == [digest]
    with operator.opened("b") as installation:
        uninstall(installation, CRM)
    operator.looks(40, "a", "b")
    assert operator.content.artifacts() == []
    assert operator.files() == 0


def test_what_was_asked_for_stays_without_being_installed(operator):
    """As what waits for the content of something else."""
    operator.site.publish("1.0.0")
    operator.look("a", act=operator.install)

    def asked(installation):
        with installation.content.unpacked_aside(digest, CRM):
            pass

    with operator.opened("a") as installation:
        digest = installation.package(CRM).digest
        uninstall(installation, CRM)
    operator.looks(120, "a", act=asked)
    assert operator.content.artifacts() == [digest]
    operator.looks(40, "a")
    assert operator.content.artifacts() == []


def test_a_process_that_begins_again_removes_what_the_one_before_did_not(operator):
    operator.site.publish("1.0.0")
    operator.look("a", act=operator.install)
    with operator.opened("a") as installation:
        uninstall(installation, CRM)
    operator.looks(20, "a")
    operator.again()
    operator.look("a")
    assert len(operator.content.artifacts()) == 1
    operator.looks(40, "a")
    assert operator.content.artifacts() == []


def test_a_namespace_that_cannot_be_looked_at_keeps_what_it_needed(operator):
    digest = operator.site.publish("1.0.0").entry.digest
    operator.look("a", "b", act=operator.install)
    for _ in range(12):
        operator.site.clock.go(minutes=10)
        assert operator.tidying.tidy(["a", "b"], "*", operator.site.clock()) == TidiedFolder()
    assert operator.content.artifacts() == [digest]


def test_a_clock_that_goes_back_removes_nothing(operator):
    digest = operator.site.publish("1.0.0").entry.digest
    operator.look("a", act=operator.install)
    operator.site.clock.go(hours=-2)
    operator.look("a")
    assert operator.content.artifacts() == [digest]


def test_what_is_on_its_way_is_left_alone(tmp_path):
    with Simulator() as simulator:
        clock = sites.Clock(dt.datetime.now(dt.UTC))
        operator = Folder(tmp_path, lambda name: f"http://{simulator.address}/{name}", clock)
        operator.site.publish("1.0.0", content="x" * LARGE)
        hurry = threading.Event()
        simulator.faults.append(trickle(LARGE, hurry))

        def refused(installation):
            with pytest.raises(RefusedError, match="its content"):
                operator.install(installation)

        try:
            operator.look("a", patience=0, act=refused)
            operator.looks(20, "a")
        finally:
            hurry.set()
        assert operator.ended.wait(LONG)
        assert len(operator.content.artifacts()) == 1
        # It came without being asked for again, and is needed from when it is seen.
        operator.looks(20, "a")
        operator.look("a", act=operator.install)
        large = [digest for digest, content in simulator.blobs.items() if len(content) >= LARGE]
        assert [simulator.asked("GET", each) for each in large] == [1]


def test_folders_of_namespaces_without_installations_go(operator, tmp_path):
    operator.site.publish("1.0.0")
    operator.look("a", "b", act=operator.install)
    (operator.folder / "notes").mkdir()
    (operator.folder / ".c.gone").mkdir()
    operator.site.clock.go(minutes=10)
    assert operator.look("b", within="b") == TidiedFolder()
    operator.site.clock.go(minutes=10)
    assert operator.look("b") == TidiedFolder(gone=("a",))
    left = sorted(each.name for each in operator.folder.iterdir())
    assert left == [".content", "b", "notes"]


def test_an_operator_that_fetched_nothing_has_nothing_to_tidy(operator):
    assert operator.look() == TidiedFolder()
    assert operator.content.artifacts() == []


def test_a_folder_that_cannot_be_removed_holds_up_no_other(operator, monkeypatch):
    operator.site.publish("1.0.0")
    for each in "abcd":
        operator.look(each, act=operator.install)
    remove, rename = shutil.rmtree, Path.rename

    def removed(path, *given, **named):
        if path.name == ".b.gone":
            raise PermissionError(13, "Permission denied", str(path))
        remove(path, *given, **named)

    def renamed(path, target):
        if path.name == "c":
            raise OSError(39, "Directory not empty", str(path))
        return rename(path, target)

    monkeypatch.setattr(shutil, "rmtree", removed)
    monkeypatch.setattr(Path, "rename", renamed)
    for gone in ("abd", ""):
        operator.site.clock.go(minutes=10)
        tidied = operator.look()
        assert sorted(tidied.gone) == list(gone)
        assert ["b" in each or "c" in each for each in tidied.errors] == [True, True]
    left = {each.name for each in operator.folder.iterdir()}
    assert left == {".content", ".b.gone", "c"}


def test_folders_go_where_content_cannot_be_read(operator, monkeypatch):
    operator.site.publish("1.0.0")
    operator.look("a", act=operator.install)

    def away():
        raise StorageError(str(operator.folder), "a folder", "none", "look")

    monkeypatch.setattr(operator.content, "artifacts", away)
    operator.site.clock.go(minutes=10)
    tidied = operator.look()
    assert (tidied.gone, len(tidied.errors)) == (("a",), 1)


def test_content_stays_as_long_as_it_is_unknown_what_a_namespace_needs(operator):
    """As where the cluster does not give what it remembers of that one, since the process began."""
    digest = operator.site.publish("1.0.0").entry.digest
    operator.look("a", "b", act=operator.install)
    with operator.opened("a") as installation:
        uninstall(installation, CRM)
    operator.again()
    for _ in range(12):
        operator.site.clock.go(minutes=10)
        operator.look("a", there=("a", "b"))
    assert operator.content.artifacts() == [digest]
    operator.looks(120, "a", "b")
    assert operator.content.artifacts() == [digest]
    operator.looks(60, "a")
    assert operator.content.artifacts() == []
