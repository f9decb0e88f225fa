from __future__ import annotations

import pytest

from barnabas.wire import Settings, SettingsError
from barnabas.wire.cipher_suites import choose
from barnabas.wire.doors import dialer_of, login_of
from barnabas.wire.security_settings import InlinePem, SaslSettings, StoreFile, TlsSettings
from barnabas.wire.transport import dial_plain

MODULES = "org.apache.kafka.common.security"
PLAIN = f'{MODULES}.plain.PlainLoginModule required username="alice" password="hush";'
OAUTH = f"{MODULES}.oauthbearer.OAuthBearerLoginModule required"


def _tls(**more: str) -> TlsSettings:
    named = {"ssl." + name.replace("_", "."): value for name, value in more.items()}
    found = Settings.from_properties({"security.protocol": "ssl", **named}).tls
    assert found is not None
    return found


def _sasl(**more: str) -> SaslSettings:
    named = {"sasl." + name.replace("_", "."): value for name, value in more.items()}
    found = Settings.from_properties({"security.protocol": "SASL_PLAINTEXT", **named}).sasl
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("protocol", "tls", "sasl"),
    [
        ("PLAINTEXT", False, False),
        ("SSL", True, False),
        ("sasl_plaintext", False, True),
        ("SASL_SSL", True, True),
    ],
)
def test_a_protocol_is_tls_and_sasl_or_not(protocol: str, tls: bool, sasl: bool) -> None:
    given = {"security.protocol": protocol, "sasl.mechanism": "PLAIN", "sasl.jaas.config": PLAIN}
    settings = Settings.from_properties(given)
    assert (settings.tls is not None, settings.sasl is not None) == (tls, sasl)
    assert (dialer_of(settings) is not dial_plain, login_of(settings) is not None) == (tls, sasl)


def test_tls_checks_the_hosts_name_unless_told_not_to() -> None:
    assert _tls().verify_hostname
    assert not _tls(endpoint_identification_algorithm="").verify_hostname
    assert not _tls(endpoint_identification_algorithm="none").verify_hostname
    with pytest.raises(SettingsError, match="identification"):
        _tls(endpoint_identification_algorithm="ldap")


def test_stores_have_javas_names() -> None:
    found = _tls(
        truststore_location="/t.jks",
        truststore_password="one",
        keystore_location="/k.pem",
        keystore_type="PEM",
        key_password="two",
    )
    assert found.truststore == StoreFile("ssl.truststore.location", "/t.jks", False, "one")
    assert found.keystore == StoreFile("ssl.keystore.location", "/k.pem", True, None)
    assert found.key_password == "two"


def test_certificates_may_stand_in_the_settings() -> None:
    found = _tls(truststore_certificates="CA", keystore_key="KEY", keystore_certificate_chain="CHAIN")
    assert found.truststore == InlinePem("ssl.truststore.certificates", "CA")
    assert found.keystore == InlinePem("ssl.keystore.key", "CHAIN", "KEY")
    with pytest.raises(SettingsError, match="belong together"):
        _tls(keystore_key="KEY")


def test_librdkafkas_names_are_understood_where_they_mean_the_same() -> None:
    assert _tls(ca_location="/ca.pem").truststore == StoreFile("ssl.ca.location", "/ca.pem", True)
    found = _sasl(mechanisms="SCRAM-SHA-512", username="alice", password="hush")
    assert (found.mechanism, found.options) == ("SCRAM-SHA-512", {"username": "alice", "password": "hush"})


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"security.protocol": "TLS"}, "security.protocol: it must be one of PLAINTEXT, SSL"),
        ({"security.protocol": "SASL_SSL"}, "sasl.mechanism=GSSAPI is not spoken here"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}, "sasl.jaas.config must be set"),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.jaas.config": "x"},
            "control flag",
        ),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-256", "sasl.jaas.config": PLAIN},
            "PlainLoginModule, but sasl.mechanism is SCRAM-SHA-256",
        ),
        (
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.jaas.config": "a.B required;"},
            "no username and password",
        ),
        (
            {"security.protocol": "SSL", "ssl.truststore.location": "/x", "ssl.truststore.type": "BCFKS"},
            "convert the store to PKCS12",
        ),
    ],
)
def test_what_makes_no_sense_is_said_before_anybody_dials(properties: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        Settings.from_properties(properties)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"jaas_config": f"{OAUTH};"}, "unsecuredLoginStringClaim_sub"),
        ({"oauthbearer_token_endpoint_url": "ftp://x"}, "must begin with https"),
        ({"oauthbearer_token_endpoint_url": "https://x"}, "clientId and clientSecret"),
    ],
)
def test_a_token_that_nobody_could_get_is_said_before_anybody_dials(more: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        login_of(Settings(sasl=_sasl(mechanism="OAUTHBEARER", **more)))


def test_a_client_may_be_named_in_the_settings_or_in_the_login_module() -> None:
    url = "https://issuer/token"
    inside = f'{OAUTH} clientId="id" clientSecret="hush" scope="all";'
    found = _sasl(mechanism="OAUTHBEARER", oauthbearer_token_endpoint_url=url, jaas_config=inside)
    assert (found.client_id, found.client_secret, found.scope) == ("id", "hush", "all")
    newer = {
        "oauthbearer_client_credentials_client_id": "id2",
        "oauthbearer_client_credentials_client_secret": "hush2",
        "oauthbearer_scope": "some",
    }
    found = _sasl(mechanism="OAUTHBEARER", oauthbearer_token_endpoint_url=url, **newer)
    assert (found.client_id, found.client_secret, found.scope) == ("id2", "hush2", "some")


def test_secrets_are_not_shown() -> None:
    properties = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": PLAIN,
        "sasl.oauthbearer.client.credentials.client.secret": "hush",
        "ssl.truststore.location": "/t",
        "ssl.truststore.password": "hush",
        "ssl.keystore.key": "hush",
        "ssl.keystore.certificate.chain": "CHAIN",
        "ssl.key.password": "hush",
    }
    assert "hush" not in repr(Settings.from_properties(properties))


@pytest.mark.parametrize(
    ("suite", "openssl"),
    [
        ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"),
        ("TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384", "ECDHE-ECDSA-AES256-SHA384"),
        ("TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"),
        ("TLS_DHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "DHE-RSA-CHACHA20-POLY1305"),
        ("ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256"),
    ],
)
def test_cipher_suites_have_javas_names(suite: str, openssl: str) -> None:
    assert choose([suite]).openssl_names == (openssl,)


def test_a_list_of_cipher_suites_chooses_versions_too() -> None:
    old, new = "TLS_RSA_WITH_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"
    assert choose([]).allows("TLSv1.3")
    assert not choose([old]).allows("TLSv1.3")
    assert not choose([new]).allows("TLSv1.2")
    assert choose([old, new]).allows("TLSv1.2")
