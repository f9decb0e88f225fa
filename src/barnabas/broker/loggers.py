"""Log levels as settings (KIP-412): resource type BROKER_LOGGER, one row per logger."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from barnabas.model.config_numbers import Operation, Source
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.settings.alter import Change
from barnabas.model.settings.resolve import Described

_LEVELS = {
    "TRACE": logging.DEBUG,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}
_NAMES = {level: name for name, level in reversed(_LEVELS.items()) if name != "TRACE"}
_NO_TYPE = 0  # as Kafka sends it
ROOT = "root"


def describe() -> list[Described]:
    return [
        Described(
            name,
            _NAMES.get(_logger(name).getEffectiveLevel(), "INFO"),
            Source.DYNAMIC_BROKER_LOGGER_CONFIG,
            False,
            False,
            (),
            _NO_TYPE,
            "",
        )
        for name in _names()
    ]


def check(changes: Iterable[Change]) -> None:
    """One after the other: what comes first is complained of first."""
    known = _names()
    for name, operation, level in changes:
        if operation in {Operation.APPEND, Operation.SUBTRACT}:
            word = Operation(operation).name
            message = f"{word} operation is not allowed for the BROKER_LOGGER resource"
            raise ApiError(ErrorCode.INVALID_REQUEST, message)
        if operation not in {Operation.SET, Operation.DELETE}:
            raise ApiError(ErrorCode.INVALID_REQUEST, f"Unknown operations type {operation}")
        if name not in known:
            raise ApiError(ErrorCode.INVALID_CONFIG, f"Logger {name} does not exist!")
        if operation == Operation.DELETE and name == ROOT:
            raise ApiError(
                ErrorCode.INVALID_REQUEST, f"Removing the log level of the {ROOT} logger is not allowed"
            )
        if operation == Operation.SET and level not in _LEVELS:
            raise ApiError(
                ErrorCode.INVALID_CONFIG,
                f"Cannot set the log level of {name} to {level} as it is not a supported log level. "
                f"Valid log levels are {', '.join(sorted(_LEVELS))}",
            )


def apply(changes: Iterable[Change]) -> None:
    """Without a level of its own, a logger has its parent's."""
    for name, operation, level in changes:
        is_reset = operation == Operation.DELETE
        _logger(name).setLevel(logging.NOTSET if is_reset else _LEVELS[level or ""])


def _logger(name: str) -> logging.Logger:
    return logging.getLogger(None if name == ROOT else name)


def _names() -> list[str]:
    known = [name for name in logging.Logger.manager.loggerDict if name.startswith(("kafka", "barnabas"))]
    return [ROOT, *sorted(known)]
