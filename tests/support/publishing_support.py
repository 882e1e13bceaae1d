"""Packages to publish, and publishers that die: in this process, or as a process of its own.

As a program: publishes folders one after the other. Arguments: the reference of the repository, the channel, the
folder with the keys or `-`, `-` or the number of the write before which it kills itself, counted from 1, and the
folders.
"""

import datetime as dt
import os
import signal
import sys
from pathlib import Path

import msgspec

from trundle.channels.publishing import (
    ChannelSigner,
    KeyFolder,
    PublishedChannel,
    PublishRequest,
    make_keys,
    publish,
)
from trundle.registry import HttpSettings, Reference, open_repository

QUICK = HttpSettings(
    retries=10, first_pause=0.01, longest_pause=2, read_timeout=20, lease=20, poll=0.1
)
"""Settings for a registry on this machine."""

WRITES = (
    "put_blob",
    "put_manifest",
    "set_tag",
    "remove_tag",
    "remove_unique_tag",
)
WORD = "stable"


def now():
    return dt.datetime.now(dt.UTC)


class Killed(BaseException):
    """The process died."""


def dying(repository, step, die):
    """Dies before the n-th write to a repository; gives the list of the writes that were made."""
    writes = []

    def before(name, method):
        def call(*arguments, **further):
            writes.append(name)
            if len(writes) == step:
                die()
            return method(*arguments, **further)

        return call

    for name in WRITES:
        setattr(repository, name, before(name, getattr(repository, name)))
    return writes


def package(folder: Path, version: str, *, name="acme/db", content="content", **further) -> Path:
    """Writes the folder of a package."""
    folder.mkdir(parents=True, exist_ok=True)
    plain = {"name": name, "version": version, "title": "Database"} | further
    (folder / "app.yaml").write_bytes(msgspec.json.encode(plain))
    (folder / "schema.txt").write_text(content)
    return folder


def reference_of(repository) -> str:
    return str(Reference.parse(repository.location))


def keys_in(folder: Path) -> Path:
    make_keys(folder, None, now=now())
    return folder


def channel_of(repository, *, word=WORD, keys=None, clock=now, seen=None):
    signer = None
    if keys is not None:
        folder = KeyFolder(keys, lambda: b"")
        signer = ChannelSigner(folder, clock=clock, seen=seen)
    return PublishedChannel(repository, word, clock=clock, package="acme/db", signer=signer)


def release(repository, folder, *, word=WORD, keys=None, clock=now, **further):
    channel = channel_of(repository, word=word, keys=keys, clock=clock)
    return publish(channel, PublishRequest(folder, **further))


def main(reference, word, keys, death, *folders):
    settings = msgspec.structs.replace(QUICK, lease=20 if death == "-" else 1)
    repository = open_repository(reference, settings=settings)
    if death != "-":
        dying(repository, int(death), lambda: os.kill(os.getpid(), signal.SIGKILL))
    for folder in folders:
        found = None if keys == "-" else Path(keys)
        release(repository, Path(folder), word=word, keys=found)
        sys.stdout.write(f"{folder}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
