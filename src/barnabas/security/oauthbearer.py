"""SASL OAUTHBEARER (RFC 7628) as Kafka speaks it, and the unsecured tokens that clients make themselves."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from barnabas.security.exchange import ExchangeError

_TOKEN = re.compile(r"[-_~+/.a-zA-Z0-9]+=*")
_EXTENSION_NAME = re.compile(r"[A-Za-z]+")
_EXTENSION_VALUE = re.compile(r"[\x21-\x7e \t\r\n]+")
_PREFIX = "unsecuredLogin"
_CALCULATED = frozenset({"iat", "exp"})
_LIFETIME_S = "3600"


class TokenError(Exception):
    """A token or an extension that no broker would understand, or options that make none."""


class Token(NamedTuple):
    text: str
    expires_at_ms: int | None  # since 1970; None when the token does not say


class OAuthBearerClient:
    def __init__(self, token: str, extensions: Mapping[str, str] | None = None) -> None:
        self._token = token
        self._extensions = dict(extensions or {})
        self._refused = ""

    def first(self) -> bytes:
        pairs = [("auth", f"Bearer {self._token}"), *self._extensions.items()]
        return ("n,," + "".join(f"\1{name}={value}" for name, value in pairs) + "\1\1").encode()

    def step(self, challenge: bytes) -> bytes | None:
        """A challenge is a refusal in JSON; it wants to be acknowledged before the real answer comes."""
        if not challenge:
            return None
        if self._refused:
            raise ExchangeError(f"The broker refused the token: {self._refused}")
        self._refused = challenge[:1000].decode(errors="replace")
        return b"\1"


def token_of(text: str) -> Token:
    """What an issuer sent, if it can be sent on. A token that is no JWT has no expiry that we could read."""
    token = text.strip()
    if not _TOKEN.fullmatch(token):
        raise TokenError("The token is empty or has characters that a bearer token cannot have.")
    expiry = _claims(token).get("exp")
    return Token(token, int(expiry * 1000) if isinstance(expiry, int | float) else None)


def _claims(token: str) -> Mapping[str, object]:
    parts = token.split(".")
    if len(parts) != 3:
        return {}
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, binascii.Error):
        return {}
    return claims if isinstance(claims, dict) else {}


def extensions_of(options: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The SASL extensions among a login module's options: `unsecuredLoginExtension_`, `extension_`."""
    found = {name[len(prefix) :]: value for name, value in options.items() if name.startswith(prefix)}
    for name, value in found.items():
        if name == "auth" or not _EXTENSION_NAME.fullmatch(name) or not _EXTENSION_VALUE.fullmatch(value):
            raise TokenError(f"The SASL extension {name} has a name or a value that cannot be sent.")
    return found


# --- the unsecured token of Kafka's default login ---------------------------------------------------------


def unsecured_token(options: Mapping[str, str], now_ms: int) -> Token:
    """A JWS without a signature, from a login module's `unsecuredLogin…` options."""
    claims = _claims_of(options)
    principal = options.get(f"{_PREFIX}PrincipalClaimName", "").strip() or "sub"
    if not isinstance(claims.get(principal), str) or not claims[principal]:
        raise TokenError(f"OAUTHBEARER needs a name: set the option {_PREFIX}StringClaim_{principal}.")
    lifetime_s = _number(options.get(f"{_PREFIX}LifetimeSeconds", _LIFETIME_S), f"{_PREFIX}LifetimeSeconds")
    expires_at_s = now_ms / 1000 + lifetime_s
    body = {"exp": expires_at_s, "iat": now_ms / 1000, **claims}
    return Token(f"{_part({'alg': 'none'})}.{_part(body)}.", int(expires_at_s * 1000))


def _claims_of(options: Mapping[str, str]) -> dict[str, object]:
    claims: dict[str, object] = {}
    for name, value in options.items():
        for prefix, read in _READERS.items():
            claim = name.removeprefix(prefix)
            if claim in ("", name):
                continue
            if claim in _CALCULATED:
                raise TokenError(f"Cannot explicitly set the '{claim}' claim.")
            claims[claim] = read(value, name)
    return claims


def _string(text: str, _: str) -> str:
    return text


def _list(text: str, _: str) -> list[str]:
    """The first character is what separates the rest."""
    return text[1:].split(text[0]) if len(text) > 1 else []


def _number(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise TokenError(f"{name} is not a number: {text}") from None


_READERS: Mapping[str, Callable[[str, str], object]] = {
    f"{_PREFIX}StringClaim_": _string,
    f"{_PREFIX}NumberClaim_": _number,
    f"{_PREFIX}ListClaim_": _list,
}


def _part(content: object) -> str:
    text = json.dumps(content, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()
