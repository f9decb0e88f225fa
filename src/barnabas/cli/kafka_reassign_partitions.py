"""kafka-reassign-partitions: move replicas between brokers, with the lines of Kafka 4.3's tool.

Everything, failures too, goes to standard output as there; only mistakes in the command line go to stderr.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from barnabas.cli.parts import reassign_log_dirs, reassign_replicas, reassign_throttles
from barnabas.cli.parts.reassign_json import (
    COMMAND_FAILED,
    OPERATION,
    Plan,
    check_executable,
    plan_text,
    read_plan,
    read_topics,
    repeated,
)
from barnabas.cli.parts.reassign_log_dirs import TerseError
from barnabas.cli.parts.reassign_options import bootstrap_option, parse
from barnabas.cli.support.connecting import connect
from barnabas.cli.support.failures import FAILURES, ToolError, java_name, sentence
from barnabas.cli.support.options import OptionError, Options
from barnabas.cli.support.running import run
from barnabas.controller.placement import place
from barnabas.groups.java_order import numbers_in_java_order
from barnabas.model.errors import ApiError
from barnabas.model.ids import TopicPartition
from barnabas.model.image import BrokerImage
from barnabas.runtime.clock import SystemRandom
from barnabas.wire import Cluster, SettingsError
from barnabas.wire.admin import reassignments

EXISTING = (
    "Cannot execute because there is an existing partition assignment.  Use --additional to override this "
    "and create a new partition assignment in addition to the existing one. The --additional flag can also "
    "be used to change the throttle by resubmitting the current reassignment."
)
VERIFY_LATER = (
    "Warning: You must run --verify periodically, until the reassignment completes, to ensure the throttle "
    "is removed."
)


def main(arguments: Sequence[str] | None = None) -> int:
    return run(reassign_tool, arguments)


def reassign_tool(arguments: Sequence[str]) -> int:
    action, options = parse(arguments)
    try:
        defaults = {"client.id": "reassign-partitions-tool"}
        with connect(options, bootstrap_option(options), defaults=defaults) as cluster:
            _ACTIONS[action](cluster, options)
    except TerseError as error:
        print(error)
    except (*FAILURES, OptionError) as error:
        _print_failure(error)
    else:
        return 0
    return 1


def _print_failure(error: Exception) -> None:
    """The message, then what begins Kafka's stack trace. What a broker answered comes wrapped there."""
    if isinstance(error, ApiError) or not isinstance(error, (ToolError, OptionError, SettingsError)):
        message = f"{java_name(error)}: {sentence(error, 'listPartitionReassignments')}"
        print(f"Error: {message}\njava.util.concurrent.ExecutionException: {message}")
    else:
        message = sentence(error, "")
        print(f"Error: {message}\n{java_name(error)}: {message}")


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        raise ToolError(f"Unable to read file {path}", "java.io.IOException") from None


# --- list ------------------------------------------------------------------------------------------------


def _list(cluster: Cluster, _options: Options) -> None:
    found = reassignments.ongoing(cluster)
    if not found:
        print("No partition reassignments found.")
        return
    print("Current partition reassignments:")
    for partition in sorted(found):
        row = found[partition]
        adding = f" adding: {_joined(row.adding_replicas)}." if row.adding_replicas else ""
        removing = f" removing: {_joined(row.removing_replicas)}." if row.removing_replicas else ""
        print(f"{partition}: replicas: {_joined(row.replicas)}.{adding}{removing}")


# --- generate --------------------------------------------------------------------------------------------


def _generate(cluster: Cluster, options: Options) -> None:
    text = _read(options.text("topics-to-move-json-file"))
    brokers = _broker_ids(options.text("broker-list"))
    names = read_topics(text)
    if twice := repeated(names):
        message = f"List of topics to reassign contains duplicate entries: [{', '.join(twice)}]"
        raise ToolError(message, COMMAND_FAILED)
    current = reassign_replicas.of_topics(cluster, names)
    racks = _racks(cluster, brokers, rack_aware=not options.has("disable-rack-aware"))
    proposed: dict[TopicPartition, Sequence[int]] = {}
    for name in sorted({partition.topic for partition in current}):
        mine = sorted(partition for partition in current if partition.topic == name)
        factor = len(current[mine[0]])
        rows = _placed(racks, len(mine), factor)
        proposed.update((TopicPartition(name, index), row) for index, row in enumerate(rows))
    print(f"Current partition replica assignment\n{reassign_replicas.current_text(cluster, current)}\n")
    print(f"Proposed partition reassignment configuration\n{plan_text(proposed)}")


def _broker_ids(text: str) -> list[int]:
    words = text.split(",")
    for word in words:
        if not word.removeprefix("-").isdecimal():
            raise ToolError(f'For input string: "{word}"', "java.lang.NumberFormatException")
    brokers = [int(word) for word in words]
    if twice := repeated(brokers):
        named = ", ".join(map(str, numbers_in_java_order(twice)))
        raise ToolError(f"Broker list contains duplicate entries: [{named}]", COMMAND_FAILED)
    return brokers


def _placed(racks: Mapping[int, str | None], partitions: int, factor: int) -> list[tuple[int, ...]]:
    """As the controller places new partitions."""
    brokers = [BrokerImage(broker, 0, {}, rack) for broker, rack in racks.items()]
    try:
        return place(brokers, partitions, factor, SystemRandom())
    except ApiError as error:
        raise ToolError(error.message, java_name(error)) from None


def _racks(cluster: Cluster, brokers: Sequence[int], *, rack_aware: bool) -> dict[int, str | None]:
    """Of those asked for that are there."""
    racks = {
        broker.node_id: broker.rack if rack_aware else None
        for broker in cluster.brokers()
        if broker.node_id in brokers
    }
    if len({rack is None for rack in racks.values()}) > 1:
        raise ToolError(
            "Not all brokers have rack information. Add --disable-rack-aware in command line to make replica "
            "assignment without rack information.",
            OPERATION,
        )
    return racks


# --- execute ---------------------------------------------------------------------------------------------


def _execute(cluster: Cluster, options: Options) -> None:
    plan = read_plan(_read(options.text("reassignment-json-file")))
    rates = options.integer("throttle") or 0, options.integer("replica-alter-log-dirs-throttle") or 0
    timeout_ms = options.integer("timeout") or 0
    check_executable(plan)
    ongoing = reassignments.ongoing(cluster)
    if ongoing and not options.has("additional"):
        raise TerseError(EXISTING)
    _check_brokers(cluster, plan)
    current = reassign_replicas.of_partitions(cluster, plan.targets)
    log_dirs = reassign_log_dirs.to_be_moved(cluster, plan.log_dirs)
    print(f"Current partition replica assignment\n\n{reassign_replicas.current_text(cluster, current)}\n")
    print("Save this to use as the --reassignment-json-file option during rollback")
    moves = reassign_throttles.proposed_moves(ongoing, plan.targets, current)
    _throttle(cluster, moves, {replica.broker for replica in plan.log_dirs}, *rates)
    _begin(cluster, plan.targets, same_factor=options.has("disallow-replication-factor-change"))
    if log_dirs:
        reassign_log_dirs.begin(cluster, log_dirs, timeout_ms)


def _throttle(
    cluster: Cluster, moves: reassign_throttles.Moves, brokers: set[int], rate: int, log_dirs_rate: int
) -> None:
    """Negative rates are none."""
    if max(rate, log_dirs_rate) >= 0:
        print(VERIFY_LATER)
    if rate >= 0:
        reassign_throttles.set_replication_throttle(cluster, moves, rate)
        print(f"The inter-broker throttle limit was set to {rate} B/s")
    if log_dirs_rate >= 0:
        reassign_throttles.set_log_dirs_throttle(cluster, brokers, log_dirs_rate)
        print(f"The replica-alter-dir throttle limit was set to {log_dirs_rate} B/s")


def _begin(cluster: Cluster, targets: Mapping[TopicPartition, Sequence[int]], *, same_factor: bool) -> None:
    refused = reassignments.alter(cluster, targets, not same_factor)
    if refused:
        raise TerseError("Error reassigning partition(s):\n" + _refusals(refused))
    plural = "" if len(targets) == 1 else "s"
    print(f"Successfully started partition reassignment{plural} for {_joined(sorted(targets))}")


def _check_brokers(cluster: Cluster, plan: Plan) -> None:
    known = {broker.node_id for broker in cluster.brokers()}
    for broker in numbers_in_java_order({broker for _, replicas in plan.rows for broker in replicas}):
        if broker not in known:
            raise ToolError(f"Unknown broker id {broker}", COMMAND_FAILED)


# --- cancel and verify -----------------------------------------------------------------------------------


def _cancel(cluster: Cluster, options: Options) -> None:
    plan = read_plan(_read(options.text("reassignment-json-file")))
    timeout_ms = options.integer("timeout") or 0
    moving = sorted(reassignments.ongoing(cluster, plan.targets))
    if moving:
        refused = reassignments.alter(cluster, dict.fromkeys(moving))
        if refused:
            plural = "" if len(refused) == 1 else "s"
            raise TerseError(f"Error cancelling partition reassignment{plural} for:\n{_refusals(refused)}")
        plural = "" if len(moving) == 1 else "s"
        print(f"Successfully cancelled partition reassignment{plural} for: {_joined(moving)}")
    else:
        print("None of the specified partition reassignments are active.")
    places = reassign_log_dirs.states(cluster, plan.log_dirs)
    back = {replica: place.current for replica, place in places.items() if place.current and place.future}
    if back:
        reassign_log_dirs.begin(cluster, back, timeout_ms)
    else:
        print("None of the specified partition moves are active.", end="")
    if not options.has("preserve-throttles"):
        reassign_throttles.clear_throttles(cluster, plan.rows)


def _verify(cluster: Cluster, options: Options) -> None:
    plan = read_plan(_read(options.text("reassignment-json-file")))
    ongoing = reassignments.ongoing(cluster)
    still = [partition for partition in plan.targets if partition not in ongoing]
    current = reassign_replicas.of_those_there(cluster, still)
    print("Status of partition reassignment:")
    for partition in sorted(plan.targets):
        if partition in ongoing:
            print(f"Reassignment of partition {partition} is still in progress.")
        elif tuple(current.get(partition, ())) == plan.targets[partition]:
            print(f"Reassignment of partition {partition} is completed.")
        else:
            print(
                f"There is no active reassignment of partition {partition}, but replica set is "
                f"{_joined(current.get(partition, ()))} rather than {_joined(plan.targets[partition])}."
            )
    places = reassign_log_dirs.states(cluster, plan.log_dirs)
    print("\n".join(reassign_log_dirs.state_lines(plan.log_dirs, places)))
    if not ongoing and reassign_log_dirs.are_done(places) and not options.has("preserve-throttles"):
        reassign_throttles.clear_throttles(cluster, plan.rows)


_ACTIONS = {
    "list": _list,
    "generate": _generate,
    "execute": _execute,
    "cancel": _cancel,
    "verify": _verify,
}


def _refusals(refused: Mapping[TopicPartition, ApiError]) -> str:
    return "\n".join(f"{partition}: {refused[partition]}" for partition in sorted(refused))


def _joined(items: Sequence[object]) -> str:
    return ",".join(map(str, items))
