"""What a scenario talks through: it asks a broker and writes the transcript."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from tests.support.answers.peer import ANSWER_TIMEOUT_S, Peer, Silence
from tests.support.answers.render import Renderer

from barnabas.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from barnabas.protocol.schema import Message
from barnabas.protocol.served import SERVED

Transcript: TypeAlias = list[dict[str, Any]]
MakeRequest: TypeAlias = Callable[[int], Message]
View: TypeAlias = Callable[[Any], Any]

READY_TIMEOUT_S = 60.0


class Dialogue:
    """`prefix` keeps this run's topics apart from others' and is taken out of every answer."""

    def __init__(self, port: int, prefix: str) -> None:
        self.prefix = prefix
        self.peer = Peer(port)
        self.renderer = Renderer(prefix)
        self.transcript: Transcript = []
        self._settled = 0

    def name(self, short: str) -> str:
        return self.prefix + short

    # --- asking --------------------------------------------------------------------------------------------

    def ask(
        self,
        label: str,
        request: Message | MakeRequest,
        versions: Iterable[int] | int | None = None,
        view: View | None = None,
        timeout_s: float = ANSWER_TIMEOUT_S,
    ) -> Any:
        """Ask in every version that is served (or in those given), write the answers down, and return the
        last one. `view` takes out of the rendered answer what cannot be compared."""
        answers: list[tuple[int, Any]] = []
        answer: Message | Silence = Silence.QUIET
        for version in self._versions(request, versions):
            asked = request if isinstance(request, Message) else request(version)
            answer = self.peer.exchange(copy.copy(asked), version, timeout_s)
            answers.append((version, self._shown(answer, version, view)))
        self.transcript.append({"step": label, "answers": _grouped(answers)})
        return answer

    def note(self, label: str, answer: Message | Silence | str, version: int = -1) -> None:
        """Write down an answer that a scenario got by its own way."""
        shown = answer if isinstance(answer, str) else self._shown(answer, version, None)
        self.transcript.append({"step": label, "answers": {f"v{version}" if version >= 0 else "-": shown}})

    def _shown(self, answer: Message | Silence, version: int, view: View | None) -> Any:
        if isinstance(answer, Silence):
            return answer.value
        shown = self.renderer.message(answer, version)
        return shown if view is None else view(shown)

    @staticmethod
    def _versions(request: Message | MakeRequest, versions: Iterable[int] | int | None) -> Iterable[int]:
        if isinstance(versions, int):
            return (versions,)
        if versions is not None:
            return versions
        row = SERVED[request.API_KEY if isinstance(request, Message) else request(99).API_KEY]
        return range(row.oldest, row.newest + 1)

    # --- preparing -----------------------------------------------------------------------------------------

    def topic(self, short: str, partitions: int = 1, /, **configs: str) -> str:
        """A topic whose leaders answer. Records keep their fixed old timestamps: nothing expires."""
        name = self.name(short)
        settings = {"retention.ms": "-1", **{key.replace("_", "."): value for key, value in configs.items()}}
        placed = [CreatableReplicaAssignment(index, [1]) for index in range(partitions)]
        wanted = CreatableTopic(
            name, -1, -1, placed, [CreatableTopicConfig(key, value) for key, value in settings.items()]
        )
        answer = self.peer.exchange(CreateTopicsRequest([wanted]), 7)
        assert isinstance(answer, CreateTopicsResponse), answer
        assert answer.topics[0].error_code == 0, answer
        self.renderer.topic_ids[answer.topics[0].topic_id] = f"id of {short}"
        self.wait_for(name, partitions)
        return name

    def topic_id(self, short: str) -> bytes:
        return next(key for key, word in self.renderer.topic_ids.items() if word == f"id of {short}")

    def wait_for(self, name: str, partitions: int) -> None:
        """In Kafka the leaders are there a moment after the topic is."""
        asked = [ListOffsetsPartition(index, -1, -1) for index in range(partitions)]
        request = ListOffsetsRequest(-1, 0, [ListOffsetsTopic(name, asked)])
        deadline = time.monotonic() + READY_TIMEOUT_S
        while time.monotonic() < deadline:
            answer = self.peer.exchange(request, 7)
            if isinstance(answer, ListOffsetsResponse):
                rows = [row for topic in answer.topics for row in topic.partitions]
                if all(row.error_code == 0 for row in rows):
                    return
            time.sleep(0.02)
        raise AssertionError(f"{name} was not ready")

    def settle(self) -> None:
        """Until what was changed is seen. In Kafka that is a moment later; brokers learn of changes in their
        order, so whoever knows of a topic that was made after the change knows of the change."""
        self._settled += 1
        self.topic(f"settled-{self._settled}")

    def close(self) -> None:
        self.peer.close()


def _grouped(answers: list[tuple[int, Any]]) -> dict[str, Any]:
    """Neighbouring versions with the same answer in one entry."""
    groups: list[tuple[int, int, Any]] = []
    for version, shown in answers:
        if groups and groups[-1][2] == shown and groups[-1][1] == version - 1:
            groups[-1] = (groups[-1][0], version, shown)
        else:
            groups.append((version, version, shown))
    return {f"v{first}" if first == last else f"v{first}-v{last}": shown for first, last, shown in groups}
