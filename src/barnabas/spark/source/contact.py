"""Connections to the cluster: of the planning side, and of the tasks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from barnabas.spark.options import Options
from barnabas.wire import Cluster

FIRST_CONTACT_MS = 10_000

# A Python worker runs one task after the other. Connections that are open, and authenticated, wait here for
# the next one; a broker that has closed one meanwhile is dialled again.
_idle: dict[Options, Cluster] = {}
_IDLE_MAX = 8


def connected(options: Options) -> Cluster:
    """A cluster that has answered. A wrong address is found out within seconds; a query that runs already is
    more patient with a broker that restarts."""
    limits = dict.fromkeys(("default.api.timeout.ms", "request.timeout.ms"), str(FIRST_CONTACT_MS))
    with options.connect(limits) as probe:
        probe.brokers()
    return options.connect()


@contextmanager
def borrowed(options: Options) -> Iterator[Cluster]:
    """For a task. What goes wrong ends the connections, too."""
    cluster = _idle.pop(options, None) or options.connect()
    try:
        yield cluster
    except BaseException:
        cluster.close()
        raise
    if options in _idle or len(_idle) >= _IDLE_MAX:
        cluster.close()
    else:
        _idle[options] = cluster


def close_idle() -> None:
    while _idle:
        _idle.popitem()[1].close()
