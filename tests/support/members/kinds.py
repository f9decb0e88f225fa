"""Libraries and protocols together: `@each(EVERY_KIND)` runs a test once per kind of member."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import pytest
from tests.support.members.face import CLASSIC, CONSUMER


class Kind(NamedTuple):
    library: str
    protocol: str
    assignor: str | None = None

    def __str__(self) -> str:
        return "-".join(filter(None, self))


CONFLUENT, KAFKA_PYTHON, AIOKAFKA, JAVA = "confluent-kafka", "kafka-python", "aiokafka", "java"

CLASSIC_KINDS = tuple(Kind(library, CLASSIC) for library in (CONFLUENT, KAFKA_PYTHON, AIOKAFKA, JAVA))
CONSUMER_KINDS = (Kind(CONFLUENT, CONSUMER), Kind(JAVA, CONSUMER))
EVERY_KIND = CLASSIC_KINDS + CONSUMER_KINDS
COOPERATIVE_KINDS = (
    Kind(CONFLUENT, CLASSIC, "cooperative-sticky"),
    Kind(KAFKA_PYTHON, CLASSIC, "cooperative-sticky"),
    Kind(JAVA, CLASSIC, "cooperative-sticky"),
    *CONSUMER_KINDS,
)


def each(kinds: Iterable[Kind]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("kind", [_parameter(kind, kind.library) for kind in kinds], ids=str)


def each_library(libraries: Sequence[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("library", [_parameter(name, name) for name in libraries])


def _parameter(value: Any, library: str) -> Any:
    marks = [pytest.mark.java] if library == JAVA else []
    return pytest.param(value, marks=marks, id=str(value))
