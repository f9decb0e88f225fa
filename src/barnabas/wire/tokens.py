"""Where OAUTHBEARER tokens come from: a file, or an issuer asked with a client's id and secret (RFC 6749,
4.4). `sasl.oauthbearer.token.endpoint.url` says which: file:, http: or https:."""

from __future__ import annotations

import base64
import json
import ssl
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import quote_plus, unquote, urlencode, urlsplit
from urllib.request import BaseHandler, HTTPRedirectHandler, HTTPSHandler, Request, build_opener

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.security.oauthbearer import Token, TokenError, token_of
from barnabas.wire.errors import NetworkError, SettingsError, TlsError
from barnabas.wire.security_settings import SaslSettings, tls_settings

ANSWER_BYTES_MAX = 1 << 20
_RENEWED_AFTER = 0.8  # of a token's lifetime, as Kafka's clients do
_ISSUERS_FAULT = 500

Retrieve = Callable[[], Token]


class TokenSource:
    """Keeps a token until it is about to expire; one that does not say when is fetched for every use."""

    def __init__(self, retrieve: Retrieve) -> None:
        self._retrieve = retrieve
        self._held: Token | None = None
        self._renew_at_s = 0.0

    def token(self) -> Token:
        if self._held is None or time.monotonic() >= self._renew_at_s:
            try:
                fresh = self._retrieve()
            except TokenError as error:
                raise ApiError(ErrorCode.SASL_AUTHENTICATION_FAILED, f"No token: {error}") from None
            self._held = fresh
            lifetime_s = 0.0 if fresh.expires_at_ms is None else fresh.expires_at_ms / 1000 - time.time()
            self._renew_at_s = time.monotonic() + lifetime_s * _RENEWED_AFTER
        return self._held


def retriever(settings: SaslSettings) -> Retrieve:
    url = settings.token_endpoint_url or ""
    scheme = urlsplit(url).scheme.lower()
    if scheme == "file":
        return lambda: _from_file(Path(unquote(urlsplit(url).path)))
    if scheme not in ("http", "https"):
        raise SettingsError(
            f"sasl.oauthbearer.token.endpoint.url={url} must begin with https://, http:// or file://"
        )
    if not (settings.client_id and settings.client_secret):
        raise SettingsError(
            "sasl.oauthbearer.client.credentials.client.id and .secret (or clientId and clientSecret in "
            "sasl.jaas.config) must be set to get a token from sasl.oauthbearer.token.endpoint.url"
        )
    return lambda: _from_issuer(url, settings)


def _from_file(path: Path) -> Token:
    try:
        return token_of(path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        raise TokenError(f"{path} cannot be read: {error}") from None


def _from_issuer(url: str, settings: SaslSettings) -> Token:
    body = {"grant_type": "client_credentials"} | ({"scope": settings.scope} if settings.scope else {})
    answer = _post(url, urlencode(body).encode(), _authorization(settings), settings)
    try:
        content = json.loads(answer)
    except ValueError:
        raise TokenError(f"the answer of {url} is not JSON") from None
    token = content.get("access_token") if isinstance(content, dict) else None
    if not isinstance(token, str):
        raise TokenError(f"the answer of {url} has no access_token")
    return token_of(token)


def _authorization(settings: SaslSettings) -> str:
    pair = [settings.client_id or "", settings.client_secret or ""]
    if settings.urlencode_header:
        pair = [quote_plus(part) for part in pair]
    return "Basic " + base64.b64encode(":".join(pair).encode()).decode()


def _post(url: str, body: bytes, authorization: str, settings: SaslSettings) -> bytes:
    headers = {
        "Accept": "application/json",
        "Authorization": authorization,
        "Cache-Control": "no-cache",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    handlers: list[BaseHandler] = [_StayThere()]
    if urlsplit(url).scheme.lower() == "https":
        handlers.append(HTTPSHandler(context=_issuer_context(settings.options)))
    opener = build_opener(*handlers)
    try:
        with opener.open(Request(url, body, headers), timeout=settings.login_timeout_ms / 1000) as answer:
            return bytes(answer.read(ANSWER_BYTES_MAX))
    except HTTPError as error:
        with error:
            said = error.read(1000).decode(errors="replace").strip()
        if error.code >= _ISSUERS_FAULT:
            raise NetworkError(f"the token endpoint {url} answers {error.code}: {said}") from None
        raise TokenError(f"the token endpoint {url} refuses with {error.code}: {said}") from None
    except (URLError, OSError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, ssl.SSLError):
            raise TlsError(f"the token endpoint {url} is not believed: {reason}") from None
        raise NetworkError(f"the token endpoint {url} cannot be reached: {reason}") from None


class _StayThere(HTTPRedirectHandler):
    """A redirection would carry the secret to somebody else."""

    def redirect_request(self, *_: object) -> None:
        return None


def _issuer_context(options: Mapping[str, str]) -> ssl.SSLContext:
    """As in Kafka, whom to believe about the issuer stands among the login module's options: ssl.*"""
    from barnabas.wire.tls import context_of

    return context_of(tls_settings(options))
