"""The rows of channels in one transaction: read as records, and changed."""

import datetime as dt
import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, and_, delete, insert, or_, select, update

from trundle.catalog import _tables as t
from trundle.catalog._channel_records import (
    ChannelProblem,
    ChannelState,
    FollowedChannel,
    SignedFile,
    release_of,
    with_versions,
)
from trundle.channels import read_all, read_latest

_H, _F = t.CHANNELS.c, t.CHANNEL_FILES.c


class ChannelKey(NamedTuple):
    """Names a channel that a tenant follows."""

    tenant: str
    package: str
    channel: str


class Trouble(msgspec.Struct, frozen=True):
    """Why a channel could not be read, and what that makes of it.

    Attributes:
        problem: why.
        state: `expired` or `refused`; `valid` where it speaks against nothing that was verified before.
    """

    problem: ChannelProblem
    state: ChannelState


class _Source(msgspec.Struct):
    repository: str
    channel: str


class ChannelRow(NamedTuple):
    """A channel as it is kept, without its files; times are texts, an empty one is none.

    Attributes:
        tenant: who follows it.
        package: the package that it releases.
        name: its name.
        public: whether all tenants see it.
        subscription: where it is.
        seen: what was seen of it.
        verified: when that was.
        expires: the end of its validity period.
        checked: when it was last tried to read.
        trouble: why it could not be read then; empty where it could.
    """

    tenant: str
    package: str
    name: str
    public: bool
    subscription: bytes
    seen: bytes
    verified: str
    expires: str
    checked: str
    trouble: bytes = b""

    @property
    def key(self) -> ChannelKey:
        """What it is named by."""
        return ChannelKey(self.tenant, self.package, self.name)

    @property
    def source(self) -> str:
        """Where it is, for people; the subscription itself needs what only reading needs."""
        place = msgspec.json.decode(self.subscription, type=_Source)
        return f"{place.repository} {place.channel}".strip()

    @property
    def trouble_before(self) -> Trouble | None:
        """Why it could not be read when it was last tried; None where it could."""
        return msgspec.json.decode(self.trouble, type=Trouble) if self.trouble else None

    def state_at(self, now: dt.datetime, trouble: Trouble | None) -> ChannelState:
        """How far what is kept is to be trusted; the time does not go back behind the one at which it was verified."""
        if trouble is not None and trouble.state != "valid":
            return trouble.state
        is_over = self.expires and moment(self.expires) <= max(now, moment(self.verified))
        return "expired" if is_over else "valid"

    def shown(
        self, files: Mapping[str, bytes], kept: Sequence[SignedFile], now: dt.datetime
    ) -> FollowedChannel:
        """The channel as a record, with its versions where its file `all` is given.

        Args:
            files: the content of `latest`, and of `all`.
            kept: the files that are kept.
            now: the time.
        """
        latest = read_latest(files["latest"]).latest
        newest = latest.latest
        trouble = self.trouble_before
        found = FollowedChannel(
            package=self.package,
            channel=self.name,
            tenant=self.tenant,
            public=self.public,
            state=self.state_at(now, trouble),
            problem=None if trouble is None else trouble.problem,
            verified=moment(self.verified),
            checked=moment(self.checked),
            expires=moment(self.expires) if self.expires else None,
            serial=latest.serial,
            latest=None if newest is None else release_of(newest),
            files=tuple(kept),
            source=self.source,
        )
        return with_versions(found, read_all(files["all"]).channel) if "all" in files else found


def moment(text: str) -> dt.datetime:
    """A time as the tables have it."""
    return dt.datetime.fromisoformat(text)


def signed_file(name: str, content: bytes) -> SignedFile:
    """What is said of a file that is kept."""
    return SignedFile(name, f"sha256:{hashlib.sha256(content).hexdigest()}", len(content))


class ChannelRows:
    """The rows of channels.

    Args:
        connection: the transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def all(self) -> tuple[ChannelRow, ...]:
        """Those of all tenants, by name."""
        statement = select(t.CHANNELS).order_by(_H.tenant, _H.package, _H.name)
        return tuple(ChannelRow(*row) for row in self._connection.execute(statement))

    def one(self, key: ChannelKey) -> ChannelRow | None:
        """That of a tenant; None where it does not follow it."""
        row = self._connection.execute(select(t.CHANNELS).where(*_is(key))).first()
        return None if row is None else ChannelRow(*row)

    def seen_by(self, tenant: str, named: tuple[str, str] | None = None) -> tuple[ChannelRow, ...]:
        """Those that a tenant sees, by package and name; or the one of a package and name. Its own stands for a public one of the same name."""
        statement = select(t.CHANNELS).where(or_(_H.tenant == tenant, _H.public))
        if named is not None:
            statement = statement.where(_H.package == named[0], _H.name == named[1])
        found: dict[tuple[str, str], ChannelRow] = {}
        for row in map(ChannelRow._make, self._connection.execute(statement)):
            if row.tenant == tenant or (row.package, row.name) not in found:
                found[row.package, row.name] = row
        return tuple(found[each] for each in sorted(found))

    def public_of(self, package: str, name: str) -> str | None:
        """The tenant whose channel of a name all see; None where there is none."""
        statement = select(_H.tenant).where(_H.package == package, _H.name == name, _H.public)
        return self._connection.execute(statement).scalar()

    def content(self, key: ChannelKey, file: str) -> bytes | None:
        """A file; None where there is none."""
        statement = select(_F.content).where(*_of(key), _F.name == file)
        return self._connection.execute(statement).scalar()

    def shown(self, row: ChannelRow, now: dt.datetime, *, whole: bool) -> FollowedChannel:
        """A channel as a record, with its versions or without them."""
        names = ["latest", "all"] if whole else ["latest"]
        statement = select(_F.name, _F.content).where(*_of(row.key), _F.name.in_(names))
        files = {each.name: each.content for each in self._connection.execute(statement)}
        statement = select(_F.name, _F.digest, _F.size).where(*_of(row.key)).order_by(_F.name)
        kept = [SignedFile(*each) for each in self._connection.execute(statement)]
        return row.shown(files, kept, now)

    def listed(self, found: Sequence[ChannelRow], now: dt.datetime) -> tuple[FollowedChannel, ...]:
        """Some as records, without their versions; two queries, however many there are."""
        joined = t.CHANNELS.join(
            t.CHANNEL_FILES,
            and_(_H.tenant == _F.tenant, _H.package == _F.package, _H.name == _F.channel),
        )
        key = (_F.tenant, _F.package, _F.channel)
        seen = _F.package.in_({row.package for row in found})
        statement = select(*key, _F.name, _F.digest, _F.size).select_from(joined).where(seen)
        kept: dict[ChannelKey, list[SignedFile]] = defaultdict(list)
        for each in self._connection.execute(statement.order_by(_F.name)):
            kept[ChannelKey(*each[:3])].append(SignedFile(*each[3:]))
        statement = select(*key, _F.content).select_from(joined).where(seen, _F.name == "latest")
        latest = {
            ChannelKey(*each[:3]): each.content for each in self._connection.execute(statement)
        }
        return tuple(row.shown({"latest": latest[row.key]}, kept[row.key], now) for row in found)

    def claim(self, row: ChannelRow, checked: str) -> bool:
        """Notes that a channel is being read; whether no other reader did since it was looked at."""
        statement = update(t.CHANNELS).where(*_is(row.key), _H.checked == row.checked)
        return bool(self._connection.execute(statement.values(checked=checked)).rowcount)

    def add(self, row: ChannelRow, files: Mapping[str, bytes]) -> None:
        """Adds a channel."""
        self._connection.execute(insert(t.CHANNELS).values(**row._asdict()))
        self._put_files(row.key, files)

    def replace(self, before: ChannelRow, after: ChannelRow, files: Mapping[str, bytes]) -> bool:
        """Replaces a channel and its files of the same names; the others, which are earlier roots, stay.

        Returns:
            Whether what was seen of it was still what it was before; nothing is changed otherwise.
        """
        statement = update(t.CHANNELS).where(*_is(before.key), _H.seen == before.seen)
        if not self._connection.execute(statement.values(**after._asdict())).rowcount:
            return False
        self._put_files(before.key, files)
        return True

    def remove(self, key: ChannelKey) -> None:
        """Removes a channel with its files."""
        self._connection.execute(delete(t.CHANNELS).where(*_is(key)))

    def _put_files(self, key: ChannelKey, files: Mapping[str, bytes]) -> None:
        if not files:
            return
        old = delete(t.CHANNEL_FILES).where(*_of(key), _F.name.in_(sorted(files)))
        self._connection.execute(old)
        names = {"tenant": key.tenant, "package": key.package, "channel": key.channel}
        rows = [
            {**names, **msgspec.structs.asdict(signed_file(name, content)), "content": content}
            for name, content in files.items()
        ]
        self._connection.execute(insert(t.CHANNEL_FILES), rows)


def _is(key: ChannelKey) -> tuple[Any, ...]:
    return _H.tenant == key.tenant, _H.package == key.package, _H.name == key.channel


def _of(key: ChannelKey) -> tuple[Any, ...]:
    return _F.tenant == key.tenant, _F.package == key.package, _F.channel == key.channel
