"""barnabas logs: how full the log directories are, and what is inside a log file."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence

from barnabas.cli.barnabas.common import connect, run, show, verbs
from barnabas.wire.admin import brokers
from barnabas.wire.codes import known


def main(arguments: Sequence[str]) -> int:
    if arguments and arguments[0] == "dump":
        # Files are read on this machine, without a broker: kafka-dump-log does it, with its own options.
        return _dump(arguments[1:])
    table = (
        ("dirs", "the log directories of every broker", _nothing, _dirs),
        ("sizes", "the size of every replica, the largest first", _nothing, _sizes),
        ("dump", "what is inside log files: barnabas logs dump FILE…", _nothing, lambda _: _dump([])),
    )
    return run(verbs("logs", "Log directories and files.", table), arguments)


def _nothing(_: argparse.ArgumentParser) -> None:
    """No arguments but the common ones."""


def _dump(files: Sequence[str]) -> int:
    tool = importlib.import_module("barnabas.cli.kafka_dump_log")
    options = [] if any(word.startswith("-") for word in files) else ["--files", ",".join(files)]
    code = tool.main(options or files)
    assert isinstance(code, int)
    return code


def _dirs(asked: argparse.Namespace) -> int:
    rows = []
    with connect(asked) as cluster:
        for broker in cluster.brokers():
            for row in brokers.log_dirs(cluster, broker.node_id):
                replicas = [replica for topic in row.topics for replica in topic.partitions]
                state = known(row.error_code).name if row.error_code else "online"
                size = sum(replica.partition_size for replica in replicas)
                rows.append((broker.node_id, row.log_dir, state, len(replicas), size, row.usable_bytes))
    show(asked, ("broker", "directory", "state", "replicas", "bytes", "bytes free"), rows)
    return 0


def _sizes(asked: argparse.Namespace) -> int:
    rows: list[tuple[str, int, int, int]] = []
    with connect(asked) as cluster:
        for broker in cluster.brokers():
            for row in brokers.log_dirs(cluster, broker.node_id):
                for topic in row.topics:
                    rows.extend(
                        (topic.name, replica.partition_index, broker.node_id, replica.partition_size)
                        for replica in topic.partitions
                    )
    rows.sort(key=lambda row: (-row[3], row))
    show(asked, ("topic", "partition", "broker", "bytes"), rows)
    return 0
