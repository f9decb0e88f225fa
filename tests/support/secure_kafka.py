"""One Apache Kafka with a listener for every way in: TLS and SASL as its administrators set them up."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path

from bench.apache_kafka import ApacheKafka
from tests.support.certificates import Authority

from barnabas.security.jaas import quoted
from barnabas.testing import free_port

MODULES = "org.apache.kafka.common.security"
SCRAM = f"{MODULES}.scram.ScramLoginModule"
PLAIN = f"{MODULES}.plain.PlainLoginModule"
OAUTH = f"{MODULES}.oauthbearer.OAuthBearerLoginModule"
USER = "alice"
REAUTHENTICATION_MS = 2_000
# Listeners by name: their protocol, and what else is set for them alone.
_PROTOCOLS = {
    "TLS": "SSL",
    "MUTUAL": "SSL",
    "EXPIRED": "SSL",
    "SASL": "SASL_PLAINTEXT",
    "BOTH": "SASL_SSL",
    "BRIEF": "SASL_PLAINTEXT",
}


def password() -> str:
    """A fresh one, with what tends to break parsers."""
    return secrets.token_urlsafe(12) + ' =,;"\\'


def login(module: str, **options: str) -> str:
    return (
        f"{module} required " + " ".join(f"{name}={quoted(value)}" for name, value in options.items()) + ";"
    )


@dataclass
class SecureKafka:
    directory: Path
    authority: Authority = field(default_factory=Authority)
    plain_password: str = field(default_factory=lambda: secrets.token_urlsafe(12))
    ports: dict[str, int] = field(default_factory=lambda: {name: free_port() for name in _PROTOCOLS})

    def __post_init__(self) -> None:
        self.authority_file = self.directory / "authority.pem"
        self.authority_file.write_text(self.authority.pem)
        self.process = ApacheKafka(self._settings(), heap_options=("-Xmx512m",))

    def bootstrap(self, listener: str) -> str:
        return f"127.0.0.1:{self.ports[listener]}"

    def _settings(self) -> dict[str, object]:
        port, controller_port = free_port(), free_port()
        mine = [f"{name}://127.0.0.1:{number}" for name, number in self.ports.items()]
        mapped = [f"{name}:{protocol}" for name, protocol in _PROTOCOLS.items()]
        settings: dict[str, object] = {}
        for name, protocol in _PROTOCOLS.items():
            if "SSL" in protocol:
                settings |= self._identity(name)
            if "SASL" in protocol:
                settings |= self._logins(f"listener.name.{name.lower()}")
        settings["listener.name.mutual.ssl.client.auth"] = "required"
        for mechanism in ("plain", "scram-sha-256", "scram-sha-512", "oauthbearer"):
            settings[f"listener.name.brief.{mechanism}.connections.max.reauth.ms"] = REAUTHENTICATION_MS
        plain = f"PLAINTEXT://127.0.0.1:{port}"
        self.plain_port = port
        return settings | {
            "listeners": ",".join([plain, f"CONTROLLER://127.0.0.1:{controller_port}", *mine]),
            "advertised.listeners": ",".join([plain, *mine]),
            "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
            "listener.security.protocol.map": ",".join(
                ["CONTROLLER:PLAINTEXT", "PLAINTEXT:PLAINTEXT", *mapped]
            ),
            "inter.broker.listener.name": "PLAINTEXT",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": self.authority_file,
        }

    def _identity(self, name: str) -> dict[str, object]:
        issued = self.authority.issue("broker", expired=name == "EXPIRED")
        prefix = f"listener.name.{name.lower()}.ssl.keystore"
        return {f"{prefix}.type": "PEM", f"{prefix}.location": issued.write(self.directory / f"{name}.pem")}

    def _logins(self, prefix: str) -> dict[str, object]:
        plain = login(PLAIN, **{f"user_{USER}": self.plain_password})
        return {
            f"{prefix}.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
            f"{prefix}.plain.sasl.jaas.config": plain,
            f"{prefix}.scram-sha-256.sasl.jaas.config": f"{SCRAM} required;",
            f"{prefix}.scram-sha-512.sasl.jaas.config": f"{SCRAM} required;",
            f"{prefix}.oauthbearer.sasl.jaas.config": login(OAUTH, unsecuredLoginStringClaim_sub="broker"),
        }
