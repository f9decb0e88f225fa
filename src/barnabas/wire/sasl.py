"""SASL inside Kafka's requests: SaslHandshake v1 names the mechanism, SaslAuthenticate v0–v2 carries the
exchange of `barnabas.security`.

A refusal is an ApiError with Kafka's code and the broker's sentence, and is not retried: a wrong password
does not become right. A broker that names a session lifetime is convinced again on the same connection,
with the same two requests, before it ends (KIP-368).
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from barnabas.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from barnabas.security.exchange import ClientExchange, ExchangeError
from barnabas.security.oauthbearer import (
    OAuthBearerClient,
    Token,
    TokenError,
    extensions_of,
    unsecured_token,
)
from barnabas.security.plain import PlainClient
from barnabas.security.scram import MECHANISMS, ScramClient
from barnabas.wire.codes import known
from barnabas.wire.connection import Connection
from barnabas.wire.doors import Login
from barnabas.wire.errors import SettingsError
from barnabas.wire.security_settings import OAUTHBEARER, SaslSettings


def login(settings: SaslSettings) -> Login:
    return SaslLogin(settings.mechanism, _exchanges(settings))


class SaslLogin:
    def __init__(self, mechanism: str, exchange: Callable[[], ClientExchange]) -> None:
        self._mechanism = mechanism
        self._exchange = exchange

    def authenticate(self, connection: Connection) -> int:
        exchange = self._exchange()
        self._shake_hands(connection)
        said: bytes | None = exchange.first()
        while said is not None:
            answer = connection.exchange(SaslAuthenticateRequest(said), SaslAuthenticateResponse)
            if answer.error_code:
                raise ApiError(known(answer.error_code), answer.error_message or None)
            try:
                said = exchange.step(bytes(answer.auth_bytes))
            except ExchangeError as error:
                raise ApiError(ErrorCode.SASL_AUTHENTICATION_FAILED, str(error)) from None
        return answer.session_lifetime_ms

    def _shake_hands(self, connection: Connection) -> None:
        if not connection.serves(SaslHandshakeRequest.API_KEY):
            raise _no_sasl()
        answer = connection.exchange(SaslHandshakeRequest(self._mechanism), SaslHandshakeResponse)
        code = known(answer.error_code)
        if code == ErrorCode.ILLEGAL_SASL_STATE:
            raise _no_sasl()
        if code == ErrorCode.UNSUPPORTED_SASL_MECHANISM:
            enabled = f"enabled mechanisms are [{', '.join(answer.mechanisms)}]"
            raise ApiError(
                code, f"Client SASL mechanism '{self._mechanism}' not enabled in the server, {enabled}"
            )
        if answer.error_code:
            raise ApiError(code)


def _no_sasl() -> ApiError:
    return ApiError(
        ErrorCode.ILLEGAL_SASL_STATE,
        "The broker asks nobody on this port who they are: set security.protocol to PLAINTEXT or SSL, or use "
        "the port of a SASL listener",
    )


def _exchanges(settings: SaslSettings) -> Callable[[], ClientExchange]:
    if settings.mechanism == OAUTHBEARER:
        token_and_extensions = bearer(settings)
        return lambda: _oauth_exchange(*token_and_extensions())
    username, password = settings.options["username"], settings.options["password"]
    if settings.mechanism == "PLAIN":
        return lambda: PlainClient(username, password)
    mechanism = MECHANISMS[settings.mechanism]
    # A delegation token is used as a password, and says so.
    by_token = settings.options.get("tokenauth", "").lower() == "true"
    extensions = {"tokenauth": "true"} if by_token else {}
    return lambda: ScramClient(mechanism, username, password, secrets.token_urlsafe(24), extensions)


def _oauth_exchange(token: Token, extensions: dict[str, str]) -> ClientExchange:
    return OAuthBearerClient(token.text, extensions)


def bearer(settings: SaslSettings) -> Callable[[], tuple[Token, dict[str, str]]]:
    """A token that is still good, whenever it is called, and the extensions that go with it."""
    from barnabas.wire.tokens import TokenSource, retriever  # HTTP is not cheap to import

    options = settings.options
    try:
        if settings.token_endpoint_url:
            extensions = extensions_of(options, "extension_")
            source = TokenSource(retriever(settings))
        else:
            extensions = extensions_of(options, "unsecuredLoginExtension_")
            _unsecured(settings)  # options that make no token are said before anybody dials
            source = TokenSource(lambda: _unsecured(settings))
    except TokenError as error:
        raise SettingsError(f"sasl.jaas.config: {error}") from None
    return lambda: (source.token(), extensions)


def _unsecured(settings: SaslSettings) -> Token:
    return unsecured_token(settings.options, int(time.time() * 1000))
