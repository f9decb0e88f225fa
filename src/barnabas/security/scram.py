"""SCRAM (RFC 5802, RFC 7677) as Kafka speaks it: no channel binding, no SASLprep, extensions in the first
message.

The keys are functions of their own: a broker keeps `stored_key` and `server_key`, and an administrator
sends `salted_password`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass

from barnabas.security.exchange import ExchangeError

# Fewer make a stolen password list cheap. More than this many would only keep us busy: Kafka's own largest
# is 16384.
ITERATIONS_MIN = 4096
ITERATIONS_MAX = 1_000_000
CHALLENGE_BYTES_MAX = 64 * 1024
_HEADER = "n,,"  # no channel binding, and nobody acts for somebody else


@dataclass(frozen=True, slots=True)
class Mechanism:
    name: str
    digest: str


MECHANISMS = {
    row.name: row for row in (Mechanism("SCRAM-SHA-256", "sha256"), Mechanism("SCRAM-SHA-512", "sha512"))
}


def salted_password(mechanism: Mechanism, password: str, salt: bytes, iterations: int) -> bytes:
    return hashlib.pbkdf2_hmac(mechanism.digest, password.encode(), salt, iterations)


def client_key(mechanism: Mechanism, salted: bytes) -> bytes:
    return hmac.digest(salted, b"Client Key", mechanism.digest)


def stored_key(mechanism: Mechanism, salted: bytes) -> bytes:
    return hashlib.new(mechanism.digest, client_key(mechanism, salted)).digest()


def server_key(mechanism: Mechanism, salted: bytes) -> bytes:
    return hmac.digest(salted, b"Server Key", mechanism.digest)


def escaped(username: str) -> str:
    return username.replace("=", "=3D").replace(",", "=2C")


class ScramClient:
    """`nonce` is fresh printable ASCII without a comma, as long as you like."""

    def __init__(
        self,
        mechanism: Mechanism,
        username: str,
        password: str,
        nonce: str,
        extensions: Mapping[str, str] | None = None,
    ) -> None:
        self._mechanism = mechanism
        self._password = password
        self._nonce = nonce
        more = "".join(f",{name}={value}" for name, value in (extensions or {}).items())
        self._first_bare = f"n={escaped(username)},r={nonce}{more}"
        self._signature: bytes | None = None

    def first(self) -> bytes:
        return (_HEADER + self._first_bare).encode()

    def step(self, challenge: bytes) -> bytes | None:
        fields = _fields(challenge)
        if "e" in fields:
            raise ExchangeError(f"{self._mechanism.name} failed with error: {fields['e']}")
        if self._signature is None:
            return self._prove(fields, challenge.decode())
        if not hmac.compare_digest(_decoded(fields, "v"), self._signature):
            raise ExchangeError("The broker's signature is wrong: it does not know this user's password.")
        return None

    def _prove(self, fields: Mapping[str, str], server_first: str) -> bytes:
        nonce = fields.get("r", "")
        if not nonce.startswith(self._nonce) or nonce == self._nonce:
            raise ExchangeError("The broker's nonce does not go on from ours.")
        name, iterations = self._mechanism.name, _number(fields.get("i", ""))
        if not ITERATIONS_MIN <= iterations <= ITERATIONS_MAX:
            raise ExchangeError(
                f"The broker asks for {iterations} iterations of {name}; "
                f"{ITERATIONS_MIN} to {ITERATIONS_MAX} are acceptable."
            )
        salted = salted_password(self._mechanism, self._password, _decoded(fields, "s"), iterations)
        final = f"c={base64.b64encode(_HEADER.encode()).decode()},r={nonce}"
        said = f"{self._first_bare},{server_first},{final}".encode()
        digest = self._mechanism.digest
        key = client_key(self._mechanism, salted)
        signature = hmac.digest(stored_key(self._mechanism, salted), said, digest)
        proof = bytes(one ^ other for one, other in zip(key, signature, strict=True))
        self._signature = hmac.digest(server_key(self._mechanism, salted), said, digest)
        return f"{final},p={base64.b64encode(proof).decode()}".encode()


def _fields(message: bytes) -> dict[str, str]:
    if len(message) > CHALLENGE_BYTES_MAX:
        raise ExchangeError(f"The broker's challenge has {len(message)} bytes.")
    try:
        pairs = [part.partition("=") for part in message.decode().split(",")]
    except UnicodeDecodeError:
        raise ExchangeError("The broker's challenge is not UTF-8.") from None
    return {name: value for name, _, value in pairs}


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1


def _decoded(fields: Mapping[str, str], name: str) -> bytes:
    try:
        return base64.b64decode(fields[name], validate=True)
    except (KeyError, binascii.Error):
        raise ExchangeError(f"The broker's challenge has no readable {name!r}.") from None
