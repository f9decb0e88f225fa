"""Committed offsets: commit, fetch and delete, in groups and without one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.support.answers.dialogue import Dialogue
from tests.support.answers.scenario import with_groups
from tests.support.answers.scenarios.groups import join, ready, sync

from barnabas.protocol.messages.delete_groups import DeleteGroupsRequest
from barnabas.protocol.messages.describe_groups import DescribeGroupsRequest
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
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from barnabas.protocol.messages.sync_group import SyncGroupRequestAssignment

NOBODY = b"\x07" * 16


def commit(
    group: str, topic: str, *rows: OffsetCommitRequestPartition, topic_id: bytes = NOBODY, **fields: Any
) -> OffsetCommitRequest:
    return OffsetCommitRequest(group, topics=[OffsetCommitRequestTopic(topic_id, topic, rows)], **fields)


def fetch(
    group: str, topic: str | None, *partitions: int, topic_id: bytes = NOBODY, stable: bool = False
) -> Any:
    """The same question in every version."""

    def request(version: int) -> OffsetFetchRequest:
        one = None if topic is None else [OffsetFetchRequestTopic(topic, partitions)]
        many = None if topic is None else [OffsetFetchRequestTopics(topic_id, topic, partitions)]
        return OffsetFetchRequest([OffsetFetchRequestGroup(group, topics=many)], group, one, stable)

    return request


def delete(group: str, topic: str, partitions: Sequence[int]) -> OffsetDeleteRequest:
    rows = [OffsetDeleteRequestPartition(index) for index in partitions]
    return OffsetDeleteRequest(group, [OffsetDeleteRequestTopic(topic, rows)])


row = OffsetCommitRequestPartition


@with_groups
def offsets_without_a_group(dialogue: Dialogue) -> None:
    topic, group = dialogue.topic("t", 3), dialogue.name("g")
    ready(dialogue, group)
    own = dialogue.topic_id("t")
    ask = dialogue.ask
    ask("nothing is committed", fetch(group, topic, 0, 1, topic_id=own))
    ask("nothing at all", fetch(group, None), range(2, 11))
    ask("commit", commit(group, topic, row(0, 42, 3, "note"), row(1, 7), topic_id=own))
    ask("committed", fetch(group, topic, 0, 1, 2, 9, topic_id=own))
    ask("committed, stable", fetch(group, topic, 0, topic_id=own, stable=True), range(7, 11))
    ask("all of it", fetch(group, None), range(2, 11), _sorted)
    ask("no partition", commit(group, topic, topic_id=own))
    ask("unknown partitions", commit(group, topic, row(0, 1), row(3, 1), row(-1, 1), topic_id=own))
    ask("unknown topic", commit(group, dialogue.name("no"), row(0, 1)))
    ask("unknown topic, fetched", fetch(group, dialogue.name("no"), 0))
    ask("no metadata", commit(group, topic, row(0, 5, -1, None), topic_id=own))
    ask("metadata of 4096", commit(group, topic, row(0, 5, -1, "m" * 4096), topic_id=own), (2, 9, 10))
    ask("metadata too long", commit(group, topic, row(0, 5, -1, "m" * 4097), row(1, 5), topic_id=own))
    ask("metadata too long for Java", commit(group, topic, row(0, 5, -1, "\U0001f600" * 2049), topic_id=own))
    ask("a negative offset", commit(group, topic, row(0, -3, -5, "x"), topic_id=own), (9, 10))
    ask("committed", fetch(group, topic, 0, 1, topic_id=own), (9, 10))
    ask(
        "a retention of its own",
        commit(group, topic, row(2, 9), topic_id=own, retention_time_ms=1),
        (2, 3, 4),
    )
    ask("as a member", commit(group, topic, row(0, 1), topic_id=own, member_id="x"))
    ask("as an instance", commit(group, topic, row(0, 1), topic_id=own, group_instance_id="x"), range(7, 11))
    ask("of a generation", commit(group, topic, row(0, 1), topic_id=own, generation_id_or_member_epoch=1))
    ask(
        "of a generation, no group",
        commit(dialogue.name("h"), topic, row(0, 1), topic_id=own, generation_id_or_member_epoch=1),
    )
    ask("describe", DescribeGroupsRequest([group]))
    ask("delete", delete(group, topic, (0, 2, 5)))
    ask("delete of an unknown topic", delete(group, dialogue.name("no"), (0,)))
    ask("delete in no group", delete(dialogue.name("h"), topic, (0,)))
    ask("delete in no group, unknown topic", delete(dialogue.name("h"), dialogue.name("no"), (0,)))
    ask("delete without a group id", delete("", topic, (0,)))
    ask("what is left", fetch(group, None), range(2, 11))
    ask("an empty group id", commit("", topic, row(0, 3), topic_id=own), (2, 9, 10))
    ask("of an empty group id", fetch("", topic, 0, topic_id=own))
    ask("delete an empty group id", DeleteGroupsRequest([""]))
    ask("delete the group", DeleteGroupsRequest([group]), 2)
    ask("nothing is left", fetch(group, None), range(2, 11))


@with_groups
def offsets_of_many_groups(dialogue: Dialogue) -> None:
    topic, groups = dialogue.topic("t", 2), [dialogue.name("a"), dialogue.name("b")]
    ready(dialogue, *groups)
    own = dialogue.topic_id("t")
    for offset, group in enumerate(groups):
        dialogue.ask("commit", commit(group, topic, row(0, offset), topic_id=own), 10)
    asked = [OffsetFetchRequestTopics(own, topic, [0, 1]), OffsetFetchRequestTopics(NOBODY, "none", [0])]
    rows = [OffsetFetchRequestGroup(group, topics=asked) for group in (*groups, dialogue.name("c"))]
    dialogue.ask("of three", OffsetFetchRequest(rows), (8, 9, 10))
    rows = [OffsetFetchRequestGroup(group, "x", 3, None) for group in groups]
    dialogue.ask("as a member of a newer kind", OffsetFetchRequest(rows, require_stable=True), (8, 9, 10))
    dialogue.ask("of none", OffsetFetchRequest([]), (8, 9, 10))


@with_groups
def offsets_of_members(dialogue: Dialogue) -> None:
    topic, other, group = dialogue.topic("t", 2), dialogue.topic("u"), dialogue.name("g")
    ready(dialogue, group)
    own = dialogue.topic_id("t")
    ask, exchange = dialogue.ask, dialogue.peer.exchange
    pending: Any = exchange(join(group), 9)
    ask("beside one who is coming", commit(group, topic, row(0, 1), topic_id=own), (2, 9, 10))
    ask(
        "one who is coming",
        commit(group, topic, row(0, 1), topic_id=own, member_id=pending.member_id),
        (2, 9, 10),
    )
    joined: Any = exchange(join(group, pending.member_id), 9)
    mine: dict[str, Any] = {
        "member_id": joined.member_id,
        "generation_id_or_member_epoch": 1,
        "topic_id": own,
    }
    ask("before the assignment", commit(group, topic, row(0, 2), **mine))
    assigned = [SyncGroupRequestAssignment(joined.member_id, b"")]
    exchange(sync(group, 1, joined.member_id, assignments=assigned), 5)
    ask("as a member", commit(group, topic, row(0, 3), row(1, 4), **mine))
    ask(
        "of an older generation",
        commit(group, topic, row(0, 5), **{**mine, "generation_id_or_member_epoch": 0}),
    )
    ask("of no generation", commit(group, topic, row(0, 5), **{**mine, "generation_id_or_member_epoch": -1}))
    ask("of a stranger", commit(group, topic, row(0, 5), **{**mine, "member_id": "x"}))
    ask("of nobody", commit(group, topic, row(0, 5), topic_id=own))
    ask(
        "of an instance nobody knows",
        commit(group, topic, row(0, 5), **mine, group_instance_id="i"),
        range(7, 11),
    )
    ask("committed", fetch(group, topic, 0, 1, topic_id=own))
    other_id = dialogue.topic_id("u")
    ask("of another topic", commit(group, other, row(0, 9), **{**mine, "topic_id": other_id}), (9, 10))
    ask("delete what nobody subscribed to", delete(group, other, (0,)))
    ask("delete of a stranger's topic", delete(group, dialogue.name("no"), (0,)))


@with_groups
def offsets_of_another_protocol(dialogue: Dialogue) -> None:
    topic, group = dialogue.topic("t", 2), dialogue.name("g")
    ready(dialogue, group)
    own = dialogue.topic_id("t")
    ask, exchange = dialogue.ask, dialogue.peer.exchange
    joined: Any = exchange(join(group, protocol_type="connect"), 3)
    mine: dict[str, Any] = {
        "member_id": joined.member_id,
        "generation_id_or_member_epoch": 1,
        "topic_id": own,
    }
    exchange(sync(group, 1, joined.member_id, protocol_type="connect"), 5)
    ask("as a member", commit(group, topic, row(0, 3), **mine), (9, 10))
    ask("delete", delete(group, topic, (0,)))


@with_groups
def offsets_of_subscribed_topics(dialogue: Dialogue) -> None:
    topic, group = dialogue.topic("t", 2), dialogue.name("g")
    ready(dialogue, group)
    from tests.support.answers.scenarios.groups import protocols

    own = dialogue.topic_id("t")
    ask, exchange = dialogue.ask, dialogue.peer.exchange
    joined: Any = exchange(join(group, protocols=protocols("range", topics=(topic,))), 3)
    mine: dict[str, Any] = {
        "member_id": joined.member_id,
        "generation_id_or_member_epoch": 1,
        "topic_id": own,
    }
    exchange(sync(group, 1, joined.member_id), 5)
    ask("as a member", commit(group, topic, row(0, 3), **mine), (9, 10))
    ask("delete", delete(group, topic, (0, 1, 2)))


def _sorted(shown: Any) -> Any:
    """Kafka keeps partitions in no order."""
    if isinstance(shown, dict):
        return {key: _sorted(value) for key, value in shown.items()}
    if isinstance(shown, list):
        return sorted(
            map(_sorted, shown), key=lambda item: (str(item.get("name")), item.get("partition_index", 0))
        )
    return shown
