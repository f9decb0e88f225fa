"""One Apache Kafka with a listener for every way in: TLS and SASL as its administrators set them up.

Certificates and passwords are made for the run and live in its temporary directory.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bench.apache_kafka import ApacheKafka
from cryptography import x509
from tests.support.certificates import HERE, Authority

from barnabas.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialUpsertion,
)
from barnabas.security.jaas import quoted
from barnabas.security.scram import MECHANISMS, salted_password
from barnabas.testing import free_port
from barnabas.wire import Cluster, check

MODULES = "org.apache.kafka.common.security"
SCRAM = f"{MODULES}.scram.ScramLoginModule"
PLAIN = f"{MODULES}.plain.PlainLoginModule"
OAUTH = f"{MODULES}.oauthbearer.OAuthBearerLoginModule"
USER = "alice"
SESSION_MS = 2_000  # on the listener BRIEF
_PROTOCOLS = {
    "TLS": "SSL",
    "MUTUAL": "SSL",
    "EXPIRED": "SSL",
    "ELSEWHERE": "SSL",
    "SASL": "SASL_PLAINTEXT",
    "BRIEF": "SASL_PLAINTEXT",
    "BOTH": "SASL_SSL",
}


def login(module: str, **options: str) -> str:
    said = [f"{name}={quoted(value)}" for name, value in options.items()]
    return " ".join([module, "required", *said]) + ";"


def _ports(*names: str) -> dict[str, int]:
    found: set[int] = set()
    while len(found) < len(names):
        found.add(free_port())
    return dict(zip(names, found, strict=True))


class SecureKafka:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.authority = Authority()
        self.plain_password = secrets.token_urlsafe(12)
        self.scram_password = secrets.token_urlsafe(12) + ' =,;"\\ß'  # what tends to break parsers
        self.authority_file = directory / "authority.pem"
        self.authority_file.write_text(self.authority.pem)
        self._ports = _ports("PLAINTEXT", "CONTROLLER", *_PROTOCOLS)
        self._process = ApacheKafka(
            self._settings(),
            port=self._ports["PLAINTEXT"],
            heap_options=("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        )

    @contextmanager
    def running(self) -> Iterator[SecureKafka]:
        with self._process:
            with Cluster.connect(self.bootstrap("PLAINTEXT")) as cluster:
                self._add_user(cluster)
            yield self

    def bootstrap(self, listener: str) -> str:
        return f"127.0.0.1:{self._ports[listener]}"

    def client(self, listener: str, mechanism: str = "SCRAM-SHA-512") -> dict[str, str]:
        """What a client has to say to get in, in the words of Kafka's Java client."""
        properties = {"security.protocol": _PROTOCOLS.get(listener, "PLAINTEXT")}
        if properties["security.protocol"].endswith("SSL"):
            properties |= {
                "ssl.truststore.type": "PEM",
                "ssl.truststore.location": str(self.authority_file),
            }
        if properties["security.protocol"].startswith("SASL"):
            properties |= {"sasl.mechanism": mechanism, "sasl.jaas.config": self._login(mechanism)}
        return properties

    def connect(self, listener: str, properties: Mapping[str, str] | None = None) -> Cluster:
        """With the settings that fit the listener, or with those given."""
        return Cluster.connect(
            self.bootstrap(listener), self.client(listener) if properties is None else properties
        )

    def _login(self, mechanism: str) -> str:
        if mechanism == "PLAIN":
            return login(PLAIN, username=USER, password=self.plain_password)
        if mechanism == "OAUTHBEARER":
            return login(OAUTH, unsecuredLoginStringClaim_sub=USER)
        return login(SCRAM, username=USER, password=self.scram_password)

    def _add_user(self, cluster: Cluster) -> None:
        """As `kafka-configs --alter --add-config SCRAM-SHA-…` does."""
        salt, iterations = secrets.token_bytes(16), 4096
        for number, mechanism in enumerate(MECHANISMS.values(), start=1):
            salted = salted_password(mechanism, self.scram_password, salt, iterations)
            row = ScramCredentialUpsertion(USER, number, iterations, salt, salted)
            request = AlterUserScramCredentialsRequest([], [row])
            (result,) = cluster.call(request, AlterUserScramCredentialsResponse).results
            check(result.error_code, result.error_message)

    # --- the broker's side -------------------------------------------------------------------------------

    def _settings(self) -> dict[str, object]:
        listeners = {name: f"{name}://127.0.0.1:{port}" for name, port in self._ports.items()}
        advertised = [url for name, url in listeners.items() if name != "CONTROLLER"]
        protocols = {"PLAINTEXT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT", **_PROTOCOLS}
        settings: dict[str, object] = {
            "listeners": ",".join(listeners.values()),
            "advertised.listeners": ",".join(advertised),
            "controller.quorum.voters": f"1@127.0.0.1:{self._ports['CONTROLLER']}",
            "listener.security.protocol.map": ",".join(f"{name}:{kind}" for name, kind in protocols.items()),
            "inter.broker.listener.name": "PLAINTEXT",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": self.authority_file,
            "listener.name.mutual.ssl.client.auth": "required",
        }
        for name, protocol in _PROTOCOLS.items():
            settings |= self._identity(name) if protocol.endswith("SSL") else {}
            settings |= self._logins(name) if protocol.startswith("SASL") else {}
        return settings

    def _identity(self, name: str) -> dict[str, object]:
        hosts = (x509.DNSName("elsewhere.example"),) if name == "ELSEWHERE" else HERE
        issued = self.authority.issue("broker", hosts, expired=name == "EXPIRED")
        prefix = f"listener.name.{name.lower()}.ssl.keystore"
        return {f"{prefix}.type": "PEM", f"{prefix}.location": issued.write(self.directory / f"{name}.pem")}

    def _logins(self, name: str) -> dict[str, object]:
        prefix = f"listener.name.{name.lower()}"
        logins = {
            "plain": login(PLAIN, **{f"user_{USER}": self.plain_password}),
            "scram-sha-256": f"{SCRAM} required;",
            "scram-sha-512": f"{SCRAM} required;",
            "oauthbearer": login(OAUTH, unsecuredLoginStringClaim_sub="broker"),
        }
        settings: dict[str, object] = {f"{prefix}.sasl.enabled.mechanisms": ",".join(logins).upper()}
        for mechanism, text in logins.items():
            settings[f"{prefix}.{mechanism}.sasl.jaas.config"] = text
            if name == "BRIEF":
                settings[f"{prefix}.{mechanism}.connections.max.reauth.ms"] = SESSION_MS
        return settings
