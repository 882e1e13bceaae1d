"""Publishers of signed channels, and what verifies their files from outside: neither Trundle nor python-tuf."""

import hashlib
import json

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from publishing_support import WORD, keys_in, now, package, release

from trundle.channels.publishing import KeyFolder, export, renew_root
from trundle.channels.reading import RepositorySource, Subscription
from trundle.channels.reading.signatures import read_key
from trundle.registry import DirectoryRegistry

PACKAGE = "acme/db"


class Publisher:
    """Publishes a signed channel into a folder, as static files."""

    def __init__(self, folder):
        self.folder = folder
        self.keys = keys_in(folder / "keys")
        self.repository = DirectoryRegistry(folder / "packages").repository(PACKAGE)
        self.files = folder / "www"
        self.root = (self.keys / "root.json").read_bytes()

    def publish(self, *versions, **further):
        for each in versions:
            place = package(self.folder / each, each, content=each)
            release(self.repository, place, keys=self.keys, **further)
        self.export()

    def renew_root(self):
        """Makes the next root; the channel has it with its next change."""
        signers = [read_key(each) for each in sorted(self.keys.glob("root*.pem"))]
        renew_root(KeyFolder(self.keys, lambda: b""), signers, now=now())

    def export(self):
        export(RepositorySource(self.repository, WORD), self.files)

    @property
    def subscription(self):
        return Subscription(repository="", channel=str(self.files))


def canonical(value):
    """JSON in the canonical form that TUF signs."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def check_from_outside(root, read):
    """Verifies files of a channel by the keys of a root, without Trundle and python-tuf."""
    keys = json.loads(root)["signed"]
    timestamp = signed_by(keys, "timestamp", read("timestamp.json"))
    snapshot = signed_by(keys, "snapshot", read("snapshot.json"))
    targets = signed_by(keys, "targets", read("targets.json"))
    assert timestamp["meta"]["snapshot.json"]["version"] == snapshot["version"]
    assert snapshot["meta"]["targets.json"]["version"] == targets["version"]
    for name in ("latest", "all"):
        signed = targets["targets"][f"{PACKAGE}/{WORD}/{name}"]
        assert hashlib.sha256(read(name)).hexdigest() == signed["hashes"]["sha256"]
        assert len(read(name)) == signed["length"]


def signed_by(root, role, content):
    document = json.loads(content)
    names = set(root["roles"][role]["keyids"])
    (signature,) = [each for each in document["signatures"] if each["keyid"] in names]
    key = root["keys"][signature["keyid"]]["keyval"]["public"]
    payload = canonical(document["signed"])
    Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(
        bytes.fromhex(signature["sig"]), payload
    )
    return document["signed"]
