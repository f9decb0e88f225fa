"""Certificates for one test run: an authority of our own and what it signs. Nothing here outlives the run."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = datetime.timedelta(days=1)
Names = tuple[x509.GeneralName, ...]
HERE: Names = (x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1")))


@dataclass(frozen=True)
class Identity:
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def certificate_pem(self) -> str:
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    def key_pem(self, password: str | None = None) -> str:
        locked: serialization.KeySerializationEncryption = serialization.NoEncryption()
        if password is not None:
            locked = serialization.BestAvailableEncryption(password.encode())
        form = serialization.PrivateFormat.PKCS8
        return self.key.private_bytes(serialization.Encoding.PEM, form, locked).decode()

    def write(self, path: Path, password: str | None = None) -> Path:
        """Key and certificate in one PEM file, as Kafka's ssl.keystore.location wants them."""
        path.write_text(self.key_pem(password) + self.certificate_pem)
        return path


class Authority:
    def __init__(self, name: str = "Barnabas test authority") -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        self._itself = Identity(key, _signed(name, key, name, key, is_authority=True))
        self.name = name

    @property
    def pem(self) -> str:
        return self._itself.certificate_pem

    @property
    def certificate(self) -> x509.Certificate:
        return self._itself.certificate

    def issue(self, name: str, hosts: Names = HERE, *, expired: bool = False) -> Identity:
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = _signed(name, key, self.name, self._itself.key, hosts=hosts, expired=expired)
        return Identity(key, certificate)


def _signed(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    issuer_key: ec.EllipticCurvePrivateKey,
    *,
    hosts: Names = (),
    is_authority: bool = False,
    expired: bool = False,
) -> x509.Certificate:
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(_named(name))
        .issuer_name(_named(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 3 * DAY)
        .not_valid_after(now - DAY if expired else now + DAY)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
    )
    if hosts:
        builder = builder.add_extension(x509.SubjectAlternativeName(hosts), critical=False)
    return builder.sign(issuer_key, hashes.SHA256())


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
