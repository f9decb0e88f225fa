"""IncrementalAlterConfigs v0–v1 (KIP-339, KIP-412 loggers): set, delete, append, subtract.

Topic and dynamic broker settings take effect when the store has them, and survive a restart. Log levels take
effect at once and last as long as the process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from barnabas.broker import config_requests as shared
from barnabas.broker.config_rules import SettingsRules
from barnabas.broker.dispatch import Context
from barnabas.controller.configs import (
    Alteration,
    AlterOperation,
    IncrementalChange,
    alter_configs_incrementally,
)
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: IncrementalAlterConfigsRequest) -> None:
    early = shared.refusals([_named(item) for item in request.resources], loggers_allowed=True)
    refused = {(answer.resource_type, answer.resource_name) for answer in early}
    early += [
        _loggers(node, item, request.validate_only)
        for item in request.resources
        if item.resource_type == shared.BROKER_LOGGER
        and (item.resource_type, item.resource_name) not in refused
    ]
    changes = [_change(item) for item in request.resources if item.resource_type in shared.KINDS]

    def reply(answers: shared.Answers) -> None:
        responses = [AlterConfigsResourceResponse(*answer) for answer in answers]
        context.reply(IncrementalAlterConfigsResponse(responses=responses))

    node.controller.decide(
        lambda image: alter_configs_incrementally(
            image,
            changes,
            rules=SettingsRules(node.settings),
            broker_id=node.broker_id,
            validate_only=request.validate_only,
        ),
        shared.collect(early, reply),
    )


def _named(item: AlterConfigsResource) -> shared.Named:
    keys = [c.name for c in item.configs]
    nulls = [c.name for c in item.configs if c.value is None and c.config_operation != AlterOperation.DELETE]
    return shared.Named(item.resource_type, item.resource_name, keys, nulls)


def _change(item: AlterConfigsResource) -> IncrementalChange:
    alterations = tuple(Alteration(c.name, c.config_operation, c.value) for c in item.configs)
    return IncrementalChange(shared.resource(item.resource_type, item.resource_name), alterations)


def _loggers(node: Node, item: AlterConfigsResource, validate_only: bool) -> shared.Answer:
    problem = _logger_problem(item)
    if problem is not None:
        return shared.Answer(ErrorCode.INVALID_REQUEST, problem, shared.BROKER_LOGGER, item.resource_name)
    levels = {c.name: None if c.config_operation == AlterOperation.DELETE else c.value for c in item.configs}
    return shared.alter_loggers(item.resource_name, node.broker_id, levels, validate_only)


def _logger_problem(item: AlterConfigsResource) -> str | None:
    for config in item.configs:
        operation = config.config_operation
        if operation in {AlterOperation.APPEND, AlterOperation.SUBTRACT}:
            name = AlterOperation(operation).name
            return f"{name} operation is not allowed for the BROKER_LOGGER resource"
        if operation not in {AlterOperation.SET, AlterOperation.DELETE}:
            return f"Unknown operations type {operation}"
    return None
