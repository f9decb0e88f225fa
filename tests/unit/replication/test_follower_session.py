from __future__ import annotations

from barnabas.replication.follower_session import Asked, FollowerSession

PLACE = (b"topic", 0)
ASKED = Asked(leader_epoch=3, fetch_offset=10, last_fetched_epoch=2, log_start_offset=0, high_watermark=9)


def test_only_what_changed_is_said() -> None:
    session = FollowerSession()
    assert session.tell(PLACE, ASKED)
    assert not session.tell(PLACE, ASKED)
    assert session.tell(PLACE, ASKED._replace(fetch_offset=11))
    assert session.leave_out(PLACE)
    assert not session.leave_out(PLACE)


def test_a_session_counts_its_questions_and_begins_again_at_one() -> None:
    session = FollowerSession()
    session.answered(7)
    assert (session.id, session.epoch) == (7, 1)
    session.epoch = 2**31 - 1
    session.answered(7)
    assert (session.id, session.epoch) == (7, 1)


def test_to_begin_again_names_the_session_that_is_over_and_a_lost_one_is_not_named() -> None:
    session = FollowerSession()
    session.tell(PLACE, ASKED)
    session.answered(7)
    session.begin_again()
    assert (session.id, session.is_incremental, session.known) == (7, False, {})
    session.answered(8)
    assert (session.id, session.epoch) == (8, 1)
    session.forgotten()
    assert (session.id, session.is_incremental) == (0, False)


def test_without_room_at_the_leader_there_is_no_session() -> None:
    session = FollowerSession()
    session.answered(0)
    assert (session.id, session.is_incremental) == (0, False)
