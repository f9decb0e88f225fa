"""Reading from ZooKeeper: many questions on their way at a time, asked again when the connection drops."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from kazoo import exceptions

from barnabas.ports import (
    Answer,
    ChildNames,
    Children,
    Get,
    Read,
    StoreLostError,
    Subtree,
    Value,
    Values,
)
from barnabas.store.tree import ROOT
from barnabas.store.zookeeper_client import DROPPED, GONE, Client, Result, Watch
from barnabas.store.zookeeper_nodes import Nodes, error_of, stat_of
from barnabas.store.zookeeper_plan import Lookups

_LOOK_AROUND_SECONDS = 0.5  # how often somebody who waits for an answer asks whether one can still come


class DroppedError(Exception):
    """The connection went before the answer came."""


class Reads:
    def __init__(self, client: Client, nodes: Nodes, in_flight_max: int) -> None:
        self._client = client
        self._nodes = nodes
        self._in_flight_max = in_flight_max
        self._given_up = False

    def give_up(self) -> None:
        self._given_up = True

    def wait(self, result: Result, generation: int) -> Result:
        """Kazoo forgets a request that is made just while a session ends, hence the looking around."""
        while not result.wait(_LOOK_AROUND_SECONDS):
            if self._given_up or self._client.generation != generation:
                raise StoreLostError()
        try:
            return result.get()
        except DROPPED:
            raise DroppedError from None
        except GONE:
            raise StoreLostError() from None

    # --- a submission ---

    def ask_all(self, operations: Sequence[Read]) -> list[Result]:
        return [self._ask(operation) for operation in operations]

    def finish_all(
        self, operations: Sequence[Read], results: list[Result], generation: int, read_at: dict[str, int]
    ) -> tuple[tuple[Answer, ...], int]:
        """The answers, and the number of the last thing that came for them."""
        while True:
            try:
                pairs = zip(operations, results, strict=True)
                answers = tuple(self._finish(*pair, generation, read_at) for pair in pairs)
                return answers, max(read_at.values(), default=0)
            except DroppedError:
                results = self.ask_all(operations)

    def present(self, needed: Lookups, generation: int) -> set[str]:
        """Those of the paths that exist, and whatever exists below those that are wanted whole."""
        while True:
            try:
                found = self._existing(sorted(needed.single), generation)
                for path in needed.whole:
                    found.update(value.path for value in self._subtree([path], generation))
                return found
            except DroppedError:
                continue

    # --- one operation ---

    def _ask(self, operation: Read) -> Result:
        match operation:
            case Get(path, watch):
                return self._get(path, watch=watch)
            case Children(path, watch):
                return self._names(path, watch=watch)
            case Subtree():
                return None  # asked when it is its turn: every level waits for the one above

    def _finish(self, operation: Read, result: Result, generation: int, read_at: dict[str, int]) -> Answer:
        path = operation.path
        answer: Answer
        match operation:
            case Get(watch=watch):
                answer, result = self._value_or_watch(path, result, generation, watch=watch)
            case Children():
                names = self._unless_missing(path, result, generation)
                answer = None if names is None else ChildNames(path, tuple(sorted(names)))
            case Subtree():
                found = self._subtree([path], generation)
                read_at[path] = self._client.handler.next_number()
                return Values(path, tuple(sorted(found, key=lambda value: value.path)))
        read_at[path] = result.number
        return answer

    def _value_or_watch(
        self, path: str, result: Result, generation: int, *, watch: bool
    ) -> tuple[Value | None, Result]:
        """Only `exists` can watch a node that is missing. Whichever request sets the watch is the one that
        answers: no change can hide between the two."""
        while True:
            found = self._unless_missing(path, result, generation)
            if found is not None or not watch:
                return self._value(path, found), result
            result = self._client.exists_async(self._nodes.outside(path), self._watch(path, watch=True))
            if self.wait(result, generation) is None:
                return None, result
            result = self._get(path, watch=True)

    def _subtree(self, level: list[str], generation: int) -> list[Value]:
        """Level by level; a node that goes meanwhile is left out."""
        values: list[Value] = []
        while level:
            parents = []
            for path, result in self._answered(level, self._get):
                found = self._unless_missing(path, result, generation)
                if found is not None:
                    values.append(Value(path, found[0], stat_of(found[1])))
                    if found[1].numChildren:
                        parents.append(path)
            level = []
            for path, result in self._answered(parents, self._names):
                names = self._unless_missing(path, result, generation) or ()
                level += [f"{'' if path == ROOT else path}/{name}" for name in names]
        return values

    def _existing(self, paths: Iterable[str], generation: int) -> set[str]:
        answered = self._answered(paths, lambda path: self._client.exists_async(self._nodes.outside(path)))
        return {
            path for path, result in answered if self._unless_missing(path, result, generation) is not None
        }

    def _answered(self, paths: Iterable[str], ask: Callable[[str], Result]) -> Iterator[tuple[str, Result]]:
        """Each path with what was asked about it, so many of them ahead of who takes them."""
        waiting: deque[tuple[str, Result]] = deque()
        for path in paths:
            waiting.append((path, ask(path)))
            if len(waiting) == self._in_flight_max:
                yield waiting.popleft()
        yield from waiting

    def _get(self, path: str, *, watch: bool = False) -> Result:
        return self._client.get_async(self._nodes.outside(path), self._watch(path, watch=watch))

    def _names(self, path: str, *, watch: bool = False) -> Result:
        return self._client.get_children_async(self._nodes.outside(path), self._watch(path, watch=watch))

    def _watch(self, path: str, *, watch: bool) -> Watch | None:
        return Watch(path, self._client.handler) if watch else None

    def _unless_missing(self, path: str, result: Result, generation: int) -> Result:
        try:
            return self.wait(result, generation)
        except exceptions.NoNodeError:
            return None
        except exceptions.ZookeeperError as error:
            raise error_of(error, path) from error

    def _value(self, path: str, found: Result) -> Value | None:
        return None if found is None else Value(path, found[0], stat_of(found[1]))
