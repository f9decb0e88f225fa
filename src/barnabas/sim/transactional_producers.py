"""A producer that writes transaction after transaction, commits most of them, and dawdles over some."""

from __future__ import annotations

from collections.abc import Callable

from barnabas.model.ids import TopicPartition
from barnabas.sim.network import Door
from barnabas.sim.scripts import Actor, Script, rest
from barnabas.sim.transactions import AbortableError, FencedError, Transactions
from barnabas.sim.world import World

_COMMIT_CHANCE = 0.7
_WRITES_MAX = 4
_THINK_MS = 50
_DAWDLE_CHANCE = 0.03


class TransactionalProducer(Actor):
    def __init__(
        self,
        world: World,
        host: Door,
        name: str,
        enlist: Callable[[str], Transactions],
        places: list[TopicPartition],
        transactions: int,
    ) -> None:
        super().__init__(world, host, name)
        self.superseded = False  # another one with its transactional id has been started
        self._enlist = enlist
        self._places = places
        self._left = transactions
        self._incarnation = 0

    def script(self) -> Script[None]:
        while self._left:
            try:
                yield from self._incarnate()
            except (FencedError, AbortableError):
                if self.superseded:
                    return
                yield from rest(_THINK_MS)

    def _incarnate(self) -> Script[None]:
        self._incarnation += 1
        transactions = self._enlist(f"{self.name}.{self._incarnation}")
        yield from transactions.initialise()
        while self._left:
            self._left -= 1
            try:
                yield from self._transact(transactions)
            except AbortableError:
                yield from transactions.abort()
            yield from rest(self.world.random.below(_THINK_MS))

    def _transact(self, transactions: Transactions) -> Script[None]:
        random = self.world.random
        name = transactions.begin()
        for at in range(random.between(1, _WRITES_MAX)):
            place = random.pick(self._places)
            values = [f"{name}/{place}/{at}/{each}".encode() for each in range(random.pick((1, 1, 3)))]
            yield from transactions.write(place, [None] * len(values), values)
            if random.chance(_DAWDLE_CHANCE):
                yield from rest(2 * transactions.timeout_ms)
            elif random.chance(0.5):
                yield from rest(random.below(_THINK_MS))
        yield from transactions.end(commit=random.chance(_COMMIT_CHANCE))
