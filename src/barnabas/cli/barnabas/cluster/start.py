"""barnabas cluster start: returns when the cluster serves; the last line is the bootstrap list."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from dataclasses import replace

from barnabas.cli.barnabas.cluster import local
from barnabas.cli.barnabas.cluster.progress import NotServingError, watch
from barnabas.cli.barnabas.common import pairs
from barnabas.cli.support.failures import ToolError
from barnabas.java import JavaError
from barnabas.runtime.cluster_plan import ZOOKEEPER, BrokerPlan, ClusterDirectory, Plan
from barnabas.runtime.zookeeper import ZookeeperUnavailableError, server_command

TEXT = "start a cluster, or start it again with the data it has"
_BROKERS = 3


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--brokers", type=_positive, metavar="N", help=f"(default: {_BROKERS})")
    parser.add_argument(
        "--port", type=local.port_number, default=9092, help="of the first broker (default: 9092)"
    )
    parser.add_argument(
        "--zookeeper-port", type=local.port_number, default=2181, metavar="PORT", help="(default: 2181)"
    )
    parser.add_argument("--racks", metavar="A,B,…", help="one for each broker, in turn")
    parser.add_argument("--override", action="append", default=[], metavar="NAME=VALUE", help="any setting")
    local.which_broker(parser, "only this one, which was stopped")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def act(asked: argparse.Namespace) -> int:
    directory = local.directory_of(asked)
    plan = start_one(directory, asked) if asked.broker is not None else start_all(directory, asked)
    print(plan.bootstrap)
    return 0


def start_one(directory: ClusterDirectory, asked: argparse.Namespace) -> Plan:
    with directory.changing():
        local.supervisor_of(directory)
        plan = directory.read_plan()
        broker = replace(local.broker_of(plan, asked.broker), wanted=True)
        plan = plan.with_broker(broker)
        directory.write_plan(plan)
        local.tell_supervisor(directory)
    watch(directory, plan, [broker], asked.timeout)
    return plan


def start_all(directory: ClusterDirectory, asked: argparse.Namespace) -> Plan:
    with directory.changing():
        _refuse_if_running(directory)
        plan = _planned(directory, asked)
        _refuse_if_taken(directory, plan)
        directory.write_properties(plan)
        _refuse_without_java(directory)
        directory.write_plan(plan)
        supervisor = local.spawn_supervisor(directory)
        local.wait_until(lambda: bool(directory.supervisor_pid() or supervisor.poll() is not None), 30)
    try:
        watch(directory, plan, plan.brokers, asked.timeout, lambda: supervisor.poll() is not None)
    except (NotServingError, KeyboardInterrupt):
        # Half a cluster that keeps trying helps nobody: what is wrong is said, and nothing is left behind.
        os.kill(supervisor.pid, signal.SIGTERM)
        supervisor.wait()
        raise
    return plan


def _refuse_if_running(directory: ClusterDirectory) -> None:
    pid = directory.supervisor_pid()
    if pid is not None:
        plan = directory.read_plan()
        raise ToolError(
            f"The cluster in {directory.path} already runs (its supervisor is process {pid}); "
            f"its brokers are at {plan.bootstrap}."
        )


def _planned(directory: ClusterDirectory, asked: argparse.Namespace) -> Plan:
    overrides = pairs(asked.override)
    if not directory.has_plan():
        return _new_plan(asked, overrides)
    plan = directory.read_plan().all_wanted()
    if asked.brokers is not None and asked.brokers != len(plan.brokers):
        raise ToolError(
            f"{directory.path} holds a cluster of {len(plan.brokers)}: start it without --brokers, and then "
            "let `barnabas cluster add-broker` make it larger."
        )
    return replace(plan, overrides={**plan.overrides, **overrides})


def _new_plan(asked: argparse.Namespace, overrides: dict[str, str]) -> Plan:
    count = asked.brokers or _BROKERS
    racks = asked.racks.split(",") if asked.racks else [None]
    (zookeeper_port,) = local.free_ports(asked.zookeeper_port, 1)
    ports = local.free_ports(asked.port, count, but=[zookeeper_port])
    for first, found, what in (
        (asked.zookeeper_port, zookeeper_port, "ZooKeeper"),
        (asked.port, ports[0], "broker 0"),
    ):
        if first != found:
            print(f"Port {first} is taken: {what} gets {found}.", file=sys.stderr)
    brokers = [BrokerPlan(number, port, racks[number % len(racks)]) for number, port in enumerate(ports)]
    return Plan(zookeeper_port, tuple(brokers), min(3, count), overrides)


def _refuse_if_taken(directory: ClusterDirectory, plan: Plan) -> None:
    """Clients know these ports: a cluster that starts again does not take others."""
    ports = {ZOOKEEPER: plan.zookeeper_port} | {broker.name: broker.port for broker in plan.brokers}
    for name, port in ports.items():
        if not local.is_free(port) and local.live_pid(directory, name) is None:
            raise ToolError(
                f"Port {port}, which belongs to {name} of this cluster, is taken by another process."
            )


def _refuse_without_java(directory: ClusterDirectory) -> None:
    """Here, where the user reads it, and not in the supervisor's log."""
    properties = str(directory.properties_file(ZOOKEEPER))
    try:
        server_command(properties, properties)
    except (JavaError, ZookeeperUnavailableError) as error:
        raise ToolError(str(error).replace("zookeeper-server-start", "barnabas cluster")) from None
