"""Two transcripts side by side: every place where the answers differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.support.answers.dialogue import Transcript

MISSING = "(missing)"


class Difference(NamedTuple):
    step: str
    version: str
    path: str
    kafka: Any
    ours: Any

    def __str__(self) -> str:
        return f"{self.step} [{self.version}] {self.path}: Kafka {self.kafka!r}, ours {self.ours!r}"


def compare(kafka: Transcript, ours: Transcript) -> list[Difference]:
    found = []
    steps = [entry["step"] for entry in kafka]
    if steps != [entry["step"] for entry in ours]:
        raise AssertionError(f"the transcripts have other steps: {steps}; record them anew")
    for theirs, mine in zip(kafka, ours, strict=True):
        left, right = _by_version(theirs["answers"]), _by_version(mine["answers"])
        for version in {**left, **right}:
            for path, one, other in _walk("", left.get(version, MISSING), right.get(version, MISSING)):
                found.append(Difference(theirs["step"], version, path, one, other))
    return found


def _by_version(answers: dict[str, Any]) -> dict[str, Any]:
    rows = {}
    for span, answer in answers.items():
        first, _, last = span.partition("-v")
        if not last:
            rows[span] = answer
            continue
        for version in range(int(first[1:]), int(last) + 1):
            rows[f"v{version}"] = answer
    return rows


def _walk(path: str, one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in {**one, **other}:
            yield from _walk(f"{path}.{key}", one.get(key, MISSING), other.get(key, MISSING))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from _walk(f"{path}[{index}]", left, right)
    elif one != other:
        yield path, one, other
