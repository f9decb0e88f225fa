"""AlterPartitionReassignments and ListPartitionReassignments, as far as one broker can tell."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.answers.dialogue import Dialogue
from tests.support.answers.scenario import scenario

from barnabas.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from barnabas.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)


def _move(topic: str, *rows: tuple[int, Sequence[int] | None]) -> AlterPartitionReassignmentsRequest:
    partitions = [ReassignablePartition(index, replicas) for index, replicas in rows]
    return AlterPartitionReassignmentsRequest(60_000, True, [ReassignableTopic(topic, partitions)])


@scenario
def partition_reassignments(dialogue: Dialogue) -> None:
    topic, none = dialogue.topic("moving", 3), dialogue.name("none")
    dialogue.ask("where it is", _move(topic, (0, [1]), (2, [1])))
    dialogue.ask("nothing to take back", _move(topic, (0, None), (1, None)))
    dialogue.ask("to nobody", _move(topic, (0, [])))
    dialogue.ask("to a stranger", _move(topic, (0, [1, 7]), (1, [-1])))
    dialogue.ask("twice to one", _move(topic, (0, [1, 1])))
    dialogue.ask("no such partition", _move(topic, (3, [1]), (-1, None)))
    dialogue.ask("no such topic", _move(none, (0, [1]), (1, None)))
    dialogue.ask("one good, one bad", _move(topic, (1, [1]), (7, [1])))
    dialogue.ask("named twice", _move(topic, (1, [1]), (1, [7])))
    dialogue.ask("no partitions", _move(topic))
    dialogue.ask("no topics", AlterPartitionReassignmentsRequest())
    guarded = _move(topic, (0, [1]), (1, []), (2, [7, 8]))
    guarded.allow_replication_factor_change = False
    dialogue.ask("as many replicas as before", guarded, 1)
    dialogue.ask("what moves", ListPartitionReassignmentsRequest(60_000, None))
    asked = [ListPartitionReassignmentsTopics(topic, [0, 1, 9]), ListPartitionReassignmentsTopics(none, [0])]
    dialogue.ask("what of these moves", ListPartitionReassignmentsRequest(60_000, asked))
    dialogue.ask("nothing asked", ListPartitionReassignmentsRequest(60_000, []))
