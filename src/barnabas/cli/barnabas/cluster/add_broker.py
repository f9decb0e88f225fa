"""barnabas cluster add-broker: one more, with the next id. What exists is not moved to it: that is
`barnabas cluster balance`, or `kafka-reassign-partitions`."""

from __future__ import annotations

import argparse

from barnabas.cli.barnabas.cluster import local
from barnabas.cli.barnabas.cluster.progress import watch
from barnabas.runtime.cluster_plan import BrokerPlan

TEXT = "add a broker to the running cluster"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rack", help="where it stands")
    parser.add_argument("--port", type=local.port_number, help="(default: the next free one)")


def act(asked: argparse.Namespace) -> int:
    directory = local.directory_of(asked)
    with directory.changing():
        plan = directory.read_plan()
        local.supervisor_of(directory)
        ports = [plan.zookeeper_port, *(broker.port for broker in plan.brokers)]
        first = asked.port or max(ports[1:]) + 1
        (port,) = local.free_ports(first, 1, but=ports)
        broker = BrokerPlan(max(one.broker_id for one in plan.brokers) + 1, port, asked.rack)
        plan = plan.with_broker(broker)
        directory.write_properties(plan)
        directory.write_plan(plan)
        local.tell_supervisor(directory)
    watch(directory, plan, [one for one in plan.brokers if one.wanted], asked.timeout)
    print(plan.bootstrap)
    return 0
