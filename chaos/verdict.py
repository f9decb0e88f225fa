"""Whether every acknowledged record is there, once, in order. Pure."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from chaos.transactional import RECORDS, Outcome

_SHOWN = 5


def idempotent_problems(
    producer: str, acknowledged: Mapping[int, Collection[int]], found: Mapping[int, Sequence[str]]
) -> list[str]:
    """`found`: values `<producer> <number>` by partition. What was not acknowledged may be there, once."""
    problems = []
    for partition, values in sorted(found.items()):
        numbers = [int(value.split()[1]) for value in values if value.split()[0] == producer]
        where = f"partition {partition}, producer {producer}"
        lost = set(acknowledged.get(partition, ())) - set(numbers)
        if lost:
            problems.append(f"{where}: {len(lost)} acknowledged records are not there: {_some(lost)}")
        if len(set(numbers)) != len(numbers):
            twice = {number for number in numbers if numbers.count(number) > 1}
            problems.append(f"{where}: {len(twice)} records are there more than once: {_some(twice)}")
        if numbers != sorted(numbers):
            after = next(b for a, b in itertools.pairwise(numbers) if b < a)
            problems.append(f"{where}: record {after} comes after one that was sent later")
    return problems


def transaction_problems(
    outcomes: Mapping[int, Outcome], found: Mapping[int, Sequence[str]], partitions: int
) -> list[str]:
    """`found`: values `<transaction> <index>` by partition, as one who reads committed records sees them."""
    seen: dict[int, list[int]] = defaultdict(list)
    problems = []
    for partition, values in sorted(found.items()):
        order = [tuple(int(word) for word in value.split()) for value in values]
        if order != sorted(order):
            problems.append(f"transactions, partition {partition}: records are out of order")
        for number, index in order:
            seen[number].append(index)
            if (number + index) % partitions != partition:
                problems.append(f"record {number} {index} is in partition {partition}")
    whole = list(range(RECORDS))
    for number, outcome in outcomes.items():
        indexes = sorted(seen.pop(number, []))
        may_be_there, may_be_missing = outcome is not Outcome.ABORTED, outcome is not Outcome.COMMITTED
        if not ((indexes == whole and may_be_there) or (indexes == [] and may_be_missing)):
            problems.append(f"transaction {number} was {outcome.value}, and there are its records {indexes}")
    if seen:
        problems.append(f"records of transactions that nobody began: {_some(seen)}")
    return problems


def _some(numbers: Collection[int]) -> str:
    shown = ", ".join(str(number) for number in sorted(numbers)[:_SHOWN])
    return f"{shown}, …" if len(numbers) > _SHOWN else shown
