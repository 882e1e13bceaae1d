"""What an installation remembers, kept in its database: packages, decisions, and what was seen of channels."""

import contextlib
import datetime as dt
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec
from sqlalchemy import Connection, Executable, Row, delete, func, insert, select

from trundle.channels import format_time, parse_time
from trundle.channels.decision import Approval, Condition, Hold, State
from trundle.channels.files import Channel, write_all
from trundle.channels.policy import Policy, policy_to_plain, read_policy
from trundle.channels.reading import Subscription
from trundle.database import open_copy, open_database, upsert
from trundle.errors import expectation
from trundle.installation import _tables as t
from trundle.installation._records import EventKind, InstalledPackage, PackageEvent, Seen
from trundle.packages import manifest_from_json, manifest_to_json
from trundle.version import SemVer

_FLOOR, _GENERATION, _STORE = "clock", "generation", "store "


class Memory:
    """What an installation remembers, in terms of packages. Changes belong within `changing`.

    Args:
        path: the file of the database; it is made where it does not exist.
        copy: whether a copy in memory is used, whose changes are gone when it is closed.

    Raises:
        DatabaseError: the database cannot be used; so do all methods.
    """

    def __init__(self, path: Path, *, copy: bool = False) -> None:
        self.path = path
        self.is_copy = copy
        self._database = open_copy(path) if copy else open_database(path)
        self._writing: Connection | None = None
        try:
            self._database.migrate(t.MIGRATIONS)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Closes the database."""
        self._database.close()

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Makes all changes within it happen together, or none of them.

        Raises:
            DatabaseError: the database cannot be written.
        """
        with self._database.writing() as connection:
            self._writing = connection
            try:
                yield
            finally:
                self._writing = None

    def _rows(self, query: Executable) -> list[Row[Any]]:
        """What a query returns: within `changing` with its changes, else as of now."""
        if self._writing is not None:
            return list(self._writing.execute(query))
        with self._database.reading() as connection:
            return list(connection.execute(query))

    @property
    def _connection(self) -> Connection:
        """The transaction that writes."""
        if self._writing is None:
            raise RuntimeError(expectation("a change within `changing`", "one outside of it"))
        return self._writing

    # Packages

    def packages(self) -> tuple[InstalledPackage, ...]:
        """All installed packages, in alphabetical order."""
        rows = self._rows(select(t.PACKAGES).order_by(t.PACKAGES.c.name))
        return tuple(sorted(map(self._package, rows), key=lambda each: each.name))

    def package(self, name: str) -> InstalledPackage | None:
        """An installed package; None where it is not installed."""
        rows = self._rows(select(t.PACKAGES).where(t.PACKAGES.c.name == name))
        return self._package(rows[0]) if rows else None

    def put(self, package: InstalledPackage) -> None:
        """Records what is installed of a package, in place of what was before."""
        follows = package.subscription
        policy = follows.policy and json.dumps(policy_to_plain(follows.policy))
        version = _text(package.version)
        row = {
            "name": package.name,
            "repository": follows.repository,
            "channel": follows.channel,
            "word": follows.name,
            "pinned": package.pinned,
            "signed": int(follows.signed),
            "policy": policy,
            "version": version,
            "release": str(package.manifest.version),
            "digest": package.digest,
            "since": format_time(package.since),
            "manifest": manifest_to_json(package.manifest),
        }
        upsert(self._connection, t.PACKAGES, [row])
        if version is not None:
            self._know(package.name, [(version, package.digest)])

    def remove(self, name: str) -> None:
        """Forgets a package with its holds and approvals; what was seen of it is kept."""
        self._connection.execute(delete(t.PACKAGES).where(t.PACKAGES.c.name == name))

    def _package(self, row: Row[Any]) -> InstalledPackage:
        return InstalledPackage(
            name=row.name,
            subscription=Subscription(
                repository=row.repository,
                channel=row.channel,
                name=row.word,
                signed=bool(row.signed),
                policy=None if row.policy is None else _policy(row.policy),
            ),
            pinned=row.pinned,
            version=_version(row.version),
            digest=row.digest,
            since=_time(row.since),
            manifest=manifest_from_json(row.manifest, f"{self.path}: {row.name}"),
        )

    def basis(self) -> tuple[object, ...]:
        """All that a decision rests on and people or other processes may change; equal as long as nothing was."""
        packages = self.packages()
        names = [each.name for each in packages]
        words = tuple((self.holds(name), self.approvals(name)) for name in names)
        return packages, words

    # Decisions

    def state(self, package: InstalledPackage) -> State:
        """What decisions about an installed package begin with."""
        return msgspec.structs.replace(
            self.state_before(package.name, package.subscription.name, package.pinned),
            installed=package.installed,
        )

    def state_before(self, name: str, word: str, pinned: str | None = None) -> State:
        """What decisions about a package begin with that is not installed."""
        query = select(t.KNOWN.c.version, t.KNOWN.c.digest).where(t.KNOWN.c.package == name)
        known = {SemVer.parse(row.version): str(row.digest) for row in self._rows(query)}
        return State(
            package=name,
            channel=word,
            pinned=pinned,
            known=known,
            seen_serial=self.seen(name, word).serial,
            clock_floor=self.clock_floor(),
            approvals=self.approvals(name),
            holds=self.holds(name),
        )

    def seen(self, name: str, word: str) -> Seen:
        """The newest state of a channel that was accepted."""
        table = t.CHANNELS
        found = (table.c.package == name, table.c.word == word)
        rows = self._rows(select(table.c.serial, table.c.content).where(*found))
        return Seen(rows[0].serial, rows[0].content) if rows else Seen()

    def highest_serial(self, name: str) -> int:
        """The highest serial of all accepted states of a package's channels; 0 for none."""
        query = select(func.max(t.CHANNELS.c.serial)).where(t.CHANNELS.c.package == name)
        return cast("int | None", self._rows(query)[0][0]) or 0

    def unpublished(self, name: str, version: SemVer) -> str | None:
        """Why a version is unpublished, as its channel last said; None where it is not."""
        table = t.UNPUBLISHED
        found = (table.c.package == name, table.c.version == str(version))
        rows = self._rows(select(table.c.reason).where(*found))
        return str(rows[0].reason) if rows else None

    def remember(self, channel: Channel, known: Mapping[SemVer, str], now: dt.datetime) -> None:
        """Remembers a channel that was accepted, so that nothing leads back behind it.

        Args:
            channel: the channel.
            known: the digests that are known already.
            now: the time; it becomes the floor of the clock.
        """
        newest = channel.serial >= self.seen(channel.package, channel.name).serial
        if newest:
            row = {
                "package": channel.package,
                "word": channel.name,
                "serial": channel.serial,
                "content": content_of(channel),
            }
            upsert(self._connection, t.CHANNELS, [row])
        entries = (*channel.versions, *(each.entry for each in channel.unpublished))
        new = [
            (str(each.version), each.identity)
            for each in entries
            if known.get(each.version) != each.identity
            and (each.digest is not None or each.version not in known)
        ]
        self._know(channel.package, new)
        if newest:  # Else another client has remembered what came since.
            self._remember_unpublished(channel)
        self.raise_clock_floor(now)

    def _remember_unpublished(self, channel: Channel) -> None:
        table = t.UNPUBLISHED
        of_channel = (table.c.package == channel.package, table.c.word == channel.name)
        self._connection.execute(delete(table).where(*of_channel))
        gone = [
            {
                "package": channel.package,
                "version": str(each.entry.version),
                "word": channel.name,
                "reason": each.reason,
            }
            for each in channel.unpublished
        ]
        upsert(self._connection, table, gone)

    def _know(self, name: str, digests: Iterable[tuple[str, str]]) -> None:
        rows = [{"package": name, "version": v, "digest": digest} for v, digest in digests]
        upsert(self._connection, t.KNOWN, rows)

    # Holds and approvals

    def holds(self, name: str) -> tuple[Hold, ...]:
        """What is held of a package, the oldest first."""
        query = select(t.HOLDS).where(t.HOLDS.c.package == name).order_by(t.HOLDS.c.id)
        return tuple(
            Hold(
                row.reason,
                _time(row.at),
                _version(row.version),
                None if row.until is None else _time(row.until),
                row.by,
            )
            for row in self._rows(query)
        )

    def hold(self, name: str, hold: Hold) -> None:
        """Holds a package, in place of an earlier hold on the same version."""
        self.unhold(name, hold.version)
        row = {
            "package": name,
            "version": _text(hold.version),
            "reason": hold.reason,
            "at": format_time(hold.at),
            "until": hold.until and format_time(hold.until),
            "by": hold.by,
        }
        self._connection.execute(insert(t.HOLDS), row)

    def unhold(self, name: str, version: SemVer | None) -> bool:
        """Ends the hold on a version, or the one on everything; whether there was one."""
        same = t.HOLDS.c.version.is_not_distinct_from(_text(version))
        done = self._connection.execute(delete(t.HOLDS).where(t.HOLDS.c.package == name, same))
        return done.rowcount > 0

    def approvals(self, name: str) -> tuple[Approval, ...]:
        """What is approved of a package."""
        table = t.APPROVALS
        query = select(table).where(table.c.package == name).order_by(table.c.at)
        return tuple(
            Approval(SemVer.parse(row.version), row.digest, _time(row.at), row.by)
            for row in self._rows(query)
        )

    def approve(self, name: str, approval: Approval) -> None:
        """Records an approval, in place of an earlier one for the same version."""
        row = {
            "package": name,
            "version": str(approval.version),
            "digest": approval.digest,
            "at": format_time(approval.at),
            "by": approval.by,
        }
        upsert(self._connection, t.APPROVALS, [row])

    def unapprove(self, name: str, version: SemVer) -> None:
        """Withdraws the approval of a version."""
        same = t.APPROVALS.c.version == str(version)
        self._connection.execute(delete(t.APPROVALS).where(t.APPROVALS.c.package == name, same))

    # Conditions and history

    def conditions(self, name: str) -> tuple[Condition, ...]:
        """The conditions of the last status of a package."""
        query = select(t.CONDITIONS.c.condition).where(t.CONDITIONS.c.package == name)
        return tuple(msgspec.json.decode(row[0], type=Condition) for row in self._rows(query))

    def keep_conditions(self, name: str, conditions: Iterable[Condition]) -> None:
        """Records the conditions of a status."""
        rows = [
            {"package": name, "type": each.type, "condition": msgspec.json.encode(each).decode()}
            for each in conditions
        ]
        upsert(self._connection, t.CONDITIONS, rows)

    def history(self, name: str | None = None) -> tuple[PackageEvent, ...]:
        """What happened to a package, or to all, the newest first."""
        query = select(t.HISTORY).order_by(t.HISTORY.c.id.desc())
        if name is not None:
            query = query.where(t.HISTORY.c.package == name)
        return tuple(map(_event, self._rows(query)))

    def record(self, event: PackageEvent) -> None:
        """Records that something happened."""
        row = {
            "package": event.package,
            "at": format_time(event.at),
            "action": event.action,
            "from_version": event.before,
            "from_digest": event.before_digest,
            "to_version": event.after,
            "to_digest": event.after_digest,
            "note": event.note,
        }
        self._connection.execute(insert(t.HISTORY), row)

    # What was seen of signed channels, by the keys of `trust_key`

    def trust(self, key: str) -> bytes | None:
        """What was seen of a channel; None where it is not trusted."""
        rows = self._rows(select(t.TRUST.c.state).where(t.TRUST.c.channel == key))
        return bytes(rows[0].state) if rows else None

    def trusted(self) -> tuple[str, ...]:
        """The keys of all channels that are trusted."""
        return tuple(row.channel for row in self._rows(select(t.TRUST.c.channel)))

    def put_trust(self, key: str, state: bytes) -> None:
        """Records what was seen of a channel, in place of what was before."""
        upsert(self._connection, t.TRUST, [{"channel": key, "state": state}])

    def remove_trust(self, key: str) -> None:
        """Ends to trust a channel."""
        self._connection.execute(delete(t.TRUST).where(t.TRUST.c.channel == key))

    # Facts

    def clock_floor(self) -> dt.datetime | None:
        """The latest time that was ever seen."""
        text = self._fact(_FLOOR)
        return None if text is None else _time(text)

    def raise_clock_floor(self, now: dt.datetime) -> None:
        """Remembers a time, if it is later than all before."""
        floor = self.clock_floor()
        if floor is None or now > floor:
            self._set_fact(_FLOOR, format_time(now))

    def generation(self) -> int:
        """The number of the present set of installed packages; 0 before the first."""
        return int(self._fact(_GENERATION) or 0)

    def set_generation(self, number: int) -> None:
        """Makes a set of installed packages the present one."""
        self._set_fact(_GENERATION, str(number))

    def stores(self) -> tuple[str, ...]:
        """The stores that what is installed is kept in: files and URLs."""
        rows = self._rows(select(t.FACTS.c.value).where(t.FACTS.c.name.startswith(_STORE)))
        return tuple(sorted(str(row.value) for row in rows))

    def add_store(self, place: str) -> None:
        """Remembers a store."""
        self._set_fact(f"{_STORE}{place}", place)

    def forget_store(self, place: str) -> None:
        """Forgets a store."""
        self._connection.execute(delete(t.FACTS).where(t.FACTS.c.name == f"{_STORE}{place}"))

    def _fact(self, name: str) -> str | None:
        rows = self._rows(select(t.FACTS.c.value).where(t.FACTS.c.name == name))
        return str(rows[0].value) if rows else None

    def _set_fact(self, name: str, value: str) -> None:
        upsert(self._connection, t.FACTS, [{"name": name, "value": value}])

    # Forgetting, which only a person asks for

    def forget_clock(self) -> None:
        """Forgets the latest time that was ever seen."""
        self._connection.execute(delete(t.FACTS).where(t.FACTS.c.name == _FLOOR))

    def forget_channels(self, name: str) -> None:
        """Forgets the newest accepted states of a package's channels; known digests are kept."""
        self._connection.execute(delete(t.CHANNELS).where(t.CHANNELS.c.package == name))

    def forget_digest(self, name: str, version: SemVer) -> None:
        """Forgets the digest of a version."""
        found = (t.KNOWN.c.package == name, t.KNOWN.c.version == str(version))
        self._connection.execute(delete(t.KNOWN).where(*found))


def content_of(channel: Channel) -> str:
    """The digest of all that a channel says."""
    return "sha256:" + hashlib.sha256(write_all(channel)).hexdigest()


def _event(row: Row[Any]) -> PackageEvent:
    return PackageEvent(
        package=row.package,
        at=_time(row.at),
        action=cast("EventKind", row.action),
        before=row.from_version,
        before_digest=row.from_digest,
        after=row.to_version,
        after_digest=row.to_digest,
        note=row.note,
    )


def _policy(text: str) -> Policy:
    return read_policy(json.loads(text))


def _time(text: object) -> dt.datetime:
    return parse_time(str(text))[0]


def _text(version: SemVer | None) -> str | None:
    return None if version is None else str(version)


def _version(text: object) -> SemVer | None:
    return None if text is None else SemVer.parse(str(text))
