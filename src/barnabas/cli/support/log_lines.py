"""Kafka's tools log to standard error. So do these, in the same shape and words: runbooks and people's eyes
find what they expect."""

from __future__ import annotations

import sys
from datetime import datetime

NETWORK_CLIENT = "org.apache.kafka.clients.NetworkClient"


def log(level: str, message: str, source: str) -> None:
    now = datetime.now().isoformat(" ", "milliseconds").replace(".", ",")
    print(f"[{now}] {level} {message} ({source})", file=sys.stderr, flush=True)
