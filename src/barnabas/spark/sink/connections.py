"""Connections of a Python worker, kept for the tasks that come after this one."""

from __future__ import annotations

from barnabas.spark.sink.settings import Sink
from barnabas.wire import Cluster

_clusters: dict[tuple[str, tuple[tuple[str, str], ...]], Cluster] = {}


def connected(sink: Sink) -> Cluster:
    key = sink.bootstrap, tuple(sorted(sink.properties.items()))
    if key not in _clusters:
        _clusters[key] = sink.connect()
    return _clusters[key]
