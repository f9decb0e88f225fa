"""What AlterConfigs and IncrementalAlterConfigs share: resource types of the wire, loggers apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from barnabas.broker import loggers
from barnabas.broker.cluster.controller_host import code_of
from barnabas.broker.cluster.forwarding import forward_part
from barnabas.broker.dispatch import Context
from barnabas.broker.topic_config import election_rules
from barnabas.controller.configs import ConfigResult, IncrementalChange, WholeChange, alter_configs
from barnabas.controller.decision import Decision
from barnabas.controller.liveness import settled_after
from barnabas.model.config_numbers import ResourceType
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import broker_id_from_text
from barnabas.model.image import ClusterImage, ConfigKind, ConfigResource
from barnabas.model.settings.alter import Change, check_changes
from barnabas.ports import StoreError
from barnabas.protocol.messages.alter_configs import AlterConfigsResponse
from barnabas.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsResponse
from barnabas.protocol.schema import Message

if TYPE_CHECKING:
    from barnabas.broker.node import Node

KINDS: Mapping[int, ConfigKind] = {
    ResourceType.TOPIC: ConfigKind.TOPIC,
    ResourceType.BROKER: ConfigKind.BROKER,
    ResourceType.CLIENT_METRICS: ConfigKind.CLIENT_METRICS,
    ResourceType.GROUP: ConfigKind.GROUP,
}


class Answer(NamedTuple):
    """In the order of both responses' fields."""

    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str


Answers: TypeAlias = list[Answer]


def resource(kind: int, name: str) -> ConfigResource:
    return ConfigResource(KINDS[kind], name)


def answer(result: ConfigResult, error: StoreError | None) -> Answer:
    kind = next(number for number, kind in KINDS.items() if kind is result.resource.kind)
    if error is not None and not result.error:
        code = code_of(error)
        return Answer(code, code.sentence, kind, result.resource.name)
    return Answer(result.error, result.message, kind, result.resource.name)


class Named(NamedTuple):
    """A resource as a request names it, and what is to change."""

    kind: int
    name: str
    changes: tuple[Change, ...]


def refusals(resources: Sequence[Named], *, loggers_allowed: bool) -> Answers:
    """What the controller never sees: types that cannot be altered, and loggers that are named badly."""
    times = Counter((item.kind, item.name) for item in resources)
    answers = []
    for item in resources:
        try:
            if item.kind not in KINDS:
                _check(item, times[item.kind, item.name], loggers_allowed)
        except ApiError as error:
            answers.append(Answer(error.code, error.message, item.kind, item.name))
    return answers


def _check(item: Named, times: int, loggers_allowed: bool) -> None:
    if times > 1:
        raise ApiError(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")
    check_changes(item.changes)
    if item.kind != ResourceType.BROKER_LOGGER or not loggers_allowed:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {item.kind}")


def alter_loggers(name: str, own_id: int, changes: Sequence[Change], validate_only: bool) -> Answer:
    try:
        problem = _node_problem(name, own_id)
        if problem is not None:
            raise ApiError(ErrorCode.INVALID_REQUEST, problem)
        loggers.check(changes)
    except ApiError as error:
        return Answer(error.code, error.message, ResourceType.BROKER_LOGGER, name)
    if not validate_only:
        loggers.apply(changes)
    return Answer(0, None, ResourceType.BROKER_LOGGER, name)


def _node_problem(name: str, own_id: int) -> str | None:
    number = broker_id_from_text(name)
    if number is None:
        return f"Node id must be an integer, but it is: {name}"
    return None if number == own_id else f"Unexpected node id. Expected {own_id}, but received {number}"


class Alteration:
    """A request to change settings. The broker that was asked judges what concerns itself, its loggers and
    its own settings; the rest is the controller's, and goes there if we are not it."""

    def __init__(
        self,
        node: Node,
        context: Context,
        changes: Sequence[IncrementalChange | WholeChange],
        early: Answers,
        *,
        validate_only: bool,
        reply: Callable[[Answers], None],
    ) -> None:
        self._node = node
        self._context = context
        self._changes = list(changes)
        self._answers = early
        self._validate_only = validate_only
        self._reply = reply

    def begin(self, rest: Callable[[Callable[[int, str], bool]], Message]) -> None:
        """`rest` makes a request of those resources (type, name) of which it is told that they are left."""
        if self._node.controller.is_active or not self._changes:
            self._decide()
            return
        self._judge_own()
        left = {change.resource for change in self._changes}
        if not left:
            self._reply(self._answers)
            return

        def is_left(kind: int, name: str) -> bool:
            return kind in KINDS and resource(kind, name) in left

        forward_part(self._node, self._context, rest(is_left), self._heard, self._decide)

    def _judge_own(self) -> None:
        own = [change for change in self._changes if change.resource.kind is ConfigKind.BROKER]
        judged = self._decision(self._node.image, own, validate_only=True).results
        refused = [result for result in judged if result.error]
        self._answers += [answer(result, None) for result in refused]
        resources = {result.resource for result in refused}
        self._changes = [change for change in self._changes if change.resource not in resources]

    def _decision(
        self, image: ClusterImage, changes: Sequence[IncrementalChange | WholeChange], *, validate_only: bool
    ) -> Decision[ConfigResult]:
        return alter_configs(
            image,
            changes,
            settings=self._node.settings,
            broker_id=None if self._context.session.forwarded else self._node.broker_id,
            validate_only=validate_only,
        )

    def _decide(self) -> None:
        """Answers NOT_CONTROLLER where nobody is."""
        self._node.controller.decide(self._consequences, self._decided)

    def _consequences(self, image: ClusterImage) -> Decision[ConfigResult]:
        """Some settings say who may lead: a partition that nobody leads gets its leader with the change."""
        decision = self._decision(image, self._changes, validate_only=self._validate_only)
        if not decision.deltas:
            return decision
        after = image.apply(decision.deltas)
        settings = self._node.settings_with(after) or self._node.settings
        return settled_after(image, decision, election_rules(settings, after))

    def _decided(self, results: tuple[ConfigResult, ...], error: StoreError | None) -> None:
        self._reply([*self._answers, *(answer(result, error) for result in results)])

    def _heard(self, response: Message) -> None:
        assert isinstance(response, AlterConfigsResponse | IncrementalAlterConfigsResponse)
        rows = [
            Answer(row.error_code, row.error_message, row.resource_type, row.resource_name)
            for row in response.responses
        ]
        self._reply([*self._answers, *rows])
