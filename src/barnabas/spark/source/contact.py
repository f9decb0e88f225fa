"""The planning side's connection to the cluster."""

from __future__ import annotations

from barnabas.spark.options import Options
from barnabas.wire import Cluster

FIRST_CONTACT_MS = 10_000


def connected(options: Options) -> Cluster:
    """A cluster that has answered. A wrong address is found out within seconds; a query that runs already is
    more patient with a broker that restarts."""
    with options.connect({"default.api.timeout.ms": str(FIRST_CONTACT_MS)}) as probe:
        probe.brokers()
    return options.connect()
