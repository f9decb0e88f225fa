"""kafka-broker-api-versions: which APIs and versions each broker serves, and which of them we would use."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from barnabas.cli.support.connecting import COMMAND_CONFIG, connect
from barnabas.cli.support.failures import FAILURES
from barnabas.cli.support.options import Option, Parser
from barnabas.cli.support.running import run
from barnabas.protocol.messages import APIS
from barnabas.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from barnabas.protocol.messages.metadata import MetadataResponseBroker
from barnabas.wire import DeadlineError, NetworkError
from barnabas.wire.address import parse_bootstrap
from barnabas.wire.admin import brokers

ALTER_PARTITION = 56  # spoken between brokers only

PARSER = Parser(
    "This tool helps to retrieve broker version information.",
    (
        Option(
            "bootstrap-server",
            "REQUIRED: the broker or brokers to connect to.",
            "String: server(s) to use for bootstrapping",
        ),
        COMMAND_CONFIG,
    ),
)


def main(arguments: Sequence[str] | None = None) -> int:
    return run(api_versions_tool, arguments)


def api_versions_tool(arguments: Sequence[str]) -> int:
    options = PARSER.parse(arguments)
    options.require("bootstrap-server")
    try:
        with connect(options) as cluster:
            for broker in sorted(cluster.brokers(), key=lambda broker: broker.node_id):
                try:
                    answer = brokers.api_versions(cluster, broker.node_id)
                except NetworkError as error:
                    print(f"{broker_text(broker)} -> ERROR: {error}")
                else:
                    print(f"{broker_text(broker)} -> {versions_text(answer)}")
    except DeadlineError:
        asked = parse_bootstrap(options.text("bootstrap-server"))
        named = ", ".join(
            f"{address} (id: {-number} rack: null isFenced: false)"
            for number, address in enumerate(asked, start=1)
        )
        print(f"Request METADATA failed on brokers [{named}]", file=sys.stderr)
        return 1
    except FAILURES as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def broker_text(broker: MetadataResponseBroker) -> str:
    rack = "null" if broker.rack is None else broker.rack
    return f"{broker.host}:{broker.port} (id: {broker.node_id} rack: {rack} isFenced: false)"


def versions_text(answer: ApiVersionsResponse) -> str:
    """In order of keys; what we know and the broker does not serve is UNSUPPORTED."""
    lines = {row.api_key: _served(row) for row in answer.api_keys}
    for key, api in APIS.items():
        if key not in lines and key != ALTER_PARTITION:
            lines[key] = f"{api.name}({key}): UNSUPPORTED"
    return "(\n\t" + ",\n\t".join(lines[key] for key in sorted(lines)) + "\n)"


def _served(row: ApiVersion) -> str:
    api = APIS.get(row.api_key)
    versions = str(row.min_version)
    if row.max_version != row.min_version:
        versions += f" to {row.max_version}"
    if api is None:
        return f"UNKNOWN({row.api_key}): {versions}"
    usable = min(api.newest, row.max_version)
    usable_text = str(usable) if usable >= max(api.oldest, row.min_version) else "NONE"
    return f"{api.name}({row.api_key}): {versions} [usable: {usable_text}]"
