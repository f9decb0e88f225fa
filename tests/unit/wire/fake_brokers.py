"""Two brokers made of answers, who coordinate groups and transactions between them."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.wire.fake_peer import FakeNetwork, FakePeer

from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.api_versions import ApiVersionsResponse
from barnabas.protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from barnabas.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from barnabas.protocol.schema import Message
from barnabas.wire import Cluster, Settings
from barnabas.wire.address import Address

ONE, TWO = Address("one", 1), Address("two", 2)
QUICK = Settings(retry_backoff_ms=1, retry_backoff_max_ms=5)
IMPATIENT = Settings(default_api_timeout_ms=100, retry_backoff_ms=1, retry_backoff_max_ms=5)
METADATA = MetadataResponse(
    brokers=[MetadataResponseBroker(1, "one", 1), MetadataResponseBroker(2, "two", 2)],
    topics=[
        MetadataResponseTopic(0, "t", partitions=[MetadataResponsePartition(0, 0, 2, replica_nodes=[2])])
    ],
)
HOSTS = {1: ONE, 2: TWO}


class Brokers:
    """Two of them; `homes` says who coordinates each group or transaction. The second leads t-0."""

    def __init__(
        self,
        homes: dict[str, int],
        answer: Callable[[int, Message], Message],
        versions: ApiVersionsResponse | None = None,
        settings: Settings = QUICK,
    ) -> None:
        self.homes = homes
        self.heard: list[tuple[int, Message]] = []
        self._answer = answer
        network = FakeNetwork(
            {
                ONE: lambda: FakePeer(lambda request: self._reply(1, request), versions),
                TWO: lambda: FakePeer(lambda request: self._reply(2, request), versions),
            }
        )
        self.cluster = Cluster([ONE], settings, dial=network.dial)

    def _reply(self, node: int, request: Message) -> Message:
        self.heard.append((node, request))
        if isinstance(request, FindCoordinatorRequest):
            keys = list(request.coordinator_keys) or [request.key]
            rows = [self._home(key) for key in keys]
            first = rows[0]
            return FindCoordinatorResponse(
                coordinators=rows, node_id=first.node_id, host=first.host, port=first.port
            )
        return METADATA if request.API_KEY == 3 else self._answer(node, request)

    def _home(self, key: str) -> Coordinator:
        if key not in self.homes:
            return Coordinator(key, error_code=ErrorCode.INVALID_GROUP_ID, error_message="no")
        node = self.homes[key]
        return Coordinator(key, node, HOSTS[node].host, HOSTS[node].port)

    def asked(self, kind: type[Message]) -> list[int]:
        return [node for node, request in self.heard if isinstance(request, kind)]
