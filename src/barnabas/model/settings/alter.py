"""What the overrides of a resource become when AlterConfigs or IncrementalAlterConfigs changes them.

Whether they may become that is `validation`'s question. A refusal is an ApiError with Kafka's code and
sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from barnabas.model.config_numbers import Operation
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.settings.row import Scope
from barnabas.model.settings.table import SETTINGS
from barnabas.model.settings.values import Type


class Change(NamedTuple):
    name: str
    operation: int  # as sent: may be no Operation at all
    value: str | None = None


def check_changes(changes: Sequence[Change]) -> None:
    """Refuse what is wrong with a request whatever it is about: a name twice, nothing to set."""
    _refuse_duplicates(change.name for change in changes)
    _refuse_nulls((each.name, each.value) for each in changes if each.operation != Operation.DELETE)


def altered(scope: Scope, current: Mapping[str, str], changes: Sequence[Change]) -> dict[str, str]:
    """Incremental: the overrides after `changes`."""
    overrides = dict(current)
    for change in changes:
        if change.operation not in Operation.__members__.values():
            # For topics Kafka 4.3 runs into an error of its own here; its sentence for brokers fits all.
            raise _invalid_request(f"Unknown operations type {change.operation}")
        _apply(scope, overrides, change.name, Operation(change.operation), change.value or "")
    return overrides


def replaced(pairs: Sequence[tuple[str, str | None]]) -> dict[str, str]:
    """Legacy AlterConfigs: the overrides become what the request names, and nothing else."""
    _refuse_duplicates(name for name, _ in pairs)
    _refuse_nulls(pairs)
    return {name: value for name, value in pairs if value is not None}


def _apply(scope: Scope, overrides: dict[str, str], name: str, operation: Operation, value: str) -> None:
    if operation is Operation.SET:
        overrides[name] = value
    elif operation is Operation.DELETE:
        overrides.pop(name, None)
    else:
        present = _list_items(scope, overrides, name, operation)
        items = value.split(",")
        if operation is Operation.APPEND:
            present += [item for item in dict.fromkeys(items) if item not in present]
        else:
            present = [item for item in present if item not in items]
        overrides[name] = ",".join(present)


def _list_items(scope: Scope, overrides: Mapping[str, str], name: str, operation: Operation) -> list[str]:
    """What a list holds before it grows or shrinks; one that is not set holds its default."""
    row = SETTINGS[scope].get(name)
    if scope is Scope.BROKER and row is None:
        raise _invalid_config(f"Unknown config name: {name}")
    # Kafka does not treat the lists of client metrics as lists here.
    if row is None or row.type is not Type.LIST or scope is Scope.CLIENT_METRICS:
        if scope is Scope.BROKER:
            verb = operation.name.lower()
            raise _invalid_config(f"Config value {verb} is not allowed for config key: {name}")
        raise _invalid_config(f"Can't {operation.name} to key {name} because its type is not LIST.")
    text = overrides.get(name, row.default) or ""
    return [item for item in text.split(",") if item]


def _refuse_duplicates(names: Iterable[str]) -> None:
    listed = list(names)
    if len(set(listed)) != len(listed):
        raise _invalid_request("Error due to duplicate config keys")


def _refuse_nulls(pairs: Iterable[tuple[str, str | None]]) -> None:
    missing = [name for name, value in pairs if value is None]
    if missing:
        raise _invalid_request(f"Null value not supported for : {', '.join(missing)}")


def _invalid_config(sentence: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_CONFIG, sentence)


def _invalid_request(sentence: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, sentence)
