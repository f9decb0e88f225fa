"""A broker made of answers: a transport that decodes each request and lets a function answer it."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

from barnabas.protocol import codec
from barnabas.protocol.messages import APIS
from barnabas.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from barnabas.protocol.schema import Message
from barnabas.wire.address import Address
from barnabas.wire.errors import NetworkError, NotAvailableError
from barnabas.wire.transport import Transport

Answer = Callable[[Message], Message | Exception]


def serving(versions: Mapping[int, tuple[int, int]] | None = None) -> ApiVersionsResponse:
    rows = versions or {key: (api.oldest, api.newest) for key, api in APIS.items()}
    return ApiVersionsResponse(api_keys=[ApiVersion(key, *row) for key, row in rows.items()])


class FakePeer:
    """Counts what it hears. An exception as an answer breaks the connection with it."""

    def __init__(self, answer: Answer, versions: ApiVersionsResponse | None = None) -> None:
        self.heard: list[tuple[str, int]] = []
        self.closed = False
        self._answer = answer
        self._versions = versions or serving()
        self._pending = bytearray()

    def send(self, data: bytes) -> None:
        (length,) = struct.unpack_from(">i", data)
        assert length == len(data) - 4
        header, position = codec.read_header(data, 4)
        request = codec.decode(codec.request_class(header.api_key), header.version, data, position)
        self.heard.append((APIS[header.api_key].name, header.version))
        version = header.version
        reply: Message | Exception = self._versions
        if header.api_key == codec.API_VERSIONS:
            newest = next(row.max_version for row in self._versions.api_keys if row.api_key == 18)
            if version > newest:
                reply, version = ApiVersionsResponse(35, self._versions.api_keys), 0
        else:
            reply = self._answer(request)
        if isinstance(reply, Exception):
            raise reply
        head = codec.response_head(header.api_key, version, header.correlation_id)
        frame = head + codec.encode(reply, version)
        self._pending += struct.pack(">i", len(frame)) + frame

    def receive(self, size: int, timeout_s: float) -> bytearray:
        if len(self._pending) < size:
            raise NetworkError("nothing to read")
        taken = self._pending[:size]
        del self._pending[:size]
        return taken

    def close(self) -> None:
        self.closed = True


class FakeNetwork:
    """Addresses and who listens there; what is not listed refuses."""

    def __init__(self, peers: Mapping[Address, Callable[[], FakePeer]]) -> None:
        self.peers = dict(peers)
        self.dialled: list[Address] = []

    def dial(self, address: Address, timeout_s: float) -> Transport:
        self.dialled.append(address)
        if address not in self.peers:
            raise NotAvailableError(f"({address.host}/127.0.0.1:{address.port})")
        return self.peers[address]()
