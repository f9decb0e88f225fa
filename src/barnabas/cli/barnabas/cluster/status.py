"""barnabas cluster status: every broker, what it leads and holds, and whether all is well.

Exit code 0: ZooKeeper and every broker serve, every partition has a leader and all its copies in sync."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from barnabas.cli.barnabas.cluster import local
from barnabas.cli.barnabas.common import Cell
from barnabas.protocol.messages.metadata import MetadataResponse, MetadataResponsePartition
from barnabas.runtime.cluster_contact import ask_metadata
from barnabas.runtime.cluster_plan import HOST, ZOOKEEPER, BrokerPlan, ClusterDirectory, Plan

TEXT = "every broker, what it leads and holds, and whether all is well"

_START_S = 120  # whoever does not answer after that does not start any more


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


class Load(NamedTuple):
    """Of one broker. Under-replicated: what it leads and not all copies follow."""

    leaders: int
    replicas: int
    under_replicated: int


def act(asked: argparse.Namespace) -> int:
    directory = local.directory_of(asked)
    plan = directory.read_plan()
    answers = {broker.broker_id: ask_metadata(broker.port, all_topics=True) for broker in plan.brokers}
    partitions = known_partitions(answers)
    controller = controller_of(answers)
    states = {
        broker.broker_id: _state(directory, broker, answers[broker.broker_id]) for broker in plan.brokers
    }
    rows = [
        _row(directory, broker, states[broker.broker_id], partitions, controller) for broker in plan.brokers
    ]
    problems = _problems(directory, plan, states, controller) + partition_problems(partitions)
    if asked.json:
        print(json.dumps({"healthy": not problems, "problems": problems, "brokers": rows}, indent=2))
    else:
        _print_table(rows)
        print(
            f"\nZooKeeper on {HOST}:{plan.zookeeper_port}, {len(partitions)} partitions in {directory.path}"
        )
        print("All is well." if not problems else f"Not well: {'; '.join(problems)}.")
    return 1 if problems else 0


def _row(
    directory: ClusterDirectory,
    broker: BrokerPlan,
    state: str,
    partitions: Sequence[MetadataResponsePartition],
    controller: int | None,
) -> dict[str, Cell]:
    load = load_of(broker.broker_id, partitions)
    return {
        "broker": broker.broker_id,
        "pid": local.live_pid(directory, broker.name),
        "address": broker.address,
        "rack": broker.rack,
        "state": state,
        "leaders": load.leaders,
        "replicas": load.replicas,
        "under-replicated": load.under_replicated,
        "controller": broker.broker_id == controller,
    }


def _print_table(rows: Sequence[Mapping[str, Cell]]) -> None:
    """Without racks it fits into 80 columns, so the controller is marked and no column of its own; never
    folded, because scripts read it too."""
    columns = [name for name in rows[0] if name != "controller" and (name != "rack" or rows[0]["rack"])]
    lines = [columns]
    for row in rows:
        cells = ["-" if row[name] is None else str(row[name]) for name in columns]
        cells[0] += " *" if row["controller"] else ""
        lines.append(cells)
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    if any(row["controller"] for row in rows):
        print("* the controller")


def _state(directory: ClusterDirectory, broker: BrokerPlan, answer: MetadataResponse | None) -> str:
    if answer is not None:
        return "serves"
    pid = local.live_pid(directory, broker.name)
    if pid is not None:
        if local.is_paused(pid):
            return "paused"
        return "starting" if local.age_s(pid) < _START_S else "silent"
    return "dead" if broker.wanted else "stopped"


def _problems(
    directory: ClusterDirectory, plan: Plan, states: Mapping[int, str], controller: int | None
) -> list[str]:
    problems = []
    if directory.supervisor_pid() is None:
        problems.append("nobody supervises it")
    if local.live_pid(directory, ZOOKEEPER) is None or not local.zookeeper_serves(plan.zookeeper_port):
        problems.append("ZooKeeper does not serve")
    problems += [f"broker {broker} is {state}" for broker, state in states.items() if state != "serves"]
    if controller is None:
        problems.append("there is no controller")
    return problems


def partition_problems(partitions: Sequence[MetadataResponsePartition]) -> list[str]:
    leaderless = sum(partition.leader_id < 0 for partition in partitions)
    behind = sum(_is_under_replicated(partition) for partition in partitions if partition.leader_id >= 0)
    texts = ((leaderless, "without a leader"), (behind, "under-replicated"))
    return [f"{count} of {len(partitions)} partitions {text}" for count, text in texts if count]


def known_partitions(answers: Mapping[int, MetadataResponse | None]) -> list[MetadataResponsePartition]:
    """From the broker that the others call the controller, which knows first; else from any."""
    controller = controller_of(answers)
    found = [answer for answer in answers.values() if answer is not None]
    asked = (answers.get(controller) if controller is not None else None) or next(iter(found), None)
    return [partition for topic in asked.topics for partition in topic.partitions] if asked else []


def controller_of(answers: Mapping[int, MetadataResponse | None]) -> int | None:
    named = [answer.controller_id for answer in answers.values() if answer is not None]
    valid = [controller for controller in named if controller >= 0]
    return max(set(valid), key=valid.count) if valid else None


def load_of(broker_id: int, partitions: Sequence[MetadataResponsePartition]) -> Load:
    led = [partition for partition in partitions if partition.leader_id == broker_id]
    held = [partition for partition in partitions if broker_id in partition.replica_nodes]
    return Load(len(led), len(held), sum(_is_under_replicated(partition) for partition in led))


def _is_under_replicated(partition: MetadataResponsePartition) -> bool:
    return len(partition.isr_nodes) < len(partition.replica_nodes)
