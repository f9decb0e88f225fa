"""One Spark for all tests of a worker: starting one costs seconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.support import spark_sink as support
from tests.support.spark_servers import SHORT_LIVED
from tests.support.wheel import build_wheel, make_environment

from barnabas.spark import local_session
from barnabas.spark.errors import PipelineError
from barnabas.spark.session import prepare
from barnabas.testing import BrokerProcess


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = str(Path(__file__).parent)
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.spark)
            if item.path.parent.name == "spark":
                item.add_marker(pytest.mark.timeout(600))  # some start a cluster of Spark's


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def wheel_python(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """The Python of an environment that has the wheel and does not know the checkout."""
    return make_environment(tmp_path_factory.mktemp("environment") / "venv", wheel)


@pytest.fixture(scope="session")
def java() -> None:
    """A Java that Spark can use, or a skip with the sentence that users get."""
    try:
        prepare()
    except PipelineError as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def spark(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    home = tmp_path_factory.mktemp("spark")
    session = local_session(
        "barnabas tests",
        **{
            "spark.master": "local[2]",
            "spark.sql.shuffle.partitions": "2",
            "spark.driver.memory": "1g",
            "spark.driver.defaultJavaOptions": SHORT_LIVED,
            "spark.local.dir": home,
            "spark.sql.warehouse.dir": home / "warehouse",
        },
    )
    yield session
    session.stop()


@pytest.fixture
def bootstrap(target: BrokerProcess) -> str:
    return target.bootstrap


@pytest.fixture
def files(tmp_path: Path) -> support.Files:
    return support.Files(tmp_path / "in")
