"""Messages to bytes and back, headers included. Records stay where they are: a request's are a view of its
frame, a response's may be slices of files (`encode_parts`)."""

from __future__ import annotations

import importlib
import struct
from functools import cache
from typing import Any, NamedTuple, TypeVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.compile import MalformedError, decoder, encoder
from barnabas.protocol.messages import APIS as PUBLIC_APIS
from barnabas.protocol.messages import Api
from barnabas.protocol.private import PRIVATE_APIS
from barnabas.protocol.schema import Message
from barnabas.protocol.varint import skip_tags

__all__ = [
    "MalformedError",
    "RequestHeader",
    "decode",
    "encode",
    "read_header",
    "request_class",
    "response_class",
]

APIS = {**PUBLIC_APIS, **PRIVATE_APIS}
API_VERSIONS = 18
_HEADER = struct.Struct(">hhih")
_FIXED_HEADER = struct.Struct(">hhi")
_CORRELATION = struct.Struct(">i")

M = TypeVar("M", bound=Message)


class RequestHeader(NamedTuple):
    api_key: int
    version: int
    correlation_id: int
    client_id: str | None


def decode(message: type[M], version: int, data: Buffer, position: int = 0) -> M:
    """Read one message; everything wrong with the bytes is a `MalformedError`. Trailing bytes are ignored,
    as Kafka's own parser does."""
    try:
        value, _ = decoder(message, version)(data, position)
    except (struct.error, IndexError, ValueError) as error:
        raise MalformedError(f"{message.__name__} v{version}: {error}") from None
    return value  # type: ignore[no-any-return]


def encode(message: Message, version: int) -> bytes:
    parts: list[bytes] = []
    encoder(type(message), version)(message, parts.append)
    return b"".join(parts)


def encode_parts(message: Message, version: int) -> list[bytes | FileSlice]:
    """Like `encode`, for a message whose records are file slices: they stay slices, between joined bytes."""
    pieces: list[bytes | FileSlice] = []
    encoder(type(message), version)(message, pieces.append)
    parts: list[bytes | FileSlice] = []
    loose: list[bytes] = []
    for piece in pieces:
        if isinstance(piece, FileSlice):
            parts += (b"".join(loose), piece)
            loose = []
        else:
            loose.append(piece)
    if loose:
        parts.append(b"".join(loose))
    return parts


@cache
def request_class(api_key: int) -> type[Message]:
    return _load(APIS[api_key], "Request")


@cache
def response_class(api_key: int) -> type[Message]:
    return _load(APIS[api_key], "Response")


def _load(api: Api, suffix: str) -> type[Message]:
    package = "barnabas.protocol.messages." if api.key in PUBLIC_APIS else ""
    module = importlib.import_module(package + api.module)
    loaded: Any = getattr(module, api.name + suffix)
    return loaded  # type: ignore[no-any-return]


def read_header(frame: Buffer, position: int = 0) -> tuple[RequestHeader, int]:
    """The request header and where the body starts. Unknown API keys have header version 1 as far as we can
    know; the caller refuses them anyway."""
    try:
        api_key, version, correlation_id, length = _HEADER.unpack_from(frame, position)
        position += 10
        client_id = None
        if length >= 0:
            if position + length > len(frame):
                raise MalformedError("client id past the end")
            client_id = str(frame[position : position + length], "utf-8", "replace")
            position += length
        if is_flexible(api_key, version):
            position = skip_tags(frame, position)
    except (struct.error, IndexError, ValueError) as error:
        raise MalformedError(f"request header: {error}") from None
    return RequestHeader(api_key, version, correlation_id, client_id), position


def is_flexible(api_key: int, version: int) -> bool:
    api = APIS.get(api_key)
    return api is not None and version >= api.flexible_since


def write_client_id(client_id: str | None) -> bytes:
    """A nullable string with a two-byte length, in flexible versions too."""
    if client_id is None:
        return b"\xff\xff"
    data = client_id.encode()
    return len(data).to_bytes(2, "big") + data


def write_request(header: RequestHeader, body: Message) -> bytes:
    """A whole request, without the length in front."""
    head = _FIXED_HEADER.pack(header.api_key, header.version, header.correlation_id)
    head += write_client_id(header.client_id)
    if is_flexible(header.api_key, header.version):
        head += b"\0"
    return head + encode(body, header.version)


def response_head(api_key: int, version: int, correlation_id: int) -> bytes:
    """ApiVersions answers with header version 0 always: a client that asks does not know us yet."""
    head = _CORRELATION.pack(correlation_id)
    return head + b"\0" if is_flexible(api_key, version) and api_key != API_VERSIONS else head


def read_response(api_key: int, version: int, frame: Buffer) -> tuple[int, Message]:
    try:
        (correlation_id,) = _CORRELATION.unpack_from(frame, 0)
        position = 4
        if is_flexible(api_key, version) and api_key != API_VERSIONS:
            position = skip_tags(frame, position)
    except (struct.error, IndexError, ValueError) as error:
        raise MalformedError(f"response header: {error}") from None
    return correlation_id, decode(response_class(api_key), version, frame, position)
