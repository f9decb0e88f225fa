"""JKS and PEM as bytes. That Java writes JKS as we read it is shown with keytool in tests/clients."""

from __future__ import annotations

import base64
import hashlib
import itertools
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.security import jks, pem

PASSWORD = "hush-hush"


def _text(value: str) -> bytes:
    return struct.pack(">H", len(value.encode())) + value.encode()


def _sized(value: bytes) -> bytes:
    return struct.pack(">I", len(value)) + value


def _certificate(value: bytes, version: int) -> bytes:
    return (_text("X.509") if version > 1 else b"") + _sized(value)


def _der(tag: int, content: bytes) -> bytes:
    length = bytes([len(content)]) if len(content) < 128 else b"\x82" + struct.pack(">H", len(content))
    return bytes([tag]) + length + content


def _locked(key: bytes, password: str) -> bytes:
    secret, salt = password.encode("utf-16-be"), bytes(range(20))
    blocks = itertools.accumulate(
        itertools.repeat(secret), lambda block, one: hashlib.sha1(one + block).digest(), initial=salt
    )
    stream = b"".join(itertools.islice(blocks, 1, 2 + len(key) // 20))
    hidden = bytes(one ^ other for one, other in zip(key, stream, strict=False))
    sealed = salt + hidden + hashlib.sha1(secret + key).digest()
    return _der(0x30, _der(0x30, _der(0x06, b"\x2b\x06")) + _der(0x04, sealed))


def _store(entries: list[bytes], version: int = 2) -> bytes:
    data = jks.MAGIC + struct.pack(">II", version, len(entries)) + b"".join(entries)
    return data + hashlib.sha1(PASSWORD.encode("utf-16-be") + b"Mighty Aphrodite" + data).digest()


def _trusted(alias: str, certificate: bytes, version: int = 2) -> bytes:
    return struct.pack(">I", 2) + _text(alias) + bytes(8) + _certificate(certificate, version)


def _key(alias: str, key: bytes, chain: list[bytes]) -> bytes:
    certificates = b"".join(_certificate(one, 2) for one in chain)
    locked = _sized(_locked(key, PASSWORD))
    return (
        struct.pack(">I", 1) + _text(alias) + bytes(8) + locked + struct.pack(">I", len(chain)) + certificates
    )


@pytest.mark.parametrize("version", [1, 2])
def test_a_trust_store_is_a_list_of_certificates(version: int) -> None:
    data = _store([_trusted("one", b"first", version), _trusted("zwölf", b"second", version)], version)
    assert jks.parse(data, PASSWORD) == ((b"first", b"second"), ())
    assert jks.parse(data, None).certificates == (b"first", b"second")


@given(key=st.binary(min_size=1, max_size=300))
def test_a_key_is_unlocked_with_its_password_only(key: bytes) -> None:
    (entry,) = jks.parse(_store([_key("mine", key, [b"own", b"issuer"])]), PASSWORD).keys
    assert (entry.alias, entry.chain) == ("mine", (b"own", b"issuer"))
    assert jks.unlock(entry.protected, PASSWORD) == key
    with pytest.raises(jks.JksError, match="key's password"):
        jks.unlock(entry.protected, "other")


def test_a_wrong_password_is_told() -> None:
    with pytest.raises(jks.JksError, match="password"):
        jks.parse(_store([]), "other")


def test_a_damaged_store_is_told_whatever_is_cut_off() -> None:
    whole = _store([_trusted("one", b"first"), _key("mine", b"key", [b"own"])])
    for length in range(len(whole) - 1):
        with pytest.raises(jks.JksError):
            jks.parse(whole[:length], PASSWORD)
        with pytest.raises(jks.JksError):
            jks.parse(whole[:length] + bytes(20 if length < len(whole) - 20 else 0), None)


def test_a_secret_key_or_another_certificate_is_not_taken_for_ours() -> None:
    strange = struct.pack(">I", 3) + _text("secret") + bytes(8)
    with pytest.raises(jks.JksError, match="secret"):
        jks.parse(_store([strange]), PASSWORD)
    other = struct.pack(">I", 2) + _text("pgp") + bytes(8) + _text("PGP") + _sized(b"x")
    with pytest.raises(jks.JksError, match="PGP"):
        jks.parse(_store([other]), PASSWORD)


@given(data=st.binary(max_size=60))
def test_a_key_of_any_bytes_is_refused_in_a_sentence(data: bytes) -> None:
    with pytest.raises(jks.JksError):
        jks.unlock(b"\x30" + data, PASSWORD)


@given(contents=st.lists(st.binary(min_size=1, max_size=200), max_size=4))
def test_pem_is_read_in_lines_and_in_one_line(contents: list[bytes]) -> None:
    text = "a remark\n" + pem.write(pem.CERTIFICATE, contents)
    assert pem.certificates(text) == contents
    assert pem.certificates(text.replace("\n", " ")) == contents
    assert pem.certificates(text.replace("\n", "\r\n")) == contents


def test_a_private_key_is_found_among_certificates() -> None:
    text = pem.write(pem.CERTIFICATE, [b"own"]) + pem.write("ENCRYPTED PRIVATE KEY", [b"key"])
    assert pem.private_key(text) == pem.write("ENCRYPTED PRIVATE KEY", [b"key"])
    with pytest.raises(pem.PemError, match="no private key"):
        pem.private_key(pem.write(pem.CERTIFICATE, [b"own"]))


def test_an_old_locked_key_keeps_its_headers() -> None:
    inside = "\nProc-Type: 4,ENCRYPTED\nDEK-Info: X,1\n\nYWJj\n"
    old = f"-----BEGIN RSA PRIVATE KEY-----{inside}-----END RSA PRIVATE KEY-----\n"
    assert pem.private_key(old) == old


def test_damaged_pem_is_told() -> None:
    with pytest.raises(pem.PemError, match="damaged"):
        pem.certificates("-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----")
    assert pem.certificates(base64.b64encode(b"no frame").decode()) == []
