"""Bootstrap servers whose name nobody knows: a warning each, as Kafka's clients print it."""

from __future__ import annotations

import socket

from barnabas.cli.support.log_lines import log

_SOURCE = "org.apache.kafka.clients.ClientUtils"


def resolves(server: str, host: str, port: int) -> bool:
    try:
        socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        known = f"Couldn't resolve server {server} from bootstrap.servers"
        log("WARN", f"{known} as DNS resolution failed for {host}", _SOURCE)
        return False
    return True
