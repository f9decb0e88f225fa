"""Other brokers, as this one talks to them: ask, and be answered or told that it failed.

Answers come in the order of the questions. Whatever goes wrong with a line ends the same way: every question
that was not answered has failed, and the next one opens a new line, after a pause that grows.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

from barnabas.broker.session import Part, PeerFaultError, Session
from barnabas.broker.timers import Timer
from barnabas.model.endpoint import Endpoint
from barnabas.model.image import BrokerImage
from barnabas.ports import Line, Network
from barnabas.protocol import codec
from barnabas.protocol.codec import MalformedError, RequestHeader
from barnabas.protocol.schema import Message

if TYPE_CHECKING:
    from barnabas.broker.node import Node

_LENGTH = struct.Struct(">i")
_FIRST_PAUSE_MS = 50
_LONGEST_PAUSE_MS = 1_000
REFUSALS_ENOUGH = 3  # to take a process for gone: one that only opens its port anew is back by then

Answered: TypeAlias = Callable[[Message], None]
Failed: TypeAlias = Callable[[], None]


class Peer(Protocol):
    """One broker to ask. Neither callback runs before `ask` has returned, and exactly one of them does."""

    refusals: int
    """How often in a row, the last time included, nobody listened where the broker is said to be."""

    def ask(
        self,
        request: Message,
        version: int,
        answered: Answered,
        failed: Failed,
        timeout_ms: int | None = None,
    ) -> None:
        """`timeout_ms`: `controller.socket.timeout.ms` unless told."""
        ...

    def close(self) -> None:
        """Whatever was not answered stays so; nobody is called back any more."""
        ...


class _Asked:
    __slots__ = ("answered", "correlation_id", "failed", "key", "timer", "version")

    def __init__(
        self, key: int, version: int, correlation_id: int, answered: Answered, failed: Failed
    ) -> None:
        self.key = key
        self.version = version
        self.correlation_id = correlation_id
        self.answered = answered
        self.failed = failed
        self.timer: Timer | None = None


class RemotePeer:
    """`ports.Caller` on one line at a time."""

    def __init__(self, node: Node, network: Network, broker_id: int) -> None:
        self._node = node
        self._network = network
        self._broker_id = broker_id
        self._endpoint: Endpoint | None = None
        self._line: Line | None = None
        self._asked: deque[_Asked] = deque()
        self._refused: dict[Timer, None] = {}  # questions that could not even be sent
        self._last_correlation_id = 0
        self._pause_ms = _FIRST_PAUSE_MS
        self._not_before_ms = 0
        self.refusals = 0

    def ask(
        self,
        request: Message,
        version: int,
        answered: Answered,
        failed: Failed,
        timeout_ms: int | None = None,
    ) -> None:
        node = self._node
        line = self._connected()
        if line is None:
            self._refuse(failed)
            return
        self._last_correlation_id = correlation_id = (self._last_correlation_id + 1) & 0x7FFFFFFF
        asked = _Asked(request.API_KEY, version, correlation_id, answered, failed)
        if timeout_ms is None:
            timeout_ms = node.settings.integer("controller.socket.timeout.ms")
        asked.timer = node.timers.at(node.now_ms + timeout_ms, self._too_slow)
        self._asked.append(asked)
        header = RequestHeader(request.API_KEY, version, correlation_id, f"broker-{node.broker_id}")
        frame = codec.write_request(header, request)
        line.send(_LENGTH.pack(len(frame)) + frame)

    def _refuse(self, failed: Failed) -> None:
        def refuse() -> None:
            del self._refused[timer]
            failed()

        node = self._node
        timer = node.timers.at(max(self._not_before_ms, node.now_ms + 1), refuse)
        self._refused[timer] = None

    def _connected(self) -> Line | None:
        """The line, if it leads to where the broker is now. None where there is no use in trying yet."""
        node = self._node
        endpoint = node.peers.endpoint(self._broker_id)
        if self._line is not None and endpoint != self._endpoint and endpoint is not None:
            self._hang_up()
        if self._line is None and endpoint is not None and node.now_ms >= self._not_before_ms:
            self._endpoint = endpoint
            self._line = self._network.connect(endpoint, self)
        return self._line

    # --- ports.Caller --------------------------------------------------------------------------------------

    def received(self, frame: bytearray) -> None:
        if not self._asked:
            self._hang_up()  # nobody asked
            return
        asked = self._asked.popleft()
        self._cancel(asked)
        try:
            # A view: records in it are not copied on their way into the log.
            correlation_id, answer = codec.read_response(asked.key, asked.version, memoryview(frame))
            if correlation_id != asked.correlation_id:
                raise MalformedError(f"answer {correlation_id} to question {asked.correlation_id}")
        except MalformedError:
            self._asked.appendleft(asked)
            self._hang_up()
            return
        self._pause_ms = _FIRST_PAUSE_MS
        self.refusals = 0
        asked.answered(answer)

    def disconnected(self) -> None:
        was_refused = self._line is not None and self._line.was_refused
        self.refusals = self.refusals + 1 if was_refused else 0
        self._line = None
        self._not_before_ms = self._node.now_ms + self._pause_ms
        self._pause_ms = min(2 * self._pause_ms, _LONGEST_PAUSE_MS)
        lost, self._asked = self._asked, deque()
        for asked in lost:
            self._cancel(asked)
            asked.failed()

    def _too_slow(self) -> None:
        self._hang_up()

    def _hang_up(self) -> None:
        line = self._line
        if line is not None:
            line.close()
            self.disconnected()

    def _cancel(self, asked: _Asked) -> None:
        if asked.timer is not None:
            self._node.timers.cancel(asked.timer)

    def close(self) -> None:
        for asked in self._asked:
            self._cancel(asked)
        self._asked.clear()
        for timer in self._refused:
            self._node.timers.cancel(timer)
        self._refused.clear()
        if self._line is not None:
            self._line.close()
            self._line = None


class Loopback:
    """This broker as its own peer: the same way through the dispatcher, without a line."""

    refusals = 0

    def __init__(self, node: Node) -> None:
        self._node = node
        self._closed = False

    def ask(
        self,
        request: Message,
        version: int,
        answered: Answered,
        failed: Failed,
        timeout_ms: int | None = None,  # noqa: ARG002  # it always answers
    ) -> None:
        key = request.API_KEY
        header = RequestHeader(key, version, 0, f"broker-{self._node.broker_id}")
        frame = bytearray(codec.write_request(header, request))

        def heard(parts: list[Part]) -> None:
            whole = b"".join(part for part in parts if isinstance(part, bytes))
            if not self._closed:
                answered(codec.read_response(key, version, memoryview(whole)[4:])[1])

        def deliver() -> None:
            session = Session(self._node.settings.inter_broker_listener, "127.0.0.1", heard)
            try:
                parts = self._node.handle(session, memoryview(frame))
            except PeerFaultError:
                failed()
            else:
                if parts is not None:
                    heard(parts)

        self._node.timers.at(self._node.now_ms, deliver)

    def close(self) -> None:
        self._closed = True


class Peers:
    def __init__(self, node: Node, network: Network) -> None:
        self._node = node
        self._network = network
        self._shared: dict[int, Peer] = {}
        self._told: dict[int, BrokerImage] = {}

    def of(self, broker_id: int) -> Peer:
        """The line that everybody here shares for short questions; this broker itself included. A question
        that waits at the other end holds up those behind it: such a one gets a line of its own."""
        peer = self._shared.get(broker_id)
        if peer is None:
            peer = self._shared[broker_id] = self.open(broker_id)
        return peer

    def open(self, broker_id: int) -> Peer:
        """A line of one's own; whoever opens it closes it."""
        if broker_id == self._node.broker_id:
            return Loopback(self._node)
        return RemotePeer(self._node, self._network, broker_id)

    def tell(self, broker: BrokerImage) -> None:
        """Where a broker is that the image does not show yet: the controller, at first."""
        self._told[broker.id] = broker

    def endpoint(self, broker_id: int) -> Endpoint | None:
        """In its latest life that we know of: a controller that came back elsewhere is found there, though
        the image that says so can only come from itself."""
        known = [self._told.get(broker_id), self._node.image.brokers.get(broker_id)]
        lives = sorted((one for one in known if one is not None), key=lambda one: one.epoch)
        listener = self._node.settings.inter_broker_listener
        return next((found for one in reversed(lives) if (found := one.endpoint(listener))), None)
