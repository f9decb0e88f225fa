"""How offsets go: deleted by request, with their group, with their topic, or because nobody came for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from barnabas.coordination.outcome import Entry
from barnabas.groups.group import Group
from barnabas.groups.offsets.store import Committed, Offsets, tombstone
from barnabas.model.errors import ErrorCode
from barnabas.model.image import ClusterImage
from barnabas.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)

# Of one batch of tombstones that no request asked for: a cleaning must neither outgrow a batch nor stall.
ENTRIES_MAX = 1000


def delete_offsets(
    offsets: Offsets, group: Group, request: OffsetDeleteRequest
) -> tuple[list[Entry], OffsetDeleteResponse]:
    group.check_offset_delete()
    entries: list[Entry] = []
    topics = [
        OffsetDeleteResponseTopic(topic.name, list(_delete(offsets, group, topic, entries)))
        for topic in request.topics
    ]
    return entries, OffsetDeleteResponse(topics=topics)


def _delete(
    offsets: Offsets, group: Group, topic: OffsetDeleteRequestTopic, entries: list[Entry]
) -> Iterator[OffsetDeleteResponsePartition]:
    is_subscribed = group.is_subscribed_to(topic.name)
    for row in topic.partitions:
        slot = (topic.name, row.partition_index)
        known = offsets.get(group.group_id, *slot) is not None or offsets.is_pending(group.group_id, *slot)
        if is_subscribed:
            yield OffsetDeleteResponsePartition(row.partition_index, ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC)
            continue
        if known:
            entries.append(tombstone(group.group_id, slot))
        yield OffsetDeleteResponsePartition(row.partition_index, ErrorCode.NONE)


def with_its_offsets(offsets: Offsets, group: Group) -> list[Entry]:
    """What deletes the group."""
    entries = [tombstone(group.group_id, slot) for slot in offsets.slots(group.group_id)]
    return entries + group.tombstones()


def of_deleted_topics(offsets: Offsets, old: ClusterImage, new: ClusterImage) -> Iterator[Entry]:
    if old.topic_names is new.topic_names or offsets.is_empty:
        return
    gone = {
        old.topic_names[topic_id]: topic_id for topic_id in old.topic_names.keys() - new.topic_names.keys()
    }
    if not gone:
        return
    for group_id, slot in list(offsets.groups_with(gone)):
        committed = offsets.get(group_id, *slot)
        topic_id = b"" if committed is None else committed.value.topic_id
        if not any(topic_id) or topic_id == gone[slot[0]]:
            yield tombstone(group_id, slot)


def expired(offsets: Offsets, group: Group, now_ms: int, retention_ms: int) -> list[Entry]:
    """The tombstones of what expired; and of the group itself when it is empty and nothing is left."""
    entries: list[Entry] = []
    is_bare = not offsets.has_open_transactions(group.group_id)
    for topic, partitions in offsets.of_group(group.group_id).items():
        keeps = group.is_subscribed_to(topic)
        for index, committed in partitions.items():
            if (
                keeps
                or not _is_expired(group, committed, now_ms, retention_ms)
                or offsets.is_pending(group.group_id, topic, index)
            ):
                is_bare = False
            else:
                entries.append(tombstone(group.group_id, (topic, index)))
    if is_bare and group.is_empty:
        entries += group.tombstones()
    return entries


def _is_expired(group: Group, committed: Committed, now_ms: int, retention_ms: int) -> bool:
    value = committed.value
    start_ms = group.offset_retention_start_ms(value.commit_timestamp)
    if start_ms is None:
        return False
    if value.expire_timestamp != -1:
        return now_ms >= value.expire_timestamp
    return now_ms - start_ms >= retention_ms


def in_batches(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    batch: list[Entry] = []
    for entry in entries:
        batch.append(entry)
        if len(batch) == ENTRIES_MAX:
            yield batch
            batch = []
    if batch:
        yield batch
