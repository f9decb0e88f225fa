"""Each checker of groups on a story that is well, and on the nearest one that is not."""

from __future__ import annotations

from tests.unit.sim.histories import HERE, assigned, commit, committed, complaints, left, offsets, seen

from barnabas.model.ids import TopicPartition
from barnabas.sim.cluster_events import DeposedAsked, StateWritten
from barnabas.sim.group_checkers import (
    CommitsAreFenced,
    CommitsAreKept,
    GroupsSettle,
    NoPollSkip,
    NothingUnseen,
    PollsInOrder,
)
from barnabas.sim.history import (
    Assigned,
    CommitAcknowledged,
    CommitAsked,
    Event,
    GroupFound,
    OffsetsAsked,
    OffsetsRead,
)

_REMEMBERED = TopicPartition("__consumer_offsets", 0)


def _elected(leader_epoch: int) -> StateWritten:
    return StateWritten(_REMEMBERED, "id", leader_epoch, 1, 1, 1, leader_epoch, (1,), (), (1, 2))


def test_a_poll_that_goes_back_is_a_complaint() -> None:
    assert complaints(PollsInOrder(), seen("a", 0, b"x", b"y"), seen("a", 1, b"y"))


def test_a_new_assignment_may_go_back() -> None:
    again = (assigned("a"), seen("a", 0, b"x"), assigned("a"), seen("a", 0, b"x"))
    assert not complaints(PollsInOrder(), *again)


def test_a_record_that_was_passed_over_is_a_complaint() -> None:
    log = left(0, b"x", b"y", b"z")
    assert complaints(NoPollSkip(), assigned("a"), seen("a", 0, b"x"), seen("a", 2, b"z"), log)
    assert not complaints(NoPollSkip(), assigned("a"), seen("a", 0, b"x"), seen("a", 1, b"y", b"z"), log)


def test_the_first_poll_may_not_skip_either() -> None:
    log = left(0, b"x", b"y")
    assert complaints(NoPollSkip(), assigned("a"), seen("a", 1, b"y"), log)


def test_offsets_without_a_record_may_be_passed_over() -> None:
    log = [*left(0, b"x"), *left(2, b"z")]  # a marker between them
    assert not complaints(NoPollSkip(), assigned("a"), seen("a", 0, b"x"), seen("a", 2, b"z"), log)


def test_what_no_member_saw_is_a_complaint() -> None:
    log = left(0, b"x", b"y")
    assert complaints(NothingUnseen(), assigned("a"), seen("a", 0, b"x"), log)
    both = (assigned("a"), seen("a", 0, b"x"), assigned("b", 1), seen("b", 1, b"y"))
    assert not complaints(NothingUnseen(), *both, log)


def test_an_acknowledged_commit_that_is_not_read_back_is_a_complaint() -> None:
    assert complaints(CommitsAreKept(), commit("a", 3), commit("a", 5), offsets("b", 3))
    assert complaints(CommitsAreKept(), commit("a", 3), offsets("b", -1))
    assert not complaints(CommitsAreKept(), commit("a", 3), commit("a", 5), offsets("b", 5))


def test_a_commit_acknowledged_after_the_question_may_be_missed() -> None:
    asked = OffsetsAsked("group", "b", (HERE,))
    assert not complaints(CommitsAreKept(), asked, commit("a", 3), OffsetsRead(asked, ((HERE, -1),)))


def _deposed_reads(offset: int) -> list[Event]:
    asked = OffsetsAsked("group", "b", (HERE,))
    return [asked, DeposedAsked("b", _REMEMBERED, 0), OffsetsRead(asked, ((HERE, offset),))]


def test_who_has_not_heard_of_its_successor_may_miss_what_that_one_acknowledged() -> None:
    story = (_elected(0), commit("a", 3), _elected(1), commit("a", 5))
    assert not complaints(CommitsAreKept(), *story, _deposed_reads(3))
    assert complaints(CommitsAreKept(), *story, offsets("b", 3))


def test_who_has_not_heard_of_its_successor_knows_what_was_acknowledged_before() -> None:
    assert complaints(CommitsAreKept(), _elected(0), commit("a", 3), _elected(1), _deposed_reads(-1))
    later = (_elected(0), _elected(1), commit("a", 3), _elected(2), commit("a", 5))
    assert not complaints(CommitsAreKept(), *later, _deposed_reads(-1))


def test_the_next_question_goes_to_whom_it_goes() -> None:
    story = (_elected(0), _elected(1), commit("a", 3))
    assert complaints(CommitsAreKept(), *story, _deposed_reads(-1), offsets("b", -1))


def test_a_commit_without_an_answer_may_come_late_in_its_own_generation() -> None:
    lost = CommitAsked("group", "a", 1, ((HERE, 3),))
    assert not complaints(CommitsAreKept(), lost, commit("a", 5), offsets("b", 3))
    assert complaints(CommitsAreKept(), lost, commit("c", 5), offsets("b", 3))


def test_an_offset_that_nobody_committed_is_a_complaint() -> None:
    assert complaints(CommitsAreKept(), commit("a", 3), offsets("b", 4))


def test_offsets_of_a_transaction_count_once_it_is_committed() -> None:
    assert not complaints(CommitsAreKept(), commit("a", 3, "one"), offsets("b", -1))
    assert complaints(CommitsAreKept(), commit("a", 3, "one"), committed("one"), offsets("b", -1))


def test_a_commit_for_what_is_anothers_is_a_complaint() -> None:
    assert complaints(CommitsAreFenced(), assigned("a"), assigned("b"), commit("a", 3))
    assert not complaints(CommitsAreFenced(), assigned("a"), commit("a", 3), assigned("b"))


def test_who_was_frozen_since_it_asked_where_to_begin_takes_nothing_from_anybody() -> None:
    owner = Assigned("group", "a", 2, ((HERE, 0),), asked_ms=20)
    zombie = Assigned("group", "b", 1, ((HERE, 0),), asked_ms=10)
    assert not complaints(CommitsAreFenced(), owner, zombie, commit("a", 3))
    assert complaints(CommitsAreFenced(), owner, zombie, commit("b", 3))


def test_a_commit_asked_before_another_had_it_may_be_acknowledged_later() -> None:
    asked = CommitAsked("group", "a", 1, ((HERE, 3),))
    assert not complaints(CommitsAreFenced(), assigned("a"), asked, assigned("b"), CommitAcknowledged(asked))


def test_a_group_that_is_not_stable_or_not_complete_is_a_complaint() -> None:
    assert complaints(GroupsSettle(), GroupFound("group", "PreparingRebalance", 2, 2))
    assert complaints(GroupsSettle(), GroupFound("group", "Stable", 3, 2))
    assert not complaints(GroupsSettle(), GroupFound("group", "Stable", 2, 2))
