"""Things to ask of other brokers on behalf of many: batched, one question at a time to each broker.

What comes while a question is under way goes with the next one, so that a slow broker costs a longer batch
and not more questions. A broker that left the cluster answers no more: its questions have failed at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from barnabas.broker.cluster.peers import Peer
from barnabas.model.image import ClusterImage
from barnabas.protocol.schema import Message

if TYPE_CHECKING:
    from barnabas.broker.node import Node

# Of one question: far below what any broker takes, and answered in a few milliseconds.
_PARTITIONS_MAX: Final = 2_000


class Errand(Protocol):
    @property
    def key(self) -> Hashable:
        """Whom it is for: two with the same key do not go with the same question."""
        ...

    @property
    def partition_count(self) -> int: ...

    def failed(self) -> None:
        """Nobody knows whether the broker heard of it."""
        ...


E = TypeVar("E", bound=Errand)


class Errands(Generic[E]):
    """`write` makes one request of many errands; `read` tells each of them its part of the answer."""

    def __init__(
        self,
        node: Node,
        version: int,
        write: Callable[[list[E]], Message],
        read: Callable[[list[E], Message], None],
    ) -> None:
        self.node = node
        self.version = version
        self.write = write
        self.read = read
        self._ways: dict[int, _Way[E]] = {}

    def add(self, broker_id: int, errand: E) -> None:
        way = self._ways.get(broker_id)
        if way is None:
            way = self._ways[broker_id] = _Way(self, broker_id)
        way.add(errand)

    def apply(self, old: ClusterImage, new: ClusterImage) -> None:
        if old.brokers is not new.brokers:
            for broker_id in [known for known in self._ways if known not in new.brokers]:
                self._ways.pop(broker_id).close()


class _Way(Generic[E]):
    """To one broker, on a line of its own: the answer may wait for replicas."""

    def __init__(self, errands: Errands[E], broker_id: int) -> None:
        self._errands = errands
        self._peer: Peer = errands.node.peers.open(broker_id)
        self._waiting: deque[E] = deque()
        self._asked: list[E] = []

    def add(self, errand: E) -> None:
        self._waiting.append(errand)
        if not self._asked:
            self._ask()

    def _ask(self) -> None:
        self._asked = self._next_batch()
        errands = self._errands
        timeout_ms = errands.node.settings.integer("request.timeout.ms")
        self._peer.ask(errands.write(self._asked), errands.version, self._answered, self._failed, timeout_ms)

    def _next_batch(self) -> list[E]:
        batch: dict[Hashable, E] = {}
        later: deque[E] = deque()
        room = _PARTITIONS_MAX
        while self._waiting and room > 0:
            errand = self._waiting.popleft()
            if errand.key in batch:
                later.append(errand)
            else:
                batch[errand.key] = errand
                room -= errand.partition_count
        self._waiting.extendleft(reversed(later))
        return list(batch.values())

    def _answered(self, answer: Message) -> None:
        asked, self._asked = self._asked, []
        if self._waiting:
            self._ask()
        self._errands.read(asked, answer)

    def _failed(self) -> None:
        asked, self._asked = self._asked, []
        if self._waiting:
            self._ask()
        for errand in asked:
            errand.failed()

    def close(self) -> None:
        self._peer.close()
        unheard = [*self._asked, *self._waiting]
        self._asked = []
        self._waiting.clear()
        for errand in unheard:
            errand.failed()
