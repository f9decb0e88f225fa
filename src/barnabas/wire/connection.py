"""One connection to one broker: negotiate versions once, then ask and be answered, one at a time."""

from __future__ import annotations

import struct
import time
from collections.abc import Mapping
from types import TracebackType
from typing import NamedTuple, TypeVar

from barnabas.model.errors import ErrorCode
from barnabas.ports import Buffer
from barnabas.protocol import codec
from barnabas.protocol.messages import APIS
from barnabas.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from barnabas.protocol.schema import Message
from barnabas.wire.address import Address
from barnabas.wire.codes import check
from barnabas.wire.doors import Login, dialer_of, login_of
from barnabas.wire.errors import NotAvailableError, PeerError, TlsError, UnresolvedError, VersionError
from barnabas.wire.settings import DEFAULTS, Settings
from barnabas.wire.transport import Dial, Transport

R = TypeVar("R", bound=Message)

FRAME_BYTES_MAX = 1 << 30  # what a broker may send at once; a longer frame is no Kafka broker
SOFTWARE_NAME = "barnabas"
SOFTWARE_VERSION = "0.1.0"
_RENEWED_AFTER = 0.85  # of a session's lifetime, as Kafka's clients do
_LENGTH = struct.Struct(">i")
_TLS_ALERT = b"\x15\x03"  # how a TLS listener complains of what is not TLS, where a length should be


class Pending(NamedTuple):
    """A question that was sent and not answered yet."""

    api_key: int
    version: int
    correlation_id: int


class Connection:
    """`call` raises WireError for what breaks on the way; error codes inside answers are the caller's."""

    def __init__(
        self, transport: Transport, settings: Settings, node_id: int = -1, login: Login | None = None
    ) -> None:
        self.node_id = node_id
        self.address: Address | None = None  # where it leads, when it was dialled
        self.was_answered = False  # after the negotiation
        self._transport = transport
        self._settings = settings
        self._correlation_id = 0
        self._theirs: Mapping[int, tuple[int, int]] = {}
        self.api_versions = self._negotiate()
        self._theirs = {row.api_key: (row.min_version, row.max_version) for row in self.api_versions.api_keys}
        self._login = login
        self._authenticate()

    @classmethod
    def open(
        cls,
        address: Address,
        settings: Settings = DEFAULTS,
        node_id: int = -1,
        dial: Dial | None = None,
        login: Login | None = None,
    ) -> Connection:
        dial = dial or dialer_of(settings)
        try:
            transport = dial(address, settings.socket_connection_setup_timeout_ms / 1000)
        except UnresolvedError:
            raise
        except NotAvailableError as error:
            raise NotAvailableError(
                f"Connection to node {node_id} {error} could not be established. Node may not be available."
            ) from error.__cause__
        try:
            opened = cls(transport, settings, node_id, login or login_of(settings))
        except BaseException:
            transport.close()
            raise
        opened.address = address
        return opened

    def call(
        self,
        request: Message,
        answer: type[R],
        timeout_ms: int | None = None,
        version_max: int | None = None,
    ) -> R:
        """`timeout_ms` is how long the broker may take; by default `request.timeout.ms`. `version_max` for
        those who need what a newer version has dropped."""
        self._stay_authenticated()
        version = self.version_of(request.API_KEY)
        if version_max is not None:
            version = min(version, version_max)
        answered = self._exchange(request, answer, version, timeout_ms)
        self.was_answered = True
        return answered

    def begin(self, request: Message, version_max: int | None = None) -> Pending:
        """Send now, `finish` later: the broker works while the caller does. Answers come in the order of
        the questions, and nothing else may be asked in between."""
        self._stay_authenticated()
        version = self.version_of(request.API_KEY)
        if version_max is not None:
            version = min(version, version_max)
        return Pending(request.API_KEY, version, self._send(request, version))

    def finish(self, pending: Pending, answer: type[R], timeout_ms: int | None = None) -> R:
        frame = self._receive(self._settings.request_timeout_ms if timeout_ms is None else timeout_ms)
        self.was_answered = True
        # A view: records that come by the megabyte are not copied once more.
        return self._read(pending.api_key, pending.version, memoryview(frame), pending.correlation_id, answer)

    def tell(self, request: Message) -> None:
        """Send without waiting: Produce with acks=0 is the only request that is not answered."""
        self._stay_authenticated()
        self._send(request, self.version_of(request.API_KEY))

    def version_of(self, api_key: int) -> int:
        """The newest version both sides speak."""
        ours = APIS[api_key]
        oldest, newest = self._theirs.get(api_key, (0, -1))
        version = min(ours.newest, newest)
        if version < max(ours.oldest, oldest):
            raise VersionError(f"The node does not support {ours.module.upper()}")
        return version

    def serves(self, api_key: int) -> bool:
        return api_key in self._theirs

    def _authenticate(self) -> None:
        self._session_until_s: float | None = None
        if self._login is not None:
            lifetime_ms = self._login.authenticate(self)
            if lifetime_ms > 0:
                self._session_until_s = time.monotonic() + lifetime_ms / 1000 * _RENEWED_AFTER

    def _stay_authenticated(self) -> None:
        """A broker hangs up on whoever goes on after the session's end (KIP-368)."""
        if self._session_until_s is not None and time.monotonic() >= self._session_until_s:
            self._authenticate()

    def exchange(self, request: Message, answer: type[R]) -> R:
        """`call` for the conversation that authenticates: nothing comes before it."""
        return self._exchange(request, answer, self.version_of(request.API_KEY), None)

    def _negotiate(self) -> ApiVersionsResponse:
        """Ask with our newest version; a broker that does not know it answers with version 0 and what it
        does know."""
        asked = ApiVersionsRequest(SOFTWARE_NAME, SOFTWARE_VERSION)
        newest = APIS[codec.API_VERSIONS].newest
        answer = self._exchange(asked, ApiVersionsResponse, newest, None)
        if answer.error_code == ErrorCode.UNSUPPORTED_VERSION:
            theirs = [row.max_version for row in answer.api_keys if row.api_key == codec.API_VERSIONS]
            answer = self._exchange(asked, ApiVersionsResponse, min([newest, *theirs]) if theirs else 0, None)
        check(answer.error_code)
        return answer

    def _exchange(self, request: Message, answer: type[R], version: int, timeout_ms: int | None) -> R:
        correlation_id = self._send(request, version)
        frame = self._receive(self._settings.request_timeout_ms if timeout_ms is None else timeout_ms)
        return self._read(request.API_KEY, version, frame, correlation_id, answer)

    def _send(self, request: Message, version: int) -> int:
        self._correlation_id = self._correlation_id + 1 & 0x7FFFFFFF
        header = codec.RequestHeader(request.API_KEY, version, self._correlation_id, self._settings.client_id)
        frame = codec.write_request(header, request)
        self._transport.send(_LENGTH.pack(len(frame)) + frame)
        return self._correlation_id

    def _receive(self, timeout_ms: int) -> bytearray:
        head = self._transport.receive(4, timeout_ms / 1000)
        if head.startswith(_TLS_ALERT) and not self._theirs:
            raise TlsError(
                "the broker speaks TLS on this port: set security.protocol to SSL or SASL_SSL, "
                "or use the port of a PLAINTEXT or SASL_PLAINTEXT listener"
            )
        (length,) = _LENGTH.unpack(head)
        if not 4 <= length <= FRAME_BYTES_MAX:
            raise PeerError(f"a frame of {length} bytes was announced; is this a Kafka broker?")
        return self._transport.receive(length, timeout_ms / 1000)

    def _read(self, api_key: int, version: int, frame: Buffer, correlation_id: int, answer: type[R]) -> R:
        # A broker that does not know our ApiVersions version answers in version 0, whatever was asked.
        unknown_to_peer = api_key == codec.API_VERSIONS and frame[4:6] == b"\0\x23"
        try:
            got, message = codec.read_response(api_key, 0 if unknown_to_peer else version, frame)
        except codec.MalformedError as error:
            raise PeerError(f"the broker's answer cannot be read: {error}") from None
        if got != correlation_id:
            raise PeerError(f"answer {got} came instead of {correlation_id}")
        assert isinstance(message, answer)
        return message

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
