from __future__ import annotations

from barnabas.broker.timers import FOREVER_MS, Timers


def test_due_timers_run_in_order_of_their_deadlines() -> None:
    timers, ran = Timers(), []
    timers.at(30, lambda: ran.append("c"))
    timers.at(10, lambda: ran.append("a"))
    timers.at(10, lambda: ran.append("b"))
    assert timers.run_due(20) == 10
    assert ran == ["a", "b"]
    assert timers.run_due(30) == FOREVER_MS
    assert ran == ["a", "b", "c"]


def test_a_cancelled_timer_never_runs() -> None:
    timers, ran = Timers(), []
    timer = timers.at(10, lambda: ran.append("x"))
    timers.cancel(timer)
    timers.cancel(timer)
    timers.run_due(100)
    assert ran == []
    assert len(timers) == 0


def test_cancelled_timers_of_the_far_future_do_not_pile_up() -> None:
    timers = Timers()
    for _ in range(100_000):
        timers.cancel(timers.at(10**9, lambda: None))
    assert len(timers._heap) < 5_000


def test_a_timer_may_set_the_next_one() -> None:
    timers, ran = Timers(), []

    def again() -> None:
        ran.append(1)
        if len(ran) < 3:
            timers.at(5, again)

    timers.at(5, again)
    timers.run_due(5)
    assert ran == [1, 1, 1]
