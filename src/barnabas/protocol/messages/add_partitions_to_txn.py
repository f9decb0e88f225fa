"""Derived from kio 0.6.5 by tools/messages.py; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.ports import Buffer, FileSlice
from barnabas.protocol.schema import Field, Message

_ZERO = bytes(16)


class AddPartitionsToTxnTopic(Message):
    __slots__ = ('name', 'partitions')
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
        Field('partitions', 'int32', (), array=True),
    )

    def __init__(
        self,
        name: str = '',
        partitions: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.partitions = partitions


class AddPartitionsToTxnTransaction(Message):
    __slots__ = ('transactional_id', 'producer_id', 'producer_epoch', 'verify_only', 'topics')
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('transactional_id', 'string', '', since=4),
        Field('producer_id', 'int64', 0, since=4),
        Field('producer_epoch', 'int16', 0, since=4),
        Field('verify_only', 'bool', False, since=4),
        Field('topics', 'struct', (), array=True, struct=AddPartitionsToTxnTopic, since=4),
    )

    def __init__(
        self,
        transactional_id: str = '',
        producer_id: int = 0,
        producer_epoch: int = 0,
        verify_only: bool = False,
        topics: Sequence[AddPartitionsToTxnTopic] = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.verify_only = verify_only
        self.topics = topics


class AddPartitionsToTxnRequest(Message):
    __slots__ = ('transactions', 'v3_and_below_transactional_id', 'v3_and_below_producer_id', 'v3_and_below_producer_epoch', 'v3_and_below_topics')
    API_KEY: ClassVar[int] = 24
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('transactions', 'struct', (), array=True, struct=AddPartitionsToTxnTransaction, since=4),
        Field('v3_and_below_transactional_id', 'string', '', until=3),
        Field('v3_and_below_producer_id', 'int64', 0, until=3),
        Field('v3_and_below_producer_epoch', 'int16', 0, until=3),
        Field('v3_and_below_topics', 'struct', (), array=True, struct=AddPartitionsToTxnTopic, until=3),
    )

    def __init__(
        self,
        transactions: Sequence[AddPartitionsToTxnTransaction] = (),
        v3_and_below_transactional_id: str = '',
        v3_and_below_producer_id: int = 0,
        v3_and_below_producer_epoch: int = 0,
        v3_and_below_topics: Sequence[AddPartitionsToTxnTopic] = (),
    ) -> None:
        self.transactions = transactions
        self.v3_and_below_transactional_id = v3_and_below_transactional_id
        self.v3_and_below_producer_id = v3_and_below_producer_id
        self.v3_and_below_producer_epoch = v3_and_below_producer_epoch
        self.v3_and_below_topics = v3_and_below_topics


class AddPartitionsToTxnPartitionResult(Message):
    __slots__ = ('partition_index', 'partition_error_code')
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('partition_index', 'int32', 0),
        Field('partition_error_code', 'int16', 0),
    )

    def __init__(
        self,
        partition_index: int = 0,
        partition_error_code: int = 0,
    ) -> None:
        self.partition_index = partition_index
        self.partition_error_code = partition_error_code


class AddPartitionsToTxnTopicResult(Message):
    __slots__ = ('name', 'results_by_partition')
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('name', 'string', ''),
        Field('results_by_partition', 'struct', (), array=True, struct=AddPartitionsToTxnPartitionResult),
    )

    def __init__(
        self,
        name: str = '',
        results_by_partition: Sequence[AddPartitionsToTxnPartitionResult] = (),
    ) -> None:
        self.name = name
        self.results_by_partition = results_by_partition


class AddPartitionsToTxnResult(Message):
    __slots__ = ('transactional_id', 'topic_results')
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('transactional_id', 'string', '', since=4),
        Field('topic_results', 'struct', (), array=True, struct=AddPartitionsToTxnTopicResult, since=4),
    )

    def __init__(
        self,
        transactional_id: str = '',
        topic_results: Sequence[AddPartitionsToTxnTopicResult] = (),
    ) -> None:
        self.transactional_id = transactional_id
        self.topic_results = topic_results


class AddPartitionsToTxnResponse(Message):
    __slots__ = ('throttle_time_ms', 'error_code', 'results_by_topic_v3_and_below', 'results_by_transaction')
    API_KEY: ClassVar[int] = 24
    FLEXIBLE_SINCE: ClassVar[int] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field('throttle_time_ms', 'int32', 0),
        Field('error_code', 'int16', 0, since=4),
        Field('results_by_topic_v3_and_below', 'struct', (), array=True, struct=AddPartitionsToTxnTopicResult, until=3),
        Field('results_by_transaction', 'struct', (), array=True, struct=AddPartitionsToTxnResult, since=4),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results_by_topic_v3_and_below: Sequence[AddPartitionsToTxnTopicResult] = (),
        results_by_transaction: Sequence[AddPartitionsToTxnResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results_by_topic_v3_and_below = results_by_topic_v3_and_below
        self.results_by_transaction = results_by_transaction
