"""PEM as Kafka takes it: blocks anywhere in a text, and their lines may have been joined to one."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from typing import NamedTuple

CERTIFICATE = "CERTIFICATE"
_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.DOTALL)
_LINE = 64


class PemError(Exception):
    """What is wrong with the text, in one sentence."""


class Block(NamedTuple):
    label: str
    text: str  # itself, with a line for a line again

    @property
    def content(self) -> bytes:
        return base64.b64decode("".join(self.text.splitlines()[1:-1]))


def blocks(text: str) -> list[Block]:
    return [Block(label, _normal(label, body)) for label, body in _BLOCK.findall(text)]


def certificates(text: str) -> list[bytes]:
    """Every certificate, as DER."""
    return [block.content for block in blocks(text) if block.label == CERTIFICATE]


def private_key(text: str) -> str:
    """The first private key, encrypted or not, as PEM."""
    for block in blocks(text):
        if block.label.endswith("PRIVATE KEY"):
            return block.text
    raise PemError("there is no private key in it")


def write(label: str, contents: Iterable[bytes]) -> str:
    return "".join(_written(label, base64.b64encode(content).decode()) for content in contents)


def _normal(label: str, body: str) -> str:
    if ":" in body:
        # An old encrypted key: its headers cannot be told from its text without its lines.
        return f"-----BEGIN {label}-----{body}-----END {label}-----\n"
    packed = "".join(body.split())
    try:
        base64.b64decode(packed, validate=True)
    except binascii.Error:
        raise PemError(f"the {label} in it is damaged") from None
    return _written(label, packed)


def _written(label: str, packed: str) -> str:
    rows = [packed[start : start + _LINE] for start in range(0, len(packed), _LINE)]
    return "\n".join([f"-----BEGIN {label}-----", *rows, f"-----END {label}-----", ""])
