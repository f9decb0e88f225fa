"""A raw connection to a broker, for what no client library would send.

Well-formed requests are written and read with kio, whose schemas come from Kafka's own definitions, so
that the broker is not tested with its own codec.
"""

from __future__ import annotations

import io
import itertools
import socket
import struct
from types import TracebackType
from typing import Any, Self

from kio.index import load_response_schema
from kio.serial import entity_reader, entity_writer
from kio.static.primitive import i16, i32

ANSWER_TIMEOUT_S = 60.0


class Connection:
    def __init__(self, port: int, timeout_s: float = ANSWER_TIMEOUT_S) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._correlation_ids = itertools.count(100)

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def receive_frame(self) -> bytes | None:
        """The next reply without its length; None when the broker closed the connection instead."""
        head = self._receive(4)
        if head is None:
            return None
        (size,) = struct.unpack(">i", head)
        return self._receive(size)

    def _receive(self, size: int) -> bytes | None:
        data = bytearray()
        while len(data) < size:
            try:
                piece = self.socket.recv(size - len(data))
            except ConnectionResetError:
                return None
            if not piece:
                return None
            data += piece
        return bytes(data)

    def is_closed_by_peer(self) -> bool:
        """Waits for the broker to say something, and tells whether that was good-bye."""
        return self.receive_frame() is None

    def send_request(self, request: Any) -> int:
        correlation_id = next(self._correlation_ids)
        self.send(frame(request_bytes(request, correlation_id)))
        return correlation_id

    def receive_response(self, request_class: type[Any]) -> tuple[int, Any]:
        reply = self.receive_frame()
        assert reply is not None, "the broker closed the connection"
        response_class = load_response_schema(request_class.__api_key__, request_class.__version__)
        header, header_size = entity_reader(response_class.__header_schema__)(reply, 0)
        response, response_size = entity_reader(response_class)(reply, header_size)
        assert header_size + response_size == len(reply), "bytes left over after the response"
        return header.correlation_id, response

    def ask(self, request: Any) -> Any:
        correlation_id = self.send_request(request)
        answered_id, response = self.receive_response(type(request))
        assert answered_id == correlation_id
        return response

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def frame(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def request_bytes(request: Any, correlation_id: int) -> bytes:
    header_class = request.__header_schema__
    header = header_class(
        request_api_key=i16(request.__api_key__),
        request_api_version=i16(request.__version__),
        correlation_id=i32(correlation_id),
        client_id="raw",
    )
    out = io.BytesIO()
    entity_writer(header_class)(out, header)
    entity_writer(type(request))(out, request)
    return out.getvalue()


def raw_header(api_key: int, api_version: int, correlation_id: int = 7) -> bytes:
    """A version 1 request header with any key and version, existing or not."""
    return struct.pack(">hhih", api_key, api_version, correlation_id, 3) + b"raw"
