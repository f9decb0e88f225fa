"""Random walks through transactions: every request in any version, now and then with a wrong epoch."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.answers.dialogue import Dialogue
from tests.support.answers.owner import VERSION_2, Owner, group_ready
from tests.support.answers.scenario import scenario
from tests.support.answers.scenarios.fetch import at, fetch

from barnabas.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from barnabas.protocol.messages.describe_transactions import DescribeTransactionsRequest
from barnabas.protocol.messages.end_txn import EndTxnRequest
from barnabas.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from barnabas.protocol.schema import Message

WALKS = 8
STEPS = 40
# A request of any version, and how often.
_WEIGHTS = {
    "own": 1,
    "own again": 2,
    "add": 4,
    "verify": 1,
    "write": 7,
    "end": 6,
    "offsets": 1,
    "commit": 2,
    "look": 2,
}
_VERSIONS = {
    "own": range(6), "own again": range(3, 6), "add": range(6), "verify": (4, 5), "write": range(9, 13),
    "end": range(6), "offsets": range(5), "commit": range(6), "look": (0,),
}  # fmt: skip


@scenario
def transaction_walks(d: Dialogue) -> None:
    topic, group = d.topic("t", 2), d.name("g")
    group_ready(d, group)
    for number in range(WALKS):
        walk = _Walk(d, topic, group, number)
        for _ in range(STEPS):
            walk.step()
        d.ask(f"walk {number}: read", fetch(d, "t", at(0), at(0, 1), isolation=1), 12)
        walk.owner.ready()  # aborts what is open


class _Walk:
    def __init__(self, d: Dialogue, topic: str, group: str, number: int) -> None:
        self.d = d
        self.topic = topic
        self.group = group
        self.number = number
        self.owner = Owner(d, f"w{number}").ready()
        self.chance = random.Random(number)
        self._requests: Mapping[str, Callable[[int, int, int], Message]] = {
            "own": lambda _version, _epoch, _index: self.owner.init(),
            "own again": lambda _version, epoch, _index: self.owner.init(self.owner.producer_id, epoch),
            "add": lambda version, _epoch, index: self.owner.add(self.topic, index, version=version),
            "verify": lambda _version, _epoch, _index: self.owner.add(
                self.topic, 0, 1, version=4, verify=True
            ),
            "write": self._write,
            "end": self._end,
            "offsets": lambda _version, epoch, _index: AddOffsetsToTxnRequest(
                self.owner.id, self.owner.producer_id, epoch, self.group
            ),
            "commit": self._commit,
            "look": lambda _version, _epoch, _index: DescribeTransactionsRequest([self.owner.id]),
        }

    def step(self) -> None:
        chance, owner = self.chance, self.owner
        what = chance.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
        version = chance.choice(_VERSIONS[what])
        astray = chance.choice((0, 0, 0, 0, 0, 0, -1, 1))
        index = chance.randrange(2)
        request = self._requests[what](version, max(owner.epoch + astray, 0), index)
        label = f"walk {self.number}: {what}{' astray' if astray else ''}"
        answer = self.d.ask(label, request, version, view=_comparable)
        self._learn(what, version, index, astray, answer)

    def _learn(self, what: str, version: int, index: int, astray: int, answer: Any) -> None:
        owner = self.owner
        if what == "write":
            if answer.responses[0].partition_responses[0].error_code == 0 and not astray:
                owner.sequences[self.topic, index] = owner.sequences.get((self.topic, index), 0) + 2
        elif what in {"own", "own again", "end"}:
            is_told = what != "end" or version >= VERSION_2
            if answer.error_code == 0 and is_told:
                owner.take(answer)
            owner.settle()

    def _write(self, _version: int, epoch: int, index: int) -> Message:
        """As if nobody had answered yet: what was taken is counted when it was."""
        owner = self.owner
        known, sequences = owner.epoch, dict(owner.sequences)
        owner.epoch = epoch
        request = owner.records(self.topic, index)
        owner.epoch, owner.sequences = known, sequences
        return request

    def _end(self, _version: int, epoch: int, _index: int) -> Message:
        return EndTxnRequest(self.owner.id, self.owner.producer_id, epoch, self.chance.random() < 0.6)

    def _commit(self, _version: int, epoch: int, index: int) -> Message:
        rows = [TxnOffsetCommitRequestPartition(index, 5, 1, "m")]
        return TxnOffsetCommitRequest(
            self.owner.id,
            self.group,
            self.owner.producer_id,
            epoch,
            topics=[TxnOffsetCommitRequestTopic(self.topic, rows)],
        )


def _comparable(shown: Any) -> Any:
    """Sets in one order; and which partition keeps a group's offsets depends on a name of this run."""
    for state in shown.get("transaction_states", ()):
        for topic in state.get("topics", ()):
            topic["partitions"] = (
                "somewhere" if topic["topic"].startswith("__") else sorted(topic["partitions"])
            )
        state.get("topics", []).sort(key=lambda topic: topic["topic"])
    for result in shown.get("results_by_transaction", ()):
        for topic in result["topic_results"]:
            topic["results_by_partition"].sort(key=lambda row: row.get("partition_index", 0))
    return shown
