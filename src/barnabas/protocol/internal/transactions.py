"""Records of `__transaction_state`."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.protocol.internal.rows import record, row
from barnabas.protocol.schema import Message


@record()
class TransactionLogKey(Message):
    transactional_id: str = row("string", default="")


@record(flexible_since=1)
class PartitionsSchema(Message):
    topic: str = row("string", default="")
    partition_ids: Sequence[int] = row("int32", default=(), array=True)


@record(flexible_since=1)
class TransactionLogValue(Message):
    producer_id: int = row("int64", default=0)
    previous_producer_id: int = row("int64", default=-1, since=1, tag=0)
    next_producer_id: int = row("int64", default=-1, since=1, tag=1)
    producer_epoch: int = row("int16", default=0)
    transaction_timeout_ms: int = row("int32", default=0)
    transaction_status: int = row("int8", default=0)
    transaction_partitions: Sequence[PartitionsSchema] | None = row(
        PartitionsSchema, default=None, array=True, nullable_since=0
    )
    transaction_last_update_timestamp_ms: int = row("int64", default=0)
    transaction_start_timestamp_ms: int = row("int64", default=0)
    client_transaction_version: int = row("int16", default=0, since=1, tag=2)
    next_producer_epoch: int = row("int16", default=-1, since=1, tag=3)
