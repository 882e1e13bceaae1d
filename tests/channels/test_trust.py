"""Signed channels: what a client believes, and every attack that it must withstand."""

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
import warm

from trundle.channels.reading.signatures import (
    KeyFileError,
    Lifetimes,
    Replacement,
    Signer,
    TrustError,
    TrustFolder,
    TrustMemory,
    TrustState,
    contradicts,
    first_root,
    generate_key,
    next_root,
    read_key,
    refresh,
    sign,
    trust,
    verify,
    write_key,
)

Read = Callable[[str], Iterator[bytes]]
NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
LATEST, ALL = "acme/db/stable/latest", "acme/db/stable/all"
FILES = {LATEST: b'{"latest": "1.0.0"}', ALL: b'{"versions": ["1.0.0"]}'}
NEWER = {LATEST: b'{"latest": "1.1.0"}', ALL: b'{"versions": ["1.1.0", "1.0.0"]}'}


CLIENT = f"""
import sys
from datetime import datetime
from pathlib import Path
from urllib.parse import quote
from trundle.channels.reading.signatures import TrustError, TrustFolder

store, files, now = sys.argv[1:]

def read(name):
    yield Path(files, quote(name, safe="")).read_bytes()

try:
    TrustFolder(Path(store)).verify("a", read, [{LATEST!r}], clock=lambda: datetime.fromisoformat(now))
    print("good")
except TrustError as error:
    print(error.reason)
"""


class Publisher:
    """A channel with its keys, as a server serves it."""

    def __init__(self) -> None:
        self.roots = [generate_key() for _ in range(3)]
        self.targets, self.online = generate_key(), generate_key()
        self.first = first_root(
            self.roots, self.targets.public_key, self.online.public_key, now=NOW
        )
        self.files: Mapping[str, bytes] = {"1.root.json": self.first}
        self.contents: Mapping[str, bytes] = {}

    def publish(self, contents: Mapping[str, bytes], now: datetime = NOW) -> "Publisher":
        self.contents = contents
        self.files = sign(self.files, contents, targets=self.targets, online=self.online, now=now)
        return self

    def refresh(self, now: datetime) -> None:
        self.files = refresh(self.files, online=self.online, now=now)

    def read(self, name: str) -> Iterator[bytes]:
        return reading({**self.files, **self.contents})(name)


def reading(files: Mapping[str, bytes]) -> Read:
    def read(name: str) -> Iterator[bytes]:
        if name not in files:
            raise FileNotFoundError(name)
        data = files[name]
        yield from (data[place : place + 100] for place in range(0, len(data), 100))

    return read


@pytest.fixture
def publisher() -> Publisher:
    return Publisher().publish(FILES)


def seen(publisher: Publisher, now: datetime = NOW) -> TrustState:
    return verify(trust(publisher.first), publisher.read, [LATEST, ALL], now=now)[0]


def refused(state: TrustState, read: object, now: datetime = NOW) -> str:
    with pytest.raises(TrustError) as caught:
        verify(state, read, [LATEST, ALL], now=now)  # type: ignore[arg-type]
    return caught.value.reason


class TestGoodChannels:
    def test_a_client_with_the_root_reads_what_was_published(self, publisher: Publisher) -> None:
        state, files = verify(trust(publisher.first), publisher.read, [LATEST, ALL], now=NOW)
        assert files == FILES
        assert state.clock == NOW

    def test_news_follow(self, publisher: Publisher) -> None:
        state = seen(publisher)
        publisher.publish(NEWER, NOW + timedelta(hours=1))
        _, files = verify(state, publisher.read, [LATEST], now=NOW + timedelta(hours=2))
        assert files == {LATEST: NEWER[LATEST]}

    def test_nothing_new_is_fine_while_it_is_fresh(self, publisher: Publisher) -> None:
        state = seen(publisher)
        after, files = verify(state, publisher.read, [LATEST], now=NOW + timedelta(days=6))
        assert files[LATEST] == FILES[LATEST]
        assert after.metadata == state.metadata

    def test_the_online_key_alone_keeps_a_channel_fresh(self, publisher: Publisher) -> None:
        state = seen(publisher)
        later = NOW + timedelta(days=20)
        assert refused(state, publisher.read, later) == "expired"
        publisher.refresh(later)
        assert verify(state, publisher.read, [LATEST], now=later)[1][LATEST] == FILES[LATEST]

    def test_a_client_that_was_away_follows_all_rotations(self, publisher: Publisher) -> None:
        state = seen(publisher)
        old_roots, now = publisher.roots, NOW + timedelta(days=1)
        publisher.online = generate_key()
        second = next_root(
            publisher.first,
            Replacement(online=publisher.online.public_key),
            old_roots[:2],
            now=now,
        )
        fresh = [generate_key(), *old_roots[1:]]
        third = next_root(
            second,
            Replacement(root=[each.public_key for each in fresh]),
            [old_roots[1], old_roots[2]],
            now=now,
        )
        publisher.files = {**publisher.files, "2.root.json": second, "3.root.json": third}
        publisher.publish(NEWER, now)
        after, files = verify(state, publisher.read, [LATEST], now=now)
        assert files[LATEST] == NEWER[LATEST]
        assert json.loads(after.root)["signed"]["version"] == 3

    def test_a_clock_that_is_set_right_by_a_little_is_fine(self, publisher: Publisher) -> None:
        state = seen(publisher)
        after, _ = verify(state, publisher.read, [LATEST], now=NOW - timedelta(minutes=1))
        assert after.clock == NOW


class TestAttacks:
    @pytest.mark.parametrize("name", [LATEST, "targets.json", "snapshot.json", "timestamp.json"])
    def test_changed_bytes(self, publisher: Publisher, name: str) -> None:
        files = {**publisher.files, **publisher.contents}
        files[name] = files[name].replace(b"1", b"2", 1)
        assert refused(trust(publisher.first), reading(files)) in {
            "endless", "malformed", "mismatch", "signature",
        }  # fmt: skip

    @pytest.mark.parametrize("name", [LATEST, "targets.json", "timestamp.json", "2.root.json"])
    def test_endless_data(self, publisher: Publisher, name: str) -> None:
        asked = 0

        def read(wanted: str) -> Iterator[bytes]:
            nonlocal asked
            if wanted != name:
                yield from publisher.read(wanted)
                return
            while True:
                asked += 65536
                yield bytes(65536)

        assert refused(trust(publisher.first), read) == "endless"
        assert asked < 6_000_000

    def test_rollback_of_the_whole_channel(self, publisher: Publisher) -> None:
        old = {**publisher.files, **publisher.contents}
        publisher.publish(NEWER)
        assert refused(seen(publisher), reading(old)) == "rollback"

    def test_a_rollback_is_said_in_words(self, publisher: Publisher) -> None:
        old = {**publisher.files, **publisher.contents}
        publisher.publish(NEWER)
        with pytest.raises(TrustError) as caught:
            verify(seen(publisher), reading(old), [LATEST, ALL], now=NOW)
        assert caught.value.expected == "a state no older than the one that was seen"
        assert caught.value.found == "its timestamp 1, where 2 was seen"

    def test_rollback_of_what_the_publisher_signed(self, publisher: Publisher) -> None:
        """An attacker with the online key signs an old list anew."""
        old = {name: publisher.files[name] for name in ("targets.json",)}
        contents = publisher.contents
        publisher.publish(NEWER)
        state = seen(publisher)
        forged = refresh(
            {**publisher.files, **old}, online=publisher.online, now=NOW + timedelta(minutes=1)
        )
        assert refused(state, reading({**forged, **contents})) == "rollback"

    def test_freeze(self, publisher: Publisher) -> None:
        """An attacker in between shows what once was valid, for ever."""
        state = seen(publisher)
        assert refused(state, publisher.read, NOW + timedelta(days=8)) == "expired"

    def test_mix_and_match(self, publisher: Publisher) -> None:
        old = dict(publisher.files)
        publisher.publish(NEWER)
        mixed = {**publisher.files, **publisher.contents, "targets.json": old["targets.json"]}
        assert refused(trust(publisher.first), reading(mixed)) in {"mismatch", "rollback"}
        mixed = {**publisher.files, **publisher.contents, LATEST: FILES[LATEST]}
        assert refused(trust(publisher.first), reading(mixed)) == "mismatch"

    def test_another_channel_under_the_same_keys(self, publisher: Publisher) -> None:
        publisher.publish({"acme/db/beta/latest": b"{}", "acme/db/beta/all": b"{}"})
        assert refused(trust(publisher.first), publisher.read) == "mismatch"

    def test_forged_targets(self, publisher: Publisher) -> None:
        """An attacker with the online key, but without the publisher's."""
        with pytest.raises(TrustError, match="expected the targets key"):
            sign(publisher.files, NEWER, targets=publisher.online, online=publisher.online, now=NOW)
        forger = Publisher()
        forger.online = publisher.online
        forger.files = {
            "1.root.json": first_root(
                forger.roots, forger.targets.public_key, publisher.online.public_key, now=NOW
            )
        }
        forger.publish(NEWER)
        forged = {**forger.files, "1.root.json": publisher.first, **forger.contents}
        assert refused(trust(publisher.first), reading(forged)) == "signature"

    def test_too_few_root_signatures(self, publisher: Publisher) -> None:
        change = Replacement(targets=generate_key().public_key)
        with pytest.raises(TrustError, match="expected 2 signatures of the present root keys"):
            next_root(publisher.first, change, publisher.roots[:1], now=NOW)
        good = json.loads(next_root(publisher.first, change, publisher.roots[:2], now=NOW))
        good["signatures"] = good["signatures"][:1]
        files = {**publisher.files, **publisher.contents, "2.root.json": json.dumps(good).encode()}
        assert refused(trust(publisher.first), reading(files)) == "signature"

    def test_a_root_signed_by_its_own_new_keys_only(self, publisher: Publisher) -> None:
        forger = Publisher()
        forged = json.loads(forger.first)
        forged["signed"]["version"] = 2
        files = {
            **publisher.files,
            **publisher.contents,
            "2.root.json": json.dumps(forged).encode(),
        }
        assert refused(trust(publisher.first), reading(files)) == "signature"

    def test_a_clock_set_back(self, publisher: Publisher) -> None:
        later = NOW + timedelta(days=3)
        state = verify(trust(publisher.first), publisher.read, [LATEST], now=later)[0]
        assert refused(state, publisher.read, NOW) == "clock"

    def test_files_that_are_gone(self, publisher: Publisher) -> None:
        files = {**publisher.files, ALL: FILES[ALL]}
        assert refused(trust(publisher.first), reading(files)) == "incomplete"
        assert refused(trust(publisher.first), reading({})) == "incomplete"

    @pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"signed": {}}', b"\xff\xfe", b"null"])
    def test_malformed_metadata(self, publisher: Publisher, data: bytes) -> None:
        for name in ("timestamp.json", "snapshot.json", "targets.json", "2.root.json"):
            files = {**publisher.files, **publisher.contents, name: data}
            assert refused(trust(publisher.first), reading(files)) in {"malformed", "mismatch"}
        with pytest.raises(TrustError):
            trust(data)

    def test_a_root_that_expired(self, publisher: Publisher) -> None:
        later = NOW + timedelta(days=366)
        publisher.publish(NEWER, later)
        assert refused(trust(publisher.first), publisher.read, later) == "expired"
        renewed = next_root(publisher.first, Replacement(), publisher.roots[1:], now=later)
        publisher.files = {**publisher.files, "2.root.json": renewed}
        publisher.refresh(later)
        verify(trust(publisher.first), publisher.read, [LATEST], now=later)


class TestSigning:
    def test_a_channel_without_releases_has_nothing_to_refresh(self) -> None:
        publisher = Publisher()
        with pytest.raises(TrustError, match="something published"):
            publisher.refresh(NOW)

    def test_signing_without_a_root(self, publisher: Publisher) -> None:
        with pytest.raises(TrustError, match="root"):
            sign({}, FILES, targets=publisher.targets, online=publisher.online, now=NOW)

    def test_lifetimes(self, publisher: Publisher) -> None:
        made = sign(
            publisher.files,
            FILES,
            targets=publisher.targets,
            online=publisher.online,
            now=NOW,
            lifetimes=Lifetimes(targets=timedelta(days=2), online=timedelta(hours=3)),
        )
        assert json.loads(made["targets.json"])["signed"]["expires"] == "2026-03-03T12:00:00Z"
        assert json.loads(made["timestamp.json"])["signed"]["expires"] == "2026-03-01T15:00:00Z"

    def test_a_key_has_one_role(self) -> None:
        key = generate_key()
        with pytest.raises(ValueError, match="used twice"):
            first_root([generate_key(), key], key.public_key, generate_key().public_key, now=NOW)
        with pytest.raises(ValueError, match="at least 2"):
            first_root([key], generate_key().public_key, generate_key().public_key, now=NOW)

    def test_a_stranger_signs_no_root(self, publisher: Publisher) -> None:
        signers: list[Signer] = [*publisher.roots[:2], generate_key()]
        with pytest.raises(TrustError, match="which is none"):
            next_root(publisher.first, Replacement(), signers, now=NOW)


class TestKeys:
    @pytest.mark.parametrize("passphrase", [None, b"open sesame"])
    def test_keys_are_kept_in_files(self, tmp_path: Path, passphrase: bytes | None) -> None:
        key, path = generate_key(), tmp_path / "key.pem"
        write_key(key, path, passphrase)
        assert path.stat().st_mode & 0o777 == 0o600
        assert read_key(path, passphrase).public_key == key.public_key

    def test_a_key_is_never_overwritten(self, tmp_path: Path) -> None:
        path = tmp_path / "key.pem"
        write_key(generate_key(), path)
        before = path.read_bytes()
        with pytest.raises(KeyFileError, match="never overwritten"):
            write_key(generate_key(), path)
        assert path.read_bytes() == before

    def test_files_that_are_no_key(self, tmp_path: Path) -> None:
        path = tmp_path / "key.pem"
        with pytest.raises(KeyFileError, match="No such file"):
            read_key(path)
        path.write_bytes(b"nonsense")
        with pytest.raises(KeyFileError, match="expected an Ed25519 private key"):
            read_key(path)
        path.unlink()
        write_key(generate_key(), path, b"secret")
        with pytest.raises(KeyFileError, match="expected a passphrase, found none"):
            read_key(path)
        with pytest.raises(KeyFileError, match="its passphrase"):
            read_key(path, b"guess")


class TestStore:
    def test_what_was_seen_is_remembered(self, publisher: Publisher, tmp_path: Path) -> None:
        TrustFolder(tmp_path).trust("acme/db:stable", trust(publisher.first))
        files = TrustFolder(tmp_path).verify(
            "acme/db:stable", publisher.read, [LATEST], clock=lambda: NOW
        )
        assert files == {LATEST: FILES[LATEST]}
        old = {**publisher.files, **publisher.contents}
        publisher.publish(NEWER)
        TrustFolder(tmp_path).verify("acme/db:stable", publisher.read, [LATEST], clock=lambda: NOW)
        state = TrustFolder(tmp_path).state("acme/db:stable")
        with pytest.raises(TrustError) as caught:
            TrustFolder(tmp_path).verify(
                "acme/db:stable", reading(old), [LATEST], clock=lambda: NOW
            )
        assert caught.value.reason == "rollback"
        assert TrustFolder(tmp_path).state("acme/db:stable") == state

    @pytest.mark.parametrize("is_in_memory", [False, True])
    def test_a_channel_must_be_trusted_first_and_once(
        self, publisher: Publisher, tmp_path: Path, is_in_memory: bool
    ) -> None:
        store = TrustMemory() if is_in_memory else TrustFolder(tmp_path / "new")
        with pytest.raises(TrustError, match="expected a trusted root"):
            store.verify("a", publisher.read, [LATEST], clock=lambda: NOW)
        store.trust("a", trust(publisher.first))
        with pytest.raises(TrustError, match="found it trusted"):
            store.trust("a", trust(Publisher().first))
        store.trust_first("a", trust(Publisher().first))
        assert store.state("a") == trust(publisher.first)
        store.forget("a")
        store.forget("b")
        store.trust("a", trust(Publisher().first))

    @pytest.mark.parametrize("size", [0, 1, 200, -1])
    def test_a_half_written_state_is_never_thrown_away(
        self, publisher: Publisher, tmp_path: Path, size: int
    ) -> None:
        store = TrustFolder(tmp_path)
        store.trust("a", trust(publisher.first))
        path = store.path("a")
        data = path.read_bytes()[:size]
        path.write_bytes(data)
        with pytest.raises(TrustError, match="restore the file"):
            store.verify("a", publisher.read, [LATEST], clock=lambda: NOW)
        assert path.read_bytes() == data

    def test_a_full_disk_leaves_the_state_as_it_was(
        self, publisher: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store = TrustFolder(tmp_path)
        store.trust("a", trust(publisher.first))
        before = store.path("a").read_bytes()

        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space left"):
            store.verify("a", publisher.read, [LATEST], clock=lambda: NOW)
        assert store.path("a").read_bytes() == before
        assert [each.name for each in tmp_path.iterdir() if "trust-" in each.name] == []

    def test_processes_of_two_containers_may_share_a_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Both have the same number, and one makes sure that it can write while the other does."""
        other = TrustFolder(tmp_path)
        unlink = Path.unlink

        def unlink_after_another(path: Path, missing_ok: bool = False) -> None:
            monkeypatch.setattr(Path, "unlink", unlink)
            other.check_writable()
            unlink(path, missing_ok=missing_ok)

        monkeypatch.setattr(Path, "unlink", unlink_after_another)
        TrustFolder(tmp_path).check_writable()
        assert list(tmp_path.iterdir()) == []

    def test_a_memory_begins_with_what_was_seen_before(self, publisher: Publisher) -> None:
        seen = {"a": trust(publisher.first)}
        store = TrustMemory(seen)
        store.verify("a", publisher.read, [LATEST], clock=lambda: NOW)
        assert store.state("a") != seen["a"] == trust(publisher.first)
        old = {**publisher.files, **publisher.contents}
        publisher.publish(NEWER)
        store.verify("a", publisher.read, [LATEST], clock=lambda: NOW)
        with pytest.raises(TrustError) as caught:
            store.verify("a", reading(old), [LATEST], clock=lambda: NOW)
        assert caught.value.reason == "rollback"

    def test_names_that_look_alike_are_kept_apart(self, tmp_path: Path) -> None:
        store = TrustFolder(tmp_path)
        names = ["a/b:stable", "a_b:stable", "A/b:stable", "../../etc/passwd", "", "x" * 999]
        paths = {store.path(name) for name in names}
        assert len(paths) == len(names)
        assert all(path.parent == tmp_path for path in paths)

    def test_a_slow_server_delays_no_other_client(
        self, publisher: Publisher, tmp_path: Path
    ) -> None:
        TrustFolder(tmp_path).trust("a", trust(publisher.first))
        others: list[Mapping[str, bytes]] = []

        def slow(name: str) -> Iterator[bytes]:
            if name == "timestamp.json":
                other = TrustFolder(tmp_path, wait=0)
                others.append(other.verify("a", publisher.read, [LATEST], clock=lambda: NOW))
            return publisher.read(name)

        files = TrustFolder(tmp_path).verify("a", slow, [LATEST, ALL], clock=lambda: NOW)
        assert (files, others) == (FILES, [{LATEST: FILES[LATEST]}])

    @pytest.mark.parametrize("is_in_memory", [False, True])
    def test_what_another_client_saw_meanwhile_is_never_written_over(
        self, publisher: Publisher, tmp_path: Path, is_in_memory: bool
    ) -> None:
        store = TrustMemory() if is_in_memory else TrustFolder(tmp_path, wait=0)
        store.trust("a", trust(publisher.first))
        old = {**publisher.files, **publisher.contents}
        publisher.publish(NEWER)

        def overtaken(name: str) -> Iterator[bytes]:
            if name == LATEST:
                store.verify("a", publisher.read, [LATEST], clock=lambda: NOW)
            return reading(old)(name)

        with pytest.raises(TrustError) as caught:
            store.verify("a", overtaken, [LATEST], clock=lambda: NOW)
        assert caught.value.reason == "rollback"
        state = store.state("a")
        assert state is not None
        assert json.loads(state.metadata["targets.json"])["signed"]["version"] == 2

    @pytest.mark.full
    def test_several_clients_on_one_store(self, publisher: Publisher, tmp_path: Path) -> None:
        """While the channel changes, no reader sees it go back, and no update is lost."""
        TrustFolder(tmp_path / "trust").trust("a", trust(publisher.first))
        history = [(publisher.files, publisher.contents)]
        for number in range(4):
            publisher.publish({LATEST: b"%d" % number, ALL: b"%d" % number})
            history.append((publisher.files, publisher.contents))
        program = tmp_path / "client.py"
        program.write_text(CLIENT)
        for number, (files, contents) in enumerate(history):
            seen = tmp_path / f"seen{number}"
            seen.mkdir()
            for name, content in {**files, **contents}.items():
                (seen / quote(name, safe="")).write_bytes(content)

        def read(number: int) -> str:
            command = [
                *warm.script(program),
                tmp_path / "trust",
                tmp_path / f"seen{number}",
                NOW.isoformat(),
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            return done.stdout.strip()

        with ThreadPoolExecutor(4) as pool:
            outcomes = list(pool.map(read, [*range(len(history))] * 2))
        assert set(outcomes) <= {"good", "rollback"}
        assert "good" in outcomes
        state = TrustFolder(tmp_path / "trust").state("a")
        assert state is not None
        assert json.loads(state.metadata["targets.json"])["signed"]["version"] == 5


def test_a_root_contradicts_another_where_they_cannot_be_of_one_publisher():
    publisher, other = Publisher(), Publisher()
    keys = [generate_key() for _ in range(3)]
    change = Replacement(root=[each.public_key for each in keys])
    second = next_root(publisher.first, change, [*publisher.roots, *keys], now=NOW)
    third = next_root(second, Replacement(), keys, now=NOW)
    forged = json.loads(second)
    forged["signatures"] = forged["signatures"][:1]
    found = {
        "the same": contradicts(second, second),
        "the next": contradicts(second, publisher.first),
        "the one before": contradicts(publisher.first, second),
        "long before": contradicts(publisher.first, third),
        "of another publisher": contradicts(other.first, publisher.first),
        "of another publisher, before": contradicts(other.first, second),
        "the next, not signed": contradicts(json.dumps(forged).encode(), publisher.first),
        "later, signed by keys that are not known yet": contradicts(third, publisher.first),
    }
    assert [name for name, contradicted in found.items() if contradicted] == [
        "of another publisher",
        "of another publisher, before",
        "the next, not signed",
        "later, signed by keys that are not known yet",
    ]
    with pytest.raises(TrustError):
        contradicts(b"{}", second)
