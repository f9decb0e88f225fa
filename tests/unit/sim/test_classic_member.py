"""What a classic group's leader hands out."""

from __future__ import annotations

from barnabas.model.ids import TopicPartition
from barnabas.sim.classic_member import read_assignment, share_by_range, write_assignment

_PLACES = frozenset(TopicPartition("a", index) for index in range(5)) | {TopicPartition("b", 0)}


def test_everything_is_handed_out_once_in_consecutive_pieces() -> None:
    shares = dict(share_by_range(["two", "one"], _PLACES))
    assert {place.partition for place in shares["one"] if place.topic == "a"} == {0, 1, 2}
    assert {place.partition for place in shares["two"] if place.topic == "a"} == {3, 4}
    assert shares["one"] | shares["two"] == _PLACES
    assert not shares["one"] & shares["two"]


def test_who_comes_too_late_gets_nothing() -> None:
    shares = dict(share_by_range(["one", "two", "three"], frozenset({TopicPartition("b", 0)})))
    assert sorted(len(share) for share in shares.values()) == [0, 0, 1]


def test_an_assignment_is_read_as_it_was_written() -> None:
    assert read_assignment(write_assignment(_PLACES)) == _PLACES
    assert read_assignment(write_assignment(frozenset())) == frozenset()
    assert read_assignment(b"") == frozenset()
