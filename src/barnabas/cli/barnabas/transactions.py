"""barnabas transactions: which are open, what they hold, and ending those that nobody ends."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from barnabas.cli.barnabas.common import Cell, connect, done, run, show, verbs
from barnabas.cli.barnabas.groups_reset import confirmed
from barnabas.model.errors import ApiError
from barnabas.model.ids import TopicPartition
from barnabas.wire.admin import brokers, transactions
from barnabas.wire.admin.transactions import EVERY_DURATION


def main(arguments: Sequence[str]) -> int:
    table = (
        ("list", "every transactional id and its state", _list_arguments, _list),
        ("show", "one transaction", _id, _show),
        ("producers", "who writes to a partition, and what each has open", _partition, _producers),
        ("end", "abort what an id has open, and fence its producer", _end_arguments, _end),
    )
    return run(verbs("transactions", "Transactions: see them, end them.", table), arguments)


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--longer-than", type=float, metavar="SECONDS", help="only those open for longer")
    parser.add_argument("--like", metavar="REGEX", help="only ids that match")


def _id(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="the transactional id")


def _end_arguments(parser: argparse.ArgumentParser) -> None:
    _id(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _partition(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic")
    parser.add_argument("partition", type=int)


def _list(asked: argparse.Namespace) -> int:
    duration_ms = EVERY_DURATION if asked.longer_than is None else int(asked.longer_than * 1000)
    with connect(asked) as cluster:
        found = transactions.list_all(cluster, duration_ms=duration_ms, pattern=asked.like)
    columns = ("transactional id", "state", "producer", "coordinator")
    rows = [(row.transactional_id, row.state, row.producer_id, row.coordinator_id) for row in found]
    show(asked, columns, rows)
    return 0


def _show(asked: argparse.Namespace) -> int:
    with connect(asked) as cluster:
        found = transactions.describe(cluster, [asked.id])[asked.id]
    if isinstance(found, ApiError):
        raise found
    since_ms = found.started_at_ms
    open_seconds = None if since_ms is None else round(time.time() - since_ms / 1000, 1)
    rows: list[tuple[Cell, Cell]] = [
        ("state", found.state),
        ("producer", found.producer_id),
        ("epoch", found.producer_epoch),
        ("coordinator", found.coordinator_id),
        ("timeout in seconds", found.timeout_ms / 1000),
        ("seconds since it began", open_seconds),
        ("partitions", ", ".join(map(str, sorted(found.partitions)))),
    ]
    show(asked, ("what", "value"), rows, found.transactional_id)
    return 0


def _producers(asked: argparse.Namespace) -> int:
    partition = TopicPartition(asked.topic, asked.partition)
    with connect(asked) as cluster:
        found = brokers.producers(cluster, [partition])[partition]
    if isinstance(found, ApiError):
        raise found
    rows = [
        (
            row.producer_id,
            row.producer_epoch,
            row.last_sequence,
            row.current_txn_start_offset if row.current_txn_start_offset >= 0 else None,
        )
        for row in found.active_producers
    ]
    show(asked, ("producer", "epoch", "last sequence", "open since offset"), rows, str(partition))
    return 0


def _end(asked: argparse.Namespace) -> int:
    if not confirmed(asked, f"Abort what {asked.id} has open? Its producer cannot go on."):
        return 1
    with connect(asked) as cluster:
        transactions.force_terminate(cluster, asked.id)
    return done(asked, f"{asked.id} has nothing open any more.", ended=asked.id)
