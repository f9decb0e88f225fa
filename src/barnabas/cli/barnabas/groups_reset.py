"""barnabas groups reset: show where a group would go, ask, go there."""

from __future__ import annotations

import argparse
from datetime import datetime

from barnabas.cli.barnabas.common import connect, show
from barnabas.cli.barnabas.groups_lag import members
from barnabas.cli.parts.consumer_groups_reset import parse_topic, shifted, within_bounds
from barnabas.cli.support import partitions
from barnabas.cli.support.failures import ToolError
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.wire import Cluster
from barnabas.wire.admin import group_offsets, groups
from barnabas.wire.admin.offsets import Spec

Plan = dict[TopicPartition, int]


def add_reset(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group")
    parser.add_argument(
        "topic", nargs="*", help="TOPIC or TOPIC:0,1; without one, all the group has offsets of"
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument(
        "--to", metavar="WHERE", help="earliest, latest, current, an offset, or a time (2026-01-31T12:00)"
    )
    where.add_argument("--by", type=int, metavar="N", help="N records further; below zero, back")
    parser.add_argument("--dry-run", action="store_true", help="show, change nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def confirmed(asked: argparse.Namespace, question: str) -> bool:
    if asked.yes or input(f"{question} [y/N] ").lower() == "y":
        return True
    print("Nothing was changed.")
    return False


def reset(asked: argparse.Namespace) -> int:
    with connect(asked) as cluster:
        _check_inactive(cluster, asked.group)
        committed = {one: row.offset for one, row in group_offsets.committed(cluster, asked.group).items()}
        scope = _scope(cluster, asked.topic) if asked.topic else sorted(committed)
        plan = _plan(cluster, asked, scope, committed)
        rows = [(one.topic, one.partition, committed.get(one), plan[one]) for one in sorted(plan)]
        show(asked, ("topic", "partition", "now", "then"), rows, asked.group)
        if asked.dry_run or not plan:
            return 0
        if not confirmed(asked, f"Move {asked.group} there?"):
            return 1
        group_offsets.commit(cluster, asked.group, plan)
    if not asked.json:
        print(f"{asked.group} continues there.")
    return 0


def _check_inactive(cluster: Cluster, group_id: str) -> None:
    """A group nobody has heard of may be given its first offsets."""
    answer = groups.describe(cluster, [group_id])[group_id]
    if isinstance(answer, ApiError):
        if answer.code is not ErrorCode.GROUP_ID_NOT_FOUND:
            raise answer
    elif answer.members:
        raise ApiError(ErrorCode.NON_EMPTY_GROUP, f"{group_id} is being read: it has {members(answer)}.")


def _scope(cluster: Cluster, words: list[str]) -> list[TopicPartition]:
    named = [parse_topic(word) for word in words]
    known = partitions.of_topics(cluster, {word.topic for word in named})
    wanted = {TopicPartition(word.topic, index) for word in named for index in word.partitions or ()}
    whole = {word.topic for word in named if word.partitions is None}
    for partition in sorted(wanted):
        if partition not in known:
            raise ToolError(f"'{partition.topic}' has no partition {partition.partition}.")
    return sorted(wanted | {one for one in known if one.topic in whole})


def _plan(cluster: Cluster, asked: argparse.Namespace, scope: list[TopicPartition], committed: Plan) -> Plan:
    if asked.by is not None:
        return _bounded(cluster, shifted(scope, committed, asked.by))
    match asked.to:
        case "earliest":
            return partitions.offsets_at(cluster, scope, Spec.EARLIEST)
        case "latest":
            return partitions.offsets_at(cluster, scope, Spec.LATEST)
        case "current":
            ends = partitions.offsets_at(cluster, scope, Spec.LATEST)
            return {one: committed.get(one, ends[one]) for one in scope}
    if asked.to.isdecimal():
        return _bounded(cluster, dict.fromkeys(scope, int(asked.to)))
    found = partitions.offsets_at(cluster, scope, _timestamp_ms(asked.to))
    nothing_since = [one for one, offset in found.items() if offset < 0]
    return found | partitions.offsets_at(cluster, nothing_since, Spec.LATEST)


def _timestamp_ms(text: str) -> int:
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        raise ToolError(
            f"--to wants earliest, latest, current, an offset or a time such as 2026-01-31T12:00; "
            f"'{text}' is none of these."
        ) from None


def _bounded(cluster: Cluster, wanted: Plan) -> Plan:
    starts = partitions.offsets_at(cluster, wanted, Spec.EARLIEST)
    ends = partitions.offsets_at(cluster, wanted, Spec.LATEST)
    plan, _ = within_bounds(wanted, starts, ends)
    return plan
