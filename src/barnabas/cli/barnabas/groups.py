"""barnabas groups: who reads what, how far behind they are, and moving or deleting their offsets."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from barnabas.cli.barnabas.common import connect, done, run, show, verbs
from barnabas.cli.barnabas.groups_lag import add_watch, described, lag
from barnabas.cli.barnabas.groups_reset import add_reset, confirmed, reset
from barnabas.cli.parts.consumer_groups_reset import parse_topic
from barnabas.cli.parts.consumer_groups_rows import assignment_text
from barnabas.cli.support import partitions
from barnabas.model.errors import ApiError
from barnabas.model.ids import TopicPartition
from barnabas.wire.admin import group_offsets, groups


def main(arguments: Sequence[str]) -> int:
    table = (
        ("list", "every group, its type and state", _list_arguments, _list),
        ("show", "where a group is, and how far behind; --watch keeps looking", add_watch, lag),
        ("members", "who is in a group, and what each reads", _group, _members),
        ("reset", "move a group without members to other offsets", add_reset, reset),
        ("forget", "delete a group's offsets of topics it does not read", _forget_arguments, _forget),
        ("delete", "delete groups without members", _delete_arguments, _delete),
    )
    return run(verbs("groups", "Consumer groups: their members, lag and offsets.", table), arguments)


def _group(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group")


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--state", action="append", default=[], help="only in this state, such as Stable")
    parser.add_argument("--type", action="append", default=[], help="only of this type, such as consumer")


def _forget_arguments(parser: argparse.ArgumentParser) -> None:
    _group(parser)
    parser.add_argument("topic", nargs="+", help="a topic, or some of its partitions as TOPIC:0,1")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _delete_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", nargs="+")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _list(asked: argparse.Namespace) -> int:
    with connect(asked) as cluster:
        found = groups.list_groups(cluster, asked.state, asked.type)
    rows = [(row.group_id, row.group_type.lower(), row.group_state, row.protocol_type) for row in found]
    show(asked, ("group", "type", "state", "protocol"), rows)
    return 0


def _members(asked: argparse.Namespace) -> int:
    with connect(asked) as cluster:
        group = described(cluster, asked.group)
    rows = [
        (
            member.member_id,
            member.instance_id,
            member.client_id,
            member.host.removeprefix("/"),
            member.epoch,
            len(member.assignment),
            assignment_text(member.assignment),
        )
        for member in group.members
    ]
    columns = ("member", "instance", "client", "host", "epoch", "partitions", "reads")
    where = f"coordinated by broker {group.coordinator.node_id}"
    assignor = f", assigned by {group.assignor}" if group.assignor else ""
    show(asked, columns, rows, f"{group.group_id} is {group.state}, {where}{assignor}")
    return 0


def _forget(asked: argparse.Namespace) -> int:
    words = [parse_topic(word) for word in asked.topic]
    with connect(asked) as cluster:
        whole = partitions.of_topics(cluster, [word.topic for word in words if word.partitions is None])
        named = [TopicPartition(word.topic, index) for word in words for index in word.partitions or ()]
        wanted = sorted({*whole, *named})
        listed = ", ".join(asked.topic)
        if not confirmed(asked, f"Delete what {asked.group} has committed of {listed}?"):
            return 1
        answers = group_offsets.delete(cluster, asked.group, wanted)
    for error in answers.values():
        if error is not None:
            raise error
    return done(asked, f"{asked.group} has no offsets of {listed} any more.", group=asked.group)


def _delete(asked: argparse.Namespace) -> int:
    listed = ", ".join(asked.group)
    if not confirmed(asked, f"Delete {listed} and every offset committed there?"):
        return 1
    with connect(asked) as cluster:
        answers = groups.delete(cluster, asked.group)
    for group_id, error in answers.items():
        if error is not None:
            raise ApiError(error.code, f"{group_id}: {error}")
    return done(asked, f"Deleted {listed}.", deleted=listed)
