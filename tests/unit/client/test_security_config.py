"""The Java client's security settings reach librdkafka in the shape it knows."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import pkcs12
from tests.support.certificates import Authority

from barnabas import Producer
from barnabas.client.config import translate
from barnabas.client.errors import ClientError
from barnabas.wire import SettingsError

AUTHORITY = Authority()
CLIENT = AUTHORITY.issue("client")
OAUTH = (
    'x.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="alice" '
    'unsecuredLoginExtension_trace="1";'
)


def test_a_trust_store_is_handed_over_as_pem(tmp_path: Path) -> None:
    locked = serialization.BestAvailableEncryption(b"hush")
    entry = pkcs12.PKCS12Certificate(AUTHORITY.certificate, b"ca")
    (tmp_path / "trust.jks").write_bytes(pkcs12.serialize_java_truststore([entry], locked))
    java = {"ssl.truststore.location": str(tmp_path / "trust.jks"), "ssl.truststore.password": "hush"}
    assert translate(java) == {"ssl.ca.pem": AUTHORITY.pem}
    with pytest.raises(SettingsError, match="password is wrong"):
        translate(java | {"ssl.truststore.password": "x"})


def test_a_key_store_is_handed_over_as_pem_unless_librdkafka_opens_it_itself(tmp_path: Path) -> None:
    path = str(CLIENT.write(tmp_path / "key.pem"))
    java = {"ssl.keystore.location": path, "ssl.keystore.type": "PEM", "ssl.key.password": "p"}
    assert translate(java) == {
        "ssl.certificate.pem": CLIENT.certificate_pem,
        "ssl.key.pem": CLIENT.key_pem(),
        "ssl.key.password": "p",
    }
    locked = serialization.BestAvailableEncryption(b"hush")
    packed = pkcs12.serialize_key_and_certificates(b"me", CLIENT.key, CLIENT.certificate, [], locked)
    (tmp_path / "key.p12").write_bytes(packed)
    java = {"ssl.keystore.location": str(tmp_path / "key.p12"), "ssl.keystore.password": "hush"}
    assert translate(java) == java


def test_certificates_in_the_settings_get_their_lines_back() -> None:
    joined = {"ssl.truststore.certificates": AUTHORITY.pem.replace("\n", " ")}
    assert translate(joined) == {"ssl.ca.pem": AUTHORITY.pem}


def test_librdkafkas_own_names_are_left_alone() -> None:
    own = {"ssl.ca.location": "/ca.pem", "sasl.username": "me", "sasl.oauthbearer.scope": "all"}
    assert translate(own) == own


def test_any_host_and_javas_suites_have_other_words_there() -> None:
    assert translate({"ssl.endpoint.identification.algorithm": ""}) == {
        "ssl.endpoint.identification.algorithm": "none"
    }
    suites = "TLS_RSA_WITH_AES_128_GCM_SHA256,TLS_AES_128_GCM_SHA256"
    assert translate({"ssl.cipher.suites": suites}) == {"ssl.cipher.suites": "AES128-GCM-SHA256"}


def test_a_login_module_that_makes_tokens_is_asked_when_librdkafka_needs_one() -> None:
    config = translate({"sasl.mechanism": "OAUTHBEARER", "sasl.jaas.config": OAUTH})
    assert config.keys() == {"sasl.mechanism", "oauth_cb"}
    token, expires_at_s, _, extensions = config["oauth_cb"]("")
    assert token.count(".") == 2
    assert 3000 < expires_at_s - time.time() < 4000
    assert extensions == {"trace": "1"}


def test_a_store_that_is_not_there_is_a_client_error_before_anybody_dials() -> None:
    with pytest.raises(ClientError, match=r"INVALID_CONFIG: ssl\.truststore\.location=/none: No such file"):
        Producer("localhost:1", ssl_truststore_location="/none")


def test_a_login_module_that_cannot_be_read_is_told() -> None:
    with pytest.raises(SettingsError, match=r"sasl\.jaas\.config: .*semi-colon"):
        translate({"sasl.jaas.config": 'a.B required username="x"'})
