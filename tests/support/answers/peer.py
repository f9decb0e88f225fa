"""One raw connection to a broker of either kind: any request in any version, and what came back."""

from __future__ import annotations

import itertools
import socket
import struct
from enum import Enum

from barnabas.protocol import codec
from barnabas.protocol.schema import Message

ANSWER_TIMEOUT_S = 60.0
SILENT_S = 2.0  # where a broker may never answer


class Silence(Enum):
    """What a broker may do instead of answering."""

    CLOSED = "the connection is closed"
    QUIET = "no answer"


class Peer:
    """Reconnects by itself after the broker closed the connection."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.client_id: str | None = "raw"
        self._socket: socket.socket | None = None
        self._correlation_ids = itertools.count(1)

    def exchange(
        self, request: Message, version: int, timeout_s: float = ANSWER_TIMEOUT_S
    ) -> Message | Silence:
        self.send(request, version)
        return self.receive(request.API_KEY, version, timeout_s)

    def send(self, request: Message, version: int) -> int:
        correlation_id = next(self._correlation_ids)
        header = codec.RequestHeader(request.API_KEY, version, correlation_id, self.client_id)
        self.send_frame(codec.write_request(header, request))
        return correlation_id

    def send_frame(self, frame: bytes) -> None:
        self.send_bytes(struct.pack(">i", len(frame)) + frame)

    def send_bytes(self, data: bytes) -> None:
        if self._socket is None:
            self._socket = socket.create_connection(("127.0.0.1", self.port), timeout=ANSWER_TIMEOUT_S)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(data)

    def receive(self, api_key: int, version: int, timeout_s: float = ANSWER_TIMEOUT_S) -> Message | Silence:
        frame = self.receive_frame(timeout_s)
        if isinstance(frame, Silence):
            return frame
        if api_key == codec.API_VERSIONS and frame[4:6] == b"\0\x23":
            version = 0  # an unknown version is answered in version 0, whatever was asked
        return codec.read_response(api_key, version, frame)[1]

    def receive_frame(self, timeout_s: float = ANSWER_TIMEOUT_S) -> bytes | Silence:
        assert self._socket is not None
        self._socket.settimeout(timeout_s)
        try:
            (size,) = struct.unpack(">i", self._read(4))
            return self._read(size)
        except (ConnectionError, EOFError):
            self.close()
            return Silence.CLOSED
        except TimeoutError:
            self.close()
            return Silence.QUIET

    def _read(self, size: int) -> bytes:
        assert self._socket is not None
        data = bytearray()
        while len(data) < size:
            piece = self._socket.recv(size - len(data))
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None
