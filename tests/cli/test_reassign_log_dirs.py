"""kafka-reassign-partitions with `log_dirs`: a replica in use moves to another disk of its broker."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import RunTool
from tests.support.waiting import eventually

from barnabas import Producer
from barnabas.testing import Broker
from barnabas.wire import Cluster
from barnabas.wire.admin import topics


def test_a_replica_moves_between_log_directories_and_survives_kill(run_tool: RunTool, tmp_path: Path) -> None:
    homes = [tmp_path / "one", tmp_path / "two"]
    with Broker({"log.dirs": ",".join(map(str, homes))}, directory=tmp_path / "broker") as broker:
        with Cluster.connect(broker.bootstrap) as cluster:
            topics.create(cluster, "moving", partitions=1)
        produce(broker.bootstrap, 0, 500)
        source, target = sorted(homes, key=lambda home: not (home / "moving-0").exists())
        plan = tmp_path / "plan.json"
        row = {"topic": "moving", "partition": 0, "replicas": [1], "log_dirs": [str(target)]}
        plan.write_text(json.dumps({"version": 1, "partitions": [row]}))
        line = ("kafka-reassign-partitions", "--bootstrap-server", broker.bootstrap)
        file = ("--reassignment-json-file", str(plan))
        begun = run_tool(*line, "--execute", *file)
        assert f"Successfully started moving log directory to {target} for replica moving-0" in begun.stdout
        produce(broker.bootstrap, 500, 1000)
        eventually(lambda: (target / "moving-0").exists() and not (source / "moving-0").exists())
        verified = run_tool(*line, "--verify", *file)
        assert "Reassignment of replica moving-0-" in verified.stdout
        assert "completed successfully" in verified.stdout
        broker.kill()
        broker.start()
        shown = run_tool("kafka-get-offsets", "--bootstrap-server", broker.bootstrap, "--topic", "moving")
        assert shown.stdout == "moving:0:1000\n"


def produce(bootstrap: str, first: int, last: int) -> None:
    with Producer(bootstrap) as producer:
        for number in range(first, last):
            producer.send("moving", b"%d" % number)
