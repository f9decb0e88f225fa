"""Where every write waits for the disk, a coordinator's answers come later, and they are the same answers: a
Produce waits for its transaction in front of the connection's other requests, markers wait to be durable."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.answers import golden, scenario
from tests.support.answers.compare import compare
from tests.support.answers.differences import split

from barnabas.testing import Broker

scenario.load()
NAMES = (
    "an_owner_fences_the_one_before",
    "transactions_before_version_2",
    "transactions_need_their_partitions",
    "transactions_version_2",
    "transactions_as_readers_see_them",
    "hanging_transactions",
    "offsets_in_transactions",
    "transaction_walks",
)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with Broker({"log.flush.interval.messages": 1}) as broker:
        yield broker.port


@pytest.mark.parametrize("name", NAMES)
def test_answers_that_wait_for_the_disk_are_kafkas(name: str, port: int) -> None:
    said = scenario.run(name, port)
    unmeant, _ = split(name, compare(golden.read(name), said))
    assert not unmeant, "\n".join(map(str, unmeant[:20]))
