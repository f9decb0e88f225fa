"""What people may rely on. A change here is a change of the public API."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Callable

import barnabas
import barnabas.client


def test_the_package_offers_three_clients() -> None:
    assert barnabas.__all__ == ["Admin", "Consumer", "Producer"]
    assert barnabas.Producer is barnabas.client.Producer
    assert barnabas.Consumer is barnabas.client.Consumer
    assert barnabas.Admin is barnabas.client.Admin


def test_every_public_name_can_be_loaded() -> None:
    for name in barnabas.client.__all__:
        assert getattr(barnabas.client, name).__name__ == name


def test_the_signatures_are_pinned() -> None:
    pinned: dict[Callable[..., object], str] = {
        barnabas.Producer: "bootstrap_servers, key_serialiser, value_serialiser, settings",
        barnabas.Producer.send: "self, topic, value, key, partition, headers, timestamp_ms",
        barnabas.Producer.transaction: "self, consumer",
        barnabas.Producer.flush: "self",
        barnabas.Producer.close: "self",
        barnabas.client.Delivery.result: "self, timeout_seconds",
        barnabas.Consumer: "bootstrap_servers, topics, group, delivery, start, until_end, timeout_seconds, "
        "key_deserialiser, value_deserialiser, settings",
        barnabas.Consumer.poll: "self, timeout_seconds",
        barnabas.Consumer.poll_batch: "self, timeout_seconds, max_records",
        barnabas.Consumer.batches: "self, max_records",
        barnabas.Consumer.close: "self",
        barnabas.Admin: "bootstrap_servers, settings",
        barnabas.Admin.topics: "self, internal",
        barnabas.Admin.create_topic: "self, name, partitions, replication_factor, config, exists_ok",
        barnabas.Admin.describe_topic: "self, name",
        barnabas.Admin.add_partitions: "self, name, total",
        barnabas.Admin.delete_topic: "self, name, missing_ok",
        barnabas.Admin.config: "self, topic",
        barnabas.Admin.set_config: "self, topic, config",
        barnabas.Admin.offsets: "self, topic",
        barnabas.Admin.delete_records: "self, topic, before",
    }
    found = {thing: ", ".join(inspect.signature(thing).parameters) for thing in pinned}
    assert found == pinned


def test_importing_the_package_loads_no_client() -> None:
    program = (
        "import sys, barnabas; sys.exit('confluent_kafka' in sys.modules or 'barnabas.client' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
