"""Kafka's checkpoint files: a version line, a count line, one row per entry.

A file that is missing is empty. A file that is garbage is empty too, and `problem` says why: everything kept
here can be found again from the log itself, so the reader logs the sentence and goes on. A disk that does
not answer is another matter: its OSError passes through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from barnabas.model.ids import TopicPartition
from barnabas.ports import Filesystem

RECOVERY_POINTS_FILE = "recovery-point-offset-checkpoint"
LOG_START_OFFSETS_FILE = "log-start-offset-checkpoint"
HIGH_WATERMARKS_FILE = "replication-offset-checkpoint"
CLEANER_OFFSETS_FILE = "cleaner-offset-checkpoint"
LEADER_EPOCHS_FILE = "leader-epoch-checkpoint"

_VERSION = 0

Entry = TypeVar("Entry")


class EpochEntry(NamedTuple):
    """The leader epoch, and the offset of the first record written in it."""

    epoch: int
    start_offset: int


@dataclass(frozen=True, slots=True)
class OffsetCheckpoint:
    offsets: dict[TopicPartition, int]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class EpochCheckpoint:
    entries: tuple[EpochEntry, ...]
    problem: str | None = None


def read_offsets(fs: Filesystem, path: str) -> OffsetCheckpoint:
    parsed = _read(fs, path, _offset_row)
    return OffsetCheckpoint(dict(parsed.entries), parsed.problem)


def write_offsets(fs: Filesystem, path: str, offsets: Mapping[TopicPartition, int]) -> None:
    rows = [f"{topic} {partition} {offset}" for (topic, partition), offset in sorted(offsets.items())]
    fs.write_bytes_durably(path, _text(rows))


def read_epochs(fs: Filesystem, path: str) -> EpochCheckpoint:
    parsed = _read(fs, path, _epoch_row)
    return EpochCheckpoint(tuple(parsed.entries), parsed.problem)


def write_epochs(fs: Filesystem, path: str, entries: Iterable[EpochEntry]) -> None:
    fs.write_bytes_durably(path, epochs_text(entries))


def epochs_text(entries: Iterable[EpochEntry]) -> bytes:
    return _text([f"{entry.epoch} {entry.start_offset}" for entry in entries])


def _text(rows: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in (str(_VERSION), str(len(rows)), *rows)).encode()


def _offset_row(line: str) -> tuple[TopicPartition, int]:
    topic, partition, offset = line.split()
    return TopicPartition(topic, int(partition)), int(offset)


def _epoch_row(line: str) -> EpochEntry:
    epoch, start_offset = map(int, line.split())
    if epoch < 0 or start_offset < 0:
        raise ValueError(line)
    return EpochEntry(epoch, start_offset)


@dataclass(frozen=True, slots=True)
class _Parsed(Generic[Entry]):
    entries: list[Entry]
    problem: str | None = None


def _read(fs: Filesystem, path: str, row: Callable[[str], Entry]) -> _Parsed[Entry]:
    try:
        data = fs.read_bytes(path)
    except FileNotFoundError:
        return _Parsed([])
    return _parse(path, data, row)


def _parse(path: str, data: bytes, row: Callable[[str], Entry]) -> _Parsed[Entry]:
    lines = data.decode(errors="replace").splitlines()
    if len(lines) < 2:
        # Kafka creates the file empty and fills it later.
        return _Parsed([]) if not data else _Parsed([], f"Checkpoint file {path} has no entries count")
    if lines[0] != str(_VERSION):
        return _Parsed([], f"Unrecognised version {lines[0]!r} in checkpoint file {path}")
    entries = []
    for line in lines[2:]:
        try:
            entries.append(row(line))
        except ValueError:
            return _Parsed([], f"Malformed line in checkpoint file {path}: {line!r}")
    if lines[1] != str(len(entries)):
        return _Parsed([], f"Expected {lines[1]!r} entries in checkpoint file {path}, found {len(entries)}")
    return _Parsed(entries)
