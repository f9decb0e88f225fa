"""Which way in the settings ask for. What TLS and SASL need is imported only by those who use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from barnabas.wire.settings import Settings
from barnabas.wire.transport import Dial, dial_plain

if TYPE_CHECKING:
    from barnabas.wire.connection import Connection


class Login(Protocol):
    """Who we are; one for all connections of a cluster, because a token serves them all."""

    def authenticate(self, connection: Connection) -> int:
        """Convince the broker. How long that is good for, in milliseconds; 0: as long as the connection."""
        ...


def dialer_of(settings: Settings) -> Dial:
    if settings.tls is None:
        return dial_plain
    from barnabas.wire.tls import dialer

    return dialer(settings.tls)


def refuse_if_asked_for_login(connection: Connection) -> None:
    """To a handshake with a mechanism that does not exist, a SASL listener answers with those that do."""
    if not connection.serves(SaslHandshakeRequest.API_KEY):
        return
    answer = connection.exchange(SaslHandshakeRequest("?"), SaslHandshakeResponse)
    if answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM:
        raise ApiError(
            ErrorCode.SASL_AUTHENTICATION_FAILED,
            "The broker wants to know who you are: set security.protocol to SASL_PLAINTEXT or SASL_SSL, and "
            f"sasl.mechanism to one of {', '.join(answer.mechanisms)}",
        )


def login_of(settings: Settings) -> Login | None:
    if settings.sasl is None:
        return None
    from barnabas.wire.sasl import login

    return login(settings.sasl)
