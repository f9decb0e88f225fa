"""AlterConfigs v0–v2 (KIP-133): replaces all settings of a resource; what is not named is reset."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from barnabas.broker import config_requests as shared
from barnabas.broker.dispatch import Context
from barnabas.controller.configs import WholeChange
from barnabas.model.config_numbers import Operation
from barnabas.model.settings.alter import Change
from barnabas.protocol.messages.alter_configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
)

if TYPE_CHECKING:
    from barnabas.broker.node import Node


def handle(node: Node, context: Context, request: AlterConfigsRequest) -> None:
    early = shared.refusals([_named(item) for item in request.resources], loggers_allowed=False)
    changes = [
        WholeChange(
            shared.resource(item.resource_type, item.resource_name),
            tuple((config.name, config.value) for config in item.configs),
        )
        for item in request.resources
        if item.resource_type in shared.KINDS
    ]

    def reply(answers: shared.Answers) -> None:
        context.reply(
            AlterConfigsResponse(responses=[AlterConfigsResourceResponse(*answer) for answer in answers])
        )

    def rest(is_left: Callable[[int, str], bool]) -> AlterConfigsRequest:
        left = [item for item in request.resources if is_left(item.resource_type, item.resource_name)]
        return AlterConfigsRequest(left, request.validate_only)

    shared.Alteration(node, context, changes, early, validate_only=request.validate_only, reply=reply).begin(
        rest
    )


def _named(item: AlterConfigsResource) -> shared.Named:
    changes = tuple(Change(config.name, Operation.SET, config.value) for config in item.configs)
    return shared.Named(item.resource_type, item.resource_name, changes)
