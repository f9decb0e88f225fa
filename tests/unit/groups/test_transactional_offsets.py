"""Offsets that are part of a transaction count when it is committed, and block who wants stable ones."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.group_offsets import CHECK_MS, RETENTION_MS, Offsets, code_of

from barnabas.coordination.outcome import Producer
from barnabas.model.errors import ErrorCode

PRODUCER = Producer(7, 0)
UNSTABLE = (-1, int(ErrorCode.UNSTABLE_OFFSET_COMMIT))


def test_pending_offsets_are_not_read_yet() -> None:
    offsets = Offsets()
    offsets.commit(5)
    offsets.commit_in_transaction(6)
    assert offsets.fetch(0) == [(5, 0)]
    assert offsets.fetch(0, stable=True) == [UNSTABLE]
    assert offsets.fetch_all(stable=True) == {"t": {0: -1}}
    assert offsets.fetch(1, stable=True) == [(-1, 0)]


@pytest.mark.parametrize(("committed", "offset"), [(True, 6), (False, 5)])
def test_the_marker_decides(committed: bool, offset: int) -> None:
    offsets = Offsets()
    offsets.commit(5)
    offsets.commit_in_transaction(6)
    offsets.shard.end_transaction(PRODUCER, committed)
    assert offsets.fetch(0, stable=True) == [(offset, 0)]


def test_they_are_written_under_their_producer_and_pending_again_after_a_restart() -> None:
    offsets = Offsets()
    offsets.commit_in_transaction(6)
    assert offsets.host.log[-1][1] == PRODUCER
    offsets.restart()
    assert offsets.fetch(0, stable=True) == [UNSTABLE]
    offsets.shard.end_transaction(PRODUCER, True)
    assert offsets.fetch(0) == [(6, 0)]


def test_a_commit_after_the_transactions_own_wins() -> None:
    offsets = Offsets()
    offsets.commit_in_transaction(6)
    offsets.commit(9)
    offsets.shard.end_transaction(PRODUCER, True)
    assert offsets.fetch(0) == [(9, 0)]


def test_every_open_transaction_must_end_before_an_offset_is_stable() -> None:
    offsets = Offsets()
    offsets.commit_in_transaction(6)
    offsets.commit_in_transaction(8, producer_id=9)
    offsets.shard.end_transaction(PRODUCER, True)
    assert offsets.fetch(0, stable=True) == [UNSTABLE]
    offsets.shard.end_transaction(Producer(9, 3), False)
    assert offsets.fetch(0, stable=True) == [(6, 0)]


def test_a_marker_without_offsets_changes_nothing() -> None:
    offsets = Offsets()
    offsets.shard.end_transaction(PRODUCER, True)
    assert offsets.fetch_all() == {}


def test_a_deleted_offset_does_not_come_back_with_the_marker() -> None:
    offsets = Offsets()
    offsets.commit(5)
    offsets.commit_in_transaction(6)
    assert code_of(offsets.delete(0)) == ErrorCode.NONE
    offsets.shard.end_transaction(PRODUCER, True)
    assert offsets.fetch(0, stable=True) == [(-1, 0)]


def test_an_open_transaction_keeps_offset_and_group() -> None:
    offsets = Offsets()
    offsets.commit(5)
    offsets.commit_in_transaction(6)
    offsets.restart()
    offsets.host.pass_ms(RETENTION_MS + CHECK_MS)
    assert offsets.fetch(0) == [(5, 0)]
    offsets.shard.end_transaction(PRODUCER, False)
    offsets.host.pass_ms(CHECK_MS)
    assert offsets.shard.groups == {}


def test_members_of_another_generation_are_refused() -> None:
    offsets = Offsets()
    (member_id,) = offsets.stable()

    def commit(**fields: Any) -> int:
        return code_of(offsets.commit_in_transaction(6, **fields))

    assert commit(member_id=member_id, generation_id=1) == ErrorCode.NONE
    assert commit(member_id=member_id, generation_id=0) == ErrorCode.ILLEGAL_GENERATION
    assert commit(member_id="x", generation_id=1) == ErrorCode.UNKNOWN_MEMBER_ID
    assert commit() == ErrorCode.NONE  # producers of old clients do not say who they consume for
    assert commit(group_id="no", generation_id=1) == ErrorCode.ILLEGAL_GENERATION
