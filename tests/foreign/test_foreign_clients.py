"""Clients that no other suite uses: franz-go and sarama in Go, KafkaJS in Node.

Each program prints one line for each thing it does; `expected/` holds the lines it prints at an Apache Kafka
4.3.1 broker. Ours must make it print the same, alone and as a cluster; and numbers that go through a cluster
whose brokers are killed must come out as they went in. `make foreign` runs this.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.foreign.programs import HERE, go_program, node_program

from barnabas.testing import Broker, Cluster

RUN_TIMEOUT_S = 600
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

Programs = Callable[[str], list[str]]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    directory = tmp_path_factory.mktemp("programs")

    @cache
    def program(name: str) -> list[str]:
        return node_program(name, directory) if name == "kafkajs" else go_program(name, directory)

    return program


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as running:
        yield running


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(3) as running:
        yield running


@pytest.mark.parametrize("name", ["franz", "sarama", "kafkajs"])
@pytest.mark.parametrize("home", ["broker", "cluster"])
def test_a_program_prints_what_it_prints_at_apache_kafka(
    name: str, home: str, programs: Programs, request: pytest.FixtureRequest
) -> None:
    command = programs(name)
    bootstrap = request.getfixturevalue(home).bootstrap
    ran = subprocess.run(
        [*command, bootstrap], capture_output=True, text=True, timeout=RUN_TIMEOUT_S, check=False
    )
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    assert sorted(ran.stdout.splitlines()) == sorted(_expected(name).splitlines())


@pytest.mark.parametrize(
    ("name", "promised"),
    [
        ("franz", ["numbers: 2000 once 0 more than once"]),
        ("kafkajs", ["seen by the group: 1000", "written: 1000"]),
    ],
)
def test_nothing_is_lost_or_doubled_while_brokers_are_killed(
    name: str, promised: list[str], programs: Programs, cluster: Cluster
) -> None:
    command = [*programs(name), cluster.bootstrap, "faults"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as program:
        assert program.stdout is not None
        try:
            assert program.stdout.readline() == "ready\n"
            for broker in cluster.brokers:
                broker.kill()
                broker.start()
                cluster.wait_until_whole()
            printed, _ = program.communicate(timeout=RUN_TIMEOUT_S)
        finally:
            program.kill()
    assert program.returncode == 0, printed
    assert set(promised) <= set(printed.splitlines()), printed


def _expected(name: str) -> str:
    return Path(HERE / "expected" / f"{name}.txt").read_text()
