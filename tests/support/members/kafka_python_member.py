"""kafka-python as a member of a group, and as the group's administrator. It speaks the classic protocol."""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

from tests.support.client import RefusedError
from tests.support.members.common_settings import common_settings
from tests.support.members.face import Committed, DescribedGroup, DescribedMember, Joining, Place, Received
from tests.support.members.polled import POLL_S, PolledMember

# The library reads its schemas with a function that Python has deprecated; that is not our warning to fix.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import KafkaAdminClient, KafkaConsumer, TopicPartition, errors
    from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
    from kafka.coordinator.assignors.range import RangePartitionAssignor
    from kafka.errors import KafkaError
    from kafka.structs import OffsetAndMetadata

_ASSIGNORS = {"range": RangePartitionAssignor, "cooperative-sticky": CooperativeStickyAssignor}


def settings_of(bootstrap: str, joining: Joining) -> dict[str, Any]:
    return {
        **common_settings(bootstrap, joining),
        "partition_assignment_strategy": [_ASSIGNORS[joining.assignor or "range"]],
    }


class KafkaPythonMember(PolledMember):
    consumer: Any

    def _open(self) -> None:
        self.consumer = KafkaConsumer(**settings_of(self._bootstrap, self._joining))
        if self._joining.pattern is not None:
            self.consumer.subscribe(pattern=self._joining.pattern)
        else:
            self.consumer.subscribe(list(self._joining.topics))
        # Joined before it has heard of its topics it assigns nothing, or joins again at once and then may
        # forget its heartbeats for good.
        coordinator = self.consumer._coordinator
        while not coordinator._metadata_snapshot and not self._closing.is_set():
            time.sleep(POLL_S / 5)

    def _poll(self) -> list[Received]:
        # A join that outlasts the poll it began in ends unseen: the library takes no assignment then, and
        # sends no heartbeats, unless it still thinks that it has to join.
        coordinator = self.consumer._coordinator
        if coordinator._join_task is not None:
            coordinator.rejoin_needed = True
        with refusals():
            fetched = self.consumer.poll(timeout_ms=int(POLL_S * 1_000))
        return [
            Received(raw.topic, raw.partition, raw.offset, raw.value)
            for batch in fetched.values()
            for raw in batch
        ]

    def _assigned(self) -> frozenset[Place]:
        return frozenset((one.topic, one.partition) for one in self.consumer.assignment())

    def _commit(self, offsets: Mapping[Place, Committed] | None) -> None:
        with refusals():
            self.consumer.commit(None if offsets is None else _rows(offsets), timeout_ms=30_000)

    def _committed(self, place: Place) -> Committed | None:
        with refusals():
            found = self.consumer.committed(TopicPartition(*place), metadata=True, timeout_ms=30_000)
        return None if found is None or found.offset < 0 else _committed(found)

    def _seek(self, place: Place, offset: int) -> None:
        self.consumer.seek(TopicPartition(*place), offset)

    def _offset_for_time(self, place: Place, timestamp_ms: int) -> int:
        where = TopicPartition(*place)
        found = self.consumer.offsets_for_times({where: timestamp_ms})[where]
        return -1 if found is None else int(found.offset)

    def _close(self) -> None:
        self.consumer.close(autocommit=False)

    def close(self) -> None:
        with forgotten_sockets():
            super().close()
            self.consumer = None


class KafkaPythonGroupAdmin:
    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def groups(self) -> set[str]:
        return {one["group_id"] for one in self._ask("list_groups")}

    def describe(self, group: str) -> DescribedGroup:
        found = self._ask("describe_groups", [group])[group]
        members = []
        for one in found["members"]:
            assigned = (one["member_assignment"] or {}).get("assigned_partitions", ())
            places = frozenset((at["topic"], index) for at in assigned for index in at["partitions"])
            members.append(
                DescribedMember(one["member_id"], one["group_instance_id"], one["client_id"], places)
            )
        return DescribedGroup(found["group_state"].lower(), tuple(members))

    def offsets(self, group: str) -> dict[Place, Committed]:
        found = self._ask("list_group_offsets", {group: None})[group]
        return {(where.topic, where.partition): _committed(row) for where, row in found.items()}

    def alter_offsets(self, group: str, offsets: Mapping[Place, int]) -> None:
        rows = _rows({place: Committed(offset) for place, offset in offsets.items()})
        _check(self._ask("alter_group_offsets", group, rows))

    def delete_offsets(self, group: str, places: Iterable[Place]) -> None:
        _check(self._ask("delete_group_offsets", group, [TopicPartition(*place) for place in places]))

    def delete_group(self, group: str) -> None:
        answer = self._ask("delete_groups", [group])[group]
        if answer != "OK":
            raise RefusedError(getattr(errors, answer).errno, answer)

    def _ask(self, method: str, *arguments: Any) -> Any:
        return ask_admin(self._bootstrap, method, *arguments)


def ask_admin(bootstrap: str, method: str, *arguments: Any) -> Any:
    with forgotten_sockets(), closing(KafkaAdminClient(bootstrap_servers=bootstrap)) as admin, refusals():
        return getattr(admin, method)(*arguments)


@contextmanager
def forgotten_sockets() -> Iterator[None]:
    """Closed while it connects, the library leaves a socket to the garbage collector, which would tell
    whichever test runs then."""
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()


@contextmanager
def refusals() -> Iterator[None]:
    try:
        yield
    except KafkaError as error:
        raise RefusedError(getattr(error, "errno", None) or -1, repr(error)) from error


def _check(errors: Mapping[Any, Any]) -> None:
    for what, error in errors.items():
        code = getattr(error, "errno", 0)
        if code:
            raise RefusedError(code, f"{what}: {error}")


def _rows(offsets: Mapping[Place, Committed]) -> dict[Any, Any]:
    return {
        TopicPartition(*place): OffsetAndMetadata(
            one.offset, one.metadata, -1 if one.leader_epoch is None else one.leader_epoch
        )
        for place, one in offsets.items()
    }


def _committed(row: Any) -> Committed:
    epoch = None if row.leader_epoch in {None, -1} else row.leader_epoch
    return Committed(row.offset, row.metadata or "", epoch)
