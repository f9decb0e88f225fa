"""A cluster seen from outside: a bootstrap list, the brokers it leads to, who leads what.

`with Cluster.connect("localhost:9092") as cluster: …`. Calls retry what a retry may cure until
`default.api.timeout.ms` is over. One thread at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TypeVar

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
)
from barnabas.protocol.schema import Message
from barnabas.wire.address import Address, parse_bootstrap
from barnabas.wire.codes import known
from barnabas.wire.connection import Connection
from barnabas.wire.doors import dialer_of, login_of, refuse_if_asked_for_login
from barnabas.wire.errors import NetworkError, PeerError, SettingsError, TimedOutError, UnresolvedError
from barnabas.wire.retry import retrying
from barnabas.wire.settings import DEFAULTS, Settings
from barnabas.wire.transport import Dial

T = TypeVar("T")
R = TypeVar("R", bound=Message)

CONTROLLER = -2  # stands for "whoever is the controller" where a node id is expected
ANY = -1  # stands for "whoever answers"


def _silent(_: str) -> None:
    """Nobody wants to hear warnings."""


class Cluster:
    def __init__(
        self,
        bootstrap: Sequence[Address],
        settings: Settings = DEFAULTS,
        warn: Callable[[str], None] = _silent,
        dial: Dial | None = None,
    ) -> None:
        self.settings = settings
        self._bootstrap = bootstrap
        self._warn = warn
        self._dial = dial or dialer_of(settings)
        self._login = login_of(settings)
        self._connections: dict[int, Connection] = {}
        self._brokers: dict[int, MetadataResponseBroker] = {}
        self._others: list[Address] = []  # brokers that were there when we last heard; for bootstrap's end
        self._controller_id = -1
        self._hung_up_count = 0

    @classmethod
    def connect(
        cls,
        bootstrap: str,
        properties: Mapping[str, str] | None = None,
        warn: Callable[[str], None] = _silent,
    ) -> Cluster:
        """Nothing is dialled before the first call; but a store that cannot be opened is said at once."""
        return cls(parse_bootstrap(bootstrap), Settings.from_properties(properties or {}), warn)

    # --- asking ------------------------------------------------------------------------------------------

    def call(self, request: Message, answer: type[R], node_id: int = ANY, timeout_ms: int | None = None) -> R:
        """Ask one broker, and again if the connection breaks. Error codes in the answer are not looked at."""
        return self.retrying(lambda: self.call_once(request, answer, node_id, timeout_ms))

    def call_once(
        self,
        request: Message,
        answer: type[R],
        node_id: int = ANY,
        timeout_ms: int | None = None,
        version_max: int | None = None,
    ) -> R:
        """Ask one broker, once. For use inside `retrying` when the answer's codes decide."""
        connection = self.connection(node_id)
        try:
            return connection.call(request, answer, timeout_ms, version_max)
        except (NetworkError, PeerError) as error:
            self.forget(connection)
            if not connection.was_answered and not isinstance(error, TimedOutError):
                self._hung_up(connection)
            raise
        except KeyboardInterrupt:
            # The answer is still to come; whoever tidies up now would take it for their own.
            self.forget(connection)
            raise

    def retrying(self, work: Callable[[], T]) -> T:
        return retrying(work, self.settings, self._failed)

    # --- who is there ------------------------------------------------------------------------------------

    def connection(self, node_id: int = ANY) -> Connection:
        if node_id == ANY:
            return self._any()
        if node_id == CONTROLLER:
            node_id = self._controller()
        held = self._connections.get(node_id)
        if held is not None:
            return held
        broker = self._find(node_id)
        opened = self._open(Address(broker.host, broker.port), node_id)
        self._connections[node_id] = opened
        return opened

    def metadata(
        self, topics: Iterable[str] | None = None, auto_create: bool = False, topic_ids: Iterable[bytes] = ()
    ) -> MetadataResponse:
        """Of all topics, or of those named; topics may carry errors of their own. With no topic at all
        (`topics=()`) only the brokers come."""
        asked = None
        if topics is not None:
            asked = [MetadataRequestTopic(name=name) for name in topics]
            asked += [MetadataRequestTopic(topic_id, None) for topic_id in topic_ids]
        answer = self.call(MetadataRequest(asked, auto_create), MetadataResponse)
        self._learn(answer)
        return answer

    def brokers(self) -> Sequence[MetadataResponseBroker]:
        return self.metadata(()).brokers

    def locate(
        self, partitions: Iterable[TopicPartition]
    ) -> tuple[dict[int, list[TopicPartition]], dict[TopicPartition, ApiError]]:
        """Partitions grouped by the broker that leads them, and why others have no leader."""
        wanted = list(partitions)
        answer = self.metadata(sorted({partition.topic for partition in wanted}))
        found = {topic.name: topic for topic in answer.topics}
        grouped: dict[int, list[TopicPartition]] = {}
        missing: dict[TopicPartition, ApiError] = {}
        for partition in wanted:
            topic = found[partition.topic]
            rows = [row for row in topic.partitions if row.partition_index == partition.partition]
            if topic.error_code or not rows:
                code = known(topic.error_code) or ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                missing[partition] = ApiError(code)
            elif rows[0].leader_id < 0:
                missing[partition] = ApiError(known(rows[0].error_code) or ErrorCode.LEADER_NOT_AVAILABLE)
            else:
                grouped.setdefault(rows[0].leader_id, []).append(partition)
        return grouped, missing

    # --- inside ------------------------------------------------------------------------------------------

    def _open(self, address: Address, node_id: int) -> Connection:
        return Connection.open(address, self.settings, node_id, self._dial, self._login)

    def _hung_up(self, connection: Connection) -> None:
        """A SASL listener does, on whoever asks for something before saying who they are. Once may be
        chance; the second time, find out."""
        self._hung_up_count += 1
        if self._login is None and self._hung_up_count == 2 and connection.address is not None:
            with suppress(NetworkError, PeerError), self._open(connection.address, ANY) as asking:
                refuse_if_asked_for_login(asking)

    def _any(self) -> Connection:
        for held in self._connections.values():
            return held
        trouble: list[NetworkError] = []
        for number, address in enumerate([*self._bootstrap, *self._others], start=1):
            try:
                # Kafka numbers bootstrap entries downwards from -1 until it knows their real ids.
                opened = self._open(address, -number)
            except NetworkError as error:
                trouble.append(error)
            else:
                self._connections[opened.node_id] = opened
                return opened
        if all(isinstance(error, UnresolvedError) for error in trouble):
            # Waiting does not bring a name into being: no retry.
            raise SettingsError("No resolvable bootstrap urls given in bootstrap.servers")
        raise trouble[-1]

    def _controller(self) -> int:
        if self._controller_id < 0:
            self._learn(self._any().call(MetadataRequest([]), MetadataResponse))
        if self._controller_id < 0:
            raise ApiError(ErrorCode.NOT_CONTROLLER, "The cluster has no controller at the moment.")
        return self._controller_id

    def _find(self, node_id: int) -> MetadataResponseBroker:
        if node_id not in self._brokers:
            self._learn(self._any().call(MetadataRequest([]), MetadataResponse))
        if node_id not in self._brokers:
            raise ApiError(ErrorCode.BROKER_NOT_AVAILABLE, f"Broker {node_id} is not in the cluster.")
        return self._brokers[node_id]

    def _learn(self, answer: MetadataResponse) -> None:
        self._brokers = {broker.node_id: broker for broker in answer.brokers}
        addresses = [Address(broker.host, broker.port) for broker in answer.brokers]
        self._others = [address for address in addresses if address not in self._bootstrap]
        self._controller_id = answer.controller_id

    def learn(self, node_id: int, address: Address) -> None:
        """Where a broker is, from an answer other than metadata, which may not know of it yet."""
        self._brokers[node_id] = MetadataResponseBroker(node_id, address.host, address.port)

    def forget(self, connection: Connection) -> None:
        """Close it: what it still has to say is nobody's answer any more."""
        connection.close()
        self._connections = {key: held for key, held in self._connections.items() if held is not connection}

    def _failed(self, error: Exception) -> None:
        if isinstance(error, NetworkError):
            self._warn(str(error))
        # Whatever was known about leaders and the controller may be what went wrong.
        self._brokers, self._controller_id = {}, -1

    def close(self) -> None:
        for held in self._connections.values():
            held.close()
        self._connections = {}

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
