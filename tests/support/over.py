"""`@over(ALL)`: run a test once per client library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

JAVA = pytest.param("java", marks=pytest.mark.java)
CONFLUENT, KAFKA_PYTHON, AIOKAFKA = "confluent-kafka", "kafka-python", "aiokafka"
ALL = (CONFLUENT, KAFKA_PYTHON, AIOKAFKA, JAVA)


def over(names: Sequence[Any], fixture: str = "client") -> pytest.MarkDecorator:
    return pytest.mark.parametrize(fixture, names, indirect=fixture == "client")
