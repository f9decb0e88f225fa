"""The Java client's security settings for librdkafka: it knows neither Java's stores nor its login modules.

Stores are opened here and handed over as PEM; tokens are fetched here when librdkafka asks for one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from barnabas.security import pem
from barnabas.security.jaas import JaasError, parse
from barnabas.wire.cipher_suites import choose
from barnabas.wire.errors import SettingsError
from barnabas.wire.security_settings import (
    OAUTHBEARER,
    StoreFile,
    TlsSettings,
    sasl_settings,
    tls_settings,
)
from barnabas.wire.stores import identity, is_pkcs12, trusted

_TLS_NAMES = frozenset(
    {
        "ssl.cipher.suites",
        "ssl.enabled.protocols",
        "ssl.endpoint.identification.algorithm",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.keystore.type",
        "ssl.protocol",
        "ssl.provider",
        "ssl.truststore.certificates",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.truststore.type",
    }
)
_SASL_NAMES = frozenset(
    {
        "sasl.jaas.config",
        "sasl.login.callback.handler.class",
        "sasl.login.class",
        "sasl.login.connect.timeout.ms",
        "sasl.login.read.timeout.ms",
        "sasl.oauthbearer.client.credentials.client.id",
        "sasl.oauthbearer.client.credentials.client.secret",
        "sasl.oauthbearer.header.urlencode",
    }
)
# What librdkafka would do with a token's endpoint, unless a login module says that we do it.
_ENDPOINT_NAMES = frozenset({"sasl.oauthbearer.scope", "sasl.oauthbearer.token.endpoint.url"})
_WITHOUT_EXPIRY_S = 300  # when to ask again for a token that does not say

Config = dict[str, Any]


def consumed(properties: Mapping[str, object]) -> frozenset[str]:
    """The names that `security_config` answers for: not to be passed on as they are."""
    return _TLS_NAMES | _SASL_NAMES | (_ENDPOINT_NAMES if "sasl.jaas.config" in properties else frozenset())


def security_config(properties: Mapping[str, object]) -> Config:
    texts = {name: str(value) for name, value in properties.items()}
    return _tls(texts) | _sasl(texts)


# --- TLS --------------------------------------------------------------------------------------------------


def _tls(properties: Mapping[str, str]) -> Config:
    if not _TLS_NAMES & properties.keys():
        return {}
    settings = tls_settings(properties)
    config: Config = {}
    if "ssl.endpoint.identification.algorithm" in properties:
        config["ssl.endpoint.identification.algorithm"] = "https" if settings.verify_hostname else "none"
    names = choose(settings.cipher_suites).openssl_names
    if names:
        config["ssl.cipher.suites"] = ":".join(names)
    if settings.truststore is not None and "ssl.ca.location" not in properties:
        config["ssl.ca.pem"] = pem.write(pem.CERTIFICATE, trusted(settings.truststore))
    return config | _keystore(settings)


def _keystore(settings: TlsSettings) -> Config:
    store = settings.keystore
    if store is None:
        return {}
    if isinstance(store, StoreFile) and is_pkcs12(store):
        # The one kind of Java's that librdkafka opens itself.
        return {"ssl.keystore.location": store.location, "ssl.keystore.password": store.password or ""}
    shown = identity(store, settings.key_password)
    return {"ssl.certificate.pem": shown.chain, "ssl.key.pem": shown.key}


# --- SASL -------------------------------------------------------------------------------------------------


def _sasl(properties: Mapping[str, str]) -> Config:
    if properties.get("sasl.mechanism", properties.get("sasl.mechanisms")) == OAUTHBEARER:
        return _oauth(properties)
    text = properties.get("sasl.jaas.config")
    if text is None:
        return {}
    try:
        options = parse(text).options
    except JaasError as error:
        raise SettingsError(f"sasl.jaas.config: {error}") from None
    names = {"username": "sasl.username", "password": "sasl.password"}
    return {names[option]: value for option, value in options.items() if option in names}


def _oauth(properties: Mapping[str, str]) -> Config:
    if "sasl.jaas.config" not in properties:
        return {}  # librdkafka's own names, or a callback of the caller's
    from barnabas.wire.sasl import bearer

    token_and_extensions = bearer(sasl_settings(properties))

    def fetch(_: str) -> tuple[str, float, str, dict[str, str]]:
        token, extensions = token_and_extensions()
        expires_at_s = time.time() + _WITHOUT_EXPIRY_S
        if token.expires_at_ms is not None:
            expires_at_s = token.expires_at_ms / 1000
        return token.text, expires_at_s, "", extensions

    return {"oauth_cb": fetch}
