"""kafka-cluster: the cluster's id, its brokers' endpoints, and brokers to forget, with the lines of Kafka
4.3's ClusterTool. There are no controllers beside brokers: --bootstrap-controller is answered as by one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from barnabas.cli.support.argument_parser import KafkaArgumentParser
from barnabas.cli.support.connecting import connect_to, properties_at
from barnabas.cli.support.failures import FAILURES, NoFileError, java_name, sentence
from barnabas.cli.support.running import run
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.describe_cluster import DescribeClusterBroker
from barnabas.wire import Cluster, SettingsError
from barnabas.wire.admin import brokers

_PROGRAM = "kafka-cluster"
_INDENT = "\n" + " " * 21
_CONFIGS = f"[--config CONFIG]{_INDENT}[--command-config COMMAND_CONFIG]"
_SERVERS = f"(--bootstrap-server BOOTSTRAP_SERVER |{_INDENT}--bootstrap-controller BOOTSTRAP_CONTROLLER)"
_HOST_WIDTH, _RACK_WIDTH = 100, 10  # where there is none to measure
_CALLS = {
    "cluster-id": "listNodes",
    "unregister": "unregisterBroker",
    "list-endpoints": "listNodes",
}


def main(arguments: Sequence[str] | None = None) -> int:
    return run(cluster_tool, arguments)


def cluster_tool(arguments: Sequence[str]) -> int:
    asked = parser().parse_args(arguments)
    try:
        if asked.bootstrap_controller is not None:
            raise ApiError(
                ErrorCode.MISMATCHED_ENDPOINT_TYPE,
                "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type "
                "CONTROLLER",
            )
        with _connect(asked) as cluster:
            for line in _COMMANDS[asked.command](cluster, asked):
                print(line)
    except (SettingsError, NoFileError) as error:
        print(sentence(error, _CALLS[asked.command]), file=sys.stderr)
        return 1
    except FAILURES as error:
        print(f"{java_name(error)}: {sentence(error, _CALLS[asked.command])}", file=sys.stderr)
        return 1
    return 0


def parser() -> argparse.ArgumentParser:
    top = KafkaArgumentParser(
        prog=_PROGRAM,
        usage=f"{_PROGRAM} [-h] {{cluster-id,unregister,list-endpoints}} ...",
        description="The Kafka cluster tool.",
        allow_abbrev=False,
    )
    commands = top.add_subparsers(dest="command", required=True)
    _command(commands, "cluster-id", "Get information about the ID of a cluster.", f"{_CONFIGS}{_INDENT}")
    unregister = _command(commands, "unregister", "Unregister a broker.", f"{_CONFIGS} --id ID{_INDENT}")
    unregister.add_argument("--id", "-i", type=int, required=True, help="the broker to forget")
    endpoints = _command(
        commands,
        "list-endpoints",
        "List endpoints",
        f"{_CONFIGS}{_INDENT}[--include-fenced-brokers]{_INDENT}",
    )
    endpoints.add_argument("--include-fenced-brokers", action="store_true", help="fenced brokers, too")
    return top


def _command(
    commands: argparse._SubParsersAction[KafkaArgumentParser], name: str, text: str, options: str
) -> KafkaArgumentParser:
    command = commands.add_parser(
        name,
        help=text,
        description=text,
        prog=_PROGRAM,
        usage=f"{_PROGRAM} {name} [-h] {options}{_SERVERS}",
        allow_abbrev=False,
    )
    command.java_types = {"--id/-i": "Integer"}
    command.add_argument("--config", "-c", help="the old name of --command-config")
    command.add_argument("--command-config", help="properties file for the connection")
    servers = command.add_mutually_exclusive_group(required=True)
    servers.add_argument("--bootstrap-server", "-b", help="the broker or brokers to connect to")
    servers.add_argument("--bootstrap-controller", "-C", help="KRaft's controllers, of which there are none")
    return command


def _connect(asked: argparse.Namespace) -> Cluster:
    path = asked.command_config or asked.config
    if asked.config is not None:
        print(
            "Option --config has been deprecated and will be removed in a future version. "
            "Use --command-config instead."
        )
    return connect_to(asked.bootstrap_server, {} if path is None else properties_at(path))


def _cluster_id(cluster: Cluster, _asked: argparse.Namespace) -> list[str]:
    found = brokers.describe_cluster(cluster).cluster_id
    return [
        f"Cluster ID: {found}" if found else "No cluster ID found. The Kafka version is probably too old."
    ]


def _unregister(cluster: Cluster, asked: argparse.Namespace) -> list[str]:
    brokers.unregister(cluster, asked.id)
    return [f"Broker {asked.id} is no longer registered."]


def _endpoints(cluster: Cluster, asked: argparse.Namespace) -> list[str]:
    fenced = asked.include_fenced_brokers
    return endpoint_lines(brokers.describe_cluster(cluster, fenced).brokers)


def endpoint_lines(found: Sequence[DescribeClusterBroker]) -> list[str]:
    host_width = max([len(row.host) for row in found], default=_HOST_WIDTH)
    rack_width = max([len(row.rack) for row in found if row.rack is not None], default=_RACK_WIDTH)

    def line(*cells: object) -> str:
        broker, host, port, rack, state, kind = (str(cell) for cell in cells)
        return f"{broker:<10} {host:<{host_width}} {port:<10} {rack:<{rack_width}} {state:<10} {kind:<15}"

    rows = [line("ID", "HOST", "PORT", "RACK", "STATE", "ENDPOINT_TYPE")]
    for row in found:
        state = "fenced" if row.is_fenced else "unfenced"
        rows.append(line(row.broker_id, row.host, row.port, row.rack or "null", state, "broker"))
    return rows


_COMMANDS = {"cluster-id": _cluster_id, "unregister": _unregister, "list-endpoints": _endpoints}
