"""Producer ids are given out to brokers in blocks of a thousand, and never twice."""

from __future__ import annotations

from barnabas.controller import tree
from barnabas.controller.decision import Decision, fence
from barnabas.controller.znodes.cluster import encode_producer_ids
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.image import ClusterImage, ProducerIdBlock, ProducerIdsAllocated
from barnabas.ports import Put

BLOCK_SIZE = 1000
PRODUCER_ID_MAX = 2**63 - 1


def allocate_producer_ids(
    image: ClusterImage, broker_id: int, broker_epoch: int
) -> Decision[ProducerIdBlock]:
    """The block may be used once the write is acknowledged: before that a crash could give it out again."""
    broker = image.brokers.get(broker_id)
    if broker is None:
        raise ApiError(
            ErrorCode.BROKER_ID_NOT_REGISTERED, f"No broker registration found for broker id {broker_id}"
        )
    if broker.epoch != broker_epoch:
        message = f"Expected broker epoch {broker.epoch}, but got broker epoch {broker_epoch}"
        raise ApiError(ErrorCode.STALE_BROKER_EPOCH, message)
    first = 0 if image.producer_ids is None else image.producer_ids.last + 1
    if first > PRODUCER_ID_MAX - BLOCK_SIZE:
        message = (
            "Exhausted all producerIds as the next block's end producerId has exceeded the int64 type limit"
        )
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, message)
    block = ProducerIdBlock(broker_id, first, first + BLOCK_SIZE - 1)
    write = Put(tree.PRODUCER_ID_BLOCK, encode_producer_ids(block))
    return Decision((block,), (fence(image), write), (ProducerIdsAllocated(block),))
