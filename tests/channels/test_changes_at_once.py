"""Others publish, unpublish, repair or mirror between any two steps of a publisher, a reader or a mirror."""

import contextlib

import pytest
from amounts import full
from interleaving import each_moment, moments_of_repositories
from losing import lose_manifest
from publishing_support import WORD, channel_of, keys_in, now, package, release

from trundle.channels import RefusedError
from trundle.channels.publishing import (
    PublishRequest,
    events,
    export,
    mirror,
    packed,
    publish,
    refresh,
    repair,
    restore,
    unpublish,
)
from trundle.channels.reading import RepositorySource, open_channel, read_channel
from trundle.channels.reading.signatures import TrustFolder, trust
from trundle.registry import MARK_ANNOTATION, DirectoryRegistry
from trundle.version import SemVer

V = SemVer.parse
NAME = "acme/db"


@contextlib.contextmanager
def unless_refused(code):
    """Nothing is done where that is refused with a code."""
    try:
        yield
    except RefusedError as error:
        if error.code != code:
            raise


class Place:
    """A folder with a repository, packages and keys."""

    def __init__(self, folder, *, signed=False):
        self.folder = folder
        folder.mkdir()
        self.keys = keys_in(folder / "keys") if signed else None

    def repository(self, name="source"):
        return DirectoryRegistry(self.folder / name).repository(NAME)

    def channel(self):
        return channel_of(self.repository(), keys=self.keys)

    def package(self, version, content=None):
        return package(self.folder / version, version, content=content or version)

    def release(self, version, **further):
        release(self.repository(), self.package(version), keys=self.keys, **further)

    def versions(self, name="source"):
        source = open_channel(WORD, self.repository(name))
        return {
            str(each.version)
            for each in read_channel(source, clock=now, unsigned=True).channel.versions
        }

    def store(self, location):
        """What readers have seen of a channel, which they trust; None where it is not signed."""
        if self.keys is None:
            return None
        store = TrustFolder(self.folder / "seen")
        if store.state(location) is None:
            store.trust(location, trust((self.keys / "root.json").read_bytes()))
        return store

    def sound(self):
        """Whether the channel has nothing to repair."""
        return repair(self.channel(), dry_run=True) == ()


@pytest.fixture(params=[False, True], ids=["unsigned", "signed"])
def place(request, tmp_path):
    return Place(tmp_path / "place", signed=request.param)


signed_in_full = pytest.mark.parametrize(
    "place", [False, full(True)], indirect=True, ids=["unsigned", "signed"]
)


def test_a_publisher_publishes_between_any_two_steps_of_a_repair(place):
    place.release("1.0.0")

    def check(found, acted):
        assert found == ()
        assert place.versions() == {"1.0.0"} | ({"1.1.0"} if acted else set())
        assert place.sound()

    each_moment(
        place.folder,
        moments_of_repositories,
        lambda: repair(place.channel()),
        lambda: place.release("1.1.0"),
        check,
    )


@signed_in_full
@pytest.mark.parametrize("keep", [False, True])
def test_a_version_is_restored_between_any_two_steps_of_unpublishing_it(place, keep):
    for version in ("1.0.0", "1.1.0"):
        place.release(version)

    def act():
        with packed(place.package("1.0.0")) as content, unless_refused("not-unpublished"):
            restore(place.channel(), V("1.0.0"), content=content)

    def check(_, acted):
        assert place.sound()
        listed = place.versions() >= {"1.0.0"}
        assert listed == ("1.0.0" in place.repository().tags()) or keep

    each_moment(
        place.folder,
        moments_of_repositories,
        lambda: unpublish(place.channel(), V("1.0.0"), "a flaw", keep_content=keep),
        act,
        check,
    )


@signed_in_full
def test_a_version_is_unpublished_between_any_two_steps_of_publishing_it_again(place):
    for version in ("1.0.0", "1.1.0"):
        place.release(version)

    def call():
        with unless_refused("version-unpublished"):
            publish(place.channel(), PublishRequest(place.package("1.0.0"), skip_existing=True))

    def act():
        """As at a registry that deletes manifests with their tags."""
        digest = place.repository().resolve("1.0.0").digest
        unpublish(place.channel(), V("1.0.0"), "a flaw")
        lose_manifest(place.repository(), digest)

    def check(_, acted):
        assert place.sound()
        assert place.versions() == {"1.1.0"} | (set() if acted else {"1.0.0"})

    each_moment(place.folder, moments_of_repositories, call, act, check)


@pytest.mark.full
@pytest.mark.parametrize("place", [True], indirect=True, ids=["signed"])
def test_a_publisher_publishes_between_any_two_steps_of_a_refresh(place):
    place.release("1.0.0")

    def check(_, acted):
        assert place.versions() == {"1.0.0"} | ({"1.1.0"} if acted else set())
        assert place.sound()

    each_moment(
        place.folder,
        moments_of_repositories,
        lambda: refresh(place.channel()),
        lambda: place.release("1.1.0"),
        check,
    )


@pytest.mark.parametrize("place", [True], indirect=True, ids=["signed"])
@pytest.mark.parametrize("look", range(1, 5))
def test_a_refresh_pushes_the_mark_of_the_state_whose_files_it_signs(place, monkeypatch, look):
    """A publisher whose lease went over to another sets the head between two looks at it."""
    states = {}
    for version in ("1.0.0", "1.1.0"):
        place.release(version)
        head = RepositorySource(place.repository(), WORD)
        states[version] = head.manifest
    mine = channel_of(place.repository(), keys=place.keys, seen=place.folder / "mine")
    mine.repository.set_tag(mine.tag, states["1.0.0"].descriptor.digest)
    looks = 0
    get_manifest = mine.repository.get_manifest

    def moved_meanwhile(reference):
        nonlocal looks
        looks += reference == mine.tag
        if looks == look and reference == mine.tag:
            mine.repository.set_tag(mine.tag, states["1.1.0"].descriptor.digest)
        return get_manifest(reference)

    pushed = []
    push = mine.head.push
    monkeypatch.setattr(mine.repository, "get_manifest", moved_meanwhile)
    monkeypatch.setattr(
        mine.head, "push", lambda *arguments: pushed.append(push(*arguments)) or pushed[0]
    )
    with unless_refused("stale-metadata"):
        mine.refresh()
    document = place.repository().get_manifest(pushed[0]).document
    files = {each.digest for each in document.layers}
    (of,) = (
        each
        for each in states.values()
        if {one.digest for one in each.document.layers[:2]} <= files
    )
    assert document.annotations[MARK_ANNOTATION] == of.document.annotations[MARK_ANNOTATION]


@signed_in_full
def test_a_publisher_publishes_between_any_two_steps_of_reading_a_history(place):
    """Another reader with the same memory sees the new state first."""
    place.release("1.0.0")

    def read():
        store = place.store(f"{place.repository().location}:channel.{WORD}")
        return events(place.repository(), WORD, clock=now, trust=store)

    def act():
        place.release("1.1.0")
        read()

    def check(found, acted):
        assert next(str(each.version) for each in found if not each.refused) == "1.0.0"
        assert len(read()) == 1 + acted

    each_moment(place.folder, moments_of_repositories, read, act, check)


def test_an_export_that_began_earlier_writes_no_older_state(place):
    place.release("1.0.0")
    first = RepositorySource(place.repository(), WORD)
    place.release("1.1.0")
    second = RepositorySource(place.repository(), WORD)
    folder = place.folder / "www"
    for source in (second, first):
        export(source, folder)
    served = read_channel(open_channel(str(folder)), clock=now, unsigned=True).channel
    assert {str(each.version) for each in served.versions} == {"1.0.0", "1.1.0"}
    assert not [each for each in folder.iterdir() if each.name.startswith(".")]


def act_publish(place):
    place.release("1.2.0")


def act_publish_and_mirror(place):
    place.release("1.2.0")
    mirror(place.repository(), place.repository("copy"))


def act_unpublish_and_collect(place):
    unpublish(place.channel(), V("1.0.0"), "a flaw")
    place.repository().collect_garbage(0, now=float("inf"))


@pytest.mark.full
@pytest.mark.parametrize("place", [False], indirect=True, ids=["unsigned"])
@pytest.mark.parametrize(
    "act",
    [
        act_publish,
        full(act_publish_and_mirror),
        full(act_unpublish_and_collect),
    ],
)
def test_the_source_changes_between_any_two_steps_of_a_mirror(place, act):
    for version in ("1.0.0", "1.1.0"):
        place.release(version)

    def check(_, acted):
        assert place.versions("copy") == place.versions()
        copy = place.repository("copy")
        served = read_channel(open_channel(WORD, copy), clock=now, unsigned=True).channel
        for entry in served.versions:
            assert copy.resolve(entry.tag_name).digest == entry.digest
        mirror(place.repository(), copy)

    each_moment(
        place.folder,
        moments_of_repositories,
        lambda: mirror(place.repository(), place.repository("copy")),
        lambda: act(place),
        check,
    )


def test_a_publishing_that_is_not_done_is_not_mirrored(tmp_path):
    """Its publisher dies, and the version is published with other content."""
    place = Place(tmp_path / "place")
    place.release("1.0.0")
    repository = place.repository()
    with packed(place.package("1.1.0", "first")) as half:
        half.push(repository)
        repository.set_tag("1.1.0", half.artifact.digest)
    mirror(repository, place.repository("copy"))
    assert place.repository("copy").tags() == ["1.0.0", f"channel.{WORD}"]
    assert [each.kind for each in repair(place.channel())] == ["orphan-tag"]
    place.release("1.1.0")
    mirror(repository, place.repository("copy"))
    assert place.versions("copy") == {"1.0.0", "1.1.0"}


@pytest.mark.parametrize("done", range(1, 6))
def test_a_reader_of_static_files_reads_again_while_they_are_written(place, monkeypatch, done):
    """The export goes on only while the reader waits."""
    place.release("1.0.0")
    folder = place.folder / "www"
    export(RepositorySource(place.repository(), WORD), folder)
    old = {each.name: each.read_bytes() for each in folder.iterdir()}
    place.release("1.1.0")
    written = [each.name for each in export(RepositorySource(place.repository(), WORD), folder)]
    for name in written[done:]:
        if name in old:
            (folder / name).write_bytes(old[name])
    monkeypatch.setattr(
        "time.sleep",
        lambda seconds: seconds and export(RepositorySource(place.repository(), WORD), folder),
    )
    store = place.store(str(folder))
    source = open_channel(str(folder))
    served = read_channel(source, store, clock=now, unsigned=store is None).channel
    assert len(served.versions) in {1, 2}
