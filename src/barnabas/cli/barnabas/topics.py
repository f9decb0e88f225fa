"""barnabas topics: list, show, create, grow, delete."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from barnabas.cli.barnabas.common import connect, done, pairs, run, show, verbs
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import uuid_text
from barnabas.wire import check
from barnabas.wire.admin import topics


def main(arguments: Sequence[str]) -> int:
    table = (
        ("list", "the topics there are", _no_more, _list),
        ("show", "a topic's partitions", _one_topic, _show),
        ("create", "make a topic", _create_arguments, _create),
        ("grow", "give a topic more partitions", _grow_arguments, _grow),
        ("delete", "delete topics and their records", _delete_arguments, _delete),
    )
    return run(verbs("topics", "Topics: list, show, create, grow, delete.", table), arguments)


def _no_more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--internal", action="store_true", help="the brokers' own topics too")


def _one_topic(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic")


def _create_arguments(parser: argparse.ArgumentParser) -> None:
    _one_topic(parser)
    parser.add_argument("--partitions", type=int, default=topics.BROKER_DECIDES)
    parser.add_argument("--replicas", type=int, default=topics.BROKER_DECIDES)
    parser.add_argument("--config", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--dry-run", action="store_true", help="only ask whether it would work")


def _grow_arguments(parser: argparse.ArgumentParser) -> None:
    _one_topic(parser)
    parser.add_argument("partitions", type=int, help="how many partitions it has afterwards")


def _delete_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", nargs="+")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _list(asked: argparse.Namespace) -> int:
    with connect(asked) as cluster:
        found = [topic for topic in cluster.metadata().topics if asked.internal or not topic.is_internal]
    rows = [
        (
            topic.name,
            len(topic.partitions),
            max((len(row.replica_nodes) for row in topic.partitions), default=0),
            sum(row.leader_id < 0 for row in topic.partitions),
            sum(len(row.isr_nodes) < len(row.replica_nodes) for row in topic.partitions),
        )
        for topic in sorted(found, key=lambda topic: topic.name or "")
    ]
    show(asked, ("topic", "partitions", "replicas", "leaderless", "under-replicated"), rows)
    return 0


def _show(asked: argparse.Namespace) -> int:
    with connect(asked) as cluster:
        (topic,) = topics.describe(cluster, [asked.topic])
    check(topic.error_code)
    rows = [
        (
            row.partition_index,
            row.leader_id if row.leader_id >= 0 else None,
            row.leader_epoch,
            ",".join(map(str, row.replica_nodes)),
            ",".join(map(str, row.isr_nodes)),
        )
        for row in sorted(topic.partitions, key=lambda row: row.partition_index)
    ]
    columns = ("partition", "leader", "epoch", "replicas", "in sync")
    show(asked, columns, rows, f"{topic.name} ({uuid_text(topic.topic_id)})")
    return 0


def _create(asked: argparse.Namespace) -> int:
    configs = pairs(asked.config)
    with connect(asked) as cluster:
        made = topics.create(
            cluster, asked.topic, asked.partitions, asked.replicas, configs, validate_only=asked.dry_run
        )
    count = made.num_partitions if made.num_partitions > 0 else asked.partitions
    verb = "Could create" if asked.dry_run else "Created"
    plural = "partition" if count == 1 else "partitions"
    return done(asked, f"{verb} {asked.topic} with {count} {plural}.", topic=asked.topic, partitions=count)


def _grow(asked: argparse.Namespace) -> int:
    with connect(asked) as cluster:
        topics.add_partitions(cluster, {asked.topic: asked.partitions})
    return done(
        asked,
        f"{asked.topic} has {asked.partitions} partitions now. Records with a key may go to another "
        "partition than before.",
        topic=asked.topic,
        partitions=asked.partitions,
    )


def _delete(asked: argparse.Namespace) -> int:
    with connect(asked) as cluster:
        known = set(topics.names(cluster))
        for name in asked.topic:
            if name not in known:
                raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic '{name}'.")
        listed = ", ".join(asked.topic)
        if not asked.yes and input(f"Delete {listed} and every record in it? [y/N] ").lower() != "y":
            print("Nothing was deleted.")
            return 1
        topics.delete(cluster, asked.topic)
    return done(asked, f"Deleted {listed}.", deleted=listed)
