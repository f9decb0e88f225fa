"""From a generation to its assignment, and what stops the wait for it."""

from __future__ import annotations

from tests.support.groups import DELAY_MS, REBALANCE_MS, SESSION_MS, Groups, joined, synced

from barnabas.model.errors import ErrorCode
from barnabas.protocol.internal.groups import GroupMetadataValue


def generation_of_two(groups: Groups) -> tuple[str, str]:
    first, second = groups.new_member(), groups.new_member()
    groups.host.pass_ms(2 * DELAY_MS)
    assert joined(first[1]).leader == first[0]
    return first[0], second[0]


def test_everybody_waits_for_the_leaders_assignment() -> None:
    groups = Groups()
    leader, second = generation_of_two(groups)
    waiting = groups.sync(second, 1)
    assert not waiting.done
    own = groups.sync(leader, 1, {leader: b"a", second: b"b"})
    assert (synced(own).assignment, synced(waiting).assignment) == (b"a", b"b")
    assert groups.state() == "Stable"


def test_an_assignment_is_remembered_before_it_is_handed_out() -> None:
    groups = Groups()
    leader, second = generation_of_two(groups)
    groups.sync(leader, 1, {leader: b"a", second: b"b"})
    value = groups.host.log[-1][0].value
    assert isinstance(value, GroupMetadataValue)
    assert {row.member_id: row.assignment for row in value.members} == {leader: b"a", second: b"b"}
    groups.restart()
    assert synced(groups.sync(second, 1)).assignment == b"b"
    assert groups.heartbeat(leader, 1).response.error_code == ErrorCode.NONE


def test_an_assignment_that_cannot_be_remembered_is_none() -> None:
    groups = Groups()
    leader, second = generation_of_two(groups)
    waiting = groups.sync(second, 1)
    groups.host.refuse_next = ErrorCode.COORDINATOR_NOT_AVAILABLE
    own = groups.sync(leader, 1, {leader: b"a", second: b"b"})
    assert synced(own).error_code == synced(waiting).error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert groups.state() == "PreparingRebalance"
    tickets = [groups.join(leader), groups.join(second)]
    assert [joined(ticket).generation_id for ticket in tickets] == [2, 2]


def test_who_the_leader_forgot_gets_nothing() -> None:
    groups = Groups()
    leader, second = generation_of_two(groups)
    groups.sync(leader, 1, {leader: b"a", "a stranger": b"x"})
    answer = synced(groups.sync(second, 1))
    assert (answer.error_code, answer.assignment) == (ErrorCode.NONE, b"")


def test_a_rebalance_ends_the_wait_for_the_assignment() -> None:
    groups = Groups()
    _, second = generation_of_two(groups)
    waiting = groups.sync(second, 1)
    groups.new_member()
    assert synced(waiting).error_code == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_member_that_never_syncs_is_put_out() -> None:
    groups = Groups()
    leader, second = generation_of_two(groups)
    groups.sync(leader, 1, {leader: b"a", second: b"b"})
    for _ in range(REBALANCE_MS // SESSION_MS + 1):  # both are alive
        groups.heartbeat(leader, 1)
        groups.heartbeat(second, 1)
        groups.host.pass_ms(SESSION_MS - 1)
    assert groups.heartbeat(second, 1).code == ErrorCode.UNKNOWN_MEMBER_ID
    assert groups.heartbeat(leader, 1).response.error_code == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_leader_that_never_syncs_does_not_hold_the_others_up() -> None:
    groups = Groups()
    leader, second = generation_of_two(groups)
    waiting = groups.sync(second, 1)
    for _ in range(REBALANCE_MS // SESSION_MS + 1):
        groups.heartbeat(leader, 1)
        groups.host.pass_ms(SESSION_MS - 1)
    assert synced(waiting).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert joined(groups.join(second)).leader == second


def test_a_second_request_answers_the_first() -> None:
    groups = Groups()
    leader, second = generation_of_two(groups)
    first = groups.sync(second, 1)
    again = groups.sync(second, 1)
    assert synced(first).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    groups.sync(leader, 1, {second: b"b"})
    assert synced(again).assignment == b"b"


def test_what_was_agreed_on_must_be_what_is_said() -> None:
    groups = Groups()
    leader, _ = generation_of_two(groups)
    assert groups.sync(leader, 1, protocol_name="x").code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert groups.sync(leader, 1, protocol_type="x").code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert groups.sync(leader, 2).code == ErrorCode.ILLEGAL_GENERATION
    assert groups.sync("x", 1).code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_crash_in_the_middle_of_a_rebalance_leaves_the_generation_before() -> None:
    groups = Groups()
    (member_id,) = groups.stable()
    groups.new_member()
    groups.join(member_id)
    groups.restart()
    assert groups.state() == "Stable"
    assert groups.heartbeat(member_id, 2).code == ErrorCode.ILLEGAL_GENERATION
    assert groups.heartbeat(member_id, 1).response.error_code == ErrorCode.NONE


def test_whoever_waits_is_refused_when_the_shard_moves_away() -> None:
    groups = Groups()
    _, second = generation_of_two(groups)
    waiting = groups.sync(second, 1)
    groups.shard.unloaded()
    assert waiting.code == ErrorCode.NOT_COORDINATOR
