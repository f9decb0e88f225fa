"""Where reading starts and ends: a word, offsets or timestamps, of one partition or of all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from barnabas.model.ids import TopicPartition
from barnabas.spark.errors import PipelineError
from barnabas.spark.options import Options
from barnabas.spark.source.offsets import TIMESTAMPS_EXAMPLE, names, parse_offsets

LATEST = -1  # stands for an offset in JSON, as in Kafka's own protocol
EARLIEST = -2


@dataclass(frozen=True, slots=True)
class Everywhere:
    """The same word for every partition: LATEST or EARLIEST."""

    word: int


@dataclass(frozen=True, slots=True)
class AtOffsets:
    offsets: Mapping[TopicPartition, int]
    option: str


@dataclass(frozen=True, slots=True)
class AtTimestamps:
    """The first record at or after a time. Where there is none: LATEST, or a refusal."""

    timestamps_ms: Mapping[TopicPartition, int]
    option: str
    or_latest: bool
    everywhere_ms: int | None = field(default=None)  # the same time for every partition


Place: TypeAlias = Everywhere | AtOffsets | AtTimestamps


@dataclass(frozen=True, slots=True)
class _Names:
    """The options that say one end of the range, most important first."""

    timestamp: str
    by_timestamp: str
    offsets: str


START = _Names("startingTimestamp", "startingOffsetsByTimestamp", "startingOffsets")
END = _Names("endingTimestamp", "endingOffsetsByTimestamp", "endingOffsets")
STRATEGY = "startingOffsetsByTimestampStrategy"


def starting_place(options: Options, streaming: bool) -> Place:
    place = _place(options, START, _or_latest(options), LATEST if streaming else EARLIEST)
    if not streaming:
        _refuse_word(place, LATEST, "start at latest", START.offsets)
    return place


def ending_place(options: Options) -> Place:
    """Of a batch query. A time that no record has reached ends the range at the latest offset."""
    place = _place(options, END, True, LATEST)
    _refuse_word(place, EARLIEST, "end at earliest", END.offsets)
    return place


def refuse_ending(options: Options) -> None:
    for option in (END.timestamp, END.by_timestamp, END.offsets):
        if options.text(option) is not None:
            raise PipelineError(
                f"Option {option} is not valid in a streaming query, which has no end: "
                "remove it, or use spark.read."
            )


def refuse_incomplete(place: Place, assigned: Iterable[TopicPartition]) -> None:
    """Offsets or times for some partitions only would leave open what the others mean."""
    if isinstance(place, Everywhere) or (isinstance(place, AtTimestamps) and place.everywhere_ms is not None):
        return
    given = set(place.offsets if isinstance(place, AtOffsets) else place.timestamps_ms)
    wanted = set(assigned)
    if missing := wanted - given:
        hint = " (-1 stands for latest, -2 for earliest)" if isinstance(place, AtOffsets) else ""
        raise PipelineError(
            f"Option {place.option} must name every partition that is read{hint}: {names(missing)} missing."
        )
    if surplus := given - wanted:
        raise PipelineError(
            f"Option {place.option} names partitions that are not read: {names(surplus)}. "
            "Remove them, or subscribe to their topics."
        )


def _place(options: Options, option: _Names, or_latest: bool, default: int) -> Place:
    if options.text(option.timestamp) is not None:
        everywhere_ms = options.integer(option.timestamp)
        return AtTimestamps({}, option.timestamp, or_latest, everywhere_ms)
    if (text := options.text(option.by_timestamp)) is not None:
        timestamps = parse_offsets(option.by_timestamp, text, TIMESTAMPS_EXAMPLE)
        if any(timestamp_ms < 0 for timestamp_ms in timestamps.values()):
            raise PipelineError(
                f"Option {option.by_timestamp} expects milliseconds since 1970, none below 0."
            )
        return AtTimestamps(timestamps, option.by_timestamp, or_latest)
    text = options.text(option.offsets)
    word = {None: default, "latest": LATEST, "earliest": EARLIEST}.get(text and text.strip().lower())
    if word is not None:
        return Everywhere(word)
    assert text is not None
    return AtOffsets(_offsets(option.offsets, text), option.offsets)


def _offsets(option: str, text: str) -> Mapping[TopicPartition, int]:
    if not text.strip().startswith("{"):
        raise PipelineError(
            f"Option {option} must be earliest, latest or JSON such as "
            f'{{"topicA":{{"0":23,"1":-1}}}}, not {text!r}.'
        )
    offsets = parse_offsets(option, text)
    for partition, offset in offsets.items():
        if offset < EARLIEST:
            raise PipelineError(
                f"Option {option} gives {partition} the offset {offset}: "
                "use an offset of at least 0, -1 for latest or -2 for earliest."
            )
    return offsets


def _or_latest(options: Options) -> bool:
    text = (options.text(STRATEGY) or "error").lower()
    if text not in ("error", "latest"):
        raise PipelineError(f"Option {STRATEGY} must be error or latest, not {text!r}.")
    return text == "latest"


def _refuse_word(place: Place, word: int, verb: str, option: str) -> None:
    if place == Everywhere(word):
        raise PipelineError(f"A batch query cannot {verb}: it would read nothing. Change option {option}.")
    if isinstance(place, AtOffsets):
        for partition, offset in place.offsets.items():
            if offset == word:
                raise PipelineError(
                    f"A batch query cannot {verb} ({word}), as option {option} says for {partition}."
                )
