"""The channels that tenants follow: read and verified here, kept in the catalog as they are signed.

What was seen of a channel and its files change in one transaction, and only where no other reader changed them meanwhile.
So what is kept is one verified state, and never an older one than before.
"""

import datetime as dt
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec
from sqlalchemy import Connection

from trundle._clock import Clock
from trundle.catalog._channel_records import (
    ChannelProblem,
    ChannelState,
    FollowedChannel,
    FoundChannels,
    is_found,
)
from trundle.catalog._channel_rows import (
    ChannelKey,
    ChannelRow,
    ChannelRows,
    Trouble,
    moment,
    signed_file,
)
from trundle.catalog._errors import ChannelFollowedError, NoSuchChannelError
from trundle.catalog._tables import LOCK
from trundle.catalog._tenants import check_tenant
from trundle.channels import RefusalCode, format_time
from trundle.database import Database
from trundle.errors import Kind, TrundleError

if TYPE_CHECKING:
    from trundle.channels.reading import Subscription
    from trundle.registry import HttpSettings, Outages

_ATTEMPTS = 3
"""How often `refresh` reads a channel where others read it at the same time."""
_AHEAD = dt.timedelta(hours=1)
"""How far from now a channel can have been read, as servers have clocks that differ; beyond that, a clock was wrong then."""


class Channels:
    """The channels that the tenants of a catalog follow.

    Args:
        database: the database of the catalog.
        clock: returns the time.
        settings: how web servers are asked for channels.
    """

    def __init__(
        self, database: Database, clock: Clock, settings: "HttpSettings | None" = None
    ) -> None:
        self._database = database
        self._clock = clock
        self._settings = settings
        self._outages: Outages | None = None

    # What is there

    def followed(self, tenant: str) -> tuple[FollowedChannel, ...]:
        """All channels that a tenant sees; see `search`."""
        return self.search(tenant).channels

    def search(self, tenant: str, text: str = "", most: int | None = None) -> FoundChannels:
        """The channels that a tenant sees with a text in their packages and names, without their versions.

        It sees its own, and public ones of other names.

        Args:
            tenant: the tenant.
            text: the text, in any letter case; all channels have an empty one.
            most: how many channels are given at most; all where None.

        Raises:
            InvalidTenantError: no tenant can be called so.
            DatabaseError: the database cannot be read.
        """
        check_tenant(tenant)
        with self._database.reading() as connection:
            rows = ChannelRows(connection)
            seen = rows.seen_by(tenant)
            found = [each for each in seen if is_found(text, each.package, each.name)]
            return FoundChannels(len(found), rows.listed(found[:most], self._clock()))

    def channel(self, package: str, name: str, *, tenant: str) -> FollowedChannel:
        """A channel that a tenant sees, with its versions.

        Raises:
            NoSuchChannelError: the tenant sees no such channel.
            InvalidTenantError: no tenant can be called so.
            DatabaseError: the database cannot be read.
        """
        with self._database.reading() as connection:
            row = self._seen(connection, package, name, tenant)
            return ChannelRows(connection).shown(row, self._clock(), whole=True)

    def file(self, package: str, name: str, file: str, *, tenant: str) -> bytes:
        """A file of a channel that a tenant sees, byte for byte as it is signed.

        Raises:
            NoSuchChannelError: the tenant sees no such channel, or it has no such file.
            InvalidTenantError: no tenant can be called so.
            DatabaseError: the database cannot be read.
        """
        with self._database.reading() as connection:
            row = self._seen(connection, package, name, tenant)
            content = ChannelRows(connection).content(row.key, file)
        if content is None:
            where, expected = self._database.where, f"the file {file} of {package} {name}"
            advice = "name one of the files that the channel lists"
            raise NoSuchChannelError(where, expected, "none", advice)
        return content

    def location(self, package: str, name: str, *, tenant: str) -> str:
        """Where the files of a channel are."""
        return f"{self._database.where}: {package} {name} of {tenant}"

    # Changes

    def follow(
        self,
        subscription: "Subscription",
        root: bytes,
        *,
        tenant: str,
        public: bool = False,
        dry_run: bool = False,
    ) -> FollowedChannel:
        """Reads a channel and verifies it, and follows it from now on.

        Args:
            subscription: where the channel is.
            root: the publisher's root, which says by which keys it is signed.
            tenant: who follows it.
            public: whether all tenants see it.
            dry_run: whether it is only read.

        Raises:
            ChannelError: the channel is refused.
            RegistryError: its place cannot be read.
            ChannelFollowedError: the tenant follows it already, or all see it as another tenant follows it.
            InvalidTenantError: no tenant can be called so.
            DatabaseError: the database cannot be written; nothing was changed.
        """
        from trundle.catalog._channel_reading import placed, read_first  # noqa: PLC0415 - an extra

        check_tenant(tenant)
        place = placed(subscription, self._settings)
        read = read_first(place, root, self._clock, self._settings)
        place = msgspec.structs.replace(place, name=read.channel)
        row = ChannelRow(
            tenant=tenant,
            package=read.package,
            name=read.channel,
            public=public,
            subscription=msgspec.json.encode(place),
            seen=read.seen,
            verified=read.verified,
            expires=read.expires,
            checked=format_time(self._clock()),
        )
        if dry_run:
            with self._database.reading() as connection:
                self._check_free(connection, row)
        else:
            with self._database.writing() as connection:
                self._database.lock(connection, LOCK)
                self._check_free(connection, row)
                ChannelRows(connection).add(row, read.files)
        kept = [signed_file(name, content) for name, content in sorted(read.files.items())]
        return row.shown(read.files, kept, self._clock())

    def unfollow(
        self, package: str, name: str, *, tenant: str, dry_run: bool = False
    ) -> FollowedChannel:
        """Stops following a channel; what was seen of it is forgotten.

        Raises:
            NoSuchChannelError: the tenant follows no such channel.
            InvalidTenantError: no tenant can be called so.
            DatabaseError: the database cannot be written; nothing was changed.
        """
        check_tenant(tenant)
        key = ChannelKey(tenant, package, name)
        with self._database.reading() as connection:
            rows = ChannelRows(connection)
            row = rows.one(key)
            if row is None:
                raise self._missing(package, name, f"{tenant} follows")
            shown = rows.shown(row, self._clock(), whole=False)
        if not dry_run:
            with self._database.writing() as connection:
                ChannelRows(connection).remove(key)
        return shown

    def due(self, before: dt.datetime | None = None) -> tuple[ChannelKey, ...]:
        """The channels of all tenants that were not tried to read since a moment; all where None. Those of which a clock says that was wrong are among them.

        Raises:
            DatabaseError: the database cannot be read.
        """
        with self._database.reading() as connection:
            rows = ChannelRows(connection).all()
        return tuple(each.key for each in rows if before is None or self._is_due(each, before))

    def _is_due(self, row: ChannelRow, before: dt.datetime) -> bool:
        """Whether a channel was not tried to read since a moment; not where that was at a time that is long to come."""
        return not before <= moment(row.checked) <= self._clock() + _AHEAD

    def begin_round(self) -> None:
        """From now on, `refresh` and `refresh_due` ask a host that does not answer once in a round; another round begins with the next call."""
        from trundle.registry import Outages  # noqa: PLC0415 - only servers need it

        self._outages = self._outages or Outages()
        self._outages.begin_round()

    def refresh(self, key: ChannelKey, *, dry_run: bool = False) -> FollowedChannel | None:
        """Reads a channel again; what was verified last stays where it cannot be read, or is refused.

        Args:
            key: names the channel.
            dry_run: whether nothing is kept.

        Returns:
            The channel as it is kept now, or would be; its problem says why it could not be read. None where the tenant does not follow it any more.

        Raises:
            DatabaseError: the database cannot be written; nothing was changed.
        """
        for _ in range(_ATTEMPTS):
            row = self._row(key)
            if row is None:
                return None
            after, files = self._read_again(row)
            if dry_run:
                return self._not_kept(after, files)
            kept = self._kept(row, after, files)
            if kept is not None:
                return kept
        return self._present(key)

    def refresh_due(self, key: ChannelKey, before: dt.datetime) -> FollowedChannel | None:
        """Reads a channel again, as `refresh` does, unless others tried to since a moment, or are reading it; servers of one catalog share the work so.

        Returns:
            The channel as it is kept now, also where others have read it. None where the tenant does not follow it any more.

        Raises:
            DatabaseError: the database cannot be written; nothing was changed.
        """
        row = self._row(key)
        if row is not None and self._claimed(row, before):
            kept = self._kept(row, *self._read_again(row))
            if kept is not None:
                return kept
        return self._present(key)

    def _row(self, key: ChannelKey) -> ChannelRow | None:
        with self._database.reading() as connection:
            return ChannelRows(connection).one(key)

    def _present(self, key: ChannelKey) -> FollowedChannel | None:
        """A channel as it is kept now."""
        with self._database.reading() as connection:
            rows = ChannelRows(connection)
            row = rows.one(key)
            return None if row is None else rows.shown(row, self._clock(), whole=False)

    def _kept(
        self, row: ChannelRow, after: ChannelRow, files: Mapping[str, bytes]
    ) -> FollowedChannel | None:
        """Keeps a channel as it was read; None where others have read it meanwhile."""
        with self._database.writing() as connection:
            rows = ChannelRows(connection)
            if not rows.replace(row, after, files):
                return None
            return rows.shown(after, self._clock(), whole=False)

    def _not_kept(self, after: ChannelRow, files: Mapping[str, bytes]) -> FollowedChannel:
        """A channel as it was read, of which nothing is kept."""
        if files:
            kept = [signed_file(name, content) for name, content in sorted(files.items())]
            return after.shown({"latest": files["latest"]}, kept, self._clock())
        with self._database.reading() as connection:
            return ChannelRows(connection).shown(after, self._clock(), whole=False)

    def _claimed(self, row: ChannelRow, before: dt.datetime) -> bool:
        """Whether this reader is the one that reads a channel, which was not tried since a moment."""
        if not self._is_due(row, before):
            return False
        with self._database.writing() as connection:
            return ChannelRows(connection).claim(row, format_time(self._clock()))

    def _read_again(self, row: ChannelRow) -> tuple[ChannelRow, dict[str, bytes]]:
        """A channel as it is now with its files; without files, and with the problem, where it cannot be read."""
        from trundle.catalog._channel_reading import read_again  # noqa: PLC0415 - an extra
        from trundle.registry import HttpSettings  # noqa: PLC0415 - as it

        try:
            settings = msgspec.structs.replace(
                self._settings or HttpSettings(), outages=self._outages
            )
            read = read_again(row.subscription, row.seen, row.package, self._clock, settings)
        except TrundleError as error:
            trouble = msgspec.json.encode(_trouble(error, row.trouble_before))
            return row._replace(checked=format_time(self._clock()), trouble=trouble), {}
        after = row._replace(
            seen=read.seen,
            verified=read.verified,
            expires=read.expires,
            checked=format_time(self._clock()),
            trouble=b"",
        )
        return after, dict(read.files)

    def _check_free(self, connection: Connection, row: ChannelRow) -> None:
        rows, where = ChannelRows(connection), f"{row.package} {row.name}"
        if rows.one(row.key) is not None:
            expected = f"a channel that {row.tenant} does not follow yet"
            advice = "run `trundle catalog unfollow` first, to follow it at another place"
            raise ChannelFollowedError(where, expected, "one that it follows", advice)
        other = rows.public_of(row.package, row.name)
        if row.public and other is not None:
            expected, found = "no other public channel of this name", f"that of {other}"
            advice = "use that one, or follow it without --public"
            raise ChannelFollowedError(where, expected, found, advice)

    def _seen(self, connection: Connection, package: str, name: str, tenant: str) -> ChannelRow:
        check_tenant(tenant)
        for row in ChannelRows(connection).seen_by(tenant, (package, name)):
            return row
        raise self._missing(package, name, f"{tenant} sees")

    def _missing(self, package: str, name: str, whose: str) -> NoSuchChannelError:
        expected = f"the channel {package} {name} among those that {whose}"
        advice = "run `trundle catalog channels` to see what there is"
        return NoSuchChannelError(self._database.where, expected, "none", advice)


def _trouble(error: TrundleError, before: Trouble | None) -> Trouble:
    """Why a channel could not be read.

    That its place does not answer, or that this machine's clock is wrong, speaks against nothing that was verified
    before; nor does it answer what spoke against it before.
    """
    first = error.findings[0]
    state: ChannelState = "valid"
    if error.kind is Kind.VERIFICATION and first.code != RefusalCode.CLOCK_WENT_BACK:
        state = "expired" if first.code == RefusalCode.EXPIRED_METADATA else "refused"
    elif before is not None and before.state != "valid":
        return before
    problem = ChannelProblem(str(first.code), first.message)
    return Trouble(problem, state)
