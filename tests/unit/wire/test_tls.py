from __future__ import annotations

import ssl
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import pkcs12
from tests.support.certificates import Authority, Identity

from barnabas.wire import Settings, SettingsError
from barnabas.wire.tls import context_of

AUTHORITY = Authority()
CLIENT = AUTHORITY.issue("client")
SECRET = "hush-hush"


def _context(**more: str) -> ssl.SSLContext:
    named = {"ssl." + name.replace("_", "."): value for name, value in more.items()}
    settings = Settings.from_properties({"security.protocol": "SSL", **named})
    assert settings.tls is not None
    return context_of(settings.tls)


def _pkcs12(path: Path, identity: Identity | None) -> str:
    locked = serialization.BestAvailableEncryption(SECRET.encode())
    if identity is None:
        data = pkcs12.serialize_java_truststore(
            [pkcs12.PKCS12Certificate(AUTHORITY.certificate, b"ca")], locked
        )
    else:
        data = pkcs12.serialize_key_and_certificates(
            b"me", identity.key, identity.certificate, [AUTHORITY.certificate], locked
        )
    path.write_bytes(data)
    return str(path)


def test_the_machines_own_authorities_are_believed_by_default() -> None:
    context = _context()
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname


def test_only_the_trust_stores_certificates_are_believed(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text(AUTHORITY.pem)
    kinds = [
        _context(truststore_location=str(tmp_path / "ca.pem"), truststore_type="PEM"),
        _context(truststore_location=str(tmp_path / "ca.pem")),
        _context(ca_location=str(tmp_path / "ca.pem")),
        _context(truststore_certificates=AUTHORITY.pem.replace("\n", " ")),
        _context(truststore_location=_pkcs12(tmp_path / "ca.jks", None), truststore_password=SECRET),
    ]
    for context in kinds:
        (found,) = context.get_ca_certs(binary_form=True)
        assert found == AUTHORITY.certificate.public_bytes(serialization.Encoding.DER)


def test_a_key_is_taken_from_pem_and_pkcs12_locked_or_not(tmp_path: Path) -> None:
    chain = CLIENT.certificate_pem
    _context(keystore_location=str(CLIENT.write(tmp_path / "open.pem")), keystore_type="PEM")
    locked = str(CLIENT.write(tmp_path / "locked.pem", SECRET))
    _context(keystore_location=locked, keystore_type="PEM", key_password=SECRET)
    _context(keystore_key=CLIENT.key_pem(SECRET), keystore_certificate_chain=chain, key_password=SECRET)
    _context(keystore_location=_pkcs12(tmp_path / "k.p12", CLIENT), keystore_password=SECRET)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"truststore_location": "{0}/none.pem"}, "none.pem: No such file"),
        ({"truststore_location": "{0}/rubbish"}, "neither PKCS12 nor JKS nor PEM"),
        ({"truststore_location": "{0}/jceks"}, "neither PKCS12 nor JKS nor PEM"),
        ({"truststore_location": "{0}/key.pem", "truststore_type": "PEM"}, "no certificate in it"),
        ({"truststore_location": "{0}/ca.p12", "truststore_password": "x"}, "ca.p12: the password is wrong"),
        ({"truststore_location": "{0}/jks", "truststore_password": "x"}, "jks: the password is wrong"),
        ({"truststore_certificates": "nothing"}, "ssl.truststore.certificates: there is no certificate"),
        ({"keystore_location": "{0}/ca.p12", "keystore_password": SECRET}, "no private key in it"),
        ({"keystore_location": "{0}/key.pem"}, "no certificate in it"),
        ({"keystore_location": "{0}/locked.pem"}, "the key cannot be used"),
        ({"keystore_location": "{0}/locked.pem", "key_password": "x"}, "the key cannot be used"),
        ({"enabled_protocols": "TLSv1,TLSv1.1"}, "neither TLSv1.2 nor TLSv1.3"),
        ({"enabled_protocols": "TLSv1.3", "cipher_suites": "TLS_RSA_WITH_AES_128_CBC_SHA"}, "neither"),
        ({"cipher_suites": "TLS_KRB5_WITH_RC4_128_MD5"}, "can be used here"),
    ],
)
def test_a_store_that_cannot_be_used_is_named_before_anybody_dials(
    tmp_path: Path, more: dict[str, str], said: str
) -> None:
    (tmp_path / "rubbish").write_bytes(b"rubbish")
    (tmp_path / "jceks").write_bytes(b"\xce\xce\xce\xce" + bytes(40))
    (tmp_path / "jks").write_bytes(b"\xfe\xed\xfe\xed" + bytes(40))
    (tmp_path / "key.pem").write_text(CLIENT.key_pem())
    CLIENT.write(tmp_path / "locked.pem", SECRET)
    _pkcs12(tmp_path / "ca.p12", None)
    with pytest.raises(SettingsError, match=said):
        _context(**{name: value.format(tmp_path) for name, value in more.items()})


def test_versions_and_suites_are_those_asked_for() -> None:
    assert _context().minimum_version == ssl.TLSVersion.TLSv1_2
    assert _context(enabled_protocols="TLSv1.3").minimum_version == ssl.TLSVersion.TLSv1_3
    chosen = _context(cipher_suites="TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")
    assert chosen.maximum_version == ssl.TLSVersion.TLSv1_2
    names = {row["name"] for row in chosen.get_ciphers() if row["protocol"] != "TLSv1.3"}
    assert names == {"ECDHE-RSA-AES128-GCM-SHA256"}


def test_pkcs12_without_its_library_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _pkcs12(tmp_path / "ca.p12", None)
    name = "cryptography.hazmat.primitives.serialization"
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SettingsError, match=r"pip install 'barnabas\[security\]'"):
        _context(truststore_location=path, truststore_password=SECRET)
