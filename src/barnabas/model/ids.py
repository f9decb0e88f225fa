"""Names and numbers that identify things."""

from __future__ import annotations

import base64
import re
from typing import NamedTuple

ZERO_UUID = bytes(16)
# Kafka reserves the second id for its own metadata topic.
RESERVED_UUIDS = (ZERO_UUID, bytes(15) + b"\x01")

TOPIC_NAME_MAX_LENGTH = 249
_BROKER_ID_MAX = 2**31 - 1
_INTEGER = re.compile(r"[+-]?[0-9]+")
_LEGAL_TOPIC_NAME = re.compile(r"[a-zA-Z0-9._-]+")

INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})


class TopicPartition(NamedTuple):
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


def broker_id_from_text(text: str) -> int | None:
    """As Java reads an int: no blanks, no underscores, and nothing that takes more than 32 bits."""
    number = int(text) if _INTEGER.fullmatch(text) else None
    return number if number is not None and -_BROKER_ID_MAX - 1 <= number <= _BROKER_ID_MAX else None


def uuid_text(raw: bytes) -> str:
    """Kafka prints ids as unpadded URL-safe base64."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def uuid_from_text(text: str) -> bytes:
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if len(raw) != 16:
        raise ValueError(
            f"Input string `{text}` decoded as {len(raw)} bytes, which is not equal to "
            "the expected 16 bytes of a base64-encoded UUID"
        )
    return raw


def topic_name_problem(name: str) -> str | None:
    """Why Kafka refuses this topic name, in its words; None if it is legal."""
    if name == "":
        return "the empty string is not allowed"
    if name in {".", ".."}:
        return f"'{name}' is not allowed"
    if len(name) > TOPIC_NAME_MAX_LENGTH:
        return f"the length of '{name}' is longer than the max allowed length {TOPIC_NAME_MAX_LENGTH}"
    if _LEGAL_TOPIC_NAME.fullmatch(name) is None:
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None


def collides(one: str, other: str) -> bool:
    """Metric names fold '.' and '_' together, so such topics must not live side by side."""
    return one.replace(".", "_") == other.replace(".", "_")
