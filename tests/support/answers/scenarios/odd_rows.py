"""Requests that name something twice, nothing at all, or leave no time: which rows the answers have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.support.answers.dialogue import Dialogue
from tests.support.answers.owner import Owner, group_ready
from tests.support.answers.scenario import on_unusual, scenario, with_groups

from barnabas.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from barnabas.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from barnabas.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from barnabas.protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from barnabas.protocol.messages.delete_groups import DeleteGroupsRequest
from barnabas.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from barnabas.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from barnabas.protocol.messages.describe_groups import DescribeGroupsRequest
from barnabas.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from barnabas.protocol.messages.describe_transactions import DescribeTransactionsRequest
from barnabas.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from barnabas.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from barnabas.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from barnabas.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from barnabas.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from barnabas.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from barnabas.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

UNKNOWN = bytes([7]) * 16
TOPIC, BROKER, BROKER_LOGGER = 2, 4, 8
SET, DELETE, APPEND = 0, 1, 2
Rows = tuple[tuple[str, list[int]], ...]


def in_any_order(shown: Any) -> Any:
    """Kafka answers in the order of hash maps here."""
    if isinstance(shown, dict):
        return {key: in_any_order(value) for key, value in shown.items()}
    return sorted(map(in_any_order, shown), key=repr) if isinstance(shown, list) else shown


# --- twice -------------------------------------------------------------------------------------------------


@with_groups
def offsets_named_twice(d: Dialogue) -> None:
    topic, no, group = d.topic("t", 2), d.name("no"), d.name("g")
    group_ready(d, group)
    cases: dict[str, Rows] = {
        "unknown topic twice": ((no, [0]), (no, [1, 1])),
        "unknown partitions twice": ((topic, [7]), (topic, [7, 8])),
        "known twice": ((topic, [0, 0]), (topic, [0, 1])),
        "known and unknown": ((topic, [0, 7]), (no, [0]), (topic, [1])),
        "topics without partitions": ((no, []), (topic, [])),
        "a topic without partitions, and another": ((no, []), (topic, [0])),
        "a topic without partitions, and again": ((topic, []), (topic, [0])),
    }
    for label, rows in cases.items():
        d.ask(f"commit: {label}", _commit(group, rows), range(2, 10), view=in_any_order)
        d.ask(f"delete: {label}", _delete(group, rows), view=in_any_order)
    ids = {topic: d.topic_id("t"), no: UNKNOWN}
    for label, rows in cases.items():
        d.ask(f"commit by id: {label}", _commit(group, rows, ids), 10, view=in_any_order)


@with_groups
def groups_founded_by_refused_members(d: Dialogue) -> None:
    topic, strange, again = d.topic("t"), d.name("strange"), d.name("again")
    group_ready(d, strange)
    group_ready(d, again)
    for group in (strange, again):
        for kind, protocols in {"": [("range", b"")], "consumer": []}.items():
            rows = [JoinGroupRequestProtocol(*row) for row in protocols]
            request = JoinGroupRequest(group, 10_000, 10_000, "", None, kind, rows)
            d.ask(f"join {kind!r}", request, (0, 3, 4, 6, 7, 9))
            d.ask("described", DescribeGroupsRequest([group]), (0, 5, 6))
    commit = _commit(strange, ((topic, [0]),))
    commit.generation_id_or_member_epoch, commit.member_id = 1, "m"
    d.ask("a stranger commits", commit, range(2, 10))
    d.ask("offsets deleted", _delete(strange, ((topic, [0]),)))
    good = JoinGroupRequest(strange, 10_000, 10_000, "m", None, "consumer", [JoinGroupRequestProtocol("r")])
    d.ask("a stranger joins", good, (0, 9))
    d.ask("deleted", DeleteGroupsRequest([strange, again]), 2)
    d.ask("described at last", DescribeGroupsRequest([strange]), (0, 6))


def _commit(group: str, rows: Rows, ids: dict[str, bytes] | None = None) -> OffsetCommitRequest:
    topics = [
        OffsetCommitRequestTopic(
            ids[topic] if ids else bytes(16),
            topic,
            [OffsetCommitRequestPartition(index, 5, -1, "") for index in indexes],
        )
        for topic, indexes in rows
    ]
    return OffsetCommitRequest(group, -1, "", None, -1, topics)


def _delete(group: str, rows: Rows) -> OffsetDeleteRequest:
    return OffsetDeleteRequest(
        group,
        [
            OffsetDeleteRequestTopic(topic, [OffsetDeleteRequestPartition(index) for index in indexes])
            for topic, indexes in rows
        ],
    )


@with_groups
def transactions_named_twice(d: Dialogue) -> None:
    topic, no, group = d.topic("t", 2), d.name("no"), d.name("g")
    group_ready(d, group)
    owner = Owner(d).ready()
    d.ask("described twice", DescribeTransactionsRequest([owner.id, owner.id, d.name("y"), owner.id]))
    cases: dict[str, Rows] = {
        "a partition twice": ((topic, [0, 0]),),
        "a topic twice": ((topic, [0]), (topic, [1, 0])),
        "unknown twice": ((no, [0, 0]), (no, [0])),
        "known and unknown": ((topic, [0, 0, 7]), (no, [0])),
        "no partitions": ((no, []), (topic, [])),
        "a topic without partitions, and another": ((no, []), (topic, [0])),
    }
    for label, rows in cases.items():
        for who, producer_id in {"a stranger": 4242, "the owner": owner.producer_id}.items():
            offsets = _offsets(owner.id, producer_id, group, rows)
            d.ask(f"offsets: {label}, {who}", offsets, range(5), view=in_any_order)
            d.ask(f"add: {label}, {who}", _add(owner.id, producer_id, rows), range(4), view=in_any_order)
    for verify in (True, False):
        twice = _add_for_broker(owner.id, 4242, verify, cases["a partition twice"])
        d.ask(f"a broker, a partition twice, verify={verify}", twice, (4, 5), view=in_any_order)
    internal = _add(owner.id, owner.producer_id, ((topic, [0]), ("__consumer_offsets", [0]), (no, [0])))
    d.ask("add an internal topic", internal, range(4), view=in_any_order)
    d.ask("described", DescribeTransactionsRequest([owner.id]))


def _offsets(transactional_id: str, producer_id: int, group: str, rows: Rows) -> TxnOffsetCommitRequest:
    topics = [
        TxnOffsetCommitRequestTopic(
            topic, [TxnOffsetCommitRequestPartition(index, 5, -1, "") for index in indexes]
        )
        for topic, indexes in rows
    ]
    return TxnOffsetCommitRequest(transactional_id, group, producer_id, 0, topics=topics)


def _topics(rows: Rows) -> list[AddPartitionsToTxnTopic]:
    return [AddPartitionsToTxnTopic(topic, indexes) for topic, indexes in rows]


def _add(transactional_id: str, producer_id: int, rows: Rows) -> AddPartitionsToTxnRequest:
    return AddPartitionsToTxnRequest([], transactional_id, producer_id, 0, _topics(rows))


def _add_for_broker(
    transactional_id: str, producer_id: int, verify: bool, rows: Rows
) -> AddPartitionsToTxnRequest:
    return AddPartitionsToTxnRequest(
        [AddPartitionsToTxnTransaction(transactional_id, producer_id, 0, verify, _topics(rows))]
    )


# --- nothing, and no time ----------------------------------------------------------------------------------


@scenario
def elections_nobody_needs(d: Dialogue) -> None:
    topic, no = d.topic("t", 2), d.name("no")
    rows = [TopicPartitions(topic, [0, 1]), TopicPartitions(no, [0]), TopicPartitions(topic, [])]
    again = [*rows, TopicPartitions(topic, [1])]
    for timeout_ms in (5000, 0, -1):
        for kind in (0, 1, 2):
            versions = range(3) if kind == 0 else range(1, 3)
            label = f"type {kind}, {timeout_ms} ms"
            d.ask(f"{label}: some", ElectLeadersRequest(kind, rows, timeout_ms), versions)
            d.ask(f"{label}: some twice", ElectLeadersRequest(kind, again, timeout_ms), versions)
            d.ask(f"{label}: none", ElectLeadersRequest(kind, [], timeout_ms), versions)
            everything = ElectLeadersRequest(kind, None, timeout_ms)
            d.ask(f"{label}: all", everything, versions, view=lambda shown: _only(shown, ("t",)))


def _only(shown: dict[str, Any], topics: Iterable[str]) -> dict[str, Any]:
    """Others have topics there, too."""
    rows = shown.get("replica_election_results", [])
    shown["replica_election_results"] = [row for row in rows if row["topic"] in topics]
    return shown


@scenario
def no_time_at_all(d: Dialogue) -> None:
    topic, new, no = d.topic("t", 2), d.name("new"), d.name("no")
    create, more, delete = CreatableTopic(new, 1, 1), CreatePartitionsTopic(topic, 3, None), DeleteTopicState
    other = CreatableTopic(d.name("other"), 1, 1)
    metadata = CreatableTopic("__cluster_metadata", 1, 1)
    moves = [ReassignablePartition(0, [1]), ReassignablePartition(9, [1])]
    for timeout_ms in (0, -1):
        label = f"{timeout_ms} ms"
        d.ask(f"{label}: create", CreateTopicsRequest([create], timeout_ms))
        d.ask(f"{label}: create twice", CreateTopicsRequest([create, create], timeout_ms))
        d.ask(f"{label}: create twice, and another", CreateTopicsRequest([create, create, other], timeout_ms))
        d.ask(f"{label}: create metadata", CreateTopicsRequest([metadata], timeout_ms))
        d.ask(f"{label}: grow", CreatePartitionsRequest([more], timeout_ms))
        d.ask(f"{label}: grow twice", CreatePartitionsRequest([more, more], timeout_ms))
        for what, states in {
            "unknown": [delete(no)],
            "name and id": [delete(no, UNKNOWN)],
            "neither": [delete(None)],
            "twice": [delete(no), delete(no)],
            "name and id, and another": [delete(no, UNKNOWN), delete(new)],
        }.items():
            d.ask(f"{label}: delete {what}", DeleteTopicsRequest(states, [], timeout_ms), 6)
        moved = [ReassignableTopic(topic, moves), ReassignableTopic(no, [ReassignablePartition(0, None)])]
        d.ask(f"{label}: move", AlterPartitionReassignmentsRequest(timeout_ms, False, moved))
        d.ask(f"{label}: move nothing", AlterPartitionReassignmentsRequest(timeout_ms, False, []))


@scenario
def configs_as_they_were_written(d: Dialogue) -> None:
    for number, (name, value) in enumerate(
        (
            ("cleanup.policy", "compact,delete,compact"),
            ("cleanup.policy", " compact , delete "),
            ("retention.ms", " 5 "),
            ("retention.ms", "+05"),
            ("preallocate", "TRUE"),
            ("min.cleanable.dirty.ratio", "5e-1"),
            ("leader.replication.throttled.replicas", "0:1, 1:1"),
        )
    ):
        topic, written = d.name(f"t{number}"), CreatableTopicConfig(name, value)

        def view(shown: Any, name: str = name) -> Any:
            rows = shown["topics"][0]["configs"]
            return [row for row in rows if row["name"] == name]

        for only in (True, False):
            request = CreateTopicsRequest([CreatableTopic(topic, 1, 1, [], [written])], 5000, only)
            d.ask(f"{name}={value!r}, validate_only={only}", request, 7, view=view)
        d.wait_for(topic, 1)
        asked = DescribeConfigsResource(TOPIC, topic, [name])
        d.ask(f"{name}={value!r}, described", DescribeConfigsRequest([asked]), 4)


@on_unusual  # where nobody makes them
def internal_topics_that_are_not_there(d: Dialogue) -> None:
    names = ("__share_group_state", d.name("no"), "__cluster_metadata", "a b")
    topics = [TopicRequest(name) for name in names]
    d.ask("described", DescribeTopicPartitionsRequest(topics, 2000))
    wanted = [MetadataRequestTopic(bytes(16), name) for name in names]
    d.ask("metadata", MetadataRequest(wanted, False), range(1, 14), view=lambda shown: shown["topics"])


@scenario
def numbers_of_brokers(d: Dialogue) -> None:
    for name in ("1", "+1", "01", " 1", "1 ", "1_0", "-1", "x", "2147483648"):
        for kind in (BROKER, BROKER_LOGGER):
            asked = DescribeConfigsResource(kind, name, ["no.such"])
            d.ask(f"{kind} {name!r}", DescribeConfigsRequest([asked]), 4)


@scenario
def loggers_one_by_one(d: Dialogue) -> None:
    for explained in (False, True):
        root = DescribeConfigsResource(BROKER_LOGGER, "1", ["root"])
        d.ask(f"described, explained={explained}", DescribeConfigsRequest([root], True, explained))
    good, unknown, bad = ("root", SET, "INFO"), ("no.such", SET, "INFO"), ("root", SET, "LOUD")
    appended, deleted = ("root", APPEND, "INFO"), ("root", DELETE, None)
    for label, name, *rows in (
        ("unknown before appended", "1", unknown, appended),
        ("good before unknown", "1", good, unknown),
        ("bad before unknown", "1", bad, unknown),
        ("deleted before unknown", "1", deleted, unknown),
        ("deleted and unknown", "1", ("no.such", DELETE, None)),
        ("appended and unknown", "1", ("no.such", APPEND, "INFO")),
        ("appended at another broker", "9", appended),
        ("appended at no broker", "1 ", appended),
    ):
        changes = [AlterableConfig(*row) for row in rows]
        resource = AlterConfigsResource(BROKER_LOGGER, name, changes)
        d.ask(label, IncrementalAlterConfigsRequest([resource], True))
