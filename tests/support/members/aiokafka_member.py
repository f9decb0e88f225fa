"""aiokafka as a member of a group, and as the group's administrator. It speaks the classic protocol.

Its event loop runs while the member polls, which is nearly always: heartbeats keep their time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.errors import KafkaError, ProducerFenced
from aiokafka.structs import OffsetAndMetadata
from tests.support.client import RefusedError
from tests.support.members.common_settings import common_settings
from tests.support.members.face import Committed, DescribedGroup, DescribedMember, Joining, Place, Received
from tests.support.members.polled import POLL_S, PolledMember

Answer = TypeVar("Answer")
PRODUCER_FENCED = 90


def settings_of(bootstrap: str, joining: Joining) -> dict[str, Any]:
    assert joining.assignor in {None, "range"}, "what the suite asks of aiokafka"
    return {
        **common_settings(bootstrap, joining),
        "rebalance_timeout_ms": 10_000,
        "partition_assignment_strategy": [RangePartitionAssignor],
    }


class AiokafkaMember(PolledMember):
    consumer: Any

    def _open(self) -> None:
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        self.consumer = self._wait(self._started())

    async def _started(self) -> Any:
        consumer = AIOKafkaConsumer(**settings_of(self._bootstrap, self._joining))
        await consumer.start()
        if self._joining.pattern is not None:
            consumer.subscribe(pattern=self._joining.pattern)
        else:
            consumer.subscribe(list(self._joining.topics))
        return consumer

    def _wait(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        return wait(self._loop, work)

    def _poll(self) -> list[Received]:
        fetched = self._wait(self.consumer.getmany(timeout_ms=int(POLL_S * 1_000)))
        return [
            Received(raw.topic, raw.partition, raw.offset, raw.value)
            for batch in fetched.values()
            for raw in batch
        ]

    def _assigned(self) -> frozenset[Place]:
        return frozenset((one.topic, one.partition) for one in self.consumer.assignment())

    def _commit(self, offsets: Mapping[Place, Committed] | None) -> None:
        rows = None
        if offsets is not None:
            rows = {
                TopicPartition(*place): OffsetAndMetadata(one.offset, one.metadata)
                for place, one in offsets.items()
            }
        self._wait(self.consumer.commit(rows))

    def _committed(self, place: Place) -> Committed | None:
        # Of the library's two calls only the administrator's tells the metadata.
        offset = self._wait(self.consumer.committed(TopicPartition(*place)))
        if offset is None:
            return None
        return AiokafkaGroupAdmin(self._bootstrap, self._loop).offsets(self._joining.group)[place]

    def _seek(self, place: Place, offset: int) -> None:
        self.consumer.seek(TopicPartition(*place), offset)

    def _offset_for_time(self, place: Place, timestamp_ms: int) -> int:
        where = TopicPartition(*place)
        found = self._wait(self.consumer.offsets_for_times({where: timestamp_ms}))[where]
        return -1 if found is None else int(found.offset)

    def _close(self) -> None:
        self._wait(self.consumer.stop())
        self._loop.close()


class AiokafkaGroupAdmin:
    def __init__(self, bootstrap: str, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._bootstrap = bootstrap
        self._loop = loop

    def groups(self) -> set[str]:
        return {row[0] for row in self._ask("list_consumer_groups")}

    def describe(self, group: str) -> DescribedGroup:
        ((answer,),) = [one.groups for one in self._ask("describe_consumer_groups", [group])]
        state, members = answer[2], answer[5]
        # The assignment's bytes are left to those libraries that decode them.
        described = [
            DescribedMember(one[0], one[1] if len(one) > 5 else None, one[-4], frozenset()) for one in members
        ]
        return DescribedGroup(state.lower(), tuple(described))

    def offsets(self, group: str) -> dict[Place, Committed]:
        found = self._ask("list_consumer_group_offsets", group)
        return {
            (where.topic, where.partition): Committed(row.offset, row.metadata)
            for where, row in found.items()
        }

    def _ask(self, method: str, *arguments: Any) -> Any:
        if self._loop is not None:
            return wait(self._loop, self._asked(method, arguments))
        loop = asyncio.new_event_loop()
        try:
            return wait(loop, self._asked(method, arguments))
        finally:
            loop.close()

    async def _asked(self, method: str, arguments: tuple[Any, ...]) -> Any:
        admin = AIOKafkaAdminClient(bootstrap_servers=self._bootstrap)
        await admin.start()
        try:
            return await getattr(admin, method)(*arguments)
        finally:
            await admin.close()


def wait(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Answer]) -> Answer:
    try:
        return loop.run_until_complete(work)
    except ProducerFenced as error:
        raise RefusedError(PRODUCER_FENCED, repr(error)) from error
    except KafkaError as error:
        raise RefusedError(getattr(error, "errno", None) or -1, repr(error)) from error
