"""A consumer is sent to the follower of its rack that is nearest to the leader's end, and to nobody else."""

from __future__ import annotations

from barnabas.replication.read_replica import Candidate, nearest

AHEAD = Candidate(100, 5_000, 2)
BEHIND = Candidate(90, 5_000, 3)


def test_a_consumer_reads_in_its_own_rack() -> None:
    assert nearest("b", "a", [("b", BEHIND), ("c", AHEAD)]) == 3


def test_of_two_in_the_rack_the_one_with_more_is_chosen() -> None:
    assert nearest("b", "a", [("b", BEHIND), ("b", AHEAD)]) == 2


def test_of_two_with_the_same_end_the_one_that_was_caught_up_later_is_chosen() -> None:
    assert nearest("b", "a", [("b", AHEAD), ("b", Candidate(100, 6_000, 1))]) == 1


def test_a_leader_in_the_rack_keeps_its_consumers() -> None:
    assert nearest("b", "b", [("b", AHEAD)]) is None


def test_a_rack_without_replicas_reads_from_the_leader() -> None:
    assert nearest("z", "a", [("b", AHEAD)]) is None


def test_a_consumer_without_a_rack_reads_from_the_leader() -> None:
    assert nearest("", None, [(None, AHEAD), ("", BEHIND)]) is None
