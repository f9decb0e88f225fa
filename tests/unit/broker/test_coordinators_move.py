"""A coordinator's partition changes its leader: what is not committed is not told, what is comes along."""

from __future__ import annotations

import errno
from typing import NoReturn, TypeVar

import pytest
from tests.support.nodes import Asked, Nodes

from barnabas.broker.coordinators.internal_topics import OFFSETS_TOPIC
from barnabas.log.log import Log
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
)
from barnabas.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from barnabas.protocol.schema import Message

R = TypeVar("R", bound=Message)

NOTHING = -1
LOST_LINE_MS = 35_000  # until a follower gives up a question that nobody answers


def coordinated(*brokers: int) -> Nodes:
    """Broker 1 coordinates all groups; the others follow."""
    nodes = Nodes(*brokers)
    nodes.change(nodes.topic("t", leader=1), nodes.topic(OFFSETS_TOPIC, leader=1))
    nodes.run(1_000)
    return nodes


def commit(nodes: Nodes, broker_id: int, offset: int) -> Asked:
    topic = OffsetCommitRequestTopic(name="t", partitions=[OffsetCommitRequestPartition(0, offset)])
    return nodes.ask(broker_id, 8, OffsetCommitRequest("g", topics=[topic]))


def answer(asked: Asked, kind: type[R]) -> R:
    assert isinstance(asked.answer, kind), asked.answer
    return asked.answer


def commit_code(asked: Asked) -> int:
    return answer(asked, OffsetCommitResponse).topics[0].partitions[0].error_code


def committed(nodes: Nodes, broker_id: int) -> int | ErrorCode:
    """The group's offset, as that broker tells it, or its refusal."""
    request = OffsetFetchRequest([OffsetFetchRequestGroup("g", topics=None)])
    asked = nodes.ask(broker_id, 8, request)
    nodes.run(10)
    (group,) = answer(asked, OffsetFetchResponse).groups
    if group.error_code:
        return ErrorCode(group.error_code)
    return next((row.committed_offset for topic in group.topics for row in topic.partitions), NOTHING)


# --- groups ------------------------------------------------------------------------------------------------


def test_an_offset_is_acknowledged_when_the_followers_have_it() -> None:
    nodes = coordinated(1, 2)
    nodes.network.cut.add((2, 1))
    asked = commit(nodes, 1, 7)
    nodes.run(1_000)
    assert asked.answer is None
    nodes.network.cut.clear()
    again = commit(nodes, 1, 8)
    nodes.run(LOST_LINE_MS)
    assert committed(nodes, 1) == 8
    # Whoever has waited for too long asks again; what was written counts all the same.
    assert {commit_code(asked), commit_code(again)} == {ErrorCode.COORDINATOR_NOT_AVAILABLE}


def test_a_new_coordinator_knows_what_was_acknowledged() -> None:
    nodes = coordinated(1, 2)
    asked = commit(nodes, 1, 7)
    nodes.run(1_000)
    assert commit_code(asked) == ErrorCode.NONE
    assert committed(nodes, 2) is ErrorCode.NOT_COORDINATOR
    nodes.elect(OFFSETS_TOPIC, 2, isr=[1, 2])
    nodes.run(2_000)
    assert committed(nodes, 2) == 7
    assert committed(nodes, 1) is ErrorCode.NOT_COORDINATOR


def test_what_was_not_committed_is_refused_when_another_coordinates() -> None:
    nodes = coordinated(1, 2)
    nodes.network.cut.add((2, 1))
    asked = commit(nodes, 1, 7)
    nodes.run(100)
    nodes.elect(OFFSETS_TOPIC, 2, isr=[2])
    nodes.run(100)
    assert commit_code(asked) == ErrorCode.NOT_COORDINATOR
    assert committed(nodes, 1) is ErrorCode.NOT_COORDINATOR
    assert committed(nodes, 2) == NOTHING


def test_a_new_coordinator_tells_nothing_that_may_yet_be_lost() -> None:
    nodes = coordinated(1, 2, 3)
    nodes.network.cut |= {(3, 1), (3, 2)}
    asked = commit(nodes, 1, 7)
    nodes.run(1_000)
    assert asked.answer is None, "broker 3 is in sync and does not have it"
    nodes.elect(OFFSETS_TOPIC, 2, isr=[2, 3])
    nodes.run(1_000)
    assert committed(nodes, 2) is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    nodes.network.cut.clear()
    nodes.run(LOST_LINE_MS)
    assert committed(nodes, 2) == 7


def test_a_coordinator_in_a_new_epoch_begins_anew_from_its_log() -> None:
    nodes = coordinated(1, 2)
    commit(nodes, 1, 7)
    nodes.run(1_000)
    before = nodes[1].groups.hosted("g")
    nodes.elect(OFFSETS_TOPIC, 1, isr=[1, 2])
    nodes.run(2_000)
    assert nodes[1].groups.hosted("g") is not before
    assert before.is_closed
    assert committed(nodes, 1) == 7


def test_a_coordinator_whose_disk_fails_while_it_loads_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = coordinated(1, 2)
    commit(nodes, 1, 7)
    nodes.run(1_000)

    def broken(*_: object, **__: object) -> NoReturn:
        raise OSError(errno.EIO, "no such luck")

    monkeypatch.setattr(Log, "read", broken)
    nodes.elect(OFFSETS_TOPIC, 2, isr=[1, 2], among=[2])
    assert committed(nodes, 2) is ErrorCode.NOT_COORDINATOR
    assert not nodes[2].logs.directories[0].online


# --- markers -----------------------------------------------------------------------------------------------


def write_marker(nodes: Nodes, broker_id: int) -> Asked:
    topic = WritableTxnMarkerTopic("t", [0])
    return nodes.ask(broker_id, 1, WriteTxnMarkersRequest([WritableTxnMarker(5, 0, True, [topic], 3)]))


def marker_code(asked: Asked) -> int:
    return answer(asked, WriteTxnMarkersResponse).markers[0].topics[0].partitions[0].error_code


def test_a_marker_is_acknowledged_when_the_followers_have_it() -> None:
    nodes = coordinated(1, 2)
    nodes.network.cut.add((2, 1))
    asked = write_marker(nodes, 1)
    nodes.run(1_000)
    assert asked.answer is None
    nodes.network.cut.clear()
    nodes.run(29_500)
    assert marker_code(asked) == ErrorCode.NONE


def test_a_marker_that_is_not_committed_in_time_is_given_back() -> None:
    nodes = coordinated(1, 2)
    nodes.network.cut.add((2, 1))
    asked = write_marker(nodes, 1)
    nodes.run(31_000)
    assert marker_code(asked) == ErrorCode.REQUEST_TIMED_OUT
    assert not nodes.partition(1, "t").waiting


def test_a_marker_is_given_back_when_another_leads_before_it_is_committed() -> None:
    nodes = coordinated(1, 2)
    nodes.network.cut.add((2, 1))
    asked = write_marker(nodes, 1)
    nodes.run(100)
    nodes.elect("t", 2, isr=[2])
    nodes.run(100)
    assert marker_code(asked) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert not nodes.partition(1, "t").waiting


def test_a_partition_that_others_hold_gets_no_marker_here() -> None:
    nodes = Nodes(1, 2)
    nodes.change(nodes.topic("t", leader=2, replicas=[2]))
    asked = write_marker(nodes, 1)
    nodes.run(100)
    assert marker_code(asked) == ErrorCode.NOT_LEADER_OR_FOLLOWER
