"""Settings from a file and from `key=value` words."""

from __future__ import annotations

from pathlib import Path

from barnabas.model import properties as java_properties


def load_properties(path: str | Path) -> dict[str, str]:
    return java_properties.load(Path(path).read_bytes())


def parse_pairs(pairs: list[str]) -> dict[str, str]:
    """`key=value` words of a command line; a missing value is the empty one."""
    return {key: value for key, _, value in (pair.partition("=") for pair in pairs)}
