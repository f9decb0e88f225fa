"""Members that go: silent ones after their session's time, polite ones at once."""

from __future__ import annotations

import pytest
from tests.support.groups import DELAY_MS, REBALANCE_MS, SESSION_MS, Groups, identity, joined, left, synced

from barnabas.model.errors import ErrorCode


def test_a_silent_member_is_out_after_its_sessions_time() -> None:
    groups = Groups()
    first, second = groups.stable(2)
    groups.host.pass_ms(SESSION_MS - 1)
    groups.heartbeat(first, 1)
    groups.host.pass_ms(1)
    assert groups.heartbeat(second, 1).code == ErrorCode.UNKNOWN_MEMBER_ID
    assert groups.heartbeat(first, 1).response.error_code == ErrorCode.REBALANCE_IN_PROGRESS


def test_heartbeats_keep_a_member_and_cost_no_timers() -> None:
    groups = Groups()
    (member_id,) = groups.stable()
    timers = len(groups.host.timers)
    for _ in range(100):
        groups.host.pass_ms(SESSION_MS // 3)
        assert groups.heartbeat(member_id, 1).response.error_code == ErrorCode.NONE
    assert len(groups.host.timers) == timers


def test_a_member_that_waits_for_us_is_alive() -> None:
    groups = Groups()
    first, second = groups.stable(2)
    ticket = groups.join(first)
    for _ in range(4):
        groups.heartbeat(second, 1)
        groups.host.pass_ms(SESSION_MS - 1)
    assert not ticket.done
    assert joined(groups.join(second)).generation_id == joined(ticket).generation_id == 2


def test_a_newcomer_whose_client_died_does_not_stay_for_ever() -> None:
    groups = Groups()
    (member_id,) = groups.stable(rebalance_timeout_ms=1_000_000)
    _, ticket = groups.new_member(rebalance_timeout_ms=1_000_000)
    for _ in range(300_000 // (SESSION_MS - 1) + 1):
        groups.heartbeat(member_id, 1)
        groups.host.pass_ms(SESSION_MS - 1)
    assert joined(ticket).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_group_is_empty_when_the_last_member_is_gone() -> None:
    groups = Groups()
    groups.stable()
    groups.host.pass_ms(SESSION_MS)
    assert groups.state() == "Empty"
    groups.restart()
    assert groups.state() == "Empty"
    assert groups.heartbeat("x", 2).code == ErrorCode.UNKNOWN_MEMBER_ID


def test_an_old_generation_does_not_beat() -> None:
    groups = Groups()
    (member_id,) = groups.stable()
    assert groups.heartbeat(member_id, 0).code == ErrorCode.ILLEGAL_GENERATION
    groups.host.pass_ms(SESSION_MS)
    assert groups.state() == "Empty"


def test_after_a_restart_everybody_has_a_whole_session() -> None:
    groups = Groups()
    (member_id,) = groups.stable()
    groups.host.pass_ms(SESSION_MS - 1)
    groups.restart()
    groups.host.pass_ms(SESSION_MS - 1)
    assert groups.heartbeat(member_id, 1).response.error_code == ErrorCode.NONE
    groups.host.pass_ms(SESSION_MS)
    assert groups.state() == "Empty"


def test_who_leaves_is_out_at_once() -> None:
    groups = Groups()
    first, second = groups.stable(2)
    assert [row.error_code for row in left(groups.leave(identity(second))).members] == [ErrorCode.NONE]
    assert groups.heartbeat(first, 1).response.error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert joined(groups.join(first)).generation_id == 2


def test_many_leave_in_one_request() -> None:
    groups = Groups()
    first, second = groups.stable(2)
    rows = left(groups.leave(identity(first), identity("x"), identity(second), identity("", "i"))).members
    assert [row.error_code for row in rows] == [
        ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID,
    ]  # fmt: skip
    assert groups.state() == "Empty"


def test_who_leaves_while_waiting_is_answered() -> None:
    groups = Groups()
    leader, second = groups.stable(2)
    groups.new_member()
    waiting = groups.join(second)
    groups.leave(identity(second))
    assert joined(waiting).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert joined(groups.join(leader)).generation_id == 2
    third = groups.sync(leader, 2)
    assert synced(third).error_code == ErrorCode.NONE


def test_who_was_told_to_come_back_may_say_that_it_will_not() -> None:
    groups = Groups()
    first, second = groups.stable(2)
    pending = joined(groups.join()).member_id
    tickets = [groups.join(first), groups.join(second)]
    assert not tickets[0].done
    groups.leave(identity(pending))
    assert [joined(ticket).generation_id for ticket in tickets] == [2, 2]


def test_the_last_one_to_leave_closes_the_group() -> None:
    groups = Groups()
    (member_id,) = groups.stable()
    groups.leave(identity(member_id))
    assert groups.state() == "Empty"
    groups.restart()
    assert groups.state() == "Empty"
    _, ticket = groups.new_member()
    groups.host.pass_ms(DELAY_MS)
    assert joined(ticket).generation_id == 3


def test_a_generation_without_members_is_never_handed_out() -> None:
    groups = Groups()
    member_id, ticket = groups.new_member()
    groups.leave(identity(member_id))
    assert joined(ticket).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    groups.host.pass_ms(REBALANCE_MS)
    assert groups.state() == "Empty"


@pytest.mark.parametrize("group", ["g", "another"])
def test_nobody_leaves_what_they_are_not_in(group: str) -> None:
    groups = Groups()
    groups.stable()
    ticket = groups.leave(identity("x"), group=group)
    if group == "g":
        assert left(ticket).members[0].error_code == ErrorCode.UNKNOWN_MEMBER_ID
    else:
        assert ticket.code == ErrorCode.UNKNOWN_MEMBER_ID
    assert groups.state() == "Stable"
