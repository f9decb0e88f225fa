"""A transaction's first batch waits until the coordinator has confirmed the transaction (KIP-890).

Each wait holds a guard that nothing else equals. A marker or the first batch of the transaction ends the
wait, so a confirmation that arrives late, for a transaction already over, finds its guard gone and the
batch is refused instead of hanging the partition.
"""

from __future__ import annotations

from barnabas.log.producer_entry import Place, ProducerEntry
from barnabas.model.errors import ApiError, ErrorCode


class Guard:
    """Compared by identity."""

    __slots__ = ()


class _Verification:
    __slots__ = ("epoch", "guard", "lowest_sequence", "started_ms", "supports_epoch_bump")

    def __init__(self, sequence: int, epoch: int, started_ms: int, supports_epoch_bump: bool) -> None:
        self.guard = Guard()
        self.lowest_sequence = sequence
        self.epoch = epoch
        self.started_ms = started_ms
        self.supports_epoch_bump = supports_epoch_bump

    def see(self, sequence: int, epoch: int) -> None:
        if epoch > self.epoch:
            self.epoch, self.lowest_sequence = epoch, sequence
        elif epoch == self.epoch:
            self.lowest_sequence = min(self.lowest_sequence, sequence)


class Verifications:
    """By producer id; at most one at a time for each."""

    def __init__(self) -> None:
        self._waiting: dict[int, _Verification] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def begin(
        self, producer_id: int, sequence: int, epoch: int, *, now_ms: int, supports_epoch_bump: bool
    ) -> Guard:
        waiting = self._waiting.get(producer_id)
        if waiting is None:
            waiting = _Verification(sequence, epoch, now_ms, supports_epoch_bump)
            self._waiting[producer_id] = waiting
        waiting.see(sequence, epoch)
        return waiting.guard

    def holds(self, producer_id: int, guard: Guard | None) -> bool:
        waiting = self._waiting.get(producer_id)
        return waiting is not None and waiting.guard is guard

    def end(self, producer_id: int) -> None:
        self._waiting.pop(producer_id, None)

    def expire(self, before_ms: int) -> None:
        late = [producer_id for producer_id, one in self._waiting.items() if one.started_ms <= before_ms]
        for producer_id in late:
            del self._waiting[producer_id]

    def check_sequence(self, entry: ProducerEntry | None, first_sequence: int, place: Place) -> None:
        """While a lower sequence waits to be retried, a higher one must not pass it."""
        waiting = self._waiting.get(place.producer_id)
        if waiting is None:
            return
        where = f"producer {place.producer_id} at offset {place.offset} in partition {place.partition}"
        if waiting.supports_epoch_bump and first_sequence != 0 and (entry is None or not entry.batches):
            raise ApiError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"Invalid sequence number for {where}: {first_sequence} (incoming seq. number). Expected "
                "sequence 0 for transactions v2 idempotent producer with no existing state.",
            )
        if first_sequence > waiting.lowest_sequence:
            raise ApiError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"Out of order sequence number for {where}: {first_sequence} (incoming seq. number), "
                f"{waiting.lowest_sequence} (earliest seen sequence)",
            )
