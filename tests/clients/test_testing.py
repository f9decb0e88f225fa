"""`barnabas.testing`, as other people will use it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bench.apache_kafka import CHECKOUT
from confluent_kafka import Consumer, Producer, TopicPartition
from tests.support.zookeeper import need_java

from barnabas.testing import Broker, BrokerFailedError

pytest_plugins = ["pytester"]

_GUIDE = CHECKOUT / "docs" / "testing.md"


def _examples() -> dict[str, str]:
    """The code of the guide, by the file name that each block carries."""
    return dict(re.findall(r"```python (\S+)\n(.*?)```", _GUIDE.read_text(), re.DOTALL))


def test_the_examples_of_the_guide_work(pytester: pytest.Pytester) -> None:
    examples = _examples()
    assert set(examples) == {"conftest.py", "test_reports.py", "script.py", "cluster.py"}
    for name, text in examples.items():
        (pytester.path / name).write_text(text)
    pytester.runpytest_subprocess("-p", "no:randomly").assert_outcomes(passed=2)
    assert pytester.runpython(pytester.path / "script.py").ret == 0
    need_java()
    assert pytester.runpython(pytester.path / "cluster.py").ret == 0


def test_a_failing_test_shows_the_brokers_log(pytester: pytest.Pytester) -> None:
    pytester.makeconftest('pytest_plugins = ["barnabas.testing.plugin"]')
    pytester.makepyfile("def test_wrong(broker):\n    assert broker.port == 0\n")
    result = pytester.runpytest_subprocess("-p", "no:randomly")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*log of the Barnabas broker on 127.0.0.1:*"])


def test_a_broker_keeps_its_port_and_records_through_kill_and_restart() -> None:
    with Broker({"num.partitions": 3}) as broker:
        bootstrap = broker.bootstrap
        producer = Producer({"bootstrap.servers": bootstrap})
        producer.produce("kept", b"value", partition=2)
        assert producer.flush(60) == 0
        broker.kill()
        assert not broker.is_running()
        broker.restart()
        assert broker.bootstrap == bootstrap
        consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "any", "enable.auto.commit": False})
        consumer.assign([TopicPartition("kept", 2, 0)])
        message = consumer.poll(60)
        consumer.close()
        assert message is not None
        assert message.value() == b"value"
        assert (broker.log_dir / "kept-2").is_dir()
    assert not broker.directory.exists()


def test_a_directory_that_was_given_is_kept(tmp_path: Path) -> None:
    with Broker(directory=tmp_path) as broker:
        assert broker.log_dir.is_relative_to(tmp_path)
    assert (tmp_path / "broker.log").exists()


def test_a_broker_that_cannot_start_says_why() -> None:
    with (
        pytest.raises(BrokerFailedError, match=r"log\.segment\.bytes"),
        Broker({"log.segment.bytes": "many"}),
    ):
        pass
