from __future__ import annotations

import base64

import pytest

from barnabas.security.exchange import ExchangeError
from barnabas.security.scram import (
    ITERATIONS_MAX,
    MECHANISMS,
    Mechanism,
    ScramClient,
    salted_password,
    server_key,
    stored_key,
)

SHA_1 = Mechanism("SCRAM-SHA-1", "sha1")  # not one of Kafka's, but the one with an example in RFC 5802
SHA_256 = MECHANISMS["SCRAM-SHA-256"]
NONCE = "rOprNGfwEbeRWgbNEkqO"
THEIRS = NONCE + "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
SERVER_FIRST = f"r={THEIRS},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode()


def _client() -> ScramClient:
    return ScramClient(SHA_256, "user", "pencil", NONCE)


def test_the_conversation_of_rfc_5802_is_reproduced() -> None:
    client = ScramClient(SHA_1, "user", "pencil", "fyko+d2lbbFgONRv9qkxdawL")
    assert client.first() == b"n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL"
    nonce = b"fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j"
    final = client.step(b"r=" + nonce + b",s=QSXCR+Q6sek8bf92,i=4096")
    assert final == b"c=biws,r=" + nonce + b",p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts="
    assert client.step(b"v=rmF9pqV8S7suAoZWja4dJRkFsKQ=") is None


def test_the_conversation_of_rfc_7677_is_reproduced() -> None:
    client = _client()
    assert client.first() == f"n,,n=user,r={NONCE}".encode()
    final = client.step(SERVER_FIRST)
    assert final == f"c=biws,r={THEIRS},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=".encode()
    assert client.step(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=") is None


def test_what_a_broker_keeps_does_not_hold_the_password() -> None:
    salted = salted_password(SHA_256, "pencil", base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ=="), 4096)
    assert base64.b64encode(stored_key(SHA_256, salted)) == b"WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY="
    assert base64.b64encode(server_key(SHA_256, salted)) == b"wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="


def test_names_with_signs_are_escaped_and_extensions_follow() -> None:
    client = ScramClient(SHA_256, "a=b,c", "p", "n", {"tokenauth": "true"})
    assert client.first() == b"n,,n=a=3Db=2Cc,r=n,tokenauth=true"


def test_a_broker_that_does_not_know_the_password_is_found_out() -> None:
    client = _client()
    client.step(SERVER_FIRST)
    with pytest.raises(ExchangeError, match="signature is wrong"):
        client.step(b"v=" + base64.b64encode(bytes(32)))


@pytest.mark.parametrize(
    ("challenge", "said"),
    [
        (b"r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "nonce"),
        (f"r={NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode(), "nonce"),
        (f"r={THEIRS},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4095".encode(), "4095 iterations"),
        (f"r={THEIRS},s=W22ZaJ0SNY7soEsUEjb6gQ==,i={ITERATIONS_MAX + 1}".encode(), "iterations"),
        (f"r={THEIRS},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=many".encode(), "iterations"),
        (f"r={THEIRS},s=?,i=4096".encode(), "'s'"),
        (f"r={THEIRS},i=4096".encode(), "'s'"),
        (b"e=unknown-user", "unknown-user"),
        (b"\xff", "UTF-8"),
        (b"", "nonce"),
        (b"r=" + b"x" * 100_000, "100002 bytes"),
    ],
)
def test_a_challenge_that_makes_no_sense_is_refused(challenge: bytes, said: str) -> None:
    with pytest.raises(ExchangeError, match=said):
        _client().step(challenge)
