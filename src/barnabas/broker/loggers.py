"""Log levels as settings (KIP-412): resource type BROKER_LOGGER, one row per logger."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.settings.resolve import Described, Source

_LEVELS = {
    "TRACE": logging.DEBUG,
    "DEBUG": logging.DEBUG,
    "INFO": logging.INFO,
    "WARN": logging.WARNING,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
}
_NAMES = {level: name for name, level in reversed(_LEVELS.items()) if name != "TRACE"}
_STRING = 2
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
            _STRING,
            "",
        )
        for name in _names()
    ]


def check(changes: Mapping[str, str | None]) -> None:
    """None resets a logger to its parent's level."""
    known = _names()
    for name, level in changes.items():
        if name not in known:
            raise ApiError(ErrorCode.INVALID_CONFIG, f"Logger {name} does not exist!")
        if level is None and name == ROOT:
            raise ApiError(
                ErrorCode.INVALID_REQUEST, f"Removing the log level of the {ROOT} logger is not allowed"
            )
        if level is not None and level not in _LEVELS:
            raise ApiError(
                ErrorCode.INVALID_CONFIG,
                f"Cannot set the log level of {name} to {level} as it is not a supported log level. "
                f"Valid log levels are {', '.join(sorted(_LEVELS))}",
            )


def apply(changes: Mapping[str, str | None]) -> None:
    for name, level in changes.items():
        _logger(name).setLevel(logging.NOTSET if level is None else _LEVELS[level])


def _logger(name: str) -> logging.Logger:
    return logging.getLogger(None if name == ROOT else name)


def _names() -> list[str]:
    known = [name for name in logging.Logger.manager.loggerDict if name.startswith(("kafka", "barnabas"))]
    return [ROOT, *sorted(known)]
