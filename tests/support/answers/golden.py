"""Kafka's transcripts as files: one per scenario, one line per answer, so that a diff can be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.answers.dialogue import Transcript

DIRECTORY = Path(__file__).resolve().parents[2] / "golden" / "answers"


def read(name: str) -> Transcript:
    loaded: Transcript = json.loads((DIRECTORY / f"{name}.json").read_text())
    return loaded


def write(name: str, transcript: Transcript) -> None:
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    (DIRECTORY / f"{name}.json").write_text(_text(transcript))


def plain(transcript: Transcript) -> Transcript:
    """As it would be read back: what JSON does not know (tuples) has become what it does."""
    copied: Transcript = json.loads(json.dumps(transcript))
    return copied


def _text(transcript: Transcript) -> str:
    return "[\n" + ",\n".join(_step(entry) for entry in transcript) + "\n]\n"


def _step(entry: dict[str, Any]) -> str:
    answers = ",\n".join(
        f"  {json.dumps(span)}: {_answer(answer)}" for span, answer in entry["answers"].items()
    )
    return f'{{"step": {json.dumps(entry["step"])}, "answers": {{\n{answers}\n}}}}'


def _answer(answer: Any) -> str:
    """On one line, unless it is long: then one line per setting or partition."""
    line = json.dumps(answer)
    if len(line) <= 400:
        return line
    return json.dumps(answer, indent=1) if "configs" not in line else _settings(answer)


def _settings(answer: Any) -> str:
    if isinstance(answer, dict):
        rows = [f"{json.dumps(key)}: {_settings(value)}" for key, value in answer.items()]
        line = "{" + ", ".join(rows) + "}"
        return line if len(line) <= 300 else "{\n" + ",\n".join(rows) + "}"
    if isinstance(answer, list):
        return "[" + ", ".join(_settings(item) for item in answer) + "]"
    return json.dumps(answer)
