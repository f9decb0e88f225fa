"""Which broker the suite talks to: ours, or (BARNABAS_TEST_TARGET=apache) Apache Kafka as the oracle."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from bench.apache_kafka import ApacheKafka

from barnabas.testing import Broker, BrokerProcess

ON_APACHE = os.environ.get("BARNABAS_TEST_TARGET", "barnabas") == "apache"


def make_broker(settings: dict[str, object] | None = None, directory: Path | None = None) -> BrokerProcess:
    options: dict[str, Any] = {"directory": directory}
    if ON_APACHE:
        return ApacheKafka(settings, heap_options=("-Xmx512m", "-XX:+UseSerialGC"), **options)
    return Broker(settings, **options)
