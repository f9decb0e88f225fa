"""The tables of kafka-consumer-groups: rows in, Kafka's lines out; no IO.

A dash stands for what is not known. Where Kafka prints rows in the accidental order of its hash tables, these
are sorted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from barnabas.cli.parts.consumer_groups_rows import OffsetRow, assignment_text
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.list_groups import ListedGroup
from barnabas.wire.admin.groups import Group, Member

MISSING = "-"
_REBALANCING = frozenset({"PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"})
_NARROWEST = 15


def shown(value: object) -> str:
    return MISSING if value is None else str(value)


def line(cells: Iterable[object], widths: Sequence[int]) -> str:
    """Cells padded to their widths; the last one, having no width, is not."""
    padded = [f"{cell!s:<{width}}" for cell, width in zip(cells, [*widths, 0], strict=False)]
    return " ".join(padded)


def widest(texts: Iterable[str], narrowest: int = _NARROWEST) -> int:
    return max([narrowest, *map(len, texts)])


# --- --list ----------------------------------------------------------------------------------------------


def list_lines(groups: Sequence[ListedGroup], with_type: bool, with_state: bool) -> Iterator[str]:
    if not with_type and not with_state:
        yield from (group.group_id for group in groups)
        return
    widths = [widest(group.group_id for group in groups) + 10, *[20] * (with_type + with_state)]

    def cells(name: str, kind: str, state: str) -> list[str]:
        return [name, *[kind] * with_type, *[state] * with_state]

    yield line(cells("GROUP", "TYPE", "STATE"), widths)
    for group in groups:
        kind, state = (group.group_type or "Unknown").capitalize(), group.group_state or "Unknown"
        yield line(cells(group.group_id, kind, state), widths)


# --- --describe ------------------------------------------------------------------------------------------


def state_warning(group_id: str, state: str) -> str | None:
    """What is said on standard error before the table."""
    if state == "Empty":
        return f"\nConsumer group '{group_id}' has no active members."
    if state in _REBALANCING:
        return f"\nWarning: Consumer group '{group_id}' is rebalancing."
    return None


def offset_lines(rows: Sequence[OffsetRow], verbose: bool) -> Iterator[str]:
    """Nothing for a group without partitions."""
    if not rows:
        return
    widths = [
        widest(row.group for row in rows),
        widest(row.partition.topic for row in rows),
        10,
        *[15] * (4 if verbose else 3),
        widest(row.member.member_id for row in rows if row.member),
        widest(row.member.host for row in rows if row.member),
    ]
    epoch = ["LEADER-EPOCH"] if verbose else []
    title = ["GROUP", "TOPIC", "PARTITION", *epoch, "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID"]
    yield ""
    yield line([*title, "HOST", "CLIENT-ID"], widths)
    yield from (line(_offset_cells(row, verbose), widths) for row in rows)


def _offset_cells(row: OffsetRow, verbose: bool) -> list[str]:
    member = row.member
    return [
        row.group,
        row.partition.topic,
        str(row.partition.partition),
        *([shown(row.leader_epoch)] if verbose else []),
        shown(row.offset),
        shown(row.log_end_offset),
        shown(row.lag),
        *([MISSING] * 3 if member is None else [member.member_id, member.host, member.client_id]),
    ]


def member_lines(group: Group, verbose: bool) -> Iterator[str]:
    """A group without members has its title all the same."""
    members = group.members
    with_instance = any(member.instance_id for member in members)
    mixed = {member.upgraded for member in members} >= {True, False}
    widths = [
        widest([group.group_id] if members else []),
        widest(member.member_id for member in members),
        *([widest((member.instance_id or "" for member in members), 17)] if with_instance else []),
        widest(member.host for member in members),
        widest(member.client_id for member in members),
        15,
    ]
    title = [
        "GROUP",
        "CONSUMER-ID",
        *["GROUP-INSTANCE-ID"] * with_instance,
        "HOST",
        "CLIENT-ID",
        "#PARTITIONS",
    ]
    if verbose:
        current = widest((_assigned(member.assignment) for member in members), 20)
        target = widest((_assigned(member.target or ()) for member in members), 20)
        widths += [15, current, 15, target]
        title += ["CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT"]
        title += ["UPGRADED"] * mixed
    # Without more columns Kafka's line ends in the blank before them.
    end = "" if verbose else " "
    yield ""
    yield line(title, widths) + end
    for member in members:
        cells = [group.group_id, member.member_id, *[member.instance_id or ""] * with_instance]
        cells += [member.host, member.client_id, str(len(member.assignment))]
        cells += _epoch_cells(group, member, mixed) if verbose else []
        yield line(cells, widths) + end


def _epoch_cells(group: Group, member: Member, mixed: bool) -> list[str]:
    upgraded = MISSING if member.upgraded is None else str(member.upgraded).lower()
    return [
        shown(member.epoch),
        _assigned(member.assignment),
        shown(group.assignment_epoch),
        _assigned(member.target or ()),
        *[upgraded] * mixed,
    ]


def _assigned(partitions: Iterable[TopicPartition]) -> str:
    return assignment_text(partitions) or MISSING


def state_lines(group: Group, verbose: bool) -> Iterator[str]:
    coordinator = f"{group.coordinator.host}:{group.coordinator.port}  ({group.coordinator.node_id})"
    widths = [widest([group.group_id]), widest([coordinator], 25), 20, 20, *([15, 25] if verbose else [])]
    epochs = [shown(group.epoch), shown(group.assignment_epoch)] if verbose else []
    title = ["GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE"]
    title += ["GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH"] if verbose else []
    yield ""
    yield line([*title, "#MEMBERS"], widths)
    cells = [group.group_id, coordinator, group.assignor or MISSING, group.state, *epochs]
    yield line([*cells, str(len(group.members))], widths)


# --- what was done ---------------------------------------------------------------------------------------


def reset_lines(plans: Mapping[str, Mapping[TopicPartition, int]]) -> Iterator[str]:
    topics = [partition.topic for plan in plans.values() for partition in plan]
    widths = [widest(plans), widest(topics), 10]
    yield ""
    if plans:
        yield line(["GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"], widths)
    for group_id, plan in sorted(plans.items()):
        for partition, offset in sorted(plan.items()):
            yield line([group_id, partition.topic, partition.partition, offset], widths)


def csv_lines(plans: Mapping[str, Mapping[TopicPartition, int]], with_group: bool) -> Iterator[str]:
    for group_id, plan in sorted(plans.items()):
        for partition, offset in sorted(plan.items()):
            cells = [partition.topic, partition.partition, offset]
            yield ",".join(_csv_cell(cell) for cell in ([group_id, *cells] if with_group else cells))


def _csv_cell(cell: object) -> str:
    text = str(cell)
    if any(letter in text for letter in ',"\n\r') or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text


def deleted_offset_lines(results: Mapping[TopicPartition, str | None]) -> Iterator[str]:
    """`results`: what went wrong, or None. Partition -1 stands for a topic whose partitions are not known."""
    widths = [widest(partition.topic for partition in results), 10, 15]
    yield ""
    yield line(["TOPIC", "PARTITION", "STATUS"], widths)
    for partition, problem in sorted(results.items(), key=lambda pair: f"{pair[0].topic}{pair[0].partition}"):
        number = MISSING if partition.partition < 0 else str(partition.partition)
        status = "Successful" if problem is None else f"Error: {problem}"
        yield line([partition.topic, number, status], widths)


def deleted_group_lines(results: Mapping[str, str | None]) -> Iterator[str]:
    gone = ", ".join(f"'{group}'" for group, problem in results.items() if problem is None)
    failed = {group: problem for group, problem in results.items() if problem is not None}
    if not failed:
        yield f"Deletion of requested consumer groups ({gone}) was successful."
        return
    yield "\nError: Deletion of some consumer groups failed:"
    for group, problem in failed.items():
        yield f"* Group '{group}' could not be deleted due to: {problem}"
    if gone:
        yield f"\nThese consumer groups were deleted successfully: {gone}"
