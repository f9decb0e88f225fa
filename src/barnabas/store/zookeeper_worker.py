"""What the ZooKeeper home's thread does: submissions in order, answers in order, changes between them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TypeAlias, cast

from barnabas.ports import (
    Answer,
    Changed,
    Completed,
    Get,
    Read,
    SessionBegan,
    SessionEnded,
    StoreError,
    StoreLostError,
    Subtree,
    TooLargeError,
    Write,
)
from barnabas.store.session import Kind, Operations
from barnabas.store.zookeeper_client import Client, Multi, Result
from barnabas.store.zookeeper_nodes import Nodes, error_of, is_refusal
from barnabas.store.zookeeper_options import ZookeeperOptions
from barnabas.store.zookeeper_plan import Step, lookups, plan
from barnabas.store.zookeeper_reads import DroppedError, Reads

_ATTEMPTS_MAX = 100  # at a plan that others keep overtaking
_LOOK_AROUND_SECONDS = 1.0
_HEADER_BYTES = 8  # number and kind of a request


@dataclass(frozen=True, slots=True)
class Submission:
    ticket: int
    operations: Operations
    kind: Kind
    generation: int  # how many sessions its author knew to have ended


class Wake:
    """A watch fired: there is something to tell."""


class Close:
    """Nothing follows."""


Item: TypeAlias = Submission | SessionBegan | SessionEnded | Wake | Close


@dataclass(frozen=True, slots=True)
class _SentReads:
    submission: Submission
    results: list[Result]


@dataclass(frozen=True, slots=True)
class _SentWrites:
    submission: Submission
    steps: list[Step]
    request: Multi
    result: Result


@dataclass(frozen=True, slots=True)
class _Refused:
    submission: Submission
    error: StoreError


_Sent: TypeAlias = _SentReads | _SentWrites | _Refused


class Worker:
    def __init__(
        self,
        client: Client,
        options: ZookeeperOptions,
        inbox: SimpleQueue[Item],
        add: Callable[..., None],
    ) -> None:
        self._client = client
        self._options = options
        self._inbox = inbox
        self._add = add
        self._nodes = Nodes(options.chroot, set_acl=options.set_acl)
        self._reads = Reads(client, self._nodes, options.in_flight_max)
        self._changes: deque[tuple[int, str]] = client.handler.changes

    def run(self) -> None:
        open_for_more = True
        while open_for_more:
            group = self._next_group()
            open_for_more = not isinstance(group[-1], Close)
            self._carry_out(group)
            self._tell_changes()

    def give_up(self) -> None:
        """From another thread: whatever waits for an answer is lost."""
        self._reads.give_up()

    def _next_group(self) -> list[Item]:
        group = [self._first()]
        while not isinstance(group[-1], Close) and len(group) < self._options.in_flight_max:
            try:
                group.append(self._inbox.get_nowait())
            except Empty:
                break
        return group

    def _first(self) -> Item:
        """Nobody would ever hear from a client that has given up, and a broker cannot live without one."""
        while True:
            try:
                return self._inbox.get(timeout=_LOOK_AROUND_SECONDS)
            except Empty:
                if self._client.has_given_up:
                    self._client.start_async()

    def _carry_out(self, group: list[Item]) -> None:
        sent: list[_Sent] = []
        for item in group:
            if isinstance(item, Submission) and not _looks_first(item):
                sent.append(self._send(item))
                if not _takes_one_trip(item):
                    self._collect(sent)
                continue
            self._collect(sent)
            if isinstance(item, Submission):
                sent.append(self._send(item))
            elif isinstance(item, SessionBegan | SessionEnded):
                self._tell_changes()
                self._add(item)
        self._collect(sent)

    # --- sending ---

    def _send(self, submission: Submission) -> _Sent:
        try:
            if submission.generation != self._client.generation:
                raise StoreLostError()
            if submission.kind is Kind.READS:
                operations = cast(Sequence[Read], submission.operations)
                return _SentReads(submission, self._reads.ask_all(operations))
            return self._send_writes(submission)
        except StoreError as error:
            return _Refused(submission, error)

    def _send_writes(self, submission: Submission) -> _SentWrites:
        operations = cast(Sequence[Write], submission.operations)
        needed = lookups(operations)
        present = self._reads.present(needed, submission.generation) if needed else ()
        steps = plan(operations, present)
        request = self._client.multi(
            [self._nodes.request(step.operation) for step in steps], submission.generation
        )
        if len(request) + _HEADER_BYTES > self._options.request_bytes_max:
            raise TooLargeError(_largest(operations))
        return _SentWrites(submission, steps, request, self._client.send(request))

    # --- collecting ---

    def _collect(self, sent: list[_Sent]) -> None:
        for one in sent:
            ticket = one.submission.ticket
            read_at: dict[str, int] = {}
            try:
                answers, last_number = self._answers(one, read_at)
                completed = Completed(ticket, answers)
            except StoreError as error:
                completed, last_number = Completed(ticket, error=error), 0
            self._tell_changes(last_number, read_at)
            self._add(completed)
        sent.clear()

    def _answers(self, sent: _Sent, read_at: dict[str, int]) -> tuple[tuple[Answer, ...], int]:
        match sent:
            case _Refused(_, error):
                raise error
            case _SentReads(submission, results):
                operations = cast(Sequence[Read], submission.operations)
                return self._reads.finish_all(operations, results, submission.generation, read_at)
            case _SentWrites():
                return self._finish_writes(sent)

    def _finish_writes(self, sent: _SentWrites) -> tuple[tuple[Answer, ...], int]:
        for _ in range(_ATTEMPTS_MAX):
            results = self._results(sent)
            refused = next((at for at, result in enumerate(results) if is_refusal(result)), None)
            if refused is None:
                return self._written(sent, results), sent.result.number
            step = sent.steps[refused]
            error = error_of(results[refused], step.operation.path)
            if type(error) not in step.outdated_by:
                raise error
            sent = self._send_writes(sent.submission)
        raise error

    def _results(self, sent: _SentWrites) -> list[Result]:
        try:
            results = self._reads.wait(sent.result, sent.submission.generation)
        except DroppedError:
            raise StoreLostError() from None
        if sent.request.withheld:
            raise StoreLostError()
        return list(results)

    def _written(self, sent: _SentWrites, results: list[Result]) -> tuple[Answer, ...]:
        """The last step of an operation is the one that it is about."""
        answers: list[Answer] = [None] * len(sent.submission.operations)
        for step, result in zip(sent.steps, results, strict=True):
            answers[step.origin] = self._nodes.answer(step.operation, result)
        return tuple(answers)

    def _tell_changes(self, before: int | None = None, read_at: dict[str, int] | None = None) -> None:
        """Those that came before the answer numbered `before`, except where that answer read the path before
        it changed: then the change is news, and must follow."""
        held = []
        while self._changes and (before is None or self._changes[0][0] < before):
            number, path = self._changes.popleft()
            if read_at is not None and read_at.get(path, number) < number:
                held.append((number, path))
            else:
                self._add(Changed(path))
        self._changes.extendleft(reversed(held))


def _looks_first(submission: Submission) -> bool:
    return submission.kind is Kind.WRITES and bool(lookups(cast(Sequence[Write], submission.operations)))


def _takes_one_trip(submission: Submission) -> bool:
    """A read that may have to ask again must be done before anything behind it is carried out."""
    return not any(
        isinstance(operation, Subtree) or (isinstance(operation, Get) and operation.watch)
        for operation in submission.operations
    )


def _largest(operations: Sequence[Write]) -> str:
    return max(operations, key=lambda operation: len(getattr(operation, "value", b""))).path
