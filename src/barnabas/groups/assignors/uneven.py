"""`uniform` for members with different subscriptions: nobody has two partitions more than a member that could
take one of them, as far as sixteen rounds get us; and everybody keeps what it can."""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from barnabas.groups.assignors.spec import GroupSpec, Partitions
from barnabas.groups.java_order import strings_in_java_order, uuids_in_java_order

_ROUNDS_MAX = 16


def assign_unevenly_subscribed(group: GroupSpec) -> dict[str, Partitions]:
    table = _Table(group)
    if not table.subscribers:
        return {}
    for topic_id in table.topics_in_order(table.subscribers):
        table.fill(topic_id)
    contested = [topic_id for topic_id, members in table.subscribers.items() if len(members) > 1]
    _balance(table, table.topics_in_order(contested))
    return table.targets()


def _balance(table: _Table, topic_ids: list[bytes]) -> None:
    """Round and round, until nothing has moved since the last topic of which something did."""
    still = 0
    for _ in range(_ROUNDS_MAX):
        for topic_id in topic_ids:
            still = 1 if table.balance(topic_id) else still + 1
            if still == len(topic_ids):
                return


class _Table:
    """Members by number (their place in the walk), and who owns which partition."""

    def __init__(self, group: GroupSpec) -> None:
        self.member_ids = strings_in_java_order(group.members)
        self.sizes = [0] * len(self.member_ids)
        self.subscribers: dict[bytes, list[int]] = {}
        for number, member_id in enumerate(self.member_ids):
            for topic_id in uuids_in_java_order(group.members[member_id].topics):
                self.subscribers.setdefault(topic_id, []).append(number)
        self.owners: dict[bytes, list[int | None]] = {
            topic_id: [None] * group.partition_counts[topic_id] for topic_id in self.subscribers
        }
        for number, member_id in enumerate(self.member_ids):
            self._keep(number, group, member_id)

    def _keep(self, number: int, group: GroupSpec, member_id: str) -> None:
        member = group.members[member_id]
        for topic_id, partitions in member.partitions.items():
            if topic_id not in member.topics:
                continue
            for partition in partitions:
                if partition < len(self.owners[topic_id]):
                    self._give(topic_id, partition, number)

    def _give(self, topic_id: bytes, partition: int, number: int) -> None:
        before = self.owners[topic_id][partition]
        if before is not None:
            self.sizes[before] -= 1
        self.owners[topic_id][partition] = number
        self.sizes[number] += 1

    def topics_in_order(self, topic_ids: Iterable[bytes]) -> list[bytes]:
        """The topics that load their subscribers most come first; of equals, those with fewer to choose."""

        def weight(topic_id: bytes) -> tuple[float, int, tuple[int, int]]:
            count = len(self.subscribers[topic_id])
            return -len(self.owners[topic_id]) / count, count, _signed_halves(topic_id)

        return sorted(topic_ids, key=weight)

    def fill(self, topic_id: bytes) -> None:
        """Partitions nobody owns go to whoever has least, one by one."""
        receivers = _Receivers(self.sizes, self.subscribers[topic_id])
        for partition, owner in enumerate(self.owners[topic_id]):
            if owner is None:
                self._give(topic_id, partition, receivers.take())

    def balance(self, topic_id: bytes) -> bool:
        """Move this topic's partitions from whoever has most to whoever has least; True if any moved."""
        members = self.subscribers[topic_id]
        loads = [self.sizes[number] for number in members]
        if max(loads) - min(loads) <= 1:
            return False
        held: dict[int, list[int]] = {}
        for partition, owner in enumerate(self.owners[topic_id]):
            if owner is not None:
                held.setdefault(owner, []).append(partition)
        givers, receivers = _Givers(self.sizes, members), _Receivers(self.sizes, members)
        moved = False
        while (giver := givers.take(held)) is not None:
            partition = held[giver].pop()
            receiver = receivers.take()
            if self.sizes[giver] - self.sizes[receiver] <= 1:
                break
            self._give(topic_id, partition, receiver)
            moved = True
        return moved

    def targets(self) -> dict[str, Partitions]:
        targets: list[dict[bytes, set[int]]] = [{} for _ in self.member_ids]
        for topic_id, owners in self.owners.items():
            for partition, owner in enumerate(owners):
                if owner is not None:
                    targets[owner].setdefault(topic_id, set()).add(partition)
        return dict(zip(self.member_ids, targets, strict=True))


class _Receivers:
    """Whoever has least, each counted as one richer once taken."""

    def __init__(self, sizes: list[int], members: list[int]) -> None:
        self._heap = [(sizes[number], number) for number in members]
        # Of equals the one who was poorer at the start comes first, then the lower number.
        ranked = sorted(self._heap)
        self._heap = [(size, rank) for rank, (size, _) in enumerate(ranked)]
        self._numbers = [number for _, number in ranked]

    def take(self) -> int:
        size, rank = self._heap[0]
        heapq.heapreplace(self._heap, (size + 1, rank))
        return self._numbers[rank]


class _Givers:
    """Whoever has most, level by level from the top; who has nothing of the topic is left out for good."""

    def __init__(self, sizes: list[int], members: list[int]) -> None:
        self._sizes = sizes
        self._ranked = sorted(members, key=lambda number: (sizes[number], number))
        self._start = self._end = len(members)  # the members of this level
        self._cursor = self._end - 1
        self._level = sizes[self._ranked[-1]] + 1

    def take(self, held: dict[int, list[int]]) -> int | None:
        while (number := self._next()) is not None and not held.get(number):
            self._leave_out()
        return number

    def _next(self) -> int | None:
        if self._cursor < self._start:
            self._descend()
        if self._cursor < 0:
            return None
        self._cursor -= 1
        return self._ranked[self._cursor + 1]

    def _descend(self) -> None:
        below = self._start - 1
        empty = self._end <= self._start and below >= 0
        self._level = self._sizes[self._ranked[below]] if empty else self._level - 1
        while self._start > 0 and self._sizes[self._ranked[self._start - 1]] == self._level:
            self._start -= 1
        self._cursor = self._end - 1

    def _leave_out(self) -> None:
        """It changes places with the last one of its level, and the level ends one earlier."""
        here, last = self._cursor + 1, self._end - 1
        self._ranked[here], self._ranked[last] = self._ranked[last], self._ranked[here]
        self._end = last


def _signed_halves(uuid: bytes) -> tuple[int, int]:
    """Kafka compares topic ids as two signed numbers."""
    return int.from_bytes(uuid[:8], "big", signed=True), int.from_bytes(uuid[8:], "big", signed=True)
