"""barnabas cluster stop: everything in good order, or one broker, which then stays down."""

from __future__ import annotations

import argparse
import os
import signal
from dataclasses import replace

from rich.console import Console

from barnabas.cli.barnabas.cluster import local
from barnabas.cli.support.failures import ToolError
from barnabas.runtime.cluster_plan import ZOOKEEPER, ClusterDirectory, Plan

TEXT = "stop all of it, or one broker, which then stays down"


def arguments(parser: argparse.ArgumentParser) -> None:
    local.which_broker(parser, "only this one")


def act(asked: argparse.Namespace) -> int:
    directory = local.directory_of(asked)
    plan = directory.read_plan()
    console = Console(stderr=True, highlight=False)
    if asked.broker is not None:
        with console.status(f"stopping broker {asked.broker}…"):
            _stop_one(directory, asked.broker, asked.timeout)
        print(f"Broker {asked.broker} is stopped, and stays so until `barnabas cluster start --broker`.")
        return 0
    with console.status("stopping…"):
        _stop_all(directory, plan, asked.timeout)
    print("The cluster is stopped.")
    return 0


def _stop_one(directory: ClusterDirectory, broker_id: int, timeout_s: float) -> None:
    with directory.changing():
        local.supervisor_of(directory)
        plan = directory.read_plan()
        broker = local.broker_of(plan, broker_id)
        directory.write_plan(plan.with_broker(replace(broker, wanted=False)))
        local.tell_supervisor(directory)
    if not local.wait_until(lambda: local.live_pid(directory, broker.name) is None, timeout_s):
        raise ToolError(f"Broker {broker_id} still runs after {timeout_s:g} s.")


def _stop_all(directory: ClusterDirectory, plan: Plan, timeout_s: float) -> None:
    pid = directory.supervisor_pid()
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
        if not local.wait_until(lambda: directory.supervisor_pid() is None, timeout_s):
            raise ToolError(
                f"It is still stopping after {timeout_s:g} s: {directory.supervisor_log} says why."
            )
        return
    names = [ZOOKEEPER, *(broker.name for broker in plan.brokers)]
    if not any(local.live_pid(directory, name) for name in names):
        raise ToolError(f"The cluster in {directory.path} is not running.")
    # Its supervisor was killed: another one, with this task alone.
    local.spawn_supervisor(directory, "--stop").wait(timeout_s)
