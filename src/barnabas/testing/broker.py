"""A real Barnabas broker, alone, for tests: its own process, its own port, its own temporary directory."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from barnabas.testing.ports import free_port
from barnabas.testing.process import BrokerProcess


class Broker(BrokerProcess):
    """One broker for a test.

        with Broker({"num.partitions": 3}) as broker:
            producer = Producer({"bootstrap.servers": broker.bootstrap})

    `settings` are lines of `server.properties` and win over the defaults chosen here. Give a `directory`
    to keep the data or to open existing data; otherwise a temporary one is made and removed. `kill()` is
    a crash, `stop()` a clean stop, `restart()` and `start()` come back on the same port with the same
    data. When the `with` block fails, the end of the broker's log is added to the error.
    """

    name = "Barnabas broker"

    def __init__(
        self,
        settings: Mapping[str, object] | None = None,
        *,
        directory: Path | None = None,
        port: int | None = None,
        startup_timeout_s: float = 60.0,
    ) -> None:
        port = port or free_port()
        super().__init__(
            [sys.executable, "-m", "barnabas.runtime.server"],
            {
                "node.id": 1,
                "listeners": f"PLAINTEXT://127.0.0.1:{port}",
                # A test's group has the members it has: nobody wants to wait three seconds for more.
                "group.initial.rebalance.delay.ms": 0,
                **(settings or {}),
            },
            port=port,
            directory=directory,
            startup_timeout_s=startup_timeout_s,
        )
