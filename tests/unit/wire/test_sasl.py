from __future__ import annotations

import base64
from collections.abc import Callable

import pytest
from tests.unit.wire.fake_peer import FakePeer, serving

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.metadata import MetadataRequest, MetadataResponse
from barnabas.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from barnabas.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from barnabas.protocol.schema import Message
from barnabas.wire import Cluster, Connection, NetworkError, Settings
from barnabas.wire.address import Address
from barnabas.wire.doors import login_of
from barnabas.wire.transport import Transport

JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="hush";'
PLAIN = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.jaas.config": JAAS}
SCRAM = PLAIN | {
    "sasl.mechanism": "SCRAM-SHA-256",
    "sasl.jaas.config": JAAS.replace("plain.Plain", "scram.Scram"),
}


class Clock:
    """Stands in for `time.monotonic`."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


class SaslPeer(FakePeer):
    """Believes whoever says what is expected."""

    def __init__(
        self,
        answer: Callable[[SaslAuthenticateRequest], SaslAuthenticateResponse],
        handshake: SaslHandshakeResponse | None = None,
    ) -> None:
        self.said: list[bytes] = []
        self._authenticate = answer
        self._handshake = handshake or SaslHandshakeResponse(0, ["PLAIN"])
        super().__init__(self._reply)

    def _reply(self, request: Message) -> Message | Exception:
        if isinstance(request, SaslHandshakeRequest):
            return self._handshake
        if isinstance(request, SaslAuthenticateRequest):
            self.said.append(bytes(request.auth_bytes))
            return self._authenticate(request)
        return MetadataResponse()


def _believing(lifetime_ms: int = 0) -> SaslPeer:
    return SaslPeer(lambda _: SaslAuthenticateResponse(session_lifetime_ms=lifetime_ms))


def _connect(peer: FakePeer, properties: dict[str, str]) -> Connection:
    settings = Settings.from_properties(properties)
    return Connection(peer, settings, login=login_of(settings))


def _names(peer: FakePeer) -> list[str]:
    return [name for name, _ in peer.heard]


def test_a_connection_says_who_it_is_before_anything_else() -> None:
    peer = _believing()
    _connect(peer, PLAIN).call(MetadataRequest(), MetadataResponse)
    assert _names(peer) == ["ApiVersions", "SaslHandshake", "SaslAuthenticate", "Metadata"]
    assert dict(peer.heard)["SaslHandshake"] == 1
    assert peer.said == [b"\0alice\0hush"]


def test_a_session_is_renewed_on_its_connection_before_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr("barnabas.wire.connection.time.monotonic", clock)
    peer = _believing(lifetime_ms=10_000)
    connection = _connect(peer, PLAIN)
    clock.now_s += 8
    connection.call(MetadataRequest(), MetadataResponse)
    assert len(peer.said) == 1
    clock.now_s += 1
    connection.call(MetadataRequest(), MetadataResponse)
    connection.call(MetadataRequest(), MetadataResponse)
    assert _names(peer)[-5:] == ["Metadata", "SaslHandshake", "SaslAuthenticate", "Metadata", "Metadata"]
    assert not peer.closed


def test_a_refusal_is_the_brokers_sentence_with_kafkas_code_and_is_not_retried() -> None:
    dialled: list[SaslPeer] = []

    def dial(address: Address, timeout_s: float) -> Transport:
        dialled.append(
            SaslPeer(lambda _: SaslAuthenticateResponse(58, "Authentication failed: Invalid username"))
        )
        return dialled[-1]

    with pytest.raises(ApiError, match="Invalid username") as caught:
        Cluster([Address("one", 1)], Settings.from_properties(PLAIN), dial=dial).brokers()
    assert caught.value.code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert [peer.closed for peer in dialled] == [True]


def test_a_broker_that_cannot_prove_that_it_knows_us_is_not_believed() -> None:
    def answer(request: SaslAuthenticateRequest) -> SaslAuthenticateResponse:
        said = bytes(request.auth_bytes).decode()
        if said.startswith("n,,"):
            nonce = said.partition("r=")[2]
            return SaslAuthenticateResponse(auth_bytes=f"r={nonce}more,s=c2FsdA==,i=4096".encode())
        return SaslAuthenticateResponse(auth_bytes=b"v=" + base64.b64encode(bytes(32)))

    with pytest.raises(ApiError, match="signature is wrong") as caught:
        _connect(SaslPeer(answer), SCRAM)
    assert caught.value.code == ErrorCode.SASL_AUTHENTICATION_FAILED


def test_two_exchanges_do_not_share_a_nonce() -> None:
    peer = SaslPeer(lambda _: SaslAuthenticateResponse(58, "no"))
    for _ in range(2):
        with pytest.raises(ApiError):
            _connect(peer, SCRAM)
    assert len(set(peer.said)) == 2


def test_a_refused_token_ends_the_conversation_however_often_the_broker_asks() -> None:
    oauth = PLAIN | {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": "x.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub=alice;",
    }
    peer = SaslPeer(lambda _: SaslAuthenticateResponse(auth_bytes=b'{"status":"invalid_token"}'))
    with pytest.raises(ApiError, match="invalid_token"):
        _connect(peer, oauth)
    assert peer.said[1:] == [b"\1"]


@pytest.mark.parametrize(
    ("handshake", "said"),
    [
        (
            SaslHandshakeResponse(33, ["SCRAM-SHA-512", "GSSAPI"]),
            "'PLAIN' not enabled.*GSSAPI",
        ),
        (SaslHandshakeResponse(34, []), "asks nobody on this port"),
        (SaslHandshakeResponse(76, []), "."),
    ],
)
def test_a_handshake_that_fails_says_what_to_do(handshake: SaslHandshakeResponse, said: str) -> None:
    with pytest.raises(ApiError, match=said):
        _connect(SaslPeer(lambda _: SaslAuthenticateResponse(), handshake), PLAIN)


def test_a_broker_without_sasl_says_what_to_do() -> None:
    peer = FakePeer(lambda _: MetadataResponse(), serving({18: (0, 4), 3: (0, 12)}))
    with pytest.raises(ApiError, match="PLAINTEXT or SSL"):
        _connect(peer, PLAIN)


def test_who_forgets_to_log_in_learns_which_ways_there_are() -> None:
    """A SASL listener hangs up on a request that comes before the handshake."""

    def reply(request: Message) -> Message | Exception:
        if isinstance(request, SaslHandshakeRequest):
            return SaslHandshakeResponse(33, ["PLAIN", "SCRAM-SHA-256"])
        return NetworkError("closed")

    def dial(address: Address, timeout_s: float) -> Transport:
        return FakePeer(reply)

    settings = Settings(retry_backoff_ms=1)
    with pytest.raises(ApiError, match=r"sasl\.mechanism to one of PLAIN, SCRAM-SHA-256"):
        Cluster([Address("one", 1)], settings, dial=dial).brokers()
