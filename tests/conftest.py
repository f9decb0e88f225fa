"""What every test may ask for. `BARNABAS_TEST_TARGET=apache` runs the client suite against Apache Kafka."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from bench.apache_kafka import UnavailableError, provision
from hypothesis import settings as hypothesis_settings
from tests.support.targets import make_broker
from tests.support.zookeeper import ZookeeperServer
from xdist.scheduler import LoadScopeScheduling

from barnabas.java import JavaError
from barnabas.testing import BrokerProcess

# A slow machine is no failure: examples have no deadline.
hypothesis_settings.register_profile("no deadline", deadline=None)
hypothesis_settings.load_profile("no deadline")

pytest_plugins = ["barnabas.testing.plugin"]

StartTarget = Callable[..., BrokerProcess]
_topic_numbers = itertools.count(1)
_LONGEST = {"test_a_real_client_passes_its_suites_on_three_brokers"}
_UNIT_TESTS = Path(__file__).parent / "unit"


# Tests that share what takes long to start, by the beginning of their paths: they go to one worker. `None`
# stands for the file itself. xdist's own mark for groups is without effect since pytest 9.2.
_TOGETHER: dict[str, str | None] = {
    "tests/spark/test_connect.py": "wheel",
    "tests/spark/test_deployment.py": "wheel",
    "tests/spark/test_standalone.py": "wheel",
    "tests/spark/test_": "spark",
    "tests/cluster/": None,
    "tests/docs/test_cluster_page.py": None,
    "tests/docs/test_tools.py": None,
    "tests/clients/test_coordinator_crashes.py": None,
    "tests/clients/test_transactions_on_a_slow_disk.py": None,
    "tests/clients/test_wire_security.py": None,
    "tests/cli/test_group_tools_as_kafka.py": "Kafka's own tools",
    "tests/cli/test_perf_and_dump.py": "Kafka's own tools",
    "tests/cli/test_reassign_partitions_as_kafka.py": "Kafka's own tools",
    "tests/cli/test_same_lines_as_kafka.py": "Kafka's own tools",
}


class Together(LoadScopeScheduling):  # type: ignore[misc]
    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.partition("::")[0]
        for beginning, group in _TOGETHER.items():
            if path.startswith(beginning):
                return group or path
        return nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Together | None:
    return Together(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first and the shortest last: no worker waits at the end for what another began too late."""
    items.sort(key=lambda item: (item.name not in _LONGEST, item.path.is_relative_to(_UNIT_TESTS)))


@pytest.fixture(scope="session")
def target() -> Iterator[BrokerProcess]:
    """One running broker of the chosen kind, shared by the tests of this worker: use topics of your own."""
    with make_broker() as running:
        yield running


@pytest.fixture
def start_target() -> Iterator[StartTarget]:
    """Starts a broker of the chosen kind for one test alone."""
    with ExitStack() as brokers:

        def start(settings: dict[str, object] | None = None, directory: Path | None = None) -> BrokerProcess:
            return brokers.enter_context(make_broker(settings, directory))

        yield start


@pytest.fixture
def topic() -> str:
    """A topic name that no other test uses."""
    return f"topic-{os.getpid()}-{next(_topic_numbers)}"


@pytest.fixture(scope="session")
def apache_kafka_libraries() -> Path:
    """Apache Kafka's jars, or a skip that says what is missing."""
    try:
        return provision()
    except UnavailableError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZookeeperServer]:
    """One for all tests of a worker: use a chroot of your own."""
    server = ZookeeperServer(tmp_path_factory.mktemp("zookeeper"))
    try:
        server.start()
    except JavaError as missing:
        pytest.skip(str(missing))
    try:
        server.wait()
        yield server
    finally:
        server.kill()
