"""How a client proves who it is and whom it believes: the names of Kafka's Java client, read and checked.

Two names of librdkafka are taken as a courtesy where they mean the same: `ssl.ca.location` and
`sasl.username`/`sasl.password` (with `sasl.mechanisms`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from barnabas.security.jaas import JaasError, LoginModule, parse
from barnabas.wire.errors import InvalidValueError, SettingsError

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
PASSWORD_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
OAUTHBEARER = "OAUTHBEARER"
MECHANISMS = (*PASSWORD_MECHANISMS, OAUTHBEARER)
_STORE_TYPES = ("JKS", "PKCS12", "PEM")
_LOGIN_MODULES = {
    "PlainLoginModule": ("PLAIN",),
    "ScramLoginModule": ("SCRAM-SHA-256", "SCRAM-SHA-512"),
    "OAuthBearerLoginModule": (OAUTHBEARER,),
}

Properties = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class StoreFile:
    """A file or, for what Kafka lets us write into the settings themselves, its text."""

    setting: str  # which setting named it, for sentences
    location: str
    is_pem: bool  # said to be PEM; otherwise its first bytes decide
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class InlinePem:
    setting: str
    certificates: str
    key: str = field(default="", repr=False)


Store = StoreFile | InlinePem


@dataclass(frozen=True, slots=True)
class TlsSettings:
    verify_hostname: bool = True
    protocols: tuple[str, ...] = ("TLSv1.2", "TLSv1.3")
    cipher_suites: tuple[str, ...] = ()
    truststore: Store | None = None  # None: what the machine trusts
    keystore: Store | None = None
    key_password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SaslSettings:
    mechanism: str
    options: Properties = field(repr=False)  # of the login module
    # Where an OAUTHBEARER token comes from, and how long that may take.
    token_endpoint_url: str | None = None
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    scope: str | None = None
    urlencode_header: bool = False
    login_timeout_ms: int = 10_000


def protocol_of(properties: Properties) -> str:
    given = properties.get("security.protocol", "PLAINTEXT")
    protocol = given.strip().upper()
    if protocol not in PROTOCOLS:
        raise InvalidValueError(
            f"Invalid value {given} for configuration security.protocol: "
            f"it must be one of {', '.join(PROTOCOLS)}"
        )
    return protocol


# --- TLS --------------------------------------------------------------------------------------------------


def tls_settings(properties: Properties) -> TlsSettings:
    algorithm = properties.get("ssl.endpoint.identification.algorithm", "https").strip().lower()
    if algorithm not in ("https", "", "none"):
        raise SettingsError(
            f"Invalid value {algorithm} for configuration ssl.endpoint.identification.algorithm: "
            "it must be https, or empty to accept a certificate of any host"
        )
    return TlsSettings(
        verify_hostname=algorithm == "https",
        protocols=_words(properties.get("ssl.enabled.protocols", "")) or TlsSettings().protocols,
        cipher_suites=_words(properties.get("ssl.cipher.suites", "")),
        truststore=_truststore(properties),
        keystore=_keystore(properties),
        key_password=properties.get("ssl.key.password"),
    )


def _truststore(properties: Properties) -> Store | None:
    inline = properties.get("ssl.truststore.certificates")
    if inline:
        return InlinePem("ssl.truststore.certificates", inline)
    if properties.get("ssl.truststore.location"):
        return _store_file(properties, "ssl.truststore")
    if properties.get("ssl.ca.location"):
        return StoreFile("ssl.ca.location", properties["ssl.ca.location"], is_pem=True)
    return None


def _keystore(properties: Properties) -> Store | None:
    key = properties.get("ssl.keystore.key", "")
    chain = properties.get("ssl.keystore.certificate.chain", "")
    if key or chain:
        if not (key and chain):
            raise SettingsError(
                "ssl.keystore.key and ssl.keystore.certificate.chain belong together: set both, or neither"
            )
        return InlinePem("ssl.keystore.key", chain, key)
    return _store_file(properties, "ssl.keystore") if properties.get("ssl.keystore.location") else None


def _store_file(properties: Properties, prefix: str) -> StoreFile:
    kind = properties.get(f"{prefix}.type", "JKS").strip().upper()
    if kind not in _STORE_TYPES:
        raise SettingsError(
            f"{prefix}.type={kind} cannot be read: convert the store to PKCS12 or PEM "
            "(keytool -importkeystore -deststoretype PKCS12 …)"
        )
    location = properties[f"{prefix}.location"]
    return StoreFile(f"{prefix}.location", location, kind == "PEM", properties.get(f"{prefix}.password"))


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


# --- SASL -------------------------------------------------------------------------------------------------


def sasl_settings(properties: Properties) -> SaslSettings:
    mechanism = properties.get("sasl.mechanism", properties.get("sasl.mechanisms", "GSSAPI")).strip()
    if mechanism not in MECHANISMS:
        raise SettingsError(
            f"sasl.mechanism={mechanism} is not spoken here: set sasl.mechanism to one of "
            f"{', '.join(MECHANISMS)}"
        )
    module = _login_module(properties, mechanism)
    options = dict(module.options)
    if mechanism in PASSWORD_MECHANISMS and not ("username" in options and "password" in options):
        raise SettingsError(f"sasl.jaas.config has no username and password, which {mechanism} needs")
    return SaslSettings(
        mechanism,
        options,
        token_endpoint_url=properties.get("sasl.oauthbearer.token.endpoint.url"),
        client_id=_either(properties, "sasl.oauthbearer.client.credentials.client.id", options, "clientId"),
        client_secret=_either(
            properties, "sasl.oauthbearer.client.credentials.client.secret", options, "clientSecret"
        ),
        scope=_either(properties, "sasl.oauthbearer.scope", options, "scope"),
        urlencode_header=properties.get("sasl.oauthbearer.header.urlencode", "").lower() == "true",
        login_timeout_ms=_milliseconds(properties, "sasl.login.read.timeout.ms", 10_000),
    )


def _login_module(properties: Properties, mechanism: str) -> LoginModule:
    text = properties.get("sasl.jaas.config")
    if text is None:
        if "sasl.username" in properties and "sasl.password" in properties:
            given = {"username": properties["sasl.username"], "password": properties["sasl.password"]}
            return LoginModule("", "REQUIRED", given)
        if mechanism == OAUTHBEARER and "sasl.oauthbearer.token.endpoint.url" in properties:
            return LoginModule("", "REQUIRED")
        raise SettingsError(f"sasl.jaas.config must be set: {mechanism} has to know who you are")
    try:
        module = parse(text)
    except JaasError as error:
        raise SettingsError(f"sasl.jaas.config: {error}") from None
    fitting = _LOGIN_MODULES.get(module.short_name, (mechanism,))
    if mechanism not in fitting:
        raise SettingsError(
            f"sasl.jaas.config has {module.short_name}, but sasl.mechanism is {mechanism}: "
            f"it serves {' and '.join(fitting)}"
        )
    return module


def _either(properties: Properties, name: str, options: Properties, option: str) -> str | None:
    return properties.get(name, options.get(option))


def _milliseconds(properties: Properties, name: str, default: int) -> int:
    text = properties.get(name)
    if text is None:
        return default
    if not text.strip().isdigit():
        raise InvalidValueError(f"Invalid value {text} for configuration {name}: Not a number of type INT")
    return int(text)
