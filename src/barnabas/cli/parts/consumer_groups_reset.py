"""Where `--reset-offsets` would put a group: words and offsets in, a plan out; no IO."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

from barnabas.cli.support.failures import ToolError
from barnabas.model.ids import TopicPartition

_DATETIME = re.compile(
    r"(\d+)-(\d\d?)-(\d\d?)T(\d\d?):(\d\d?):(\d\d?)\.(\d{1,3})(?:Z|([+-])(\d\d)(?::?(\d\d))?)"
)
_DURATION = re.compile(
    r"([-+]?)P(?:([-+]?\d+)D)?(?:T(?=.)(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?\d+)(?:[.,](\d{0,9}))?S)?)?",
    re.IGNORECASE | re.ASCII,
)
PARSE_EXCEPTION = "java.text.ParseException"


class TopicWord(NamedTuple):
    """`--topic orders` or `--topic orders:0,1`; None stands for every partition."""

    topic: str
    partitions: tuple[int, ...] | None


def parse_topic(word: str) -> TopicWord:
    if ":" not in word:
        return TopicWord(word, None)
    parts = word.split(":")
    while parts and not parts[-1]:
        parts.pop()
    if len(parts) != 2:
        raise ToolError(f"Invalid topic arg '{word}', expected topic name and partitions")
    return TopicWord(parts[0], tuple(_partition(text, word) for text in parts[1].split(",")))


def _partition(text: str, word: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ToolError(f"Invalid partition '{text}' specified in topic arg '{word}''") from None


def parse_datetime(text: str) -> int:
    """Milliseconds since 1970. Without a zone it is UTC's."""
    if not text.partition("T")[2]:
        raise _unreadable("Error parsing timestamp. It does not contain a 'T' according to ISO8601 format")
    zoned = text if re.search(r"[-+Z]", text.split("T")[1]) else f"{text}Z"
    found = _DATETIME.match(zoned)
    if found is None:
        raise _unreadable(f'Unparseable date: "{zoned}"')
    *fields, sign, hours, minutes = found.groups()
    away = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
    zone = timezone(-away if sign == "-" else away)
    try:
        year, month, day, hour, minute, second, millisecond = map(int, fields)
        moment = datetime(year, month, day, hour, minute, second, millisecond * 1000, zone)
    except ValueError:
        raise _unreadable(f'Unparseable date: "{zoned}"') from None
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def _unreadable(problem: str) -> ToolError:
    return ToolError(f"{PARSE_EXCEPTION}: {problem}", "java.lang.RuntimeException")


def parse_duration(text: str) -> int:
    """Milliseconds of `P1DT2H3M4.5S`."""
    found = _DURATION.fullmatch(text)
    if found is None or not any(found.groups()[1:]):
        raise ToolError("Text cannot be parsed to a Duration", "java.time.format.DateTimeParseException")
    sign, days, hours, minutes, seconds, fraction = found.groups()
    whole = ((int(days or 0) * 24 + int(hours or 0)) * 60 + int(minutes or 0)) * 60 + int(seconds or 0)
    part = int((fraction or "").ljust(9, "0") or 0) // 1_000_000
    milliseconds = whole * 1000 + (-part if (seconds or "").startswith("-") else part)
    return -milliseconds if sign == "-" else milliseconds


# --- plans -----------------------------------------------------------------------------------------------


def shifted(
    partitions: Iterable[TopicPartition], committed: Mapping[TopicPartition, int], count: int
) -> dict[TopicPartition, int]:
    wanted = {}
    for partition in partitions:
        if partition not in committed:
            raise ToolError(
                f"Cannot shift offset for partition {partition} since there is no current committed offset"
            )
        wanted[partition] = committed[partition] + count
    return wanted


def within_bounds(
    wanted: Mapping[TopicPartition, int],
    starts: Mapping[TopicPartition, int],
    ends: Mapping[TopicPartition, int],
) -> tuple[dict[TopicPartition, int], list[str]]:
    """The offsets that exist, nearest to those wanted; and a warning for each that had to move."""
    plan = {}
    warnings = []
    for partition, offset in wanted.items():
        nearest, where = offset, ""
        if offset > ends[partition]:
            nearest, where = ends[partition], "higher than latest"
        elif offset < starts[partition]:
            nearest, where = starts[partition], "lower than earliest"
        if where:
            warnings.append(
                f"New offset ({offset}) is {where} offset for topic partition {partition}. "
                f"Value will be set to {nearest}"
            )
        plan[partition] = nearest
    return plan, warnings


def plans_of_csv(text: str, groups: list[str]) -> dict[str, dict[TopicPartition, int]]:
    """By group. With one --group the lines may leave the group out: `topic,partition,offset`. A line that
    ends early has zeros for the rest, as with Kafka."""
    lines = text.split("\n")
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise _bad_csv(1, "is empty")
    only = groups[0] if len(groups) == 1 and _is_without_group(lines[0]) else None
    plans: dict[str, dict[TopicPartition, int]] = {}
    for number, row in enumerate(lines, start=1):
        group, partition, offset = _csv_row(number, row, only)
        plans.setdefault(group, {})[partition] = offset
    return plans


def _is_without_group(row: str) -> bool:
    cells = _cells(row)
    return 0 < len(cells) <= 3 and all(_is_number(cell) for cell in cells[1:])


def _csv_row(number: int, row: str, group: str | None) -> tuple[str, TopicPartition, int]:
    cells = _cells(row)
    if group is not None:
        cells = [group, *cells]
    if not 2 <= len(cells) <= 4 or not all(_is_number(cell) for cell in cells[2:]):
        expected = "topic,partition,offset" if group is not None else "group,topic,partition,offset"
        raise _bad_csv(number, f"is not {expected}: {row.strip()}")
    numbers = [int(cell or 0) for cell in (*cells[2:], "", "")]
    return cells[0], TopicPartition(cells[1], numbers[0]), numbers[1]


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([row]), [])]


def _is_number(cell: str) -> bool:
    return not cell or re.fullmatch(r"-?\d{1,18}", cell, re.ASCII) is not None


def _bad_csv(number: int, problem: str) -> ToolError:
    return ToolError(
        f"java.io.IOException: line {number} of the CSV file {problem}", "java.lang.RuntimeException"
    )
