"""The simulated ensemble is as unkind as a real one: sessions end late, a write's fate may be unknown."""

from __future__ import annotations

import pytest
from tests.support.simulated_store import BROKER, SimulatedHome
from tests.support.store import Harness

from barnabas.ports import Changed, Completed, Create, Get, SessionBegan, SessionEnded, StoreLostError
from barnabas.sim.cluster.routes import ENSEMBLE

_TIMEOUT_MS = 600
_LONG_MS = 2 * _TIMEOUT_MS


@pytest.fixture
def home() -> SimulatedHome:
    return SimulatedHome(session_timeout_ms=_TIMEOUT_MS)


def has(home: SimulatedHome, path: str) -> bool:
    return path in home.ensemble.home.tree.nodes


def test_the_nodes_of_a_dead_process_stay_until_its_session_ends(home: SimulatedHome) -> None:
    store = home.store()
    Harness(store).run(Create("/e", ephemeral=True))
    store.die()
    home.wait(_TIMEOUT_MS // 2)
    assert has(home, "/e")
    home.wait(_LONG_MS)
    assert not has(home, "/e")


def test_the_nodes_of_a_closed_session_go_at_once(home: SimulatedHome) -> None:
    store = home.store()
    Harness(store).run(Create("/e", ephemeral=True))
    store.close()
    assert not has(home, "/e")


def test_who_closes_in_a_session_that_has_ended_leaves_nothing_behind(home: SimulatedHome) -> None:
    store = home.store()
    harness = Harness(store)
    harness.run(Create("/e", ephemeral=True))
    store.sleep()
    home.wait(_LONG_MS)
    store.wake()
    harness.submit(Create("/zombie"))
    store.close()
    home.wait(_LONG_MS)
    assert not has(home, "/zombie")
    assert not home.ensemble.home.sessions


def test_a_short_sleep_costs_nothing(home: SimulatedHome) -> None:
    store = home.store()
    harness = Harness(store)
    harness.run(Create("/e", ephemeral=True))
    store.sleep()
    home.wait(_TIMEOUT_MS // 2)
    store.wake()
    home.wait(_LONG_MS)
    harness.drain()
    assert has(home, "/e")
    assert not any(isinstance(event, SessionEnded) for event in harness.seen)


def test_who_sleeps_too_long_learns_that_its_session_has_ended(home: SimulatedHome) -> None:
    store = home.store()
    harness = Harness(store)
    harness.run(Create("/e", ephemeral=True))
    store.sleep()
    home.wait(_LONG_MS)
    assert not has(home, "/e")
    store.wake()
    ticket = harness.submit(Create("/zombie"))
    harness.wait_for_new_session()
    assert isinstance(harness.completed(ticket).error, StoreLostError)
    assert not has(home, "/zombie")
    harness.run(Create("/again"))


def test_a_cut_of_any_direction_ends_the_session_and_a_mend_begins_another() -> None:
    for source, target in ((BROKER, ENSEMBLE), (ENSEMBLE, BROKER)):
        home = SimulatedHome(session_timeout_ms=_TIMEOUT_MS)
        store = home.store()
        harness = Harness(store)
        harness.run(Create("/e", ephemeral=True))
        home.routes.cut(source, target)
        store.cut_off()
        home.wait(2 * _LONG_MS)
        assert not has(home, "/e")
        harness.drain()
        assert not any(isinstance(event, SessionEnded) for event in harness.seen)  # nobody could tell
        home.routes.mend()
        store.mended()
        harness.wait_for_new_session()


def test_a_broken_connection_loses_answers_and_sometimes_writes() -> None:
    fates = set()
    for seed in range(30):
        home = SimulatedHome(seed)
        store = home.store()
        harness = Harness(store)
        ticket = harness.submit(Create("/a"))
        store.break_off()
        assert isinstance(harness.completed(ticket).error, StoreLostError)
        fates.add(has(home, "/a"))
    assert fates == {True, False}


def test_a_broken_connection_fires_every_watch_and_asks_reads_again(home: SimulatedHome) -> None:
    store = home.store()
    harness = Harness(store)
    harness.value("/w", watch=True)
    ticket = harness.submit(Get("/"))
    store.break_off()
    assert harness.completed(ticket).error is None
    assert Changed("/w") in harness.seen
    assert sum(isinstance(event, SessionBegan) for event in harness.seen) == 1


def test_answers_come_in_order_across_a_broken_connection() -> None:
    for seed in range(20):
        home = SimulatedHome(seed)
        store = home.store()
        harness = Harness(store)
        tickets = [harness.submit(Get("/") if at % 2 else Create(f"/{at}")) for at in range(6)]
        home.wait(2)
        store.break_off()
        harness.completed(tickets[-1])
        answered = [event.ticket for event in harness.seen if isinstance(event, Completed)]
        assert answered == tickets


def test_a_change_while_disconnected_is_told_later(home: SimulatedHome) -> None:
    store, other = home.store(), home.store(2)
    harness, writer = Harness(store), Harness(other)
    harness.value("/w", watch=True)
    home.routes.cut(BROKER, ENSEMBLE)
    store.cut_off()
    home.wait(_TIMEOUT_MS * 2 // 3)
    writer.run(Create("/w"))
    assert Changed("/w") not in harness.seen
    home.routes.mend()
    store.mended()
    harness.wait_for("the change", lambda seen: Changed("/w") in seen)


def test_a_change_under_way_when_the_connection_breaks_is_told_all_the_same() -> None:
    for seed in range(10):
        home = SimulatedHome(seed)
        store, other = home.store(), home.store(2)
        harness, writer = Harness(store), Harness(other)
        harness.value("/w", watch=True)
        writer.submit(Create("/w"))
        while not has(home, "/w"):
            home.world.step()
        store.break_off()
        harness.wait_for("the change", lambda seen: Changed("/w") in seen)
