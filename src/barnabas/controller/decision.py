"""What a controller's decision looks like: what to answer, what to write, and how the image changes then.

The order is fixed: write the operations; once the store has acknowledged all of them, apply the deltas to the
image and publish it; then answer with the results. A refused or lost write publishes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from barnabas.controller import tree
from barnabas.model.image import ClusterImage, Delta
from barnabas.ports import Check, Create, Delete, Put, Set, Write

Result_co = TypeVar("Result_co", covariant=True)

# ZooKeeper refuses a request of 1 MiB (jute.maxbuffer); this leaves room for what it adds per operation.
MULTI_BYTES_MAX = 900_000
_OPERATION_OVERHEAD_BYTES = 80


@dataclass(frozen=True, slots=True)
class Decision(Generic[Result_co]):
    results: tuple[Result_co, ...]
    operations: tuple[Write, ...] = ()  # empty when there is nothing to write: answer at once
    deltas: tuple[Delta, ...] = ()

    def multis(self, bytes_max: int = MULTI_BYTES_MAX) -> list[tuple[Write, ...]]:
        """The operations as atomic submissions: one, unless it would exceed ZooKeeper's limit.

        The parts are in an order that a crash between them cannot hurt: a topic's node comes first, and
        partitions that lack their state are completed by `elections.complete` at the next start. Each part
        repeats the first operation, the fence.
        """
        if not self.operations:
            return []
        fence, *rest = self.operations
        return [(fence, *part) for part in _parts(rest, bytes_max)] or [(fence,)]


def fence(image: ClusterImage) -> Check:
    """First operation of every decision: a controller that was deposed meanwhile writes nothing."""
    return Check(tree.CONTROLLER_EPOCH, image.controller_epoch_version)


def _parts(operations: list[Write], bytes_max: int) -> Iterator[list[Write]]:
    part: list[Write] = []
    part_bytes = 0
    for operation in operations:
        size = _operation_bytes(operation)
        if part and (part_bytes + size > bytes_max or _is_wide(operation)):
            yield part
            part, part_bytes = [], 0
        part.append(operation)
        part_bytes += size
    if part:
        yield part


def _is_wide(operation: Write) -> bool:
    """Whether it becomes as many operations as there are nodes below: nobody knows its size here."""
    return isinstance(operation, Delete) and operation.recursive


def _operation_bytes(operation: Write) -> int:
    value_bytes = len(operation.value) if isinstance(operation, Create | Set | Put) else 0
    size = len(operation.path) + value_bytes + _OPERATION_OVERHEAD_BYTES
    if isinstance(operation, Put) or (isinstance(operation, Create) and operation.make_parents):
        size += len(operation.path) + _OPERATION_OVERHEAD_BYTES  # its parent may have to be made, too
    return size
