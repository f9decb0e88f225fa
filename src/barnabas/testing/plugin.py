"""The pytest plugin: write `pytest_plugins = ["barnabas.testing.plugin"]` in your top `conftest.py`.

`broker` is one running broker per test session (per worker, with pytest-xdist); give every test topics of
its own. `start_broker` starts another one for a single test, with settings, and cleans up after it. When
a test that uses either fails, the end of the broker's log is printed with the failure.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from barnabas.testing.broker import Broker
from barnabas.testing.process import BrokerProcess

StartBroker = Callable[..., Broker]


@pytest.fixture(scope="session")
def broker() -> Iterator[Broker]:
    """A running broker, shared by all tests of the session."""
    with Broker() as running:
        yield running


@pytest.fixture
def start_broker() -> Iterator[StartBroker]:
    """A function that starts a broker for this test alone; it takes what `Broker` takes."""
    with ExitStack() as brokers:

        def start(*arguments: Any, **options: Any) -> Broker:
            return brokers.enter_context(Broker(*arguments, **options))

        yield start


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed and call.when == "call":
        for value in getattr(item, "funcargs", {}).values():
            if isinstance(value, BrokerProcess):
                report.sections.append((f"log of the {value.name} on {value.bootstrap}", value.log_tail()))
    return report
