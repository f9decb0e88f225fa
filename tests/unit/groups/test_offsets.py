"""Offsets are committed, read, deleted; with and without members."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.group_offsets import Offsets, code_of
from tests.support.groups import DELAY_MS, SESSION_MS, Groups, joined

from barnabas.model.errors import ErrorCode
from barnabas.protocol.internal.groups import GroupMetadataKey, OffsetCommitKey, OffsetCommitValue
from barnabas.protocol.messages.join_group import JoinGroupRequestProtocol

ID, OTHER_ID = b"\1" * 16, b"\2" * 16


def test_what_was_committed_is_read_also_after_a_restart() -> None:
    offsets = Offsets()
    offsets.commit(5)
    offsets.commit(6, partition=1)
    offsets.commit(7)
    for _ in range(2):
        assert offsets.fetch(0, 1, 2) == [(7, 0), (6, 0), (-1, 0)]
        assert offsets.fetch_all() == {"t": {0: 7, 1: 6}}
        offsets.restart()


def test_of_a_group_that_does_not_exist_nothing_is_committed() -> None:
    offsets = Offsets()
    assert offsets.fetch(0) == [(-1, 0)]
    assert offsets.fetch_all() == {}


def test_a_commit_keeps_its_epoch_its_note_and_its_time() -> None:
    offsets = Offsets()
    offsets.commit(5, leader_epoch=3, metadata="note", topic_id=ID)
    ((entry, producer),) = offsets.host.log
    assert producer is None
    assert entry.key == OffsetCommitKey("g", "t", 0)
    assert entry.value == OffsetCommitValue(5, 3, "note", offsets.host.wall_ms, -1, ID)


def test_what_cannot_be_remembered_is_not_committed() -> None:
    offsets = Offsets()
    offsets.commit(5)
    offsets.host.refuse_next = ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert code_of(offsets.commit(6)) == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert offsets.fetch(0) == [(5, 0)]


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ("m" * 4096, ErrorCode.NONE),
        ("m" * 4097, ErrorCode.OFFSET_METADATA_TOO_LARGE),
        ("ü" * 4096, ErrorCode.NONE),
        ("\N{GRINNING FACE}" * 2048, ErrorCode.NONE),
        ("\N{GRINNING FACE}" * 2049, ErrorCode.OFFSET_METADATA_TOO_LARGE),
        (None, ErrorCode.NONE),
    ],
)
def test_a_note_has_its_limit_in_javas_characters(metadata: str | None, code: ErrorCode) -> None:
    offsets = Offsets()
    assert code_of(offsets.commit(5, metadata=metadata)) == code
    assert len(offsets.host.log) == (code == ErrorCode.NONE)


@pytest.mark.parametrize(
    ("version", "code"), [(8, ErrorCode.ILLEGAL_GENERATION), (9, ErrorCode.GROUP_ID_NOT_FOUND)]
)
def test_a_generation_of_no_group_is_refused(version: int, code: ErrorCode) -> None:
    offsets = Offsets()
    assert code_of(offsets.commit(5, generation_id_or_member_epoch=1, version=version)) == code


def test_only_members_commit_while_there_are_members() -> None:
    offsets = Offsets()
    (member_id,) = offsets.stable()
    mine: dict[str, Any] = {"member_id": member_id, "generation_id_or_member_epoch": 1}
    assert code_of(offsets.commit(5, **mine)) == ErrorCode.NONE
    assert code_of(offsets.commit(5)) == ErrorCode.UNKNOWN_MEMBER_ID
    assert code_of(offsets.commit(5, **{**mine, "member_id": "x"})) == ErrorCode.UNKNOWN_MEMBER_ID
    stale: dict[str, Any] = {**mine, "generation_id_or_member_epoch": 0}
    assert code_of(offsets.commit(5, **stale)) == ErrorCode.ILLEGAL_GENERATION
    assert code_of(offsets.commit(5, **mine, group_instance_id="i")) == ErrorCode.UNKNOWN_MEMBER_ID


def test_members_may_commit_while_a_rebalance_is_prepared_and_not_while_it_completes() -> None:
    offsets = Offsets()
    (member_id,) = offsets.stable()
    offsets.new_member()
    mine: dict[str, Any] = {"member_id": member_id, "generation_id_or_member_epoch": 1}
    assert code_of(offsets.commit(5, **mine)) == ErrorCode.NONE
    offsets.join(member_id)
    mine["generation_id_or_member_epoch"] = 2
    assert code_of(offsets.commit(6, **mine)) == ErrorCode.REBALANCE_IN_PROGRESS


def test_who_commits_is_alive() -> None:
    offsets = Offsets()
    (member_id,) = offsets.stable()
    for offset in range(5):
        offsets.host.pass_ms(SESSION_MS - 1)
        ticket = offsets.commit(offset, member_id=member_id, generation_id_or_member_epoch=1)
        assert code_of(ticket) == ErrorCode.NONE
    assert offsets.state() == "Stable"


def test_an_offset_of_a_topics_deleted_namesake_is_none() -> None:
    offsets = Offsets()
    offsets.commit(5, topic_id=ID)
    assert offsets.fetch(0, topic_id=ID) == [(5, 0)]
    assert offsets.fetch(0, topic_id=OTHER_ID) == [(-1, 0)]
    assert offsets.fetch(0) == [(5, 0)]


def test_deleted_offsets_are_gone_also_after_a_restart() -> None:
    offsets = Offsets()
    offsets.commit(5)
    offsets.commit(6, partition=1)
    (topic,) = offsets.delete(0, 9).response.topics
    assert [row.error_code for row in topic.partitions] == [ErrorCode.NONE, ErrorCode.NONE]
    for _ in range(2):
        assert offsets.fetch_all() == {"t": {1: 6}}
        offsets.restart()


def test_offsets_of_subscribed_topics_are_not_deleted() -> None:
    offsets = Offsets()
    (member_id,) = offsets.stable()
    mine: dict[str, Any] = {"member_id": member_id, "generation_id_or_member_epoch": 1}
    offsets.commit(5, **mine)
    offsets.commit(5, topic="u", **mine)
    assert code_of(offsets.delete(0)) == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
    assert code_of(offsets.delete(0, topic="u")) == ErrorCode.NONE
    assert offsets.fetch_all() == {"t": {0: 5}}


def test_of_an_unknown_protocol_nobody_knows_what_is_subscribed() -> None:
    offsets = Offsets()
    offsets.commit(5)
    ticket = offsets.join(version=3, protocol_type="connect")
    offsets.host.pass_ms(DELAY_MS)
    assert joined(ticket).generation_id == 1
    assert offsets.delete(0).code == ErrorCode.NON_EMPTY_GROUP


def test_metadata_that_is_no_subscription_protects_every_topic() -> None:
    offsets = Offsets()
    offsets.commit(5)
    offsets.join(version=3, protocols=[JoinGroupRequestProtocol("range", b"\0")])
    offsets.host.pass_ms(DELAY_MS)
    assert code_of(offsets.delete(0)) == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC


def test_a_deleted_group_takes_its_offsets_with_it() -> None:
    offsets = Offsets()
    offsets.commit(5)
    offsets.commit_in_transaction(6, partition=1)
    assert offsets.delete_groups("g") == [ErrorCode.NONE]
    for _ in range(2):
        assert offsets.shard.groups == {}
        assert offsets.fetch_all() == {}
        offsets.restart()
    assert offsets.delete_groups("g") == [ErrorCode.GROUP_ID_NOT_FOUND]


def test_a_group_with_members_is_not_deleted() -> None:
    offsets = Offsets()
    offsets.stable()
    offsets.commit(5, group_id="h")
    codes = [ErrorCode.NON_EMPTY_GROUP, ErrorCode.NONE, ErrorCode.GROUP_ID_NOT_FOUND]
    assert offsets.delete_groups("g", "h", "none") == codes
    assert offsets.shard.groups.keys() == {"g"}


def test_groups_are_listed_by_state_and_type() -> None:
    offsets = Offsets()
    offsets.stable()
    offsets.commit(5, group_id="h")
    listed = {row.group_id: row.group_state for row in offsets.shard.list_groups((), ())}
    assert listed == {"g": "Stable", "h": "Empty"}
    assert [row.group_id for row in offsets.shard.list_groups({"stable"}, ())] == ["g"]
    assert list(offsets.shard.list_groups((), {None})) == []


def test_offsets_of_ten_thousand_groups_keep_no_timers() -> None:
    offsets = Offsets()
    for index in range(10_000):
        offsets.commit(index, group_id=f"g{index}")
    assert len(offsets.host.timers) == 0
    assert sum(1 for _ in offsets.shard.list_groups((), ())) == 10_000


def test_a_groups_record_is_removed_by_its_tombstone_only() -> None:
    groups = Groups()
    groups.join()
    groups.restart()
    assert "g" in groups.shard.groups
    entry, _ = groups.host.log[-1]
    assert isinstance(entry.key, GroupMetadataKey)
    groups.shard.replay(entry._replace(value=None), 1, None)
    assert "g" not in groups.shard.groups
