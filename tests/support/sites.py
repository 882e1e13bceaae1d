"""A publisher and an installation in folders of their own, with a clock that stands still until it is advanced."""

import datetime as dt

from trundle.channels.publishing import (
    ChannelSigner,
    KeyFolder,
    PublishedChannel,
    PublishRequest,
    make_keys,
    publish,
    unpublish,
)
from trundle.channels.reading.signatures import Lifetimes
from trundle.installation import Install, Installation, install
from trundle.registry import open_repository
from trundle.version import SemVer

MONDAY = dt.datetime(2026, 3, 2, 12, 0, tzinfo=dt.UTC)


class Clock:
    """A clock that is set by hand."""

    def __init__(self, now: dt.datetime = MONDAY) -> None:
        self.now = now

    def __call__(self) -> dt.datetime:
        return self.now

    def go(self, **duration: float) -> None:
        self.now += dt.timedelta(**duration)


class Site:
    """A publisher of packages, and a machine that installs them.

    `reference` gives the repository of a package; by default, an image layout below the folder.
    """

    def __init__(self, folder, reference=None, *, signed=False, clock=None) -> None:
        self.folder = folder
        self.clock = clock or Clock()
        self.signed = signed
        self._reference = reference or (lambda name: f"oci:{folder}/registry//{name}")
        self.state = folder / "state"
        if signed:
            make_keys(folder / "keys", None, now=self.clock())

    def reference(self, name="acme/crm"):
        return self._reference(name)

    @property
    def root(self):
        return (self.folder / "keys" / "root.json").read_bytes() if self.signed else None

    def channel(self, name="acme/crm", word="stable"):
        signer = None
        if self.signed:
            keys = KeyFolder(self.folder / "keys", lambda: b"")
            signer = ChannelSigner(keys, clock=self.clock, lifetimes=Lifetimes())
        repository = open_repository(self.reference(name))
        return PublishedChannel(repository, word, clock=self.clock, package=name, signer=signer)

    def write(self, version, name="acme/crm", *, content=None, **keys):
        place = self.folder / "packages" / name.replace("/", "-")
        place.mkdir(parents=True, exist_ok=True)
        lines = [f"name: {name}", f"version: {version}", *(f"{k}: {v}" for k, v in keys.items())]
        (place / "app.yaml").write_text("\n".join(lines) + "\n")
        (place / "content.txt").write_text(content or f"{name} {version}\n")
        return place

    def publish(
        self, version, name="acme/crm", *, word="stable", content=None, expires=None, **keys
    ):
        release, _, suffix = version.partition("-")
        place = self.write(release, name, content=content, **keys)
        wanted = PublishRequest(place, f"-{suffix}" if suffix else "", expires_after=expires)
        return publish(self.channel(name, word), wanted)

    def unpublish(self, version, reason="CVE-2026-1", name="acme/crm", **further):
        return unpublish(
            self.channel(name), SemVer.parse(version), reason, confirmed=True, **further
        )

    def installation(self, **further):
        return Installation(self.state, clock=self.clock, **further)

    def install(self, name="acme/crm", *, pin="", dry_run=False, **further):
        fields = {"root": self.root, "unsigned": not self.signed, **further}
        with self.installation() as installation:
            return install(
                installation,
                Install(reference=self.reference(name) + pin, **fields),
                dry_run=dry_run,
            )

    def text(self, name="acme/crm"):
        """What a program reads that uses what is installed."""
        with self.installation() as installation:
            return (installation.folders.link(name) / "content.txt").read_text().strip()

    def snapshot(self):
        """All that may not change when something is refused."""
        with self.installation() as installation:
            current = installation.folders.current
            return (
                installation.packages(),
                installation.history(),
                current.readlink() if current.is_symlink() else None,
            )
