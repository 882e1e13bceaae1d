"""Publishers in processes of their own, and publishers that die, in a folder and at a real registry."""

import subprocess
from pathlib import Path

import msgspec
import publishing_support
import pytest
import warm
from amounts import full
from interleaving import moments_of_repositories
from passing import PassingTime
from publishing_support import (
    QUICK,
    WORD,
    Killed,
    channel_of,
    dying,
    keys_in,
    now,
    package,
    reference_of,
    release,
)

from trundle.channels.publishing import PublishRequest, publish, repair, restore, unpublish
from trundle.channels.reading import open_channel, read_channel
from trundle.channels.reading.signatures import TrustFolder, trust
from trundle.registry import DirectoryRegistry, open_repository
from trundle.version import SemVer

SCRIPT = Path(publishing_support.__file__)


def start(repository, *folders, keys="-", death="-"):
    arguments = [reference_of(repository), WORD, str(keys), str(death), *map(str, folders)]
    return subprocess.Popen(
        [*warm.script(SCRIPT, always=True), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    output, errors = process.communicate(timeout=300)
    return process.returncode, output.split(), errors


def served(repository):
    return read_channel(open_channel(WORD, repository), clock=now, unsigned=True).channel


def versions(repository):
    return {str(each.version) for each in served(repository).versions}


def again(repository):
    """The same repository for another publisher."""
    return open_repository(reference_of(repository))


@pytest.mark.parametrize(
    ("repository", "signed"),
    [("directory", True), full("http", False), full("directory", False), full("http", True)],
    indirect=["repository"],
)
def test_ten_publishers_at_once_lose_nothing(repository, tmp_path, signed):
    keys = keys_in(tmp_path / "keys") if signed else "-"
    names = [f"1.{number}.0" for number in range(10)]
    folders = [package(tmp_path / name, name, content=name) for name in names]
    running = [start(repository, folder, keys=keys) for folder in folders]
    results = [finish(process) for process in running]
    assert [code for code, _, _ in results] == [0] * 10, [errors for _, _, errors in results]
    assert [output for _, output, _ in results] == [[str(folder)] for folder in folders]
    assert versions(repository) == set(names)
    assert served(repository).latest == SemVer.parse("1.9.0")
    channel = channel_of(repository, keys=keys if signed else None)
    assert channel.is_shown()
    assert repair(channel) == ()
    if signed:
        source = open_channel(WORD, repository)
        store = TrustFolder(tmp_path / "trust")
        store.trust(source.location, trust((keys / "root.json").read_bytes()))
        believed = read_channel(source, store, clock=now)
        assert {str(each.version) for each in believed.channel.versions} == set(names)


@pytest.mark.parametrize(
    ("signed", "exists"), [(False, True), full(False, False), full(True, False), full(True, True)]
)
def test_another_publishes_between_any_two_reads(tmp_path, monkeypatch, signed, exists):
    """Before each read once; what is read before and after it belongs to two states of the channel, or to none."""
    folders = [package(tmp_path / name, name, content=name) for name in ("1.0.0", "1.1.0", "1.2.0")]
    keys = keys_in(tmp_path / "keys") if signed else None
    step, interrupted = 0, True
    while interrupted:
        step += 1
        repository = DirectoryRegistry(tmp_path / f"packages{step}").repository("acme/db")
        if exists:
            release(repository, folders[0], keys=keys)
        with monkeypatch.context() as patch:
            reads = moments_of_repositories(patch)

            def publish_another(read, before=repository, step=step):
                if read == step:
                    release(again(before), folders[1], keys=keys)

            reads.callback = publish_another
            release(again(repository), folders[2], keys=keys)
        interrupted = step <= reads.number
        expected = {"1.0.0"} if exists else set()
        assert versions(repository) == expected | {"1.2.0"} | ({"1.1.0"} if interrupted else set())
    assert step > 3


@pytest.mark.full
def test_one_of_many_publishers_of_the_same_version_wins(repository, tmp_path):
    folders = [package(tmp_path / f"{n}", "1.0.0", content=f"{n}") for n in range(4)]
    results = [finish(process) for process in [start(repository, each) for each in folders]]
    assert sorted(code for code, _, _ in results) == [0, 1, 1, 1], results
    entry = served(repository).versions[0]
    assert repository.resolve("1.0.0").digest == entry.digest
    assert repair(channel_of(repository)) == ()


def check_reads(repository, expected, keys=None):
    """What readers see after a publisher died is one of some states, and a repair leaves one of them too."""
    assert versions(repository) in expected
    repair(channel_of(repository, keys=keys))
    assert repair(channel_of(repository, keys=keys), dry_run=True) == ()
    assert versions(repository) in expected
    channel = served(repository)
    for entry in channel.versions:
        assert repository.resolve(entry.tag_name).digest == entry.digest
    assert set(repository.tags()) == {f"channel.{WORD}", *(e.tag_name for e in channel.versions)}


@pytest.mark.full
def test_a_publisher_killed_before_any_of_its_writes_leaves_a_channel_that_reads(
    repository, tmp_path
):
    """Each write is the last one once, in a process that is killed for good."""
    release(repository, package(tmp_path / "old", "1.0.0"))
    expected, died, step = {"1.0.0"}, True, 0
    while died:
        step += 1
        version = f"1.0.{step}"
        folder = package(tmp_path / version, version, content=version)
        code, _, errors = finish(start(repository, folder, death=step))
        assert code in {0, -9}, errors
        died = code == -9
        check_reads(repository, (expected, expected | {version}))
        release(repository, folder, skip_existing=True)
        expected |= {version}
        assert versions(repository) == expected
    assert step > 8


def steps(repository, act, expected, keys=None):
    """Does something with a death before each of its writes, until one lives; repairs after each."""
    step, died = 0, True
    while died:
        step += 1
        mortal = again(repository)

        def die():
            raise Killed

        dying(mortal, step, die)
        try:
            act(mortal, step)
            died = False
        except Killed:
            check_reads(repository, expected, keys)
    return step


@pytest.mark.full
def test_a_publisher_that_slept_while_others_published_goes_on(remote, tmp_path, monkeypatch):
    """It had recorded its version, but nothing was shown yet; a process that sleeps renews no lease."""
    passing = PassingTime()
    monkeypatch.setattr("trundle.registry._lease.Timer", lambda: passing)
    monkeypatch.setattr("trundle.registry._lease.TagLease._keep_alive", lambda *_: None)
    settings = msgspec.structs.replace(QUICK, lease=3)
    slow = open_repository(reference_of(remote), settings=settings)
    release(remote, package(tmp_path / "a", "1.0.0"))
    channel = channel_of(slow)
    append = channel.ledger.tags.append

    def append_and_sleep(*arguments):
        entry = append(*arguments)
        release(again(remote), package(tmp_path / "c", "1.2.0"))
        return entry

    channel.ledger.tags.append = append_and_sleep
    publish(channel, PublishRequest(package(tmp_path / "b", "1.1.0")))
    assert passing.seconds() > 3
    assert versions(remote) == {"1.0.0", "1.1.0", "1.2.0"}
    assert repair(channel_of(remote)) == ()


def test_a_signed_publishing_that_dies_anywhere_is_repaired(layout, tmp_path):
    keys = keys_in(tmp_path / "keys")
    release(layout, package(tmp_path / "old", "1.0.0"), keys=keys)
    folder = package(tmp_path / "new", "1.1.0")

    def act(mortal, _):
        publish(channel_of(mortal, keys=keys), PublishRequest(folder, skip_existing=True))

    assert steps(layout, act, ({"1.0.0"}, {"1.0.0", "1.1.0"}), keys) > 3
    assert versions(layout) == {"1.0.0", "1.1.0"}


def test_the_first_publishing_that_dies_anywhere_can_be_done_again(layout, tmp_path):
    folder = package(tmp_path / "new", "1.0.0")
    step, died = 0, True
    while died:
        step += 1
        mortal = again(layout)

        def die():
            raise Killed

        dying(mortal, step, die)
        try:
            release(mortal, folder, skip_existing=True)
            died = False
        except Killed:
            pass
    assert step > 1
    assert versions(layout) == {"1.0.0"}


def test_an_unpublishing_that_dies_anywhere_is_repaired(layout, tmp_path):
    for number in range(4):
        version = f"1.0.{number}"
        release(layout, package(tmp_path / version, version, content=version))
    everything = {f"1.0.{number}" for number in range(4)}
    version = SemVer.parse("1.0.1")

    def act(mortal, _):
        channel = channel_of(mortal)
        if channel.folded().channel.entry(version):
            unpublish(channel, version, "a flaw")

    steps(layout, act, (everything, everything - {"1.0.1"}))
    assert versions(layout) == everything - {"1.0.1"}
    folder = tmp_path / "1.0.1"

    def undo(mortal, _):
        from trundle.channels.publishing import packed

        channel = channel_of(mortal)
        if channel.folded().channel.tombstone(version):
            with packed(folder) as content:
                restore(channel, version, content=content)

    steps(layout, undo, (everything, everything - {"1.0.1"}))
    assert versions(layout) == everything
