"""What an installation remembers, kept in its database."""

import datetime as dt
import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from trundle.channels._times import format_time, parse_time
from trundle.channels.decision import Approval, Condition, Hold, State
from trundle.channels.files import Channel, write_all
from trundle.channels.installing._database import Database
from trundle.channels.installing._records import Deed, Event, Package, Seen
from trundle.channels.policy import Policy, policy_to_plain, read_policy
from trundle.packages import manifest_from_json, manifest_to_json
from trundle.version import SemVer

_COLUMNS = (
    "name, repository, channel, word, pinned, signed, policy, version, digest, since, manifest"
)
_FLOOR, _GENERATION = "clock", "generation"


class Memory:
    """The database of an installation in terms of packages. Changes belong within `changing`.

    Args:
        path: the file of the database.

    Raises:
        StateError: the database cannot be used; so do all methods.
    """

    def __init__(self, path: Path) -> None:
        self._database = Database(path)
        self.close = self._database.close
        self.changing = self._database.changing

    # Packages

    def packages(self) -> tuple[Package, ...]:
        """All installed packages, in alphabetical order."""
        rows = self._database.rows(f"SELECT {_COLUMNS} FROM packages ORDER BY name")  # noqa: S608
        return tuple(self._package(cast("tuple[Any, ...]", each)) for each in rows)

    def package(self, name: str) -> Package | None:
        """An installed package; None where it is not installed."""
        rows = self._database.rows(f"SELECT {_COLUMNS} FROM packages WHERE name = ?", name)  # noqa: S608
        return self._package(cast("tuple[Any, ...]", rows[0])) if rows else None

    def put(self, package: Package) -> None:
        """Records what is installed of a package, in place of what was before."""
        policy = package.policy and json.dumps(policy_to_plain(package.policy))
        version = _text(package.version)
        values = {
            "name": package.name,
            "repository": package.repository,
            "channel": package.channel,
            "word": package.word,
            "pinned": package.pinned,
            "signed": int(package.signed),
            "policy": policy,
            "version": version,
            "release": str(package.manifest.version),
            "digest": package.digest,
            "since": format_time(package.since),
            "manifest": manifest_to_json(package.manifest),
        }
        changed = ", ".join(f"{key} = excluded.{key}" for key in values if key != "name")
        self._database.run(
            f"INSERT INTO packages ({', '.join(values)}) VALUES ({', '.join('?' * len(values))}) "  # noqa: S608
            f"ON CONFLICT (name) DO UPDATE SET {changed}",
            *values.values(),
        )
        if version is not None:
            self._know(package.name, [(version, package.digest)])

    def remove(self, name: str) -> None:
        """Forgets a package with its holds and approvals; what was seen of it is kept."""
        self._database.run("DELETE FROM packages WHERE name = ?", name)

    def _package(self, row: tuple[Any, ...]) -> Package:
        name, repository, channel, word, pinned, signed, policy, version, digest, since, raw = row
        return Package(
            name=name,
            repository=repository,
            channel=channel,
            word=word,
            pinned=pinned,
            signed=bool(signed),
            policy=None if policy is None else _policy(policy),
            version=_version(version),
            digest=digest,
            since=_time(since),
            manifest=manifest_from_json(raw, f"{self._database.path}: {name}"),
        )

    # Decisions

    def state(self, package: Package) -> State:
        """What decisions about an installed package begin with."""
        return msgspec.structs.replace(
            self.state_before(package.name, package.word, package.pinned),
            installed=package.installed,
        )

    def state_before(self, name: str, word: str, pinned: str | None = None) -> State:
        """What decisions about a package begin with that is not installed."""
        rows = self._database.rows("SELECT version, digest FROM known WHERE package = ?", name)
        known = {SemVer.parse(str(version)): str(digest) for version, digest in rows}
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
        statement = "SELECT serial, content FROM channels WHERE package = ? AND word = ?"
        rows = self._database.rows(statement, name, word)
        return Seen(cast("int", rows[0][0]), str(rows[0][1])) if rows else Seen()

    def highest_serial(self, name: str) -> int:
        """The highest serial of all accepted states of a package's channels; 0 for none."""
        rows = self._database.rows("SELECT max(serial) FROM channels WHERE package = ?", name)
        return cast("int | None", rows[0][0]) or 0

    def unpublished(self, name: str, version: SemVer) -> str | None:
        """Why a version is unpublished, as its channel last said; None where it is not."""
        statement = "SELECT reason FROM unpublished WHERE package = ? AND version = ?"
        rows = self._database.rows(statement, name, str(version))
        return str(rows[0][0]) if rows else None

    def remember(self, channel: Channel, known: Mapping[SemVer, str], now: dt.datetime) -> None:
        """Remembers a channel that was accepted, so that nobody can lead back behind it.

        Args:
            channel: the channel.
            known: the digests that are known already.
            now: the time; it becomes the floor of the clock.
        """
        self._database.run(
            "INSERT INTO channels VALUES (?, ?, ?, ?) ON CONFLICT (package, word) "
            "DO UPDATE SET serial = excluded.serial, content = excluded.content "
            "WHERE excluded.serial >= channels.serial",
            *(channel.package, channel.name, channel.serial, content_of(channel)),
        )
        entries = (*channel.versions, *(each.entry for each in channel.unpublished))
        new = [
            (str(each.version), each.identity)
            for each in entries
            if known.get(each.version) != each.identity
            and (each.digest is not None or each.version not in known)
        ]
        self._know(channel.package, new)
        statement = "DELETE FROM unpublished WHERE package = ? AND word = ?"
        self._database.run(statement, channel.package, channel.name)
        self._database.run_many(
            "INSERT OR REPLACE INTO unpublished VALUES (?, ?, ?, ?)",
            (
                (channel.package, str(each.entry.version), channel.name, each.reason)
                for each in channel.unpublished
            ),
        )
        self.raise_clock_floor(now)

    def _know(self, name: str, digests: Iterable[tuple[str, str]]) -> None:
        self._database.run_many(
            "INSERT INTO known VALUES (?, ?, ?) ON CONFLICT (package, version) "
            "DO UPDATE SET digest = excluded.digest",
            ((name, version, digest) for version, digest in digests),
        )

    # Holds and approvals

    def holds(self, name: str) -> tuple[Hold, ...]:
        """What is held of a package, the oldest first."""
        statement = "SELECT reason, at, version, until, by FROM holds WHERE package = ? ORDER BY id"
        return tuple(
            Hold(
                str(reason),
                _time(at),
                _version(version),
                None if until is None else _time(until),
                str(by),
            )
            for reason, at, version, until, by in self._database.rows(statement, name)
        )

    def hold(self, name: str, hold: Hold) -> None:
        """Holds a package, in place of an earlier hold on the same version."""
        self.unhold(name, hold.version)
        self._database.run(
            "INSERT INTO holds (package, version, reason, at, until, by) VALUES (?, ?, ?, ?, ?, ?)",
            *(name, _text(hold.version), hold.reason, format_time(hold.at)),
            *(hold.until and format_time(hold.until), hold.by),
        )

    def unhold(self, name: str, version: SemVer | None) -> bool:
        """Ends the hold on a version, or the one on everything; whether there was one."""
        statement = "DELETE FROM holds WHERE package = ? AND version IS ?"
        return self._database.run(statement, name, _text(version)) > 0

    def approvals(self, name: str) -> tuple[Approval, ...]:
        """What is approved of a package."""
        statement = "SELECT version, digest, at, by FROM approvals WHERE package = ? ORDER BY at"
        return tuple(
            Approval(SemVer.parse(str(version)), str(digest), _time(at), str(by))
            for version, digest, at, by in self._database.rows(statement, name)
        )

    def approve(self, name: str, approval: Approval) -> None:
        """Records an approval, in place of an earlier one for the same version."""
        self._database.run(
            "INSERT OR REPLACE INTO approvals VALUES (?, ?, ?, ?, ?)",
            *(name, str(approval.version), approval.digest, format_time(approval.at), approval.by),
        )

    # Conditions, history, facts

    def conditions(self, name: str) -> tuple[Condition, ...]:
        """The conditions of the last status of a package."""
        rows = self._database.rows("SELECT condition FROM conditions WHERE package = ?", name)
        return tuple(msgspec.json.decode(str(row[0]), type=Condition) for row in rows)

    def keep_conditions(self, name: str, conditions: Iterable[Condition]) -> None:
        """Records the conditions of a status."""
        rows = ((name, each.type, msgspec.json.encode(each).decode()) for each in conditions)
        self._database.run_many("INSERT OR REPLACE INTO conditions VALUES (?, ?, ?)", rows)

    def history(self, name: str | None = None) -> tuple[Event, ...]:
        """What happened to a package, or to all, the newest first."""
        columns = "package, at, action, from_version, from_digest, to_version, to_digest, note"
        statement = f"SELECT {columns} FROM history WHERE ?1 IS NULL OR package = ?1"  # noqa: S608
        rows = self._database.rows(f"{statement} ORDER BY id DESC", name)
        return tuple(_event(cast("tuple[Any, ...]", each)) for each in rows)

    def record(self, event: Event) -> None:
        """Records that something happened."""
        self._database.run(
            "INSERT INTO history (package, at, action, from_version, from_digest, to_version, "
            "to_digest, note) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            *(event.package, format_time(event.at), event.action, event.before),
            *(event.before_digest, event.after, event.after_digest, event.note),
        )

    def clock_floor(self) -> dt.datetime | None:
        """The latest time that was ever seen."""
        text = self._fact(_FLOOR)
        return None if text is None else _time(text)

    def raise_clock_floor(self, now: dt.datetime) -> None:
        """Remembers a time, if it is later than all before."""
        floor = self.clock_floor()
        if floor is None or now > floor:
            self._set_fact(_FLOOR, format_time(now))

    # Forgetting, which only a person asks for

    def forget_clock(self) -> None:
        """Forgets the latest time that was ever seen."""
        self._database.run("DELETE FROM facts WHERE name = ?", _FLOOR)

    def forget_channels(self, name: str) -> None:
        """Forgets the newest accepted states of a package's channels; known digests are kept."""
        self._database.run("DELETE FROM channels WHERE package = ?", name)

    def forget_digest(self, name: str, version: SemVer) -> None:
        """Forgets the digest of a version."""
        statement = "DELETE FROM known WHERE package = ? AND version = ?"
        self._database.run(statement, name, str(version))

    def generation(self) -> int:
        """The number of the present set of installed packages; 0 before the first."""
        return int(self._fact(_GENERATION) or 0)

    def set_generation(self, number: int) -> None:
        """Makes a set of installed packages the present one."""
        self._set_fact(_GENERATION, str(number))

    def _fact(self, name: str) -> str | None:
        rows = self._database.rows("SELECT value FROM facts WHERE name = ?", name)
        return str(rows[0][0]) if rows else None

    def _set_fact(self, name: str, value: str) -> None:
        self._database.run("INSERT OR REPLACE INTO facts VALUES (?, ?)", name, value)


def content_of(channel: Channel) -> str:
    """The digest of all that a channel says."""
    return "sha256:" + hashlib.sha256(write_all(channel)).hexdigest()


def _event(row: tuple[Any, ...]) -> Event:
    package, at, action, before, before_digest, after, after_digest, note = row
    return Event(
        package=package,
        at=_time(at),
        action=cast("Deed", action),
        before=before,
        before_digest=before_digest,
        after=after,
        after_digest=after_digest,
        note=note,
    )


def _policy(text: str) -> Policy:
    return read_policy(json.loads(text))


def _time(text: object) -> dt.datetime:
    return parse_time(str(text))[0]


def _text(version: SemVer | None) -> str | None:
    return None if version is None else str(version)


def _version(text: object) -> SemVer | None:
    return None if text is None else SemVer.parse(str(text))
