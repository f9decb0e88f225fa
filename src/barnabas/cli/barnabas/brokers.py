"""barnabas brokers: who is in the cluster, what they speak, which features are on."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from barnabas.cli.barnabas.common import connect, run, show, verbs
from barnabas.protocol.messages import APIS
from barnabas.wire.admin import brokers


def main(arguments: Sequence[str]) -> int:
    table = (
        ("list", "the brokers of the cluster", _nothing, _list),
        ("apis", "which APIs and versions a broker serves", _broker, _apis),
        ("features", "the cluster's features", _nothing, _features),
    )
    return run(verbs("brokers", "Brokers: who they are and what they speak.", table), arguments)


def _nothing(_: argparse.ArgumentParser) -> None:
    """No arguments but the common ones."""


def _broker(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("broker", type=int, nargs="?", default=-1, help="its id; by default whoever answers")


def _list(asked: argparse.Namespace) -> int:
    with connect(asked) as cluster:
        found = brokers.describe_cluster(cluster)
    rows = [
        (
            broker.broker_id,
            broker.host,
            broker.port,
            broker.rack,
            "yes" if broker.broker_id == found.controller_id else None,
        )
        for broker in sorted(found.brokers, key=lambda broker: broker.broker_id)
    ]
    show(asked, ("broker", "host", "port", "rack", "controller"), rows, f"cluster {found.cluster_id}")
    return 0


def _apis(asked: argparse.Namespace) -> int:
    with connect(asked) as cluster:
        answer = brokers.api_versions(cluster, asked.broker)
    rows = [
        (
            row.api_key,
            APIS[row.api_key].name if row.api_key in APIS else None,
            row.min_version,
            row.max_version,
        )
        for row in sorted(answer.api_keys, key=lambda row: row.api_key)
    ]
    show(asked, ("key", "api", "from version", "to version"), rows)
    return 0


def _features(asked: argparse.Namespace) -> int:
    with connect(asked) as cluster:
        answer = brokers.api_versions(cluster)
    levels = {row.name: row.max_version_level for row in answer.finalized_features}
    rows = [
        (row.name, levels.get(row.name), row.min_version, row.max_version)
        for row in sorted(answer.supported_features, key=lambda row: row.name)
    ]
    show(asked, ("feature", "level", "from level", "to level"), rows)
    return 0
