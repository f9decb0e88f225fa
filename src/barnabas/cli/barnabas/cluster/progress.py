"""Watching a cluster come up: a spinner and a line for everything that serves."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from barnabas.cli.barnabas.cluster.local import knows, zookeeper_serves
from barnabas.cli.support.failures import ToolError
from barnabas.runtime.cluster_contact import ask_metadata
from barnabas.runtime.cluster_plan import HOST, ZOOKEEPER, BrokerPlan, ClusterDirectory, Plan

_LOOK_S = 0.05
_TAIL_BYTES = 65_536


class NotServingError(ToolError):
    """It did not come up."""


def watch(
    directory: ClusterDirectory,
    plan: Plan,
    brokers: Sequence[BrokerPlan],
    timeout_s: float,
    supervisor_ended: Callable[[], bool] = lambda: False,
) -> None:
    """Returns when ZooKeeper and these brokers serve, and each of these knows all that should be there."""
    # Lines about what happens go beside the result: `servers=$(barnabas cluster start)` holds the list alone.
    console = Console(stderr=True, highlight=False)
    began_s = time.monotonic()
    waiting: dict[str, Callable[[], bool]] = {
        f"ZooKeeper serves on {HOST}:{plan.zookeeper_port}": lambda: zookeeper_serves(plan.zookeeper_port)
    }
    for broker in brokers:
        text = f"broker {broker.broker_id} serves on {broker.address}"
        waiting[text] = lambda port=broker.port: ask_metadata(port) is not None  # type: ignore[misc]
    wanted = [broker.broker_id for broker in plan.brokers if broker.wanted]
    waiting["every broker knows every other"] = lambda: all(knows(one.port, wanted) for one in brokers)
    before = {name: row.start_count for name, row in directory.read_running().items()}
    with console.status("starting…") as spinner:
        while waiting:
            text, is_so = next(iter(waiting.items()))
            spinner.update(f"waiting: {text}…")
            if is_so():
                del waiting[text]
                console.print(f"{text} ({time.monotonic() - began_s:.1f} s)")
                continue
            _look_for_the_dead(directory, before, supervisor_ended)
            if time.monotonic() - began_s > timeout_s:
                raise NotServingError(f"After {timeout_s:g} s it is still not so that {text}.")
            time.sleep(_LOOK_S)


def _look_for_the_dead(
    directory: ClusterDirectory, before: dict[str, int], supervisor_ended: Callable[[], bool]
) -> None:
    for name, row in directory.read_running().items():
        if row.start_count > before.get(name, 0) and row.pid is None and row.exit_code is not None:
            who = "ZooKeeper" if name == ZOOKEEPER else name.replace("-", " ")
            raise NotServingError(f"{who} did not start: {last_words(directory.log_file(name))}")
    if supervisor_ended():
        raise NotServingError(f"The supervisor ended: {last_words(directory.supervisor_log)}")


def last_words(log_file: Path) -> str:
    """What a process said when it died: its fatal line without date and class, else its last line."""
    try:
        with log_file.open("rb") as file:
            file.seek(max(0, log_file.stat().st_size - _TAIL_BYTES))
            lines = file.read().decode(errors="replace").splitlines()
    except FileNotFoundError:
        return "it left no log."
    fatal = next((line for line in reversed(lines) if " FATAL " in line), None)
    if fatal is None:
        return lines[-1] if lines else "it said nothing."
    message = fatal.partition(" FATAL ")[2].removeprefix("Exiting Kafka due to fatal exception: ")
    return message.rpartition(" (")[0]
