"""Which offsets are committed, which wait for the end of a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from barnabas.coordination.outcome import Entry, Producer
from barnabas.protocol.internal.groups import OffsetCommitKey, OffsetCommitValue


class Committed(NamedTuple):
    """`position` is where the record stands in the log: of two commits the later one counts, also when the
    earlier one waited for its transaction's end."""

    position: int
    value: OffsetCommitValue


ByPartition: TypeAlias = dict[int, Committed]
ByTopic: TypeAlias = dict[str, ByPartition]
Slot: TypeAlias = tuple[str, int]  # topic and partition

_NO_TOPICS: ByTopic = {}


class Offsets:
    def __init__(self) -> None:
        self._committed: dict[str, ByTopic] = {}
        # By producer id, then group. The second says by group who holds a slot open.
        self._pending: dict[int, dict[str, dict[Slot, Committed]]] = {}
        self._holders: dict[str, dict[Slot, set[int]]] = {}

    @property
    def is_empty(self) -> bool:
        return not self._committed and not self._pending

    # --- questions -----------------------------------------------------------------------------------------

    def get(self, group_id: str, topic: str, partition: int) -> Committed | None:
        partitions = self._committed.get(group_id, _NO_TOPICS).get(topic)
        return None if partitions is None else partitions.get(partition)

    def of_group(self, group_id: str) -> ByTopic:
        return self._committed.get(group_id, _NO_TOPICS)

    def is_pending(self, group_id: str, topic: str, partition: int) -> bool:
        holders = self._holders.get(group_id)
        return holders is not None and (topic, partition) in holders

    def has_open_transactions(self, group_id: str) -> bool:
        return group_id in self._holders

    def slots(self, group_id: str) -> Iterator[Slot]:
        """Every partition the group has an offset for, committed or pending."""
        committed = self.of_group(group_id)
        for topic, partitions in committed.items():
            for partition in partitions:
                yield topic, partition
        for topic, partition in self._holders.get(group_id, ()):
            if partition not in committed.get(topic, ()):
                yield topic, partition

    def groups_with(self, topics: Iterable[str]) -> Iterator[tuple[str, Slot]]:
        """Who has an offset for one of these topics."""
        wanted = frozenset(topics)
        for group_id in {*self._committed, *self._holders}:
            yield from ((group_id, slot) for slot in self.slots(group_id) if slot[0] in wanted)

    # --- changes, only from `replay` -----------------------------------------------------------------------

    def replay(
        self, key: OffsetCommitKey, value: OffsetCommitValue | None, position: int, producer: Producer | None
    ) -> None:
        if value is None:
            self._remove(key)
        elif producer is None:
            self._put(key.group, key.topic, key.partition, Committed(position, value))
        else:
            slot = (key.topic, key.partition)
            pending = self._pending.setdefault(producer.id, {})
            pending.setdefault(key.group, {})[slot] = Committed(position, value)
            self._holders.setdefault(key.group, {}).setdefault(slot, set()).add(producer.id)

    def end_transaction(self, producer_id: int, committed: bool) -> None:
        for group_id, slots in self._pending.pop(producer_id, {}).items():
            for slot, offset in slots.items():
                self._release(group_id, slot, producer_id)
                known = self.get(group_id, *slot)
                if committed and (known is None or known.position < offset.position):
                    self._put(group_id, *slot, offset)

    def _put(self, group_id: str, topic: str, partition: int, offset: Committed) -> None:
        topics = self._committed.get(group_id)
        if topics is None:
            topics = self._committed[group_id] = {}
        partitions = topics.get(topic)
        if partitions is None:
            partitions = topics[topic] = {}
        partitions[partition] = offset

    def _remove(self, key: OffsetCommitKey) -> None:
        """A tombstone also takes what transactions hold."""
        slot = (key.topic, key.partition)
        for producer_id in tuple(self._holders.get(key.group, {}).get(slot, ())):
            pending = self._pending[producer_id][key.group]
            del pending[slot]
            self._release(key.group, slot, producer_id)
        topics = self._committed.get(key.group)
        partitions = None if topics is None else topics.get(key.topic)
        if topics is None or partitions is None or partitions.pop(key.partition, None) is None:
            return
        if not partitions:
            del topics[key.topic]
        if not topics:
            del self._committed[key.group]

    def _release(self, group_id: str, slot: Slot, producer_id: int) -> None:
        holders = self._holders[group_id]
        holders[slot].discard(producer_id)
        if not holders[slot]:
            del holders[slot]
        if not holders:
            del self._holders[group_id]


def tombstone(group_id: str, slot: Slot) -> Entry:
    return Entry(OffsetCommitKey(group_id, *slot), None)
