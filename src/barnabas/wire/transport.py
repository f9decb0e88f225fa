"""Bytes to a broker and back. TLS (`tls.py`) is another transport with the same three methods; SASL is a
conversation of requests and belongs to the connection (`sasl.py`)."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Protocol, TypeAlias

from barnabas.wire.address import Address
from barnabas.wire.errors import NetworkError, NotAvailableError, TimedOutError, UnresolvedError


class Transport(Protocol):
    """A stream of bytes to one broker."""

    def send(self, data: bytes) -> None:
        """All of it, or NetworkError."""
        ...

    def receive(self, size: int, timeout_s: float) -> bytearray:
        """Exactly `size` bytes, or NetworkError."""
        ...

    def close(self) -> None: ...


Dial: TypeAlias = Callable[[Address, float], Transport]


class PlainTransport:
    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected

    def send(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except TimeoutError:
            raise TimedOutError("the broker stopped reading") from None
        except OSError as error:
            raise self._broken(error, "sending") from None

    def receive(self, size: int, timeout_s: float) -> bytearray:
        buffer = bytearray(size)
        view = memoryview(buffer)
        position = 0
        deadline = time.monotonic() + timeout_s
        try:
            while position < size:
                # A deadline for the whole, or a peer that sends a byte now and then would hold us for ever.
                self._socket.settimeout(max(0.001, deadline - time.monotonic()))
                count = self._socket.recv_into(view[position:])
                if count == 0:
                    raise NetworkError("the broker closed the connection before it answered")
                position += count
        except TimeoutError:
            raise TimedOutError(f"no answer within {timeout_s:g} seconds") from None
        except OSError as error:
            raise self._broken(error, "reading") from None
        finally:
            view.release()
        return buffer

    def close(self) -> None:
        self._socket.close()

    def _broken(self, error: OSError, doing: str) -> Exception:
        return NetworkError(f"the connection broke while {doing}: {error}")


def dial_plain(address: Address, timeout_s: float) -> Transport:
    return PlainTransport(connected(address, timeout_s))


def connected(address: Address, timeout_s: float) -> socket.socket:
    """Try every address the name stands for, as IPv6 and IPv4 brokers share names such as localhost."""
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except OSError:
        raise UnresolvedError(f"Couldn't resolve server {address} from bootstrap.servers") from None
    found.sort(key=lambda row: row[0] != socket.AF_INET)
    refusal: OSError | None = None
    for family, kind, protocol, _, target in found:
        connecting = socket.socket(family, kind, protocol)
        try:
            connecting.settimeout(timeout_s)
            connecting.connect(target)
            connecting.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            connecting.close()
            refusal = error
        else:
            return connecting
    numeric = found[0][4][0] if found else "?"
    name = "" if numeric == address.host else address.host
    raise NotAvailableError(f"({name}/{numeric}:{address.port})") from refusal
