"""In which order the ZooKeeper home tells things, and what it does not send, on a client with a script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import pytest
from kazoo import exceptions
from kazoo.protocol import serialization
from kazoo.protocol.states import ZnodeStat

from barnabas.ports import (
    Changed,
    Completed,
    Get,
    Read,
    Set,
    StoreEvent,
    StoreLostError,
    Value,
    Write,
)
from barnabas.store.session import check
from barnabas.store.zookeeper_client import Handler, Multi
from barnabas.store.zookeeper_options import ZookeeperOptions
from barnabas.store.zookeeper_worker import Close, Item, Submission, Worker

STAT = ZnodeStat(1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1)


class Scripted:
    """Answers at once with what the script says, in order; a step may also fire watches."""

    def __init__(self) -> None:
        self.handler = Handler(None, lambda: None)
        self.generation = 0
        self.script: list[Callable[[Any], None]] = []
        self.sent: list[str] = []

    def answer(self, value: object) -> None:
        self.script.append(lambda result: result.set(value))

    def fail(self, error: Exception) -> None:
        self.script.append(lambda result: result.set_exception(error))

    def answer_and_fire(self, value: object, path: str) -> None:
        def act(result: Any) -> None:
            result.set(value)
            self.handler.fired(object(), path)

        self.script.append(act)

    def fire_and_answer(self, path: str, value: object) -> None:
        def act(result: Any) -> None:
            self.handler.fired(object(), path)
            result.set(value)

        self.script.append(act)

    def _result(self, what: str) -> object:
        self.sent.append(what)
        result = self.handler.async_result()
        self.script.pop(0)(result)
        return result

    def get_async(self, path: str, _watch: object = None) -> object:
        return self._result(f"get {path}")

    def exists_async(self, path: str, _watch: object = None) -> object:
        return self._result(f"exists {path}")

    def multi(self, operations: list[object], generation: int) -> Multi:
        return Multi(operations, lambda: self.generation == generation)

    def send(self, request: Multi) -> object:
        request.serialize()
        return self._result("multi")


def carried_out(
    client: Scripted, *submissions: Sequence[Read] | Sequence[Write], generation: int = 0
) -> list[StoreEvent]:
    inbox: SimpleQueue[Item] = SimpleQueue()
    for ticket, operations in enumerate(submissions, 1):
        inbox.put(Submission(ticket, operations, check(operations), generation))
    inbox.put(Close())
    told: list[StoreEvent] = []
    Worker(client, ZookeeperOptions("host"), inbox, lambda *events: told.extend(events)).run()  # type: ignore[arg-type]
    return told


def tickets(events: list[StoreEvent]) -> list[int | str]:
    return [event.ticket if isinstance(event, Completed) else event.path for event in events]  # type: ignore[union-attr]


def test_a_change_that_comes_after_the_answer_that_set_the_watch_is_told_after_it() -> None:
    client = Scripted()
    client.answer_and_fire((b"old", STAT), "/a")
    client.answer((b"", STAT))
    events = carried_out(client, [Get("/a", watch=True)], [Get("/b")])
    assert tickets(events) == [1, "/a", 2]


def test_a_change_that_comes_before_an_answer_is_told_before_it() -> None:
    client = Scripted()
    client.answer((b"", STAT))
    client.fire_and_answer("/a", (b"new", STAT))
    assert tickets(carried_out(client, [Get("/b")], [Get("/a")])) == [1, "/a", 2]


def test_in_one_submission_a_change_behind_its_own_answer_waits_and_another_does_not() -> None:
    client = Scripted()
    client.answer_and_fire((b"old", STAT), "/a")
    client.fire_and_answer("/c", (b"", STAT))
    events = carried_out(client, [Get("/a", watch=True), Get("/b")])
    assert tickets(events) == ["/c", 1, "/a"]


def test_a_missing_node_is_watched_and_answered_by_one_request() -> None:
    client = Scripted()
    client.fail(exceptions.NoNodeError())
    client.answer_and_fire(None, "/a")
    events = carried_out(client, [Get("/a", watch=True)])
    assert client.sent == ["get /a", "exists /a"]
    assert events == [Completed(1, (None,)), Changed("/a")]


def test_a_node_that_comes_between_the_two_requests_is_read_again_with_its_watch() -> None:
    client = Scripted()
    client.fail(exceptions.NoNodeError())
    client.answer(STAT)
    client.answer((b"new", STAT))
    (event,) = carried_out(client, [Get("/a", watch=True)])
    assert isinstance(event, Completed)
    assert [answer.data for answer in event.answers if isinstance(answer, Value)] == [b"new"]


def test_a_read_is_asked_again_when_the_connection_dropped_and_a_write_is_lost() -> None:
    client = Scripted()
    client.fail(exceptions.ConnectionLoss())
    client.fail(exceptions.ConnectionLoss())
    client.answer((b"x", STAT))
    first, second = carried_out(client, [Get("/a")], [Set("/b", b"")])
    assert client.sent == ["get /a", "multi", "get /a"]
    assert isinstance(first, Completed)
    assert first.error is None
    assert isinstance(second, Completed)
    assert isinstance(second.error, StoreLostError)


def test_what_belongs_to_an_ended_session_is_not_sent() -> None:
    client = Scripted()
    client.generation = 1
    events = carried_out(client, [Set("/a", b"")], [Get("/a")], generation=0)
    assert client.sent == []
    assert [type(event.error) for event in events if isinstance(event, Completed)] == [StoreLostError] * 2


def test_what_waited_across_the_end_of_its_session_goes_out_as_a_check_that_fails() -> None:
    operation = serialization.SetData("/a", b"value", -1)
    session = SimpleNamespace(generation=0)
    request = Multi([operation], lambda: session.generation == 0)
    assert b"value" in request.serialize()
    session.generation = 1
    assert b"value" not in request.serialize()
    assert request.withheld


def test_a_multi_that_was_withheld_is_lost_whatever_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Scripted()
    client.answer([exceptions.BadVersionError()])
    real = client.send

    def end_first(request: Multi) -> object:
        client.generation += 1
        return real(request)

    monkeypatch.setattr(client, "send", end_first)
    (event,) = carried_out(client, [Set("/a", b"")])
    assert isinstance(event, Completed)
    assert isinstance(event.error, StoreLostError)
