"""Log lines in Kafka's shape: `[2026-11-15 10:00:00,123] INFO message (logger)`."""

from __future__ import annotations

import logging
import sys


class KafkaFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("[%(asctime)s] %(levelname)s %(message)s (%(name)s)")
        self.default_msec_format = "%s,%03d"


def configure(level: int = logging.INFO) -> None:
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(KafkaFormatter())
    logging.addLevelName(logging.WARNING, "WARN")
    logging.addLevelName(logging.CRITICAL, "FATAL")
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
