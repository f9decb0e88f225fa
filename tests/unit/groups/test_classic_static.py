"""Static members (KIP-345): the same instance under a new member id, and the old one fenced."""

from __future__ import annotations

from tests.support.groups import DELAY_MS, REBALANCE_MS, SESSION_MS, Groups, identity, joined, left, synced

from barnabas.model.errors import ErrorCode
from barnabas.protocol.internal.groups import GroupMetadataValue
from barnabas.protocol.messages.join_group import JoinGroupRequestProtocol


def stable(groups: Groups, *instances: str) -> dict[str, str]:
    """Assigned; the first leads."""
    tickets = {name: groups.join(group_instance_id=name) for name in instances}
    groups.host.pass_ms(2 * DELAY_MS)
    members = {name: joined(ticket).member_id for name, ticket in tickets.items()}
    for name, member_id in members.items():
        groups.sync(member_id, 1, {row: row.encode() for row in members.values()}, group_instance_id=name)
    assert groups.state() == "Stable"
    return members


def test_a_static_member_needs_no_id_to_join() -> None:
    groups = Groups()
    members = stable(groups, "a")
    assert members["a"].startswith("a-")


def test_an_instance_that_comes_back_keeps_its_assignment_without_a_rebalance() -> None:
    groups = Groups()
    before = stable(groups, "a", "b")
    answer = joined(groups.join(group_instance_id="b"))
    assert (answer.generation_id, answer.error_code) == (1, ErrorCode.NONE)
    assert answer.member_id != before["b"]
    assert groups.state() == "Stable"
    kept = groups.sync(answer.member_id, 1, group_instance_id="b")
    assert synced(kept).assignment == before["b"].encode()


def test_its_new_id_is_remembered() -> None:
    groups = Groups()
    stable(groups, "a", "b")
    member_id = joined(groups.join(group_instance_id="b")).member_id
    value = groups.host.log[-1][0].value
    assert isinstance(value, GroupMetadataValue)
    assert [row.member_id for row in value.members if row.group_instance_id == "b"] == [member_id]
    groups.restart()
    assert groups.heartbeat(member_id, 1, group_instance_id="b").response.error_code == ErrorCode.NONE


def test_its_old_id_is_fenced() -> None:
    groups = Groups()
    old = stable(groups, "a", "b")["b"]
    groups.join(group_instance_id="b")
    assert groups.heartbeat(old, 1, group_instance_id="b").code == ErrorCode.FENCED_INSTANCE_ID
    assert groups.sync(old, 1, group_instance_id="b").code == ErrorCode.FENCED_INSTANCE_ID
    assert joined(groups.join(old, group_instance_id="b")).error_code == ErrorCode.FENCED_INSTANCE_ID
    row = left(groups.leave(identity(old, "b"))).members[0]
    assert row.error_code == ErrorCode.FENCED_INSTANCE_ID


def test_a_leader_that_comes_back_is_told_to_skip_the_assignment() -> None:
    groups = Groups()
    stable(groups, "a", "b")
    answer = joined(groups.join(group_instance_id="a"))
    assert answer.skip_assignment
    assert answer.leader == answer.member_id
    assert len(answer.members) == 2


def test_an_older_leader_that_comes_back_does_not_hear_that_it_leads() -> None:
    groups = Groups()
    before = stable(groups, "a", "b")
    answer = joined(groups.join(group_instance_id="a", version=8))
    assert (answer.leader, answer.members, answer.skip_assignment) == (before["a"], (), False)


def test_what_cannot_be_remembered_is_taken_back() -> None:
    groups = Groups()
    before = stable(groups, "a", "b")
    groups.host.refuse_next = ErrorCode.COORDINATOR_NOT_AVAILABLE
    answer = joined(groups.join(group_instance_id="b", session_timeout_ms=20_000))
    assert (answer.error_code, answer.member_id) == (ErrorCode.COORDINATOR_NOT_AVAILABLE, "")
    assert groups.heartbeat(before["b"], 1, group_instance_id="b").response.error_code == ErrorCode.NONE
    groups.heartbeat(before["a"], 1)
    groups.host.pass_ms(SESSION_MS - 1)
    groups.heartbeat(before["a"], 1)
    groups.host.pass_ms(1)
    assert groups.heartbeat(before["b"], 1).code == ErrorCode.UNKNOWN_MEMBER_ID


def test_whoever_waits_under_the_old_id_is_fenced_at_once() -> None:
    groups = Groups()
    old = groups.join(group_instance_id="a")
    new = groups.join(group_instance_id="a")
    assert joined(old).error_code == ErrorCode.FENCED_INSTANCE_ID
    groups.host.pass_ms(2 * DELAY_MS)
    assert joined(new).error_code == ErrorCode.NONE
    assert len(list(groups.shard.groups["g"].member_ids())) == 1


def test_another_choice_of_protocol_needs_a_rebalance() -> None:
    groups = Groups()
    both = [JoinGroupRequestProtocol("x", b""), JoinGroupRequestProtocol("y", b"")]
    ticket = groups.join(group_instance_id="a", protocols=both)
    groups.host.pass_ms(DELAY_MS)
    groups.sync(joined(ticket).member_id, 1)
    answer = joined(groups.join(group_instance_id="a", protocols=both[1:]))
    assert (answer.generation_id, answer.protocol_name) == (2, "y")


def test_a_static_member_stays_for_its_sessions_time_when_it_does_not_rejoin() -> None:
    groups = Groups()
    first = stable(groups, "a", "b")["a"]
    groups.new_member()
    ticket = groups.join(first, group_instance_id="a")
    groups.host.pass_ms(SESSION_MS - 1)
    assert not ticket.done
    groups.host.pass_ms(1)
    assert joined(ticket).generation_id == 2


def test_a_rebalance_in_which_only_static_members_stay_away_goes_on_without_a_leader() -> None:
    groups = Groups()
    members = stable(groups, "a", "b")
    groups.join(members["b"], group_instance_id="b", protocols=[JoinGroupRequestProtocol("range", b"\0\0")])
    for _ in range(REBALANCE_MS // SESSION_MS + 1):
        groups.heartbeat(members["a"], 1, group_instance_id="a")
        groups.host.pass_ms(SESSION_MS - 1)
    assert groups.state() == "CompletingRebalance"
    assert set(groups.shard.groups["g"].member_ids()) == set(members.values())


def test_a_rebalance_to_which_nobody_came_waits_again() -> None:
    groups = Groups()
    members = stable(groups, "a", "b")
    newcomer = joined(groups.join()).member_id
    groups.join(newcomer)
    groups.leave(identity(newcomer))

    def live(duration_ms: int) -> None:
        for _ in range(duration_ms // SESSION_MS + 1):
            for name, member_id in members.items():
                groups.heartbeat(member_id, 1, group_instance_id=name)
            groups.host.pass_ms(SESSION_MS - 1)

    live(REBALANCE_MS)
    assert groups.state() == "PreparingRebalance"
    ticket = groups.join(members["b"], group_instance_id="b")
    assert not ticket.done
    live(REBALANCE_MS)
    assert joined(ticket).leader == members["b"]


def test_an_administrator_removes_an_instance_by_its_name() -> None:
    groups = Groups()
    members = stable(groups, "a", "b")
    row = left(groups.leave(identity("", "b"))).members[0]
    assert (row.member_id, row.error_code) == ("", ErrorCode.NONE)
    assert set(groups.shard.groups["g"].member_ids()) == {members["a"]}
