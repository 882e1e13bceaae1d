"""A certificate authority made for one run of tests, and what it signs."""

import datetime as dt
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_USES = (
    "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
    "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
)  # fmt: skip


class Authority:
    """Writes certificates with their keys, each pair as one PEM file, into a folder.

    Args:
        folder: the folder.
        strict: whether they have all that Python asks for since 3.13; Go does not ask for it.
    """

    def __init__(self, folder: Path, *, strict: bool = True):
        self._folder = folder
        self._strict = strict
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority of a test")])
        basic = x509.BasicConstraints(ca=True, path_length=None)
        uses = dict.fromkeys(_USES, False) | {"key_cert_sign": True, "crl_sign": True}
        usage = x509.KeyUsage(**uses)
        signed = self._sign(self._name, self._key, (basic, True), (usage, True))
        self.certificate = folder / "authority.pem"
        self.certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))

    def key(self, name: str) -> Path:
        """A key alone."""
        written = self._folder / f"{name}.pem"
        written.write_bytes(_pem(ec.generate_private_key(ec.SECP256R1())))
        return written

    def server(self, name: str, *hosts: str) -> Path:
        """A certificate for a server on this machine, which may have further names."""
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        names = [address, *map(x509.DNSName, ("localhost", *hosts))]
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
        return self._pair(
            name, subject, (x509.SubjectAlternativeName(names), False), (usage, False)
        )

    def client(self, name: str, *, group: str) -> Path:
        """A certificate for a user of a group."""
        named = [(NameOID.ORGANIZATION_NAME, group), (NameOID.COMMON_NAME, name)]
        subject = x509.Name([x509.NameAttribute(*each) for each in named])
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH])
        return self._pair(name, subject, (usage, False))

    def _pair(self, name: str, subject: x509.Name, *extensions) -> Path:
        key = ec.generate_private_key(ec.SECP256R1())
        signed = self._sign(subject, key, *extensions)
        written = self._folder / f"{name}.pem"
        written.write_bytes(_pem(key) + signed.public_bytes(serialization.Encoding.PEM))
        return written

    def _sign(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, *extensions
    ) -> x509.Certificate:
        now = dt.datetime.now(dt.UTC)
        builder = x509.CertificateBuilder(
            issuer_name=self._name,
            subject_name=subject,
            public_key=key.public_key(),
            serial_number=x509.random_serial_number(),
            not_valid_before=now - dt.timedelta(hours=1),
            not_valid_after=now + dt.timedelta(days=1),
        )
        ours, theirs = (each.public_key() for each in (self._key, key))
        by = x509.AuthorityKeyIdentifier.from_issuer_public_key(
            ours
        )  # Python asks for it since 3.13
        known = (by, False), (x509.SubjectKeyIdentifier.from_public_key(theirs), False)
        for extension, critical in (*extensions, *(known if self._strict else ())):
            builder = builder.add_extension(extension, critical)
        return builder.sign(self._key, hashes.SHA256())


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
