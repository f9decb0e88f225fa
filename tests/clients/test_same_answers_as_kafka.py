"""Our broker answers as Apache Kafka does: every served version of every API, in the usual and the odd cases.

Scenarios in `tests/support/answers/scenarios` speak raw protocol to a broker and write down its answers,
with ids, ports and times made anonymous. What Apache Kafka said is kept in `tests/golden/answers`; ours must
say the same, but for the rows of `tests/support/answers/differences.py`. `make oracle` asks Kafka itself
again, so that the record stays true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import pytest
from bench.apache_kafka import ApacheKafka, UnavailableError
from tests.support.answers import golden, scenario
from tests.support.answers.compare import compare
from tests.support.answers.dialogue import Transcript
from tests.support.answers.differences import DELIBERATE, split

from barnabas.testing import Broker

NAMES = sorted(scenario.load())
SMALL_HEAP = ("-Xmx512m", "-XX:+UseSerialGC")


Port = Callable[[str], int]


@pytest.fixture(scope="module")
def our_port() -> Iterator[Port]:
    """Not the broker that other tests share: these look at all topics and at cluster-wide settings."""
    with ExitStack() as stack:
        yield cache(lambda kind: stack.enter_context(Broker(scenario.SETTINGS[kind])).port)


@pytest.fixture(scope="module")
def kafka_port() -> Iterator[Port]:
    def start(kind: str) -> int:
        try:
            broker = ApacheKafka(scenario.SETTINGS[kind], heap_options=SMALL_HEAP)
        except UnavailableError as missing:
            pytest.skip(str(missing))
        return stack.enter_context(broker).port

    with ExitStack() as stack:
        yield cache(start)


@pytest.mark.parametrize("name", NAMES)
def test_our_answers_are_kafkas(name: str, our_port: Port) -> None:
    recorded = golden.read(name)

    def is_right(said: Transcript) -> bool:
        return not split(name, compare(recorded, said))[0]

    said = scenario.run(name, our_port(scenario.settings_of(name)), is_right)
    unmeant, unused = split(name, compare(recorded, said))
    assert not unmeant, "\n".join(map(str, unmeant[:20]))
    assert not unused, f"these differences are gone, remove their rows: {unused}"


@pytest.mark.slow  # what this version of Kafka answers does not change
@pytest.mark.java
@pytest.mark.parametrize("name", NAMES)
def test_kafka_still_answers_as_recorded(name: str, kafka_port: Port) -> None:
    recorded = golden.read(name)

    def is_right(said: Transcript) -> bool:
        return not compare(recorded, said)

    found = compare(recorded, scenario.run(name, kafka_port(scenario.settings_of(name)), is_right))
    assert not found, "\n".join(str(one) for one in found[:20])


def test_every_deliberate_difference_names_a_scenario() -> None:
    assert {row.scenario for row in DELIBERATE} <= set(NAMES)
    assert all(row.reason for row in DELIBERATE)
