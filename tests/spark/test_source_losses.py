"""Records that were deleted before they were read end a query, or are passed over when it was told to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.support.filled_topics import Topics
from tests.support.spark_streams import Stream

from barnabas.testing import BrokerProcess

FAST = {"fetchOffset.numRetries": "1", "fetchOffset.retryIntervalMs": "100"}


@pytest.fixture
def topics(target: BrokerProcess) -> Topics:
    return Topics(target.bootstrap)


@pytest.fixture
def begun(spark: SparkSession, target: BrokerProcess, topics: Topics, topic: str, tmp_path: Path) -> Stream:
    """A query that has read ten records and stopped."""
    topics.fill(topics.create(topic), range(10))
    query = Stream(spark, target.bootstrap, tmp_path, subscribe=topic, startingOffsets="earliest")
    query.options |= FAST
    query.available_now()
    assert query.numbers == list(range(10))
    return query


def told_to_go_on(query: Stream) -> Stream:
    query.options["failOnDataLoss"] = "false"
    return query


def test_records_deleted_before_they_were_read(topics: Topics, begun: Stream, topic: str) -> None:
    topics.fill(topic, range(10, 20))
    topics.delete_records(topic, 15)
    with pytest.raises(Exception, match=f"Records 10 to 14 of {topic}-0 are not available any more"):
        begun.available_now()
    told_to_go_on(begun).available_now()
    assert begun.numbers == [*range(10), *range(15, 20)]


def test_a_topic_created_anew(topics: Topics, begun: Stream, topic: str) -> None:
    topics.delete(topic)
    topics.fill(topics.create(topic), range(50, 54))
    with pytest.raises(Exception, match=f"The end of {topic}-0 was changed from 10 to 4"):
        begun.available_now()
    told_to_go_on(begun).available_now()
    topics.fill(topic, range(54, 56))
    begun.available_now()
    assert begun.numbers == [*range(10), 54, 55]


def test_a_topic_that_is_gone(topics: Topics, begun: Stream, topic: str) -> None:
    topics.delete(topic)
    with pytest.raises(Exception, match=f"{topic}-0 are gone"):
        begun.available_now()
    told_to_go_on(begun).available_now()
    topics.fill(topics.create(topic), range(10, 13))
    begun.available_now()
    assert begun.numbers == list(range(13))


def test_a_batch_outside_of_what_is_there(
    spark: SparkSession, target: BrokerProcess, topics: Topics, topic: str
) -> None:
    topics.fill(topics.create(topic), range(10))
    topics.delete_records(topic, 4)

    def read(**options: str) -> list[int]:
        reader = spark.read.format("barnabas").option("kafka.bootstrap.servers", target.bootstrap)
        rows: Any = reader.options(subscribe=topic, **options).load().select("value").collect()
        return [int(row.value) for row in rows]

    start, end = f'{{"{topic}":{{"0":2}}}}', f'{{"{topic}":{{"0":99}}}}'
    with pytest.raises(Exception, match=f"Records 2 to 3 of {topic}-0 are not available any more"):
        read(startingOffsets=start)
    with pytest.raises(Exception, match=f"{topic}-0 ends at offset 10, before 99"):
        read(endingOffsets=end)
    with pytest.raises(Exception, match="is greater than its end offset"):
        read(startingOffsets=f'{{"{topic}":{{"0":8}}}}', endingOffsets=f'{{"{topic}":{{"0":6}}}}')
    assert read(startingOffsets=start, endingOffsets=end, failOnDataLoss="false") == list(range(4, 10))
