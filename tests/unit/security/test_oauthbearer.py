from __future__ import annotations

import base64
import json

import pytest

from barnabas.security.exchange import ExchangeError
from barnabas.security.oauthbearer import (
    OAuthBearerClient,
    TokenError,
    extensions_of,
    token_of,
    unsecured_token,
)
from barnabas.security.plain import PlainClient


def _claims(token: str) -> dict[str, object]:
    header, body, signature = token.split(".")
    assert signature == ""
    assert json.loads(base64.urlsafe_b64decode(header + "==")) == {"alg": "none"}
    found: dict[str, object] = json.loads(base64.urlsafe_b64decode(body + "=="))
    return found


def test_the_first_message_is_that_of_rfc_7628() -> None:
    client = OAuthBearerClient("abc.def.", {"traceId": "1 2"})
    assert client.first() == b"n,,\1auth=Bearer abc.def.\1traceId=1 2\1\1"
    assert client.step(b"") is None


def test_a_refusal_is_acknowledged_once() -> None:
    client = OAuthBearerClient("abc")
    assert client.step(b'{"status":"invalid_token"}') == b"\1"
    with pytest.raises(ExchangeError, match="invalid_token"):
        client.step(b"again")


def test_an_unsecured_token_says_what_the_options_say() -> None:
    options = {
        "unsecuredLoginStringClaim_sub": "alice",
        "unsecuredLoginNumberClaim_age": "7.5",
        "unsecuredLoginListClaim_scope": "|read|write",
        "unsecuredLoginListClaim_none": "|",
        "unsecuredLoginLifetimeSeconds": "60",
        "unsecuredLoginExtension_traceId": "1",
    }
    token = unsecured_token(options, 1_000_000)
    assert token.expires_at_ms == 1_060_000
    assert _claims(token.text) == {
        "exp": 1060.0,
        "iat": 1000.0,
        "sub": "alice",
        "age": 7.5,
        "scope": ["read", "write"],
        "none": [],
    }
    assert token_of(token.text).expires_at_ms == 1_060_000


def test_the_name_may_be_in_another_claim() -> None:
    options = {"unsecuredLoginStringClaim_me": "bob", "unsecuredLoginPrincipalClaimName": "me"}
    assert _claims(unsecured_token(options, 0).text)["me"] == "bob"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "unsecuredLoginStringClaim_sub"),
        ({"unsecuredLoginNumberClaim_sub": "1"}, "unsecuredLoginStringClaim_sub"),
        ({"unsecuredLoginStringClaim_exp": "1"}, "Cannot explicitly set the 'exp' claim"),
        ({"unsecuredLoginStringClaim_sub": "a", "unsecuredLoginNumberClaim_n": "x"}, "not a number: x"),
        ({"unsecuredLoginStringClaim_sub": "a", "unsecuredLoginLifetimeSeconds": "soon"}, "not a number"),
    ],
)
def test_options_that_make_no_token_are_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(TokenError, match=said):
        unsecured_token(options, 0)


@pytest.mark.parametrize(
    "options", [{"x_auth": "1"}, {"x_trace-id": "1"}, {"x_trace": ""}, {"x_trace": "\1"}]
)
def test_an_extension_that_cannot_be_sent_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(TokenError, match="extension"):
        extensions_of(options, "x_")


def test_extensions_are_found_by_their_prefix() -> None:
    assert extensions_of({"x_trace": "1", "other": "2"}, "x_") == {"trace": "1"}


@pytest.mark.parametrize("text", ["", "two words", "line\nbreak", "a\1b"])
def test_what_is_no_token_is_not_sent(text: str) -> None:
    with pytest.raises(TokenError):
        token_of(text)


@pytest.mark.parametrize("text", ["opaque", "a.b.c", "a.bm90IGpzb24.c", "a.W10.c", "a.e30.c"])
def test_a_token_without_a_readable_expiry_has_none(text: str) -> None:
    assert token_of(f" {text}\n") == (text, None)


def test_plain_is_one_message() -> None:
    client = PlainClient("alice", "päss")
    assert client.first() == "\0alice\0päss".encode()
    assert client.step(b"") is None
    with pytest.raises(ExchangeError):
        client.step(b"more")
