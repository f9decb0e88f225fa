"""Who comes into a classic group, and when the next generation begins."""

from __future__ import annotations

from tests.support.groups import DELAY_MS, REBALANCE_MS, SESSION_MS, Groups, joined, subscription

from barnabas.groups.classic import join
from barnabas.model.errors import ErrorCode
from barnabas.protocol.internal.groups import GroupMetadataValue
from barnabas.protocol.messages.join_group import JoinGroupRequestProtocol


def test_a_new_member_is_told_to_come_back_with_an_id() -> None:
    groups = Groups()
    answer = joined(groups.join())
    assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED
    assert answer.member_id.startswith("app-")
    assert groups.state() == "Empty"


def test_an_old_client_needs_no_id() -> None:
    groups = Groups()
    ticket = groups.join(version=3)
    groups.host.pass_ms(DELAY_MS)
    assert joined(ticket).error_code == ErrorCode.NONE
    assert joined(ticket).leader == joined(ticket).member_id


def test_a_new_group_is_remembered_before_its_first_generation() -> None:
    groups = Groups()
    groups.join()
    ((entry, _),) = groups.host.log
    assert isinstance(entry.value, GroupMetadataValue)
    assert (entry.value.generation, entry.value.members) == (0, ())
    groups.restart()
    assert groups.state() == "Empty"


def test_a_group_that_cannot_be_remembered_does_not_exist() -> None:
    for version in (3, 9):
        groups = Groups()
        groups.host.refuse_next = ErrorCode.COORDINATOR_NOT_AVAILABLE
        answer = joined(groups.join(version=version))
        assert answer.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
        assert "g" not in groups.shard.groups
        groups.host.pass_ms(2 * REBALANCE_MS)
        assert groups.host.log == []


def test_an_id_that_is_not_used_in_time_is_forgotten() -> None:
    groups = Groups()
    member_id = joined(groups.join()).member_id
    groups.host.pass_ms(SESSION_MS)
    assert joined(groups.join(member_id)).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_ids_that_nobody_uses_cost_only_so_much() -> None:
    groups = Groups()
    for _ in range(join.PENDING_MAX):
        groups.join()
    assert groups.join().code == ErrorCode.GROUP_MAX_SIZE_REACHED


def test_a_client_id_too_long_for_a_member_id_is_refused() -> None:
    groups = Groups()
    assert groups.join(client_id="c" * 32_767).code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert "g" not in groups.shard.groups


def test_the_first_rebalance_waits_for_its_delay() -> None:
    groups = Groups()
    member_id, ticket = groups.new_member()
    groups.host.pass_ms(DELAY_MS - 1)
    assert not ticket.done
    groups.host.pass_ms(1)
    answer = joined(ticket)
    assert (answer.generation_id, answer.leader, answer.protocol_name) == (1, member_id, "range")
    assert [member.member_id for member in answer.members] == [member_id]


def test_each_newcomer_renews_the_delay_within_the_rebalance_timeout() -> None:
    groups = Groups()
    tickets = [groups.new_member(rebalance_timeout_ms=10_000)[1]]
    for _ in range(3):
        groups.host.pass_ms(DELAY_MS - 100)
        tickets.append(groups.new_member(rebalance_timeout_ms=10_000)[1])
    assert not any(ticket.done for ticket in tickets)
    groups.host.pass_ms(10_000 - 3 * (DELAY_MS - 100))
    assert all(joined(ticket).generation_id == 1 for ticket in tickets)


def test_only_the_leader_learns_who_is_in() -> None:
    groups = Groups()
    first, second = groups.new_member(), groups.new_member()
    groups.host.pass_ms(2 * DELAY_MS)
    assert [row.member_id for row in joined(first[1]).members] == [first[0], second[0]]
    assert [row.metadata for row in joined(first[1]).members] == [subscription("t")] * 2
    assert joined(second[1]).members == ()
    assert joined(second[1]).leader == first[0]


def test_all_must_join_the_next_generation() -> None:
    groups = Groups()
    first, second = groups.stable(2)
    third, newcomer = groups.new_member()
    assert groups.state() == "PreparingRebalance"
    rejoined = [groups.join(first), groups.join(second)]
    assert {joined(ticket).generation_id for ticket in (newcomer, *rejoined)} == {2}
    assert groups.state() == "CompletingRebalance"
    assert third in groups.shard.groups["g"].member_ids()


def test_a_rebalance_does_not_wait_for_whom_it_takes_too_long() -> None:
    groups = Groups()
    first, second = groups.stable(2)
    ticket = groups.join(first, protocols=[JoinGroupRequestProtocol("range", subscription("u"))])
    for _ in range(REBALANCE_MS // SESSION_MS + 1):  # the other one is alive, and does not join
        groups.heartbeat(second, 1)
        groups.host.pass_ms(SESSION_MS - 1)
    groups.host.pass_ms(REBALANCE_MS)
    assert [row.member_id for row in joined(ticket).members] == [first]
    assert groups.heartbeat(second, 2).code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_rebalance_waits_for_a_member_that_was_told_to_come_back() -> None:
    groups = Groups()
    first, second = groups.stable(2)
    groups.join()
    tickets = [groups.join(first), groups.join(second)]
    assert not any(ticket.done for ticket in tickets)
    groups.host.pass_ms(SESSION_MS)
    assert all(joined(ticket).generation_id == 2 for ticket in tickets)


def test_a_leader_that_does_not_join_yields_to_one_that_does() -> None:
    groups = Groups()
    leader, second = groups.stable(2)
    protocols = [JoinGroupRequestProtocol("range", subscription("u"))]
    ticket = groups.join(second, protocols=protocols)
    groups.host.pass_ms(REBALANCE_MS)
    assert joined(ticket).leader == second != leader


def test_a_member_that_missed_its_answer_gets_it_again() -> None:
    groups = Groups()
    (member_id,) = groups.stable()
    second = joined(groups.join()).member_id
    groups.join(second)
    groups.join(member_id)
    again = joined(groups.join(second))
    assert (again.generation_id, again.members) == (2, ())
    assert groups.state() == "CompletingRebalance"


def test_only_a_leader_starts_a_rebalance_by_joining_again() -> None:
    groups = Groups()
    leader, second = groups.stable(2)
    assert joined(groups.join(second)).generation_id == 1
    assert groups.state() == "Stable"
    groups.join(leader)
    assert groups.state() == "PreparingRebalance"


def test_new_metadata_starts_a_rebalance() -> None:
    groups = Groups()
    _, second = groups.stable(2)
    groups.join(second, protocols=[JoinGroupRequestProtocol("range", subscription("u"))])
    assert groups.state() == "PreparingRebalance"


def test_a_second_request_answers_the_first() -> None:
    groups = Groups()
    member_id, first = groups.new_member()
    second = groups.join(member_id)
    assert joined(first).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    groups.host.pass_ms(DELAY_MS)
    assert joined(second).error_code == ErrorCode.NONE


def test_the_protocol_most_prefer_is_chosen_among_those_all_know() -> None:
    groups = Groups()

    def member(*names: str) -> None:
        groups.new_member(protocols=[JoinGroupRequestProtocol(name, b"") for name in names])

    member("a", "b", "c")
    member("only", "c", "b")
    member("c", "b")
    groups.host.pass_ms(3 * DELAY_MS)
    group = groups.shard.groups["g"]
    assert groups.state() == "CompletingRebalance"
    assert getattr(group, "protocol_name", None) == "c"


def test_a_protocol_that_not_all_know_is_refused() -> None:
    groups = Groups()
    groups.stable()
    other = [JoinGroupRequestProtocol("other", b"")]
    assert groups.join(protocols=other).code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert groups.join(protocol_type="connect").code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


def test_a_full_group_takes_nobody_else() -> None:
    groups = Groups(group_max_size="2")
    groups.stable(2)
    answer = joined(groups.join())
    assert (answer.error_code, answer.member_id) == (ErrorCode.GROUP_MAX_SIZE_REACHED, "")


def test_of_too_many_that_join_at_once_the_first_get_in() -> None:
    groups = Groups(group_max_size="2")
    ids = [joined(groups.join()).member_id for _ in range(3)]
    tickets = [groups.join(member_id) for member_id in ids]
    assert joined(tickets[2]).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    groups.host.pass_ms(2 * DELAY_MS)
    assert [joined(ticket).error_code for ticket in tickets[:2]] == [ErrorCode.NONE] * 2


def test_a_group_that_outgrew_the_limit_shrinks_after_a_restart() -> None:
    groups = Groups()
    members = groups.stable(3)
    groups.host.settings = Groups(group_max_size="2").host.settings
    groups.restart()
    assert groups.state() == "PreparingRebalance"
    tickets = [groups.join(member_id) for member_id in members]
    assert joined(tickets[2]).error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert [joined(ticket).generation_id for ticket in tickets[:2]] == [2, 2]


def test_whoever_waits_is_refused_when_the_shard_moves_away() -> None:
    groups = Groups()
    _, ticket = groups.new_member()
    groups.shard.unloaded()
    assert ticket.code == ErrorCode.NOT_COORDINATOR


def test_a_hundred_members_join_in_one_generation() -> None:
    groups = Groups()
    members = [groups.new_member() for _ in range(100)]
    groups.host.pass_ms(2 * DELAY_MS)
    assert {joined(ticket).generation_id for _, ticket in members} == {1}
    assert len(joined(members[0][1]).members) == 100
    # One session for each, the assignment and nothing else: what is answered leaves nothing behind.
    assert len(groups.host.timers) == 101
