"""Where our broker answers otherwise than Apache Kafka on purpose: one row each, with the reason.

A row that no longer matches anything fails the test, so the table cannot rot.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import NamedTuple

from tests.support.answers.compare import Difference

_OPAQUE = "compressed batches stay closed (docs/decisions/0010-what-is-checked-inside-a-batch.md)"
_OWN_ERROR = "Kafka runs into an error of its own and says UNKNOWN_SERVER_ERROR; ours names what is wrong"
_SILENT = "Kafka drops the request and never answers; ours says what is wrong"
_ELR = "eligible leader replicas (KIP-966) make a KRaft cluster fix min.insync.replicas for all brokers"
_LENIENT = "Kafka runs into an error of its own (UNKNOWN_SERVER_ERROR); ours reads it as the nearest meaning"
_CREATED_SOON = (
    "the notes that describe this system promise LEADER_NOT_AVAILABLE for a topic that is being created"
)


class Deliberate(NamedTuple):
    scenario: str
    step: str  # a pattern, as is the path
    path: str
    reason: str


_PACKED = ("says gzip, is not", "says snappy, is not", "says lz4, is not", "says zstd, is not")
_UNNAMED = ("length huge", "garbage payload", "unknown codec *")

DELIBERATE = (
    *(Deliberate("produce_bad_batches", step, "*", _OPAQUE) for step in _PACKED),
    *(Deliberate("produce_bad_batches", step, "*.error_code", _OWN_ERROR) for step in _UNNAMED),
    *(
        Deliberate("produce_bad_batches_to_compacted", step, "*.error_code", _OWN_ERROR)
        for step in (*_UNNAMED, *_PACKED)
    ),
    Deliberate("produce_normal", "null records", "", _SILENT),
    Deliberate("transactions_of_many", "no transactions", "", _SILENT),
    Deliberate("fetch_limits", "negative limit", "*", _LENIENT),
    Deliberate("fetch_epochs", "isolation 5", "*", _LENIENT),
    Deliberate("list_offsets_by_time", "isolation 5", "*", _LENIENT),
    Deliberate("create_topics_configs", "*", "*.min.insync.replicas.config_source", _ELR),
    Deliberate("describe_configs", "*", "*.min.insync.replicas*", _ELR),
    Deliberate("describe_configs_of_broker", "*", "*.min.insync.replicas*", _ELR),
    Deliberate("altered_configs_are_seen", "all brokers, seen", "*.min.insync.replicas", _ELR),
    Deliberate("topics_by_default", "inherited", "*.min.insync.replicas.*", _ELR),
    Deliberate("alter_configs", "all brokers", "*", _ELR),
    Deliberate("alter_configs", "twice", "", _SILENT),
    Deliberate("incremental_alter_configs", "*operation *", "*", _OWN_ERROR),
    Deliberate("create_partitions", "200000", "*", _OWN_ERROR),
    Deliberate("describe_topic_partitions", "empty name", "*", _OWN_ERROR),
    Deliberate("metadata_creates_topics", "v*: first", "*.error_code", _CREATED_SOON),
    Deliberate("metadata_creates_topics", "a good and a bad name", "*.error_code", _CREATED_SOON),
)


def split(scenario: str, found: list[Difference]) -> tuple[list[Difference], list[Deliberate]]:
    """The differences that nobody meant, and the rows that match none."""
    rows = [row for row in DELIBERATE if row.scenario == scenario]
    unmeant = [one for one in found if not any(_matches(row, one) for row in rows)]
    unused = [row for row in rows if not any(_matches(row, one) for one in found)]
    return unmeant, unused


def _matches(row: Deliberate, found: Difference) -> bool:
    return fnmatchcase(found.step, row.step) and fnmatchcase(found.path, row.path)
