from __future__ import annotations

from tests.support.groups import DELAY_MS, Groups, joined

from barnabas.model.errors import ErrorCode


def test_a_new_member_is_told_to_come_back_with_an_id() -> None:
    groups = Groups()
    answer = joined(groups.join())
    assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED
    assert answer.member_id.startswith("app-")
    assert groups.state() == "Empty"


def test_the_first_rebalance_waits_for_its_delay() -> None:
    groups = Groups()
    member_id, ticket = groups.new_member()
    groups.host.pass_ms(DELAY_MS - 1)
    assert not ticket.done
    groups.host.pass_ms(1)
    answer = joined(ticket)
    assert (answer.generation_id, answer.leader, answer.protocol_name) == (1, member_id, "range")
    assert [member.member_id for member in answer.members] == [member_id]


def test_a_group_becomes_stable() -> None:
    groups = Groups()
    members = groups.stable(3)
    assert groups.heartbeat(members[2], 1).response.error_code == ErrorCode.NONE
