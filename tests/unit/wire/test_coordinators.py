"""Who coordinates what is found, asked, and found again when it has moved."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.unit.wire.fake_brokers import IMPATIENT, Brokers
from tests.unit.wire.fake_peer import serving

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol import codec
from barnabas.protocol.messages import APIS, consumer_protocol_assignment
from barnabas.protocol.messages import consumer_group_describe as modern
from barnabas.protocol.messages import describe_groups as classic
from barnabas.protocol.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from barnabas.protocol.schema import Message
from barnabas.wire.admin import group_offsets, groups
from barnabas.wire.admin.group_offsets import Committed


def _deleting(codes: Callable[[int, str], ErrorCode]) -> Callable[[int, Message], Message]:
    def answer(node: int, request: Message) -> Message:
        assert isinstance(request, DeleteGroupsRequest)
        return DeleteGroupsResponse(
            results=[DeletableGroupResult(name, codes(node, name)) for name in request.groups_names]
        )

    return answer


def test_every_coordinator_is_asked_once_for_all_its_groups() -> None:
    brokers = Brokers({"a": 1, "b": 2, "c": 1}, _deleting(lambda *_: ErrorCode.NONE))
    assert groups.delete(brokers.cluster, ["a", "b", "c"]) == {"a": None, "b": None, "c": None}
    assert sorted(brokers.asked(DeleteGroupsRequest)) == [1, 2]
    assert len(brokers.asked(FindCoordinatorRequest)) == 1


def test_a_coordinator_that_has_moved_is_found_again() -> None:
    def codes(node: int, _: str) -> ErrorCode:
        brokers.homes["a"] = 2
        return ErrorCode.NOT_COORDINATOR if node == 1 else ErrorCode.NONE

    brokers = Brokers({"a": 1}, _deleting(codes))
    assert groups.delete(brokers.cluster, ["a"]) == {"a": None}
    assert brokers.asked(DeleteGroupsRequest) == [1, 2]


def test_what_was_done_is_not_done_again_while_others_wait() -> None:
    loads = iter([ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NONE])
    brokers = Brokers(
        {"a": 1, "b": 2}, _deleting(lambda node, _: next(loads) if node == 2 else ErrorCode.NONE)
    )
    assert groups.delete(brokers.cluster, ["a", "b"]) == {"a": None, "b": None}
    assert brokers.asked(DeleteGroupsRequest) == [1, 2, 2]


def test_a_refusal_is_the_answer_of_its_group_alone() -> None:
    brokers = Brokers(
        {"a": 1, "b": 1},
        _deleting(lambda _, name: ErrorCode.NON_EMPTY_GROUP if name == "a" else ErrorCode.NONE),
    )
    answers = groups.delete(brokers.cluster, ["a", "b", ""])
    assert answers["b"] is None
    assert [answer.code for name, answer in answers.items() if answer and name != "b"] == [
        ErrorCode.NON_EMPTY_GROUP,
        ErrorCode.INVALID_GROUP_ID,
    ]


def test_a_coordinator_that_never_comes_up_is_the_answer_in_the_end() -> None:
    brokers = Brokers({"a": 1}, _deleting(lambda *_: ErrorCode.COORDINATOR_NOT_AVAILABLE), settings=IMPATIENT)
    answer = groups.delete(brokers.cluster, ["a"])["a"]
    assert answer is not None
    assert answer.code is ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_a_coordinator_that_leaves_a_group_out_has_failed_for_it() -> None:
    brokers = Brokers({"a": 1}, lambda *_: DeleteGroupsResponse(results=[DeletableGroupResult("b")]))
    answer = groups.delete(brokers.cluster, ["a"])["a"]
    assert answer is not None
    assert answer.code is ErrorCode.UNKNOWN_SERVER_ERROR


def test_older_brokers_are_asked_for_one_key_at_a_time() -> None:
    rows = {key: (api.oldest, api.newest) for key, api in APIS.items()} | {10: (0, 3)}
    brokers = Brokers({"a": 1, "b": 2}, _deleting(lambda *_: ErrorCode.NONE), serving(rows))
    assert groups.delete(brokers.cluster, ["a", "b"]) == {"a": None, "b": None}
    assert len(brokers.asked(FindCoordinatorRequest)) == 2


# --- describing ------------------------------------------------------------------------------------------


def _describing(node: int, request: Message) -> Message:
    if isinstance(request, modern.ConsumerGroupDescribeRequest):
        assignment = modern.Assignment([modern.TopicPartitions(topic_name="t", partitions=[0, 1])])
        member = modern.Member("m", client_id="c", member_epoch=4, assignment=assignment, member_type=1)
        new = modern.DescribedGroup(0, None, "new", "Stable", 4, 4, "uniform", [member])
        rows = [
            new if name == "new" else modern.DescribedGroup(ErrorCode.GROUP_ID_NOT_FOUND, "unknown", name)
            for name in request.group_ids
        ]
        return modern.ConsumerGroupDescribeResponse(groups=rows)
    assert isinstance(request, classic.DescribeGroupsRequest)
    return classic.DescribeGroupsResponse(groups=[_classic(name) for name in request.groups])


def _classic(name: str) -> classic.DescribedGroup:
    if name == "connect":
        return classic.DescribedGroup(group_id=name, group_state="Stable", protocol_type="connect")
    if name != "old":
        return classic.DescribedGroup(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {name} not found.", name)
    rows = [consumer_protocol_assignment.TopicPartition("t", [2])]
    data = codec.encode(consumer_protocol_assignment.ConsumerProtocolAssignment(rows), 0)
    members = [
        classic.DescribedGroupMember("m", member_assignment=b"\0\0" + data),
        classic.DescribedGroupMember("broken", member_assignment=b"\0\0\x7f"),
    ]
    return classic.DescribedGroup(0, None, name, "Stable", "consumer", "range", members)


def test_a_group_is_described_whichever_protocol_it_speaks() -> None:
    brokers = Brokers({"new": 1, "old": 2}, _describing)
    found = groups.describe(brokers.cluster, ["new", "old"])
    new, old = found["new"], found["old"]
    assert isinstance(new, groups.Group)
    assert isinstance(old, groups.Group)
    assert (new.assignor, new.epoch, new.coordinator.node_id) == ("uniform", 4, 1)
    (member,) = new.members
    assert member.assignment == {TopicPartition("t", 0), TopicPartition("t", 1)}
    assert (member.epoch, member.upgraded) == (4, True)
    assert (old.assignor, old.epoch, old.coordinator.port) == ("range", None, 2)
    assert [one.assignment for one in old.members] == [{TopicPartition("t", 2)}, frozenset()]


def test_a_group_nobody_knows_and_one_of_another_kind_are_errors() -> None:
    brokers = Brokers({"gone": 1, "connect": 1}, _describing)
    found = groups.describe(brokers.cluster, ["gone", "connect"])
    gone, other = found["gone"], found["connect"]
    assert isinstance(gone, ApiError)
    assert str(gone) == "Group gone not found."
    assert isinstance(other, ApiError)
    assert "is not a consumer group" in str(other)


# --- offsets ---------------------------------------------------------------------------------------------


def test_committed_offsets_come_by_name_and_without_what_was_never_committed() -> None:
    def answer(_: int, request: Message) -> Message:
        assert isinstance(request, OffsetFetchRequest)
        rows = [
            OffsetFetchResponsePartitions(1, 7, 2, "note"),
            OffsetFetchResponsePartitions(0, 5, -1, ""),
            OffsetFetchResponsePartitions(2, -1, -1, ""),
        ]
        topics = [OffsetFetchResponseTopics(name="t", partitions=rows)]
        return OffsetFetchResponse(groups=[OffsetFetchResponseGroup("g", topics)])

    brokers = Brokers({"g": 1}, answer)
    assert list(group_offsets.committed(brokers.cluster, "g").items()) == [
        (TopicPartition("t", 0), Committed(5, None, "")),
        (TopicPartition("t", 1), Committed(7, 2, "note")),
    ]


def test_what_a_coordinator_refuses_of_offsets_is_raised() -> None:
    def answer(_: int, __: Message) -> Message:
        return OffsetFetchResponse(
            groups=[OffsetFetchResponseGroup("g", (), ErrorCode.GROUP_AUTHORIZATION_FAILED)]
        )

    with pytest.raises(ApiError, match="Group authorization failed"):
        group_offsets.committed(Brokers({"g": 1}, answer).cluster, "g")
