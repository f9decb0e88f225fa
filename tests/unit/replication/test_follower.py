"""A follower cuts what its leader does not have, and no more."""

from __future__ import annotations

from barnabas.replication.follower import EpochEnd, cut_offset

UNKNOWN = EpochEnd(-1, -1)


def test_in_a_common_epoch_the_shorter_log_counts() -> None:
    assert cut_offset(EpochEnd(4, 80), EpochEnd(4, 90), 100, 70) == 80
    assert cut_offset(EpochEnd(4, 95), EpochEnd(4, 90), 100, 70) == 90


def test_without_the_leaders_epoch_the_end_of_the_one_before_counts() -> None:
    assert cut_offset(EpochEnd(4, 95), EpochEnd(3, 60), 100, 50) == 60


def test_a_log_without_epochs_is_cut_where_the_leaders_ends() -> None:
    assert cut_offset(EpochEnd(4, 95), UNKNOWN, 100, 50) == 95
    assert cut_offset(EpochEnd(-1, 120), EpochEnd(3, 60), 100, 50) == 100


def test_a_leader_that_cannot_tell_leaves_what_is_committed() -> None:
    assert cut_offset(UNKNOWN, EpochEnd(3, 60), 100, 50) == 50
