"""A Produce with a transactional id: each partition it writes to must be part of the transaction first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from barnabas.broker.coordinators.transaction_gate import Admissions, Entrance, Gate
from barnabas.broker.dispatch import Context, Reply
from barnabas.broker.producing import TRANSACTIONAL, deliver, keep_records, one_batch
from barnabas.broker.replication.partition import Partition
from barnabas.coordination.outcome import Producer
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import INTERNAL_TOPICS
from barnabas.protocol.messages.produce import PartitionProduceResponse, ProduceRequest, TopicProduceData
from barnabas.records.batch import HEADER, BatchHeader

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_ABORTABLE_SINCE: Final = 11
_ADD_SINCE: Final = 12
# A producer that is told so tries again, and does not even look for another leader.
_TRY_AGAIN: Final = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NETWORK_EXCEPTION,
    }
)


def through_gate(
    node: Node, context: Context, request: ProduceRequest, produce: Callable[[Admissions], Reply]
) -> Reply:
    """`produce` once every partition is admitted or refused: at once if the coordinator is here, or later."""
    assert request.transactional_id is not None
    producer, first_sequences = _wanted(node, context, request)
    if producer is None:
        return produce(Admissions())
    replies: list[Reply] = []
    is_late = False

    def admitted(admissions: Admissions) -> None:
        if is_late:
            deliver(context, lambda: produce(admissions))
        else:
            replies.append(produce(admissions))

    gate = Gate(node, request.transactional_id, producer, entrance_of(context.version), admitted)
    gate.open(first_sequences, node.settings.integer("add.partitions.to.txn.retry.backoff.max.ms"))
    if replies:
        return replies[0]
    is_late = True
    keep_records(request)
    return None


def entrance_of(version: int) -> Entrance:
    if version >= _ADD_SINCE:
        return Entrance.ADD
    return Entrance.VERIFY_ABORTABLE if version >= _ABORTABLE_SINCE else Entrance.VERIFY


def gate_refusal(index: int, code: ErrorCode, version: int) -> PartitionProduceResponse:
    """Clients that leave adding to us know how to wait for a transaction's end; the others do not."""
    message = None
    if code in _TRY_AGAIN or (code is ErrorCode.CONCURRENT_TRANSACTIONS and version < _ADD_SINCE):
        message = (
            f"Unable to verify the partition has been added to the transaction. Underlying error: {code.name}"
        )
        code = ErrorCode.NOT_ENOUGH_REPLICAS
    elif code is ErrorCode.INVALID_TXN_STATE:
        message = "Partition was not added to the transaction"
    return PartitionProduceResponse(index, code, base_offset=-1, error_message=message)


def _wanted(
    node: Node, context: Context, request: ProduceRequest
) -> tuple[Producer | None, dict[Partition, int]]:
    """Who writes, and its first sequence in each partition."""
    producers: set[Producer] = set()
    first_sequences: dict[Partition, int] = {}
    for topic in request.topic_data:
        name = node.image.topic_names.get(topic.topic_id, "") if context.version >= 13 else topic.name
        for index, header in _transactional_batches(context.version, topic):
            if node.image.partition(name, index) is None:
                continue  # as what is no batch: refused for that, whoever sent it
            producers.add(Producer(header.producer_id, header.producer_epoch))
            partition = node.replicas.find(name, index)
            # Another broker's partition is refused soon: nothing of it belongs into the transaction.
            if partition is not None and partition.is_leader and name not in INTERNAL_TOPICS:
                first_sequences[partition] = header.base_sequence
    if len(producers) > 1:
        raise ApiError(
            ErrorCode.INVALID_PRODUCER_ID_MAPPING,
            "Transactional records contained more than one producer ID",
        )
    return next(iter(producers), None), first_sequences


def _transactional_batches(version: int, topic: TopicProduceData) -> Iterator[tuple[int, BatchHeader]]:
    for data in topic.partition_data:
        try:
            view = one_batch(version, data.records)
        except ApiError:
            continue
        header = BatchHeader(*HEADER.unpack_from(view))
        if header.attributes & TRANSACTIONAL and header.producer_id >= 0:
            yield data.index, header
