"""Whether a topic is there, as Kafka's clients ask before they begin.

librdkafka asks for itself, in the background, and keeps the first answer about a new topic (it is being
created) to itself. People know that answer's warning, so the tools ask first, through our own client.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from barnabas.cli.support.connection_warnings import ConnectionWarnings
from barnabas.cli.support.failures import java_name
from barnabas.cli.support.log_lines import NETWORK_CLIENT, log
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from barnabas.wire import Cluster, NetworkError, SettingsError, TlsError, WireError
from barnabas.wire.codes import known

_ASK_SECONDS_MIN = 0.05


@dataclass(frozen=True, slots=True)
class TopicState:
    name: str
    error: ErrorCode
    partitions: tuple[int, ...]

    @property
    def may_appear(self) -> bool:
        """Whether waiting may help."""
        return self.error.retriable


class RefusedError(Exception):
    """No broker lets us in, and asking again would not help: Java's exception and its sentence."""


class TopicMetadata:
    """`is_available` is False where our own client cannot connect in the way the properties ask for."""

    def __init__(self, who: str, properties: Mapping[str, str], warnings: ConnectionWarnings) -> None:
        self._who = who
        self._warnings = warnings
        self._answers = 0
        try:
            self._cluster: Cluster | None = Cluster.connect(properties["bootstrap.servers"], properties)
        except SettingsError:
            self._cluster = None

    @property
    def is_available(self) -> bool:
        return self._cluster is not None

    def ask(
        self, names: Sequence[str] | None, left_seconds: float, *, create: bool = True
    ) -> list[TopicState] | None:
        """One question, about these topics or (None) all: what is wrong is printed as Kafka's clients do.
        None when nobody answered. A topic asked for by name is created if we and the broker allow it.
        RefusedError for a wrong password or a certificate that is not believed."""
        assert self._cluster is not None
        topics = None if names is None else [MetadataRequestTopic(name=name) for name in names]
        request = MetadataRequest(topics, allow_auto_topic_creation=create and names is not None)
        timeout_ms = int(max(left_seconds, _ASK_SECONDS_MIN) * 1000)
        try:
            answer = self._cluster.call_once(request, MetadataResponse, timeout_ms=timeout_ms)
        except NetworkError as error:
            self._warnings.wire(error)
            return None
        except (ApiError, TlsError) as error:
            problem = f"[{self._who}] Connection to node -1 failed authentication due to: {error}"
            log("ERROR", problem, NETWORK_CLIENT)
            raise RefusedError(f"{java_name(error)}: {error}") from None
        except WireError:
            return None
        self._answers += 1
        states = [
            TopicState(
                topic.name or "",
                known(topic.error_code),
                tuple(sorted(row.partition_index for row in topic.partitions)),
            )
            for topic in answer.topics
        ]
        self._complain([state for state in states if names is not None and state.error])
        return states

    def _complain(self, troubled: Sequence[TopicState]) -> None:
        if troubled:
            pairs = ", ".join(f"{state.name}={state.error.name}" for state in troubled)
            log(
                "WARN",
                f"[{self._who}] The metadata response from the cluster reported a recoverable issue with "
                f"correlation id {self._answers} : {{{pairs}}}",
                NETWORK_CLIENT,
            )
        invalid = [state.name for state in troubled if state.error is ErrorCode.INVALID_TOPIC_EXCEPTION]
        if invalid:
            log(
                "ERROR",
                f"[{self._who}] Metadata response reported invalid topics [{', '.join(invalid)}]",
                "org.apache.kafka.clients.Metadata",
            )

    def close(self) -> None:
        if self._cluster is not None:
            self._cluster.close()
