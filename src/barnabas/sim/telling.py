"""A history, told: one line for each thing that happened."""

from __future__ import annotations

from barnabas.model.errors import ErrorCode
from barnabas.sim.cluster_events import DeposedAsked
from barnabas.sim.history import (
    Acknowledged,
    Assigned,
    CommitAcknowledged,
    CommitAsked,
    CommitRefused,
    Ended,
    Ending,
    Event,
    GaveUp,
    GroupFound,
    Happened,
    Offsets,
    OffsetsAsked,
    OffsetsRead,
    Refused,
    Released,
    Seen,
    Sent,
)


def tell(event: Event) -> str:
    return _of_records(event) or _of_groups(event) or repr(event)


def _of_records(event: Event) -> str:
    match event:
        case Sent():
            sizes = [len(value or b"") for value in event.values]
            inside = f" in {event.transaction}" if event.transaction else ""
            what = f"batch {event.number} for {event.place}{inside}, values of {sizes} bytes"
            return f"{event.producer} makes {what}"
        case Acknowledged(sent, offset):
            return f"{sent.producer} has batch {sent.number} of {sent.place} acknowledged at {offset}"
        case Refused():
            return f"{event.producer} has a batch for {event.place} refused: {_name(event.error)}"
        case GaveUp(sent, error):
            return f"{sent.producer} gives up batch {sent.number} of {sent.place}: error {error}"
        case Seen():
            return _of_a_fetch(event)
        case Ending(transaction, commit):
            return f"{transaction} is to be {'committed' if commit else 'aborted'}"
        case Ended(transaction, fate):
            return f"{transaction}: {fate.value}"
        case Happened(fault, what):
            return f"*** {fault.value} {what}"
    return ""


def _of_a_fetch(event: Seen) -> str:
    offsets = [record.offset for record in event.records]
    span = f"{offsets[0]}-{offsets[-1]}" if offsets else "nothing"
    hidden = f", passes over {list(event.skipped)}" if event.skipped else ""
    stable = f", stable to {event.last_stable_offset}" if event.read_committed else ""
    return (
        f"{event.consumer} asks {event.place} for {event.asked_offset}, gets {span}{hidden}, error "
        f"{event.error}, high watermark {event.high_watermark}{stable}, start {event.log_start_offset}"
    )


def _of_groups(event: Event) -> str:
    match event:
        case Assigned():
            return f"{event.member} reads {_list(event.positions)} in generation {event.generation}"
        case Released():
            return f"{event.member} lets go of {', '.join(map(str, event.places))}"
        case CommitAsked():
            inside = f" in {event.transaction}" if event.transaction else ""
            return f"{event.member} commits {_list(event.offsets)} in generation {event.generation}{inside}"
        case CommitAcknowledged(asked):
            return f"{asked.member} has {_list(asked.offsets)} committed"
        case CommitRefused(asked, error):
            return f"{asked.member} has {_list(asked.offsets)} refused: {_name(error)}"
        case OffsetsAsked():
            return f"{event.member} asks where {event.group} is"
        case OffsetsRead(asked, offsets):
            return f"{asked.member} hears that {asked.group} is at {_list(offsets)}"
        case DeposedAsked():
            return f"{event.client} asks one who takes itself for the leader of {event.place} as it was"
        case GroupFound():
            return f"{event.group} is {event.state} with {event.members} of {event.expected_members} members"
    return ""


def _list(offsets: Offsets) -> str:
    return ", ".join(f"{place}@{offset}" for place, offset in offsets)


def _name(code: int) -> str:
    return ErrorCode(code).name
