"""IncrementalAlterConfigs v0–v1 (KIP-339, KIP-412 loggers): set, delete, append, subtract.

Topic and dynamic broker settings take effect when the store has them, and survive a restart. Log levels take
effect at once and last as long as the process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from barnabas.broker import config_requests as shared
from barnabas.broker.dispatch import Context
from barnabas.controller.configs import IncrementalChange
from barnabas.model.config_numbers import ResourceType
from barnabas.model.settings.alter import Change
from barnabas.protocol.messages.incremental_alter_configs import (
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: IncrementalAlterConfigsRequest) -> None:
    named = [
        shared.Named(item.resource_type, item.resource_name, _changes(item)) for item in request.resources
    ]
    early = shared.refusals(named, loggers_allowed=True)
    refused = {(answer.resource_type, answer.resource_name) for answer in early}
    early += [
        _loggers(node, item, request.validate_only)
        for item in request.resources
        if item.resource_type == ResourceType.BROKER_LOGGER
        and (item.resource_type, item.resource_name) not in refused
    ]
    changes = [_change(item) for item in request.resources if item.resource_type in shared.KINDS]

    def reply(answers: shared.Answers) -> None:
        responses = [AlterConfigsResourceResponse(*answer) for answer in answers]
        context.reply(IncrementalAlterConfigsResponse(responses=responses))

    def rest(is_left: Callable[[int, str], bool]) -> IncrementalAlterConfigsRequest:
        left = [item for item in request.resources if is_left(item.resource_type, item.resource_name)]
        return IncrementalAlterConfigsRequest(left, request.validate_only)

    shared.Alteration(node, context, changes, early, validate_only=request.validate_only, reply=reply).begin(
        rest
    )


def _change(item: AlterConfigsResource) -> IncrementalChange:
    return IncrementalChange(shared.resource(item.resource_type, item.resource_name), _changes(item))


def _changes(item: AlterConfigsResource) -> tuple[Change, ...]:
    return tuple(Change(c.name, c.config_operation, c.value) for c in item.configs)


def _loggers(node: Node, item: AlterConfigsResource, validate_only: bool) -> shared.Answer:
    return shared.alter_loggers(item.resource_name, node.broker_id, _changes(item), validate_only)
