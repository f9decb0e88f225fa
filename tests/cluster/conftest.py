"""A cluster of three for the tests of a module: use topics and groups of your own, and leave it whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest
from tests.support.zookeeper import need_java

from barnabas.testing import Cluster

StartCluster = Callable[..., Cluster]


@pytest.fixture(scope="module")
def cluster_settings() -> Mapping[str, object]:
    """A module that wants other settings for its cluster defines a fixture of this name."""
    return {}


@pytest.fixture(scope="module")
def cluster(cluster_settings: Mapping[str, object]) -> Iterator[Cluster]:
    need_java()
    with Cluster(3, cluster_settings) as running:
        yield running


@pytest.fixture
def start_cluster() -> Iterator[StartCluster]:
    """A cluster for one test alone; it takes what `Cluster` takes."""
    need_java()
    with ExitStack() as clusters:

        def start(*arguments: Any, **options: Any) -> Cluster:
            return clusters.enter_context(Cluster(*arguments, **options))

        yield start
