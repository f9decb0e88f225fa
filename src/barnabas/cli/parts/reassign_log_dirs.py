"""Moves between the log directories of one broker, as kafka-reassign-partitions begins and describes them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

from barnabas.cli.parts.reassign_json import COMMAND_FAILED
from barnabas.cli.support.failures import ToolError
from barnabas.model.errors import ErrorCode
from barnabas.wire import Cluster
from barnabas.wire.admin import brokers, reassignments
from barnabas.wire.admin.reassignments import Replica, ReplicaPlace

_PAUSE_S = 0.1


class TerseError(Exception):
    """Kafka's tool prints this as it is, without naming an exception."""


def to_be_moved(cluster: Cluster, log_dirs: Mapping[Replica, str]) -> Mapping[Replica, str]:
    """What to ask the brokers for. Where they do not serve such moves, what is in its place or cannot
    be elsewhere needs none: the file that --execute prints names directories, too. Anything else is refused
    before something has begun: half of what a file asks for is worse than nothing."""
    if not log_dirs or reassignments.serves_log_dir_moves(cluster):
        return log_dirs
    places = states(cluster, log_dirs)
    directories = {
        broker: {row.log_dir for row in brokers.log_dirs(cluster, broker, [])}
        for broker in {replica.broker for replica in log_dirs}
    }
    elsewhere = [
        replica
        for replica, path in log_dirs.items()
        if path != places[replica].current and directories[replica.broker] != {path}
    ]
    if elsewhere:
        raise ToolError(
            f"The file names another log directory for {', '.join(map(str, in_order(elsewhere)))}, and these "
            'brokers do not move replicas between log directories: write "any", or leave log_dirs out.',
            COMMAND_FAILED,
        )
    return {}


def in_order(replicas: Iterable[Replica]) -> list[Replica]:
    return sorted(replicas, key=lambda replica: (replica.broker, replica.topic, replica.partition))


def begin(cluster: Cluster, log_dirs: Mapping[Replica, str], timeout_ms: int) -> None:
    """A replica that is new on its broker cannot go to a directory before it is there: ask until it can."""
    pending = dict(log_dirs)
    deadline = time.monotonic() + timeout_ms / 1000
    while True:
        for replica in in_order(_begun(cluster, pending)):
            where = f"replica {replica.topic}-{replica.partition} with broker {replica.broker}"
            print(f"Successfully started moving log directory to {pending.pop(replica)} for {where} ")
        if not pending:
            return
        if time.monotonic() >= deadline:
            named = ",".join(map(str, in_order(pending)))
            plural = "" if len(pending) == 1 else "s"
            raise TerseError(f"Timed out before log directory move{plural} could be started for: {named}")
        time.sleep(_PAUSE_S)


def _begun(cluster: Cluster, log_dirs: Mapping[Replica, str]) -> list[Replica]:
    begun = []
    for replica, error in reassignments.move_log_dirs(cluster, log_dirs).items():
        if error is None:
            begun.append(replica)
        elif error.code != ErrorCode.REPLICA_NOT_AVAILABLE:
            raise ToolError(f"Failed to alter dir for {replica}", COMMAND_FAILED)
    return begun


def states(cluster: Cluster, log_dirs: Mapping[Replica, str]) -> dict[Replica, ReplicaPlace]:
    return reassignments.places(cluster, log_dirs) if log_dirs else {}


def are_done(places: Mapping[Replica, ReplicaPlace]) -> bool:
    return all(place.current is not None and place.future is None for place in places.values())


def state_lines(log_dirs: Mapping[Replica, str], places: Mapping[Replica, ReplicaPlace]) -> list[str]:
    return [_state_line(replica, log_dirs[replica], places[replica]) for replica in in_order(log_dirs)]


def _state_line(replica: Replica, target: str, place: ReplicaPlace) -> str:
    partition, broker = f"{replica.topic}-{replica.partition}", replica.broker
    match place:
        case ReplicaPlace(None, _):
            return (
                f"Partition {partition} is not found in any live log dir on broker {broker}. "
                "There is likely an offline log directory on the broker."
            )
        case ReplicaPlace(current, None) if current == target:
            return f"Reassignment of replica {replica} completed successfully."
        case ReplicaPlace(current, None):
            return (
                f"Partition {partition} on broker {broker} is not being moved from log dir {current} to "
                f"{target}."
            )
        case ReplicaPlace(_, future) if future == target:
            return f"Reassignment of replica {replica} is still in progress."
        case _:
            return (
                f"Partition {partition} on broker {broker} is being moved to log dir {place.future} "
                f"instead of {target}."
            )
