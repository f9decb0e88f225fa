"""What we read of Apache Kafka's own metadata log (KRaft): the settings of its topics, to take them along.

A record's value is: frame version, type and version as varints, then the body. We know the types that set and
unset a topic's settings, and pass over the rest.
"""

from __future__ import annotations

from collections.abc import Iterable

from barnabas.ports import Buffer
from barnabas.protocol.varint import read_unsigned

_TOPIC_RECORD, _CONFIG_RECORD, _REMOVE_TOPIC_RECORD = 2, 4, 9
_TOPIC_RESOURCE = 2


def topic_settings(values: Iterable[Buffer]) -> dict[str, dict[str, str]]:
    """Of every topic, what is set in the end. Raises ValueError or IndexError on what cannot be read."""
    settings: dict[str, dict[str, str]] = {}
    names: dict[bytes, str] = {}
    for value in values:
        _, at = read_unsigned(value, 0)
        kind, at = read_unsigned(value, at)
        _, at = read_unsigned(value, at)
        if kind == _TOPIC_RECORD:
            name, at = _string(value, at)
            names[bytes(value[at : at + 16])] = name or ""
        elif kind == _REMOVE_TOPIC_RECORD:
            settings.pop(names.pop(bytes(value[at : at + 16]), ""), None)
        elif kind == _CONFIG_RECORD and value[at] == _TOPIC_RESOURCE:
            _set(settings, value, at + 1)
    return settings


def _set(settings: dict[str, dict[str, str]], value: Buffer, at: int) -> None:
    topic, at = _string(value, at)
    name, at = _string(value, at)
    text, _ = _string(value, at)
    of_topic = settings.setdefault(topic or "", {})
    if text is None:
        of_topic.pop(name or "", None)
    else:
        of_topic[name or ""] = text


def _string(value: Buffer, at: int) -> tuple[str | None, int]:
    size, at = read_unsigned(value, at)
    if size == 0:
        return None, at
    end = at + size - 1
    return str(value[at:end], "utf-8"), end
