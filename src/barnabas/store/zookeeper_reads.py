"""Reading from ZooKeeper: many questions on their way at a time, asked again when the connection drops."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from kazoo import exceptions
from kazoo.protocol import serialization

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
from barnabas.store.zookeeper_client import DROPPED, GONE, Client, MultiRead, Operation, Result, Watch
from barnabas.store.zookeeper_nodes import Nodes, error_of, stat_of
from barnabas.store.zookeeper_plan import Lookups

_LOOK_AROUND_SECONDS = 0.5  # how often somebody who waits for an answer asks whether one can still come

_READS_PER_REQUEST = 100


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
        """Kazoo forgets a request that is made just while a session ends, hence the looking around. Once all
        is given up, nothing is waited for: hundreds may be on their way."""
        while not result.wait(0 if self._given_up else _LOOK_AROUND_SECONDS):
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
                single = self._read_many(serialization.GetData, sorted(needed.single), generation)
                found = {path for path, _ in single}
                for path in needed.whole:
                    found.update(value.path for value in self._subtree(path, generation))
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
                found = self._subtree(path, generation)
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

    def _subtree(self, path: str, generation: int) -> list[Value]:
        """Level by level; a node that goes meanwhile is left out."""
        values: list[Value] = []
        level = [path]
        while level:
            parents = []
            for node, found in self._read_many(serialization.GetData, level, generation):
                values.append(Value(node, found[0], stat_of(found[1])))
                if found[1].numChildren:
                    parents.append(node)
            level = [
                f"{'' if parent == ROOT else parent}/{name}"
                for parent, names in self._read_many(serialization.GetChildren, parents, generation)
                for name in names
            ]
        return values

    def _read_many(
        self, kind: Callable[..., Operation], paths: list[str], generation: int
    ) -> Iterator[tuple[str, Result]]:
        """What each of the paths that exist is answered with."""
        for chunk, result in self._answered(_chunks(paths), partial(self._ask_many, kind)):
            for path, found in zip(chunk, self.wait(result, generation), strict=True):
                if not isinstance(found, Exception):
                    yield path, found
                elif not isinstance(found, exceptions.NoNodeError):
                    raise error_of(found, path)

    def _ask_many(self, kind: Callable[..., Operation], paths: list[str]) -> Result:
        return self._client.send(MultiRead([kind(self._nodes.outside(path), None) for path in paths]))

    def _answered(
        self, chunks: Iterable[list[str]], ask: Callable[[list[str]], Result]
    ) -> Iterator[tuple[list[str], Result]]:
        """Each chunk with what was asked about it, so many of them ahead of who takes them."""
        waiting: deque[tuple[list[str], Result]] = deque()
        for chunk in chunks:
            waiting.append((chunk, ask(chunk)))
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


def _chunks(paths: list[str]) -> Iterator[list[str]]:
    return (paths[start : start + _READS_PER_REQUEST] for start in range(0, len(paths), _READS_PER_REQUEST))
