"""barnabas cluster kill: kill -9 for one broker, to see what happens. The supervisor brings it back."""

from __future__ import annotations

import argparse
import os
import signal
from dataclasses import replace

from barnabas.cli.barnabas.cluster import local
from barnabas.cli.support.failures import ToolError

TEXT = "kill -9 a broker; the supervisor brings it back"


def arguments(parser: argparse.ArgumentParser) -> None:
    local.which_broker(parser, "which one", required=True)
    parser.add_argument("--stay-down", action="store_true", help="it is not brought back")


def act(asked: argparse.Namespace) -> int:
    directory = local.directory_of(asked)
    with directory.changing():
        plan = directory.read_plan()
        broker = local.broker_of(plan, asked.broker)
        pid = local.live_pid(directory, broker.name)
        if pid is None:
            raise ToolError(f"Broker {broker.broker_id} is not running.")
        if asked.stay_down:
            # Before the kill, and without a word to the supervisor: it looks here when it sees the end.
            directory.write_plan(plan.with_broker(replace(broker, wanted=False)))
        os.kill(pid, signal.SIGKILL)
        local.wait_until(lambda: local.live_pid(directory, broker.name) != pid, asked.timeout)
    after = "The supervisor brings it back."
    if asked.stay_down or directory.supervisor_pid() is None:
        after = "It stays down."
    print(f"Broker {broker.broker_id}, process {pid}, was killed. {after}")
    return 0
