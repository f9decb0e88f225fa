"""Java's old key store, JKS: a list of certificates and of keys under SHA-1 and XOR.

Written by hand because nothing that is looked after reads it, and because it is small: a trust store is
plain certificates. Java 9 and later write PKCS12 instead, also into files called `.jks`.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from collections.abc import Iterator
from typing import NamedTuple

MAGIC = b"\xfe\xed\xfe\xed"
_KEY, _CERTIFICATE = 1, 2
_VERSIONS = (1, 2)  # the second says of each certificate what kind it is
_SALT_BYTES = _DIGEST_BYTES = 20
_SEQUENCE, _OCTETS = 0x30, 0x04


class JksError(Exception):
    """What is wrong with the file or the password, in one sentence."""


class KeyEntry(NamedTuple):
    alias: str
    protected: bytes  # EncryptedPrivateKeyInfo; see `unlock`
    chain: tuple[bytes, ...]  # certificates, our own first


class JavaKeyStore(NamedTuple):
    certificates: tuple[bytes, ...]  # those we trust
    keys: tuple[KeyEntry, ...]


def parse(data: bytes, password: str | None) -> JavaKeyStore:
    """Certificates as DER. Without a password the file's digest is not checked, as in Java."""
    if password is not None:
        told = hashlib.sha1(_wide(password) + b"Mighty Aphrodite" + data[:-_DIGEST_BYTES]).digest()
        if not hmac.compare_digest(told, data[-_DIGEST_BYTES:]):
            raise JksError("the password is wrong, or the file is damaged")
    try:
        return _entries(_Reader(data[:-_DIGEST_BYTES]))
    except (struct.error, UnicodeDecodeError):
        raise JksError("the file is damaged") from None


def unlock(protected: bytes, password: str) -> bytes:
    """The private key of an entry, as PKCS8 DER."""
    sealed = _octets(protected)
    salt, hidden, digest = (
        sealed[:_SALT_BYTES],
        sealed[_SALT_BYTES:-_DIGEST_BYTES],
        sealed[-_DIGEST_BYTES:],
    )
    secret = _wide(password)
    stream = bytearray()
    for block in _stream(secret, salt):
        stream += block
        if len(stream) >= len(hidden):
            break
    key = bytes(one ^ other for one, other in zip(hidden, stream, strict=False))
    if not hmac.compare_digest(hashlib.sha1(secret + key).digest(), digest):
        raise JksError("the key's password is wrong")
    return key


def _stream(secret: bytes, salt: bytes) -> Iterator[bytes]:
    block = salt
    while True:
        block = hashlib.sha1(secret + block).digest()
        yield block


def _wide(password: str) -> bytes:
    return password.encode("utf-16-be")


class _Reader:
    """Java's DataInputStream; what is not there is a struct.error."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def number(self) -> int:
        (value,) = struct.unpack(">I", self.take(4))
        return int(value)

    def text(self) -> str:
        (length,) = struct.unpack(">H", self.take(2))
        return self.take(length).decode()

    def take(self, size: int) -> bytes:
        end = self._position + size
        if end > len(self._data):
            raise struct.error("too short")
        piece = self._data[self._position : end]
        self._position = end
        return piece


def _entries(reader: _Reader) -> JavaKeyStore:
    magic, version, count = reader.take(4), reader.number(), reader.number()
    if magic != MAGIC or version not in _VERSIONS:
        raise JksError("this is no JKS file")
    certificates: list[bytes] = []
    keys: list[KeyEntry] = []
    for _ in range(count):
        tag, alias, _created_at = reader.number(), reader.text(), reader.take(8)
        if tag == _CERTIFICATE:
            certificates.append(_certificate(reader, version))
        elif tag == _KEY:
            protected = reader.take(reader.number())
            chain = tuple(_certificate(reader, version) for _ in range(reader.number()))
            keys.append(KeyEntry(alias, protected, chain))
        else:
            raise JksError(f"the entry {alias} is neither a key nor a certificate")
    return JavaKeyStore(tuple(certificates), tuple(keys))


def _certificate(reader: _Reader, version: int) -> bytes:
    if version > 1 and (kind := reader.text()) != "X.509":
        raise JksError(f"a certificate of the kind {kind} cannot be read")
    return reader.take(reader.number())


def _octets(protected: bytes) -> bytes:
    """EncryptedPrivateKeyInfo is SEQUENCE { algorithm, OCTET STRING }; the algorithm is Sun's only one."""
    try:
        inside, _ = _element(protected, _SEQUENCE)
        _, rest = _element(inside, _SEQUENCE)
        sealed, _ = _element(rest, _OCTETS)
    except IndexError:
        raise JksError("the key is damaged") from None
    return sealed


def _element(data: bytes, tag: int) -> tuple[bytes, bytes]:
    """The content of the first DER element, and what follows it."""
    if data[0] != tag:
        raise JksError("the key is protected in a way that is not known here")
    length, start = data[1], 2
    if length & 0x80:
        start += length & 0x7F
        length = int.from_bytes(data[2:start])
    if start + length > len(data):
        raise IndexError
    return data[start : start + length], data[start + length :]
