"""Connections that are kept: those of a Python worker for the tasks that come after this one, and those of a
driver from one micro-batch to the next."""

from __future__ import annotations

import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from barnabas.spark.sink.settings import Sink
from barnabas.wire import Cluster

# Nobody between us and the brokers has forgotten a connection by then. After that, dial again at once rather
# than wait for an answer that does not come.
_IDLE_MAX_S = 60

_clusters: dict[tuple[str, tuple[tuple[str, str], ...]], Cluster] = {}


def connected(sink: Sink) -> Cluster:
    """In a worker: one thread, one task after the other."""
    key = sink.bootstrap, tuple(sorted(sink.properties.items()))
    if key not in _clusters:
        _clusters[key] = sink.connect()
    return _clusters[key]


class Kept:
    """In a driver, where the batches of several queries may be under way at once: who finds nothing here
    dials anew. A broker that has gone meanwhile is found out, and dialled again, by the first question."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._idle: list[tuple[Cluster, float]] = []
        weakref.finalize(self, _close, self._idle)

    @contextmanager
    def borrowed(self) -> Iterator[Cluster]:
        """What goes wrong ends the connections, too."""
        cluster = self._taken()
        try:
            yield cluster
        except BaseException:
            cluster.close()
            raise
        if self._idle:
            cluster.close()
        else:
            self._idle.append((cluster, time.monotonic()))

    def _taken(self) -> Cluster:
        try:
            cluster, since_s = self._idle.pop()
        except IndexError:
            return self._sink.connect()
        if time.monotonic() - since_s < _IDLE_MAX_S:
            return cluster
        cluster.close()
        return self._sink.connect()


def _close(idle: list[tuple[Cluster, float]]) -> None:
    while idle:
        idle.pop()[0].close()
