"""A store in the shared ZooKeeper for each test, and servers for those that break them."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.support.store import Harness
from tests.support.zookeeper import ZookeeperServer

from barnabas.store.zookeeper import ZookeeperStore
from barnabas.store.zookeeper_options import ZookeeperOptions

_numbers = itertools.count(1)


@pytest.fixture
def in_zookeeper(zookeeper: ZookeeperServer) -> Callable[..., ZookeeperOptions]:
    """Options for a place in it that no other test has."""
    chroot = f"/test-{os.getpid()}-{next(_numbers)}"

    def options(**others: object) -> ZookeeperOptions:
        return ZookeeperOptions(zookeeper.connect + chroot, **others)  # type: ignore[arg-type]

    return options


@pytest.fixture
def open_store() -> Iterator[Callable[[ZookeeperOptions], Harness]]:
    """Opens stores that are closed at the end."""
    with ExitStack() as stores:

        def opener(options: ZookeeperOptions) -> Harness:
            harness = Harness(ZookeeperStore(options))
            stores.callback(harness.store.close)
            return harness

        yield opener


@pytest.fixture
def start_zookeeper(zookeeper: ZookeeperServer, tmp_path: Path) -> Iterator[Callable[..., ZookeeperServer]]:
    """Starts servers for one test alone. Asks for the shared one first: without Java the test is skipped."""
    with ExitStack() as servers:

        def starter(
            name: str = "alone", extra: str = "", myid: int | None = None, java_options: Sequence[str] = ()
        ) -> ZookeeperServer:
            server = ZookeeperServer(tmp_path / name, extra=extra, java_options=java_options)
            if myid is not None:
                (server.directory / "data" / "myid").write_text(f"{myid}\n")
            servers.callback(server.kill)
            server.start()
            return server

        yield starter
