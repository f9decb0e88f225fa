"""What tasks tell the driver they wrote, and whether that adds up."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from barnabas.spark.errors import PipelineError


@dataclass(frozen=True)
class Written:
    """Records of one task in one partition; other producers' records may lie between them."""

    topic: str
    partition: int
    count: int
    first_offset: int
    last_offset: int

    @property
    def where(self) -> str:
        return f"{self.topic}-{self.partition}"


@dataclass(frozen=True)
class Report:
    """`refusal` is a sentence for the user. `is_fenced`: the transaction belongs to somebody else by now."""

    task: int
    stage: int
    rows: int
    written: tuple[Written, ...] = ()
    refusal: str | None = None
    is_fenced: bool = False

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Report:
        fields = json.loads(text)
        return cls(**{**fields, "written": tuple(Written(**row) for row in fields["written"])})


class FencedError(Exception):
    """Somebody has taken the transactional id, or the coordinator has ended a transaction that took too
    long."""


def check(reports: Iterable[Report]) -> list[Written]:
    """What was written in all. Nothing may be committed unless this returns."""
    reports = list(reports)
    for report in reports:
        if report.is_fenced:
            raise FencedError
        if report.refusal is not None:
            raise PipelineError(report.refusal)
    for report in reports:
        _check_counts(report)
    return _check_owners(reports)


def _check_counts(report: Report) -> None:
    for row in report.written:
        if row.count > row.last_offset - row.first_offset + 1:
            raise PipelineError(
                f"Task {report.task} wrote {row.count} records to {row.where}, which do not fit between "
                f"offsets {row.first_offset} and {row.last_offset}: nothing was committed; please report "
                "this."
            )
    count = sum(row.count for row in report.written)
    if count != report.rows:
        raise PipelineError(
            f"Task {report.task} got {report.rows} rows and wrote {count}: nothing was committed; please "
            "report this."
        )


def _check_owners(reports: Sequence[Report]) -> list[Written]:
    """Two tasks with one producer id start at the same sequence number, so the broker may have taken one's
    records for the other's and acknowledged them without appending."""
    seen: dict[str, Written] = {}
    for report in reports:
        for row in report.written:
            if row.where in seen:
                raise PipelineError(shared_sentence(row.where))
            seen[row.where] = row
    return list(seen.values())


def shared_sentence(where: str) -> str:
    return (
        f"two tasks wrote to {where}: use barnabas.spark.write_stream(df), which brings the rows of a "
        "partition together; nothing was committed."
    )
