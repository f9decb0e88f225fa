from __future__ import annotations

from barnabas.replication.throttle import ThrottleWindow, names_replica


def test_a_pair_means_one_replica_and_a_star_means_all() -> None:
    assert names_replica(("0:1", "1:2"), 1, 2)
    assert not names_replica(("0:1", "1:2"), 1, 1)
    assert names_replica(("*",), 7, 9)
    assert not names_replica((), 0, 1)


def test_a_burst_is_averaged_over_the_window() -> None:
    window = ThrottleWindow(11, 1000)
    window.record(50_000, 0)
    assert window.bytes_per_second(0) == 5_000
    assert not window.exceeds(5_000, 0)
    window.record(1, 0)
    assert window.exceeds(5_000, 0)


def test_what_is_older_than_the_window_is_forgotten() -> None:
    window = ThrottleWindow(11, 1000)
    window.record(1_000_000, 0)
    assert window.exceeds(10_000, 10_999)
    assert not window.exceeds(10_000, 11_000)
    assert window.bytes_per_second(11_000) == 0


def test_a_steady_stream_has_its_own_rate() -> None:
    window = ThrottleWindow(11, 1000)
    for now_ms in range(0, 60_000, 100):
        window.record(1_000, now_ms)
    assert 9_000 <= window.bytes_per_second(60_000) <= 11_000


def test_without_a_limit_nothing_is_too_fast() -> None:
    window = ThrottleWindow(11, 1000)
    window.record(2**40, 0)
    assert not window.exceeds(None, 0)
    assert window.exceeds(0, 0)
