"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class DescribeTransactionsRequest(Message):
    __slots__ = ('transactional_ids',)
    API_KEY: ClassVar[int] = 65
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('transactional_ids', 'string', (), array=True),
    )

    def __init__(
        self,
        transactional_ids: Sequence[str] = (),
    ) -> None:
        self.transactional_ids = transactional_ids


class TopicData(Message):
    __slots__ = ('topic', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('topic', 'string', ''),
        Field('partitions', 'int32', (), array=True),
    )

    def __init__(
        self,
        topic: str = '',
        partitions: Sequence[int] = (),
    ) -> None:
        self.topic = topic
        self.partitions = partitions


class TransactionState(Message):
    __slots__ = ('error_code', 'transactional_id', 'transaction_state', 'transaction_timeout_ms', 'transaction_start_time_ms', 'producer_id', 'producer_epoch', 'topics')
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('error_code', 'int16', 0),
        Field('transactional_id', 'string', ''),
        Field('transaction_state', 'string', ''),
        Field('transaction_timeout_ms', 'int32', 0),
        Field('transaction_start_time_ms', 'int64', 0),
        Field('producer_id', 'int64', 0),
        Field('producer_epoch', 'int16', 0),
        Field('topics', 'struct', (), array=True, struct=TopicData),
    )

    def __init__(
        self,
        error_code: int = 0,
        transactional_id: str = '',
        transaction_state: str = '',
        transaction_timeout_ms: int = 0,
        transaction_start_time_ms: int = 0,
        producer_id: int = 0,
        producer_epoch: int = 0,
        topics: Sequence[TopicData] = (),
    ) -> None:
        self.error_code = error_code
        self.transactional_id = transactional_id
        self.transaction_state = transaction_state
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_start_time_ms = transaction_start_time_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.topics = topics


class DescribeTransactionsResponse(Message):
    __slots__ = ('throttle_time_ms', 'transaction_states')
    API_KEY: ClassVar[int] = 65
    FLEXIBLE_SINCE: ClassVar[int] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('transaction_states', 'struct', (), array=True, struct=TransactionState),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        transaction_states: Sequence[TransactionState] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.transaction_states = transaction_states
