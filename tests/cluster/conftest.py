"""A cluster of three for the tests of a module: use topics and groups of your own, and leave it whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.support.zookeeper import need_java

from barnabas.testing import Cluster

StartCluster = Callable[..., Cluster]
HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A module's tests share a cluster, so they stay together on one worker."""
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(pytest.mark.xdist_group(f"cluster/{item.path.stem}"))


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
