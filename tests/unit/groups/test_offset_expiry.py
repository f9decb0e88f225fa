"""`offsets.retention.minutes` counts from when nobody used the group any more (KIP-211)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.support.group_offsets import CHECK_MS, MINUTE_MS, RETENTION_MS, Offsets
from tests.support.groups import identity

from barnabas.coordination.outcome import Outcome
from barnabas.groups.offsets import removal
from barnabas.model.image import ClusterImage, PartitionImage, TopicImage

ID, OTHER_ID = b"\1" * 16, b"\2" * 16


def started(**settings: str) -> Offsets:
    """Timers run from the load on."""
    offsets = Offsets(**settings)
    offsets.restart()
    return offsets


def beat_for(offsets: Offsets, member_id: str, duration_ms: int) -> None:
    step_ms = CHECK_MS
    for _ in range(duration_ms // step_ms + 1):
        offsets.heartbeat(member_id, 1)
        offsets.host.pass_ms(step_ms)


def test_without_members_each_offset_expires_after_its_commit() -> None:
    offsets = started()
    offsets.commit(5)
    offsets.host.pass_ms(RETENTION_MS // 2)
    offsets.commit(6, partition=1)
    offsets.host.pass_ms(RETENTION_MS // 2 + CHECK_MS)
    assert offsets.fetch_all() == {"t": {1: 6}}
    offsets.host.pass_ms(RETENTION_MS)
    assert offsets.fetch_all() == {}
    assert offsets.shard.groups == {}


def test_what_expired_is_gone_after_a_restart() -> None:
    offsets = started()
    offsets.commit(5)
    offsets.host.pass_ms(RETENTION_MS + CHECK_MS)
    offsets.restart()
    assert offsets.shard.groups == {}


def test_an_expiry_of_its_own_comes_first() -> None:
    offsets = started()
    offsets.commit(5, retention_time_ms=MINUTE_MS, version=4)
    offsets.commit(6, partition=1)
    offsets.host.pass_ms(MINUTE_MS + CHECK_MS)
    assert offsets.fetch_all() == {"t": {1: 6}}


def test_a_group_with_members_keeps_what_it_subscribes_to() -> None:
    offsets = started()
    (member_id,) = offsets.stable(session_timeout_ms=2 * CHECK_MS)
    mine: dict[str, Any] = {"member_id": member_id, "generation_id_or_member_epoch": 1}
    offsets.commit(5, **mine)
    offsets.commit(5, topic="no more", **mine)
    beat_for(offsets, member_id, RETENTION_MS + CHECK_MS)
    assert offsets.fetch_all() == {"t": {0: 5}}


def test_after_the_last_member_the_retention_begins() -> None:
    offsets = started()
    (member_id,) = offsets.stable(session_timeout_ms=2 * CHECK_MS)
    offsets.commit(5, member_id=member_id, generation_id_or_member_epoch=1)
    beat_for(offsets, member_id, RETENTION_MS)
    offsets.leave(identity(member_id))
    offsets.host.pass_ms(RETENTION_MS - MINUTE_MS)
    assert offsets.fetch_all() == {"t": {0: 5}}
    offsets.restart()
    offsets.host.pass_ms(MINUTE_MS + CHECK_MS)
    assert offsets.fetch_all() == {}
    assert offsets.shard.groups == {}


def test_a_group_of_another_protocol_keeps_everything_while_it_has_members() -> None:
    offsets = started()
    (member_id,) = offsets.stable(protocol_type="connect", session_timeout_ms=2 * CHECK_MS)
    offsets.commit(5, member_id=member_id, generation_id_or_member_epoch=1)
    beat_for(offsets, member_id, RETENTION_MS + CHECK_MS)
    assert offsets.fetch_all() == {"t": {0: 5}}


def test_an_empty_group_without_offsets_goes_at_the_next_check() -> None:
    offsets = started()
    (member_id,) = offsets.stable()
    offsets.leave(identity(member_id))
    assert offsets.state() == "Empty"
    offsets.host.pass_ms(CHECK_MS)
    assert offsets.shard.groups == {}


def test_a_group_with_members_never_goes() -> None:
    offsets = started()
    (member_id,) = offsets.stable(session_timeout_ms=2 * CHECK_MS)
    beat_for(offsets, member_id, 3 * CHECK_MS)
    assert offsets.state() == "Stable"


def test_what_expires_at_once_is_removed_in_batches_of_a_limited_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offsets = started(offsets_retention_minutes="1")
    for partition in range(removal.ENTRIES_MAX + 1):
        offsets.commit(partition, partition=partition)
    for index in range(600):
        offsets.commit(index, group_id=f"g{index}")
    sizes: list[int] = []
    apply = offsets.host.apply

    def measured(outcome: Outcome) -> None:
        sizes.append(len(outcome.entries))
        apply(outcome)

    monkeypatch.setattr(offsets.host, "apply", measured)
    offsets.host.pass_ms(2 * CHECK_MS)
    assert offsets.shard.groups == {}
    assert max(sizes) == removal.ENTRIES_MAX


def topic(name: str, topic_id: bytes) -> TopicImage:
    return TopicImage(name, topic_id, (PartitionImage(0, (1,), (1,), 1),))


def image(*topics: TopicImage) -> ClusterImage:
    names = {row.id: row.name for row in topics}
    return replace(ClusterImage(), topics={row.name: row for row in topics}, topic_names=names)


def change(offsets: Offsets, old: ClusterImage, new: ClusterImage) -> None:
    offsets.host.image = new
    for outcome in offsets.shard.image_changed(old):
        offsets.host.apply(outcome)


def test_a_deleted_topic_takes_its_offsets_with_it() -> None:
    offsets = Offsets()
    offsets.commit(5, topic_id=ID)
    offsets.commit(5, topic="kept")
    offsets.commit_in_transaction(6, partition=1)
    change(offsets, image(topic("t", ID), topic("kept", OTHER_ID)), image(topic("kept", OTHER_ID)))
    assert offsets.fetch_all() == {"kept": {0: 5}}
    assert offsets.fetch(1, stable=True) == [(-1, 0)]
    offsets.restart()
    assert offsets.fetch_all() == {"kept": {0: 5}}


def test_a_topic_made_again_keeps_what_was_committed_to_it_since() -> None:
    offsets = Offsets()
    offsets.commit(5, topic_id=OTHER_ID)
    offsets.commit(6, partition=1, topic_id=ID)
    change(offsets, image(topic("t", ID)), image(topic("t", OTHER_ID)))
    assert offsets.fetch_all() == {"t": {0: 5}}
