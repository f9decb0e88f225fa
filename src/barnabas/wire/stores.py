"""Trust stores and key stores: Java's and PEM's, read into what OpenSSL takes.

A store's first bytes say what it is, as they do to Java: since Java 9 a file called `.jks` holds PKCS12.
PKCS12 is read by `cryptography` (extra `security`); PEM and JKS need nothing else.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from barnabas.security import jks, pem
from barnabas.wire.errors import SettingsError
from barnabas.wire.security_settings import InlinePem, Store, StoreFile

_JCEKS_MAGIC = b"\xce\xce\xce\xce"
_DER_SEQUENCE = b"\x30"
_STORE_BYTES_MAX = 64 << 20


class Identity(NamedTuple):
    """What a client shows: PEM, its own certificate first."""

    chain: str
    key: str
    password: str | None = None  # of `key`, when it is still locked


class Pkcs12(NamedTuple):
    key: bytes | None  # PKCS8 DER
    own: bytes | None  # the certificate that goes with the key, DER
    others: tuple[bytes, ...]


def trusted(store: Store) -> list[bytes]:
    """The certificates to believe, as DER."""
    try:
        found = _certificates(store)
    except (pem.PemError, jks.JksError) as error:
        raise SettingsError(f"{_named(store)}: {error}") from None
    if not found:
        raise SettingsError(f"{_named(store)}: there is no certificate in it")
    return found


def identity(store: Store, key_password: str | None) -> Identity:
    try:
        return _identity(store, key_password)
    except (pem.PemError, jks.JksError) as error:
        raise SettingsError(f"{_named(store)}: {error}") from None


def _named(store: Store) -> str:
    return f"{store.setting}={store.location}" if isinstance(store, StoreFile) else store.setting


def _certificates(store: Store) -> list[bytes]:
    if isinstance(store, InlinePem):
        return pem.certificates(store.certificates)
    data = _read(store)
    if store.is_pem or _looks_like_pem(data):
        return pem.certificates(data.decode(errors="replace"))
    if data.startswith(jks.MAGIC):
        found = jks.parse(data, store.password)
        # Java believes the certificate of a key it finds in a trust store, but not who signed it.
        return [*found.certificates, *(key.chain[0] for key in found.keys if key.chain)]
    opened = _pkcs12(store, data)
    return [*([opened.own] if opened.own else []), *opened.others]


def _identity(store: Store, key_password: str | None) -> Identity:
    if isinstance(store, InlinePem):
        return _from_pem(store.certificates, store.key, key_password)
    data = _read(store)
    if store.is_pem or _looks_like_pem(data):
        text = data.decode(errors="replace")
        return _from_pem(text, text, key_password)
    if data.startswith(jks.MAGIC):
        return _from_jks(store, data, key_password)
    opened = _pkcs12(store, data)
    if opened.key is None or opened.own is None:
        raise SettingsError(f"{_named(store)}: there is no private key in it")
    return _unlocked([opened.own, *opened.others], opened.key)


def _from_pem(certificates: str, key: str, key_password: str | None) -> Identity:
    chain = pem.certificates(certificates)
    if not chain:
        raise pem.PemError("there is no certificate in it")
    return Identity(pem.write(pem.CERTIFICATE, chain), pem.private_key(key), key_password)


def _from_jks(store: StoreFile, data: bytes, key_password: str | None) -> Identity:
    keys = jks.parse(data, store.password).keys
    if not keys:
        raise jks.JksError("there is no private key in it")
    password = key_password if key_password is not None else store.password
    if password is None:
        raise SettingsError("ssl.keystore.password must be set: a key in a JKS store is locked")
    return _unlocked(keys[0].chain, jks.unlock(keys[0].protected, password))


def _unlocked(chain: list[bytes] | tuple[bytes, ...], key: bytes) -> Identity:
    return Identity(pem.write(pem.CERTIFICATE, chain), pem.write("PRIVATE KEY", [key]))


def _read(store: StoreFile) -> bytes:
    path = Path(store.location)
    try:
        if path.stat().st_size > _STORE_BYTES_MAX:
            raise SettingsError(f"{_named(store)}: the file is too large to be a store")
        return path.read_bytes()
    except OSError as error:
        raise SettingsError(f"{_named(store)}: {error.strerror}") from None


def is_pkcs12(store: StoreFile) -> bool:
    return not store.is_pem and _read(store).startswith(_DER_SEQUENCE)


def _looks_like_pem(data: bytes) -> bool:
    return b"-----BEGIN " in data[:4096]


def _pkcs12(store: StoreFile, data: bytes) -> Pkcs12:
    if data.startswith(_JCEKS_MAGIC) or not data.startswith(_DER_SEQUENCE):
        raise SettingsError(
            f"{_named(store)}: this is neither PKCS12 nor JKS nor PEM: convert it "
            "(keytool -importkeystore -deststoretype PKCS12 …)"
        )
    try:
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
            pkcs12,
        )
    except ImportError:
        raise SettingsError(
            f"{_named(store)}: this is a PKCS12 store, and Python cannot read one by itself: "
            "pip install 'barnabas[security]', or convert it to PEM"
        ) from None
    try:
        opened = pkcs12.load_pkcs12(data, None if store.password is None else store.password.encode())
    except ValueError:
        raise SettingsError(f"{_named(store)}: the password is wrong, or the file is damaged") from None
    return Pkcs12(
        opened.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()) if opened.key else None,
        opened.cert.certificate.public_bytes(Encoding.DER) if opened.cert else None,
        tuple(other.certificate.public_bytes(Encoding.DER) for other in opened.additional_certs),
    )
