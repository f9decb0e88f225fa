"""A broker that cannot be reached, in the words of Kafka's clients."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from barnabas.cli.support.log_lines import NETWORK_CLIENT, log

if TYPE_CHECKING:
    from confluent_kafka import KafkaError

_INTERVAL_SECONDS = 0.1
_FAILED_CONNECTION = re.compile(r"(?P<name>\S+)/(?P<node>\w+): Connect to ipv[46]#(?P<address>\S+) failed")
_BOOTSTRAP_NODE = re.compile(
    r"Connection to node (?P<node>-\d+) \((?P<host>[^/]*)/(?P<address>.*):(?P<port>\d+)\)"
)


class ConnectionWarnings:
    """A broker that does not answer is two lines, as in Kafka. Both clients report every attempt, librdkafka
    several at once: one pair per moment is enough."""

    def __init__(self, who: str) -> None:
        self._who = who
        self._last = float("-inf")

    def librdkafka(self, error: KafkaError) -> None:
        """For its `error_cb`."""
        found = _FAILED_CONNECTION.search(str(error.str()))
        if found is not None:
            host = found["name"].rpartition(":")[0]
            shown = "" if host in found["address"] else host
            node = "-1" if found["node"] == "bootstrap" else found["node"]
            self._print(
                f"Connection to node {node} ({shown}/{found['address']}) could not be established. "
                "Node may not be available."
            )

    def wire(self, error: Exception) -> None:
        self._print(str(error))

    def _print(self, sentence: str) -> None:
        if time.monotonic() - self._last < _INTERVAL_SECONDS:
            return
        self._last = time.monotonic()
        log("WARN", f"[{self._who}] {sentence}", NETWORK_CLIENT)
        found = _BOOTSTRAP_NODE.match(sentence)
        if found is not None:
            broker = f"{found['host'] or found['address']}:{found['port']}"
            identity = f"(id: {found['node']} rack: null isFenced: false)"
            log("WARN", f"[{self._who}] Bootstrap broker {broker} {identity} disconnected", NETWORK_CLIENT)
