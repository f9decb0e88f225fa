"""A local cluster's plan: what is written is read again, and what its processes are told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from barnabas.model.settings.broker import BrokerSettings
from barnabas.runtime.cluster_plan import (
    BrokerPlan,
    ClusterDirectory,
    NoClusterError,
    Plan,
    Running,
    broker_properties,
    zookeeper_properties,
)
from barnabas.runtime.supervised import BACK_OFF_MAX_S, back_off_s

PLAN = Plan(2181, (BrokerPlan(0, 9092, "a"), BrokerPlan(1, 9093)), 2, {"num.partitions": "6"})


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    directory = ClusterDirectory(tmp_path)
    directory.write_plan(PLAN)
    assert directory.read_plan() == PLAN


def test_a_directory_without_a_plan_is_no_cluster(tmp_path: Path) -> None:
    with pytest.raises(NoClusterError, match="holds no cluster"):
        ClusterDirectory(tmp_path).read_plan()


def test_a_broker_is_replaced_by_its_id_and_added_in_order() -> None:
    stopped = PLAN.with_broker(replace(PLAN.brokers[0], wanted=False))
    assert [broker.wanted for broker in stopped.brokers] == [False, True]
    assert stopped.all_wanted() == PLAN
    grown = stopped.with_broker(BrokerPlan(2, 9099))
    assert grown.bootstrap == "127.0.0.1:9092,127.0.0.1:9093,127.0.0.1:9099"


def test_what_runs_is_read_as_it_was_written(tmp_path: Path) -> None:
    directory = ClusterDirectory(tmp_path)
    assert directory.read_running() == {}
    running = {"broker-0": Running(7, 1), "broker-1": Running(None, 3, -9)}
    directory.write_running(running)
    assert directory.read_running() == running


def test_only_one_supervises_a_directory(tmp_path: Path) -> None:
    directory = ClusterDirectory(tmp_path)
    assert directory.supervisor_pid() is None
    assert directory.take_office() is not None
    assert directory.take_office() is None
    assert directory.supervisor_pid() is not None


def test_every_setting_is_one_that_a_broker_knows() -> None:
    _, warnings = BrokerSettings.parse(broker_properties(PLAN, PLAN.brokers[0], Path("/data")))
    assert not warnings


@pytest.mark.parametrize(("replicas", "in_sync"), [(1, "1"), (2, "2"), (3, "2")])
def test_copies_are_as_many_as_the_brokers_allow(replicas: int, in_sync: str) -> None:
    properties = broker_properties(replace(PLAN, replicas=replicas), PLAN.brokers[0], Path("/data"))
    for name in ("default", "offsets.topic", "transaction.state.log"):
        assert properties[f"{name}.replication.factor"] == str(replicas)
    assert properties["min.insync.replicas"] == properties["transaction.state.log.min.isr"] == in_sync


def test_an_override_wins_and_a_rack_is_told_where_there_is_one() -> None:
    plan = replace(PLAN, overrides={"min.insync.replicas": "1"})
    first, second = (broker_properties(plan, broker, Path("/data")) for broker in plan.brokers)
    assert (first["min.insync.replicas"], first["broker.rack"]) == ("1", "a")
    assert "broker.rack" not in second


def test_zookeeper_allows_sessions_as_short_as_the_brokers_ask_for() -> None:
    session_ms = int(broker_properties(PLAN, PLAN.brokers[0], Path("/data"))["zookeeper.session.timeout.ms"])
    assert 2 * int(zookeeper_properties(PLAN, Path("/data"))["tickTime"]) <= session_ms == 2000


def test_what_keeps_dying_is_started_later_and_later_but_never_given_up() -> None:
    waits = [back_off_s(deaths) for deaths in range(12)]
    assert waits == sorted(waits)
    assert waits[0] < 1
    assert back_off_s(100_000) == BACK_OFF_MAX_S
