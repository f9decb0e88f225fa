"""Every promise there is, of one broker and of clusters, and how to try one on a seed."""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.sim.cluster.promise import ClusterPromise
from barnabas.sim.cluster.promises import CLUSTER_PROMISES
from barnabas.sim.cluster.run import run_cluster
from barnabas.sim.promise import Promise
from barnabas.sim.promises import PROMISES
from barnabas.sim.run import Outcome, run

CATALOGUE: Mapping[str, Promise | ClusterPromise] = {**PROMISES, **CLUSTER_PROMISES}


def play(promise: Promise | ClusterPromise, seed: int, *, talk: bool = False) -> Outcome:
    """With `talk`, the brokers' own log lines go where logging sends them."""
    if isinstance(promise, ClusterPromise):
        return run_cluster(promise, seed, talk=talk)
    return run(promise, seed, talk=talk)
