"""Several sessions on one tree, as in an ensemble: what only the memory home can show without one."""

from __future__ import annotations

from barnabas.ports import (
    Changed,
    Children,
    Completed,
    Create,
    Get,
    NodeExistsError,
    SessionBegan,
    SessionEnded,
    Set,
    StoreEvent,
    Value,
)
from barnabas.store.memory import MemoryHome, MemoryStore


def started(home: MemoryHome) -> MemoryStore:
    store = MemoryStore(home)
    store.start(lambda: None)
    store.events()
    return store


def answer(store: MemoryStore) -> StoreEvent:
    return store.events()[-1]


def test_sessions_see_each_others_writes_and_are_told_of_them() -> None:
    home = MemoryHome()
    one, two = started(home), started(home)
    one.submit([Create("/a")])
    two.submit([Get("/a", watch=True)])
    two.events()
    one.submit([Set("/a", b"x")])
    assert two.events() == [Changed("/a")]


def test_one_of_two_claims_succeeds_and_the_other_learns_when_the_office_is_free() -> None:
    home = MemoryHome()
    one, two = started(home), started(home)
    one.submit([Create("/controller", ephemeral=True)])
    two.submit([Create("/controller", ephemeral=True)])
    refused = answer(two)
    assert isinstance(refused, Completed)
    assert isinstance(refused.error, NodeExistsError)
    two.submit([Get("/controller", watch=True)])
    two.events()
    one.close()
    assert two.events() == [Changed("/controller")]


def test_an_expired_session_loses_its_ephemeral_nodes_and_its_watches() -> None:
    home = MemoryHome()
    one, two = started(home), started(home)
    one.submit([Create("/mine", ephemeral=True)])
    one.submit([Get("/other", watch=True)])
    one.submit([Children("/", watch=True)])
    two.submit([Get("/mine", watch=True)])
    for store in (one, two):
        store.events()
    one.expire()
    ended, began = one.events()
    assert ended == SessionEnded()
    assert isinstance(began, SessionBegan)
    assert two.events() == [Changed("/mine")]
    two.submit([Create("/other")])
    assert one.events() == []


def test_a_new_session_owns_what_it_creates_then() -> None:
    home = MemoryHome()
    store = started(home)
    store.expire()
    began = store.events()[-1]
    assert isinstance(began, SessionBegan)
    store.submit([Create("/mine", ephemeral=True)])
    completed = answer(store)
    assert isinstance(completed, Completed)
    (value,) = completed.answers
    assert isinstance(value, Value)
    assert value.stat.ephemeral_owner == began.session_id
