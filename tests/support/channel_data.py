"""Short ways to write channels, states and times."""

import datetime as dt
import hashlib

import msgspec

from trundle.channels import Channel, Installed, ListedVersion, State, belongs, id_of, tag_of
from trundle.version import SemVer

v = SemVer.parse
PACKAGE = "acme/crm"
START = dt.datetime(2026, 3, 2, 12, 0, tzinfo=dt.UTC)  # a Monday
DAY, HOUR, MINUTE = dt.timedelta(days=1), dt.timedelta(hours=1), dt.timedelta(minutes=1)
SECOND = dt.timedelta(seconds=1)


def time(text):
    return dt.datetime.fromisoformat(text).astimezone(dt.UTC)


def digest(text):
    return "sha256:" + hashlib.sha256(str(text).encode()).hexdigest()


def entry(version, *, content=None, at=START, **fields):
    found = digest(content or version)
    return ListedVersion(
        version=v(version),
        id=id_of(found),
        create_time=at,
        digest=found,
        tag=tag_of(v(version)),
        size=1000,
        **fields,
    )


def channel(*entries, name="stable", latest="", **fields):
    """A channel of versions or entries; the highest is the latest unless said otherwise (None: no latest)."""
    listed = [entry(each) if isinstance(each, str) else each for each in entries]
    listed.sort(key=lambda each: each.version, reverse=True)
    assert all(belongs(each.version, name) for each in listed)
    top = listed[0].version if listed and latest == "" else latest and v(latest)
    fields = {"serial": len(listed), "update_time": START, **fields}
    return Channel(name=name, package=PACKAGE, versions=tuple(listed), latest=top or None, **fields)


def state(version=None, *, channel="stable", **fields):
    installed = None if version is None else Installed(v(version), digest(version))
    return State(package=PACKAGE, channel=channel, installed=installed, **fields)


def change(value, **fields):
    return msgspec.structs.replace(value, **fields)


def codes(refusals):
    return [str(each.code) for each in refusals]
