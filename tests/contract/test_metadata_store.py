"""What every home of the metadata store promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest
from tests.support.simulated_store import SimulatedHome
from tests.support.store import Harness

from barnabas.ports import (
    BadVersionError,
    Changed,
    Check,
    Children,
    Completed,
    Create,
    Delete,
    EphemeralParentError,
    Get,
    MetadataStore,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    Put,
    SessionBegan,
    Set,
    StoreError,
    StoreLostError,
    Subtree,
    Value,
    Values,
    Write,
)
from barnabas.store.memory import MemoryHome, MemoryStore
from barnabas.store.sqlite import SqliteStore
from barnabas.store.zookeeper import ZookeeperStore

Opener = Callable[[], Harness]


@pytest.fixture(params=["memory", "sqlite", "zookeeper", "simulated"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """Opens the same home again and again; one session at a time."""
    opened: list[Harness] = []
    make: Callable[[], MetadataStore]
    if request.param == "memory":
        make = partial(MemoryStore, MemoryHome())
    elif request.param == "sqlite":
        make = partial(SqliteStore, str(tmp_path))
    elif request.param == "simulated":
        make = SimulatedHome().store
    else:
        make = partial(ZookeeperStore, request.getfixturevalue("in_zookeeper")())

    def opener() -> Harness:
        opened.append(Harness(make()))
        return opened[-1]

    yield opener
    for harness in opened:
        harness.store.close()


@pytest.fixture
def home(reopen: Opener) -> Harness:
    return reopen()


def refusal(home: Harness, *operations: Write) -> StoreError:
    error = home.completed(home.submit(*operations)).error
    assert error is not None
    return error


# --- values and versions ---


def test_a_session_begins_before_anything_is_answered(home: Harness) -> None:
    home.run(Get("/"))
    assert isinstance(home.seen[0], SessionBegan)
    assert home.session_id > 0


def test_a_created_node_can_be_read(home: Harness) -> None:
    (created,) = home.run(Create("/a", b"one"))
    assert created == home.value("/a")
    assert isinstance(created, Value)
    assert (created.path, created.data, created.stat.version) == ("/a", b"one", 0)
    assert created.stat.ephemeral_owner == 0
    assert created.stat.czxid == created.stat.mzxid


def test_a_missing_node_is_none_to_every_read(home: Harness) -> None:
    assert home.run(Get("/no"), Children("/no"), Subtree("/no")) == (None, None, Values("/no", ()))


def test_each_set_raises_the_version_and_the_time_of_change(home: Harness) -> None:
    home.run(Create("/a", b"one"))
    before = home.value("/a")
    (after,) = home.run(Set("/a", b"two", version=0))
    assert isinstance(after, Value)
    assert before is not None
    assert (after.data, after.stat.version) == (b"two", 1)
    assert after.stat.czxid == before.stat.czxid
    assert after.stat.mzxid > before.stat.mzxid


def test_a_set_with_an_old_version_is_refused_and_changes_nothing(home: Harness) -> None:
    home.run(Create("/a", b"one"))
    home.run(Set("/a", b"two"))
    error = refusal(home, Set("/a", b"three", version=0))
    assert isinstance(error, BadVersionError)
    assert error.path == "/a"
    assert home.data("/a") == b"two"


def test_a_node_made_again_starts_at_version_zero_with_a_later_czxid(home: Harness) -> None:
    home.run(Create("/a", b"one"))
    first = home.value("/a")
    home.run(Set("/a", b"two"))
    home.run(Delete("/a"))
    home.run(Create("/a", b"three"))
    second = home.value("/a")
    assert first is not None
    assert second is not None
    assert second.stat.version == 0
    assert second.stat.czxid > first.stat.czxid


def test_put_creates_with_parents_and_then_sets(home: Harness) -> None:
    (first,) = home.run(Put("/a/b/c", b"one"))
    (second,) = home.run(Put("/a/b/c", b"two"))
    assert isinstance(first, Value)
    assert isinstance(second, Value)
    assert (first.stat.version, second.stat.version) == (0, 1)
    assert home.data("/a/b") == b""


# --- what is refused ---


@pytest.mark.parametrize(
    ("operation", "kind", "path"),
    [
        (Create("/a"), NodeExistsError, "/a"),
        (Create("/x/y"), NoNodeError, "/x/y"),
        (Create("/e/y"), EphemeralParentError, "/e/y"),
        (Set("/x", b""), NoNodeError, "/x"),
        (Delete("/x"), NoNodeError, "/x"),
        (Delete("/a"), NotEmptyError, "/a"),
        (Delete("/a/b", version=7), BadVersionError, "/a/b"),
        (Check("/x"), NoNodeError, "/x"),
        (Check("/a", version=1), BadVersionError, "/a"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(
    home: Harness, operation: Write, kind: type[StoreError], path: str
) -> None:
    home.run(Create("/a"), Create("/a/b"), Create("/e", ephemeral=True))
    error = refusal(home, operation)
    assert (type(error), error.path) == (kind, path)


@pytest.mark.parametrize("path", ["", "a", "/a/", "//a", "/a/../b", "/a\0"])
def test_a_path_that_is_none_fails_where_it_is_submitted(home: Harness, path: str) -> None:
    with pytest.raises(ValueError, match="not a path"):
        home.submit(Create(path))


def test_reads_and_writes_do_not_mix(home: Harness) -> None:
    with pytest.raises(ValueError, match="only reads or only writes"):
        home.submit(Get("/"), Create("/a"))


def test_a_multi_is_all_or_nothing(home: Harness) -> None:
    home.run(Create("/kept", b"old"), Create("/kept/below"), Create("/seq"))
    before = home.run(Subtree("/"))
    error = refusal(
        home,
        Set("/kept", b"new"),
        Create("/new"),
        Create("/new/below"),
        Delete("/kept", recursive=True),
        Create("/seq/n-", sequential=True),
        Put("/deep/er", b""),
        Check("/missing"),
    )
    assert (type(error), error.path) == (NoNodeError, "/missing")
    assert home.run(Subtree("/")) == before
    (numbered,) = home.run(Create("/seq/n-", sequential=True))
    assert isinstance(numbered, Value)
    assert numbered.path == "/seq/n-0000000000"


def test_operations_of_a_multi_see_those_before_them(home: Harness) -> None:
    answers = home.run(
        Create("/a"), Create("/a/b", b"1"), Set("/a/b", b"2", version=0), Delete("/a", recursive=True)
    )
    assert [type(answer) for answer in answers] == [Value, Value, Value, type(None)]
    assert home.value("/a") is None


def test_all_of_a_multi_happens_at_one_zxid(home: Harness) -> None:
    first, second = home.run(Create("/a"), Create("/b"))
    (third,) = home.run(Create("/c"))
    assert isinstance(first, Value)
    assert isinstance(second, Value)
    assert isinstance(third, Value)
    assert first.stat.czxid == second.stat.czxid < third.stat.czxid


# --- folders, sequences ---


def test_make_parents_makes_what_is_missing(home: Harness) -> None:
    home.run(Create("/a"))
    home.run(Create("/a/b/c", b"x", make_parents=True))
    assert home.data("/a/b") == b""
    assert home.data("/a/b/c") == b"x"


def test_recursive_delete_takes_everything_below_and_nothing_beside(home: Harness) -> None:
    home.run(*(Put(path, b"") for path in ("/a/b/c", "/a/b/d", "/a/e", "/ab")))
    home.run(Delete("/a", recursive=True))
    assert home.names("/") == ("ab",)


def test_deleting_what_is_missing_may_be_no_error(home: Harness) -> None:
    assert home.run(Delete("/a", missing_ok=True)) == (None,)


def test_children_are_names_in_order(home: Harness) -> None:
    home.run(Create("/a"), Create("/a/c"), Create("/a/b"), Create("/a/b/x"))
    assert home.names("/a") == ("b", "c")


def test_subtree_is_the_node_and_everything_below_in_order(home: Harness) -> None:
    home.run(*(Put(path, path.encode()) for path in ("/a/b/c", "/a-", "/a/d")))
    (answer,) = home.run(Subtree("/a"))
    assert isinstance(answer, Values)
    assert [value.path for value in answer.values] == ["/a", "/a/b", "/a/b/c", "/a/d"]
    assert answer.values[2] == home.value("/a/b/c")


def test_sequential_nodes_have_ten_growing_digits_never_used_twice(home: Harness) -> None:
    home.run(Create("/q"))
    paths = []
    for _ in range(3):
        (created,) = home.run(Create("/q/n-", sequential=True))
        assert isinstance(created, Value)
        paths.append(created.path)
        home.run(Delete(created.path))
    assert paths == sorted(set(paths))
    assert all(path.startswith("/q/n-") and len(path) == len("/q/n-") + 10 for path in paths)


# --- order ---


def test_submissions_are_answered_in_order(home: Harness) -> None:
    home.run(Create("/a", b""))
    tickets = []
    for number in range(300):
        tickets.append(home.submit(Set("/a", str(number).encode(), version=number)))
        tickets.append(home.submit(Get("/a")))
    home.completed(tickets[-1])
    answered = [event for event in home.seen if isinstance(event, Completed)][-len(tickets) :]
    assert [event.ticket for event in answered] == tickets
    read = [event.answers[0] for event in answered[1::2]]
    assert [value.data for value in read if isinstance(value, Value)] == [
        str(number).encode() for number in range(300)
    ]


def test_a_refused_submission_does_not_stop_the_next(home: Harness) -> None:
    refused = home.submit(Create("/no/parent"))
    home.run(Create("/a"))
    assert home.completed(refused).error is not None


# --- watches ---


def test_a_value_watch_fires_once(home: Harness) -> None:
    home.run(Create("/a"))
    home.value("/a", watch=True)
    home.run(Set("/a", b"1"))
    home.run(Set("/a", b"2"))
    assert home.changes() == ["/a"]


def test_a_watch_on_a_missing_node_fires_when_it_comes(home: Harness) -> None:
    home.value("/a", watch=True)
    home.run(Create("/b"))
    assert home.changes() == []
    home.run(Create("/a"))
    assert home.changes() == ["/a"]


def test_a_value_watch_fires_when_the_node_goes_and_not_for_its_children(home: Harness) -> None:
    home.run(Create("/a"))
    home.value("/a", watch=True)
    home.run(Create("/a/b"))
    home.run(Delete("/a/b"))
    assert home.changes() == []
    home.run(Delete("/a"))
    assert home.changes() == ["/a"]


@pytest.mark.parametrize(
    "operation", [Create("/a/new"), Delete("/a/old"), Delete("/a", recursive=True)], ids=str
)
def test_a_children_watch_fires_when_children_or_the_node_come_or_go(home: Harness, operation: Write) -> None:
    home.run(Create("/a"), Create("/a/old"))
    home.run(Children("/a", watch=True))
    home.run(Set("/a", b"value"), Set("/a/old", b"value"))
    home.run(Create("/a/old/below"))
    home.run(Delete("/a/old/below"))
    assert home.changes() == []
    home.run(operation)
    home.run(Put("/a/another", b""))
    assert home.changes() == ["/a"]


def test_a_refused_write_fires_no_watch(home: Harness) -> None:
    home.run(Create("/a"))
    home.value("/a", watch=True)
    refusal(home, Set("/a", b"1"), Check("/missing"))
    assert home.changes() == []
    home.run(Set("/a", b"1"))
    assert home.changes() == ["/a"]


def test_a_change_is_told_before_an_answer_shows_it(home: Harness) -> None:
    home.run(Create("/a"))
    home.value("/a", watch=True)
    ticket = home.submit(Set("/a", b"1"))
    completed = home.completed(ticket)
    assert home.seen.index(Changed("/a")) < home.seen.index(completed)


# --- sessions ---


def test_an_ephemeral_node_names_its_session_and_goes_with_it(reopen: Opener) -> None:
    first = reopen()
    (created,) = first.run(Create("/e", b"x", ephemeral=True))
    assert isinstance(created, Value)
    assert created.stat.ephemeral_owner == first.session_id
    first.run(Create("/p", b"y"))
    first.store.close()
    second = reopen()
    assert second.session_id != first.session_id
    assert second.value("/e") is None
    assert second.data("/p") == b"y"


def test_versions_zxids_and_sequences_go_on_after_reopening(reopen: Opener) -> None:
    first = reopen()
    first.run(Create("/q"))
    first.run(Set("/q", b"x"))
    first.run(Create("/q/n-", sequential=True))
    before = first.run(Subtree("/"))
    first.store.close()
    second = reopen()
    assert second.run(Subtree("/")) == before
    (created,) = second.run(Create("/q/n-", sequential=True))
    assert isinstance(created, Value)
    assert created.path == "/q/n-0000000001"
    (values,) = before
    assert isinstance(values, Values)
    assert created.stat.czxid > max(value.stat.mzxid for value in values.values)


def test_closing_carries_out_what_was_submitted(reopen: Opener) -> None:
    first = reopen()
    tickets = [first.submit(Create(f"/n{number:03}")) for number in range(100)]
    first.store.close()
    first.drain()
    answered = [event for event in first.seen if isinstance(event, Completed)]
    assert [event.ticket for event in answered] == tickets
    assert all(event.error is None for event in answered)
    assert len(reopen().names("/")) == 100


def test_a_submission_after_closing_is_lost(home: Harness) -> None:
    home.store.close()
    home.store.close()
    ticket = home.submit(Create("/a"))
    assert isinstance(home.completed(ticket).error, StoreLostError)


def test_binary_and_empty_values_come_back_as_they_were(reopen: Opener) -> None:
    values: Sequence[bytes] = (b"", bytes(range(256)), "Śledź".encode(), b"x" * 1_000_000)
    first = reopen()
    first.run(*(Create(f"/{number}", value) for number, value in enumerate(values)))
    first.store.close()
    second = reopen()
    assert [second.data(f"/{number}") for number in range(len(values))] == list(values)
