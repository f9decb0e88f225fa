"""What must never be seen of transactions: half of one, one that was aborted, one that never ends."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from barnabas.model.ids import TopicPartition
from barnabas.sim.checkers import Facts
from barnabas.sim.history import (
    Acknowledged,
    CommitAsked,
    Ended,
    Ending,
    Fate,
    OffsetsRead,
    Seen,
    Sent,
    TransactionsFound,
)

AT_REST = ("Empty", "CompleteCommit", "CompleteAbort", "Dead")


class Ledger:
    """Which transaction wrote what, and what its producer knows of its end."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.fates = {one.transaction: one.fate for one in facts.of(Ended)}
        self.asked_to_commit = {one.transaction for one in facts.of(Ending) if one.commit}
        self.writer = {
            value: sent.transaction for sent in facts.of(Sent) if sent.transaction for value in sent.values
        }

    @cached_property
    def acknowledged(self) -> dict[str, list[Acknowledged]]:
        found: dict[str, list[Acknowledged]] = {}
        for one in self._facts.of(Acknowledged):
            if one.sent.transaction:
                found.setdefault(one.sent.transaction, []).append(one)
        return found

    @cached_property
    def visible(self) -> dict[TopicPartition, dict[int, bytes | None]]:
        return {place: {one.offset: one.value for one in log} for place, log in self._facts.committed.items()}

    def is_visible(self, one: Acknowledged) -> bool:
        values = self.visible.get(one.sent.place, {})
        if one.offset < 0:
            return set(one.sent.values) <= set(values.values())
        return all(values.get(at, b"") == value for at, value in enumerate(one.sent.values, one.offset))


class NoLostTransaction:
    """Lost write: what was acknowledged in a transaction whose commit was, is there to read."""

    def check(self, facts: Facts) -> Iterator[str]:
        ledger = Ledger(facts)
        for transaction, writes in ledger.acknowledged.items():
            if ledger.fates.get(transaction) is Fate.COMMITTED:
                for one in writes:
                    if not ledger.is_visible(one):
                        yield f"{transaction} was committed, but {one.sent.place} {one.offset} is not there"


class NoAbortedRead:
    """No reader of committed records sees one of a transaction that was aborted, or that nobody has asked to
    commit yet."""

    def check(self, facts: Facts) -> Iterator[str]:
        ledger = Ledger(facts)
        may_show: set[str] = set()
        for event in facts.events:
            if isinstance(event, Ending) and event.commit:
                may_show.add(event.transaction)
            elif isinstance(event, Seen) and event.read_committed:
                for record in event.records:
                    transaction = ledger.writer.get(record.value)
                    if transaction is None:
                        continue
                    if ledger.fates.get(transaction) is Fate.ABORTED:
                        yield f"{event.consumer}: {event.place} {record.offset} of {transaction}, aborted"
                    elif transaction not in may_show:
                        yield f"{event.consumer}: {event.place} {record.offset} of {transaction}, still open"


class NoTornTransaction:
    """All of a transaction is there to read, or nothing; and the offsets it committed go with it."""

    def check(self, facts: Facts) -> Iterator[str]:
        ledger = Ledger(facts)
        shown: set[str] = set()
        for transaction, writes in ledger.acknowledged.items():
            visible = [ledger.is_visible(one) for one in writes]
            if any(visible):
                shown.add(transaction)
                if not all(visible):
                    yield f"of {transaction}, {sum(visible)} of {len(visible)} batches are there"
        yield from self._offsets(facts, ledger, shown)

    def _offsets(self, facts: Facts, ledger: Ledger, shown: set[str]) -> Iterator[str]:
        last: dict[tuple[str, TopicPartition], int] = {}
        for read in facts.of(OffsetsRead):
            for place, offset in read.offsets:
                last[read.asked.group, place] = offset
        owners: dict[tuple[str, TopicPartition, int], list[CommitAsked]] = {}
        for asked in facts.of(CommitAsked):
            for place, offset in asked.offsets:
                owners.setdefault((asked.group, place, offset), []).append(asked)
                if asked.transaction in shown and last.get((asked.group, place), offset) < offset:
                    at = last[asked.group, place]
                    yield f"{asked.transaction} is there, but {asked.group} is at {at} of {place}"
        for (group, place), offset in last.items():
            claims = owners.get((group, place, offset), [])
            if claims and not any(self._counts(one, ledger, shown) for one in claims):
                yield f"{group} is at {offset} of {place}, but {claims[-1].transaction} is not there"

    def _counts(self, asked: CommitAsked, ledger: Ledger, shown: set[str]) -> bool:
        transaction = asked.transaction
        if not transaction or transaction in shown:
            return True
        # One that wrote no records leaves only its fate to judge by.
        return transaction not in ledger.acknowledged and ledger.fates.get(transaction) is not Fate.ABORTED


class ExactlyOnce:
    """Of every record that was to be transformed there is one result, not none and not two."""

    def __init__(self, output: str) -> None:
        self._output = output

    def check(self, facts: Facts) -> Iterator[str]:
        made: dict[bytes, int] = {}
        wanted: set[bytes] = set()
        for place, log in facts.committed.items():
            for record in log:
                if place.topic == self._output:
                    key = record.key or b""
                    made[key] = made.get(key, 0) + 1
                else:
                    wanted.add(origin_key(place, record.offset))
        for key in sorted(wanted - made.keys()):
            yield f"nothing was made of {key.decode()}"
        for key, times in made.items():
            if times > 1:
                yield f"{key.decode()} was used {times} times"
            if key not in wanted:
                yield f"something was made of {key.decode()}, which is not there"


def origin_key(place: TopicPartition, offset: int) -> bytes:
    """By what a result says which record it was made of."""
    return f"{place}@{offset}".encode()


class StableReads:
    """Nobody who reads committed records is shown what lies at or above the last stable offset, and that
    never goes back, while there is `one_leader`: the next one may have heard less of what is committed."""

    def __init__(self, *, one_leader: bool = True) -> None:
        self._one_leader = one_leader

    def check(self, facts: Facts) -> Iterator[str]:
        highest: dict[tuple[str, TopicPartition], int] = {}
        for seen in facts.of(Seen):
            if seen.error or not seen.read_committed:
                continue
            stable, who = seen.last_stable_offset, (seen.consumer, seen.place)
            if not 0 <= stable <= seen.high_watermark:
                yield f"{seen.consumer}: {seen.place} is stable to {stable} of {seen.high_watermark}"
            if self._one_leader and stable < highest.get(who, 0):
                yield f"{seen.consumer}: {seen.place} was stable to {highest[who]}, now to {stable}"
            highest[who] = max(highest.get(who, 0), stable)
            if seen.records and seen.records[-1].offset >= stable:
                yield f"{seen.consumer}: {seen.place} shows {seen.records[-1].offset}, stable to {stable}"


class TransactionsEnd:
    """After healing no transaction stays open beyond its time."""

    def check(self, facts: Facts) -> Iterator[str]:
        for found in facts.of(TransactionsFound):
            for name, state in found.states.items():
                if state not in AT_REST:
                    yield f"{name} is {state}"
