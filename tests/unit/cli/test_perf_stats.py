"""What the performance tools count, and their lines."""

from __future__ import annotations

from barnabas.cli.kafka_consumer_perf_test import Counts, date_writer, rates
from barnabas.cli.perf_stats import SAMPLES_MAX, Throttle, Totals, Window

MEGABYTE = 1024 * 1024


def test_a_window_is_one_line() -> None:
    window = Window(1_000)
    window.add(10, MEGABYTE)
    window.add(30, MEGABYTE)
    assert window.line(3_000) == (
        "2 records sent, 1.0 records/sec (1.00 MB/sec), 20.0 ms avg latency, 30.0 ms max latency."
    )


def test_the_totals_have_percentiles() -> None:
    totals = Totals.begin(1_000, 0)
    for latency_ms in range(1_000):
        totals.add(latency_ms, 0)
    assert totals.line(1_000) == (
        "1000 records sent, 1000.000000 records/sec (0.00 MB/sec), 499.50 ms avg latency, "
        "999.00 ms max latency, 500 ms 50th, 950 ms 95th, 990 ms 99th, 999 ms 99.9th."
    )


def test_the_steady_state_says_so() -> None:
    totals = Totals.begin(1, 0, steady=True)
    totals.add(1, 0)
    assert totals.line(1).startswith("1 steady state records sent, ")


def test_memory_is_bounded_however_many_records_are_sent() -> None:
    totals = Totals.begin(4 * SAMPLES_MAX, 0)
    assert totals.sample_every == 4
    for _ in range(40):
        totals.add(1, 1)
    assert len(totals.latencies_ms) == 10


def test_the_throttle_sleeps_off_what_is_too_fast_and_never_less_than_two_milliseconds() -> None:
    throttle = Throttle(1_000, 0.0)
    pauses = [throttle.pause_seconds(1_000_000, 0.5) for _ in range(4)]
    assert pauses == [0.0, 0.002, 0.0, 0.002]
    assert throttle.pause_seconds(10, 1.0) == 0.0
    assert Throttle(-1, 0.0).pause_seconds(1_000_000, 0.5) == 0.0


def test_the_consumers_columns_leave_the_time_to_join_out_of_the_fetch_rates() -> None:
    read = Counts(300, 3 * MEGABYTE)
    assert rates(read, read, 3_000, 1_000) == "3.0000, 1.0000, 300, 100.0000, 1000, 2000, 1.5000, 150.0000"
    assert rates(read, Counts(), 0, 0) == "3.0000, 0.0000, 300, 0.0000, 0, 0, 0.0000, 0.0000"


def test_dates_follow_javas_letters() -> None:
    moment_ms = 1_700_000_000_042
    assert date_writer("SSS")(moment_ms) == "042"
    assert date_writer("yyyy-MM")(moment_ms) == "2023-11"
    assert len(date_writer("yyyy-MM-dd HH:mm:ss:SSS")(moment_ms)) == len("2023-11-14 22:13:20:042")
