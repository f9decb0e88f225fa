"""kafka-server-stop: ask this user's brokers on this machine to stop ($SIGNAL, else SIGTERM).

`--node-id=N` stops that broker only, `--process-role=R` those whose properties file says so. Kafka greps the
output of ps for its own main class; this reads /proc for ours.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from barnabas.cli.support.options import Option, Parser
from barnabas.cli.support.properties import load_properties, parse_pairs
from barnabas.cli.support.running import run
from barnabas.model.properties import PropertiesError

_SCRIPTS = frozenset({"kafka-server-start", "kafka-server-start.sh"})
_MODULES = frozenset({"barnabas.runtime.server", "barnabas.cli.kafka_server_start"})

PARSER = Parser(
    "Stops the brokers of this user on this machine.",
    [
        Option("process-role", "Only brokers with these process.roles.", "String: role"),
        Option("node-id", "Only the broker with this node.id.", "String: id"),
    ],
)


@dataclass(frozen=True, slots=True)
class BrokerProcess:
    pid: int
    directory: Path
    words: tuple[str, ...]  # what follows the program's name: the properties file and overrides

    def properties(self) -> dict[str, str]:
        """What it was started with; nothing when the file is gone."""
        files = [word for word in self.words if not word.startswith("-")]
        overrides = [
            value
            for flag, value in zip(self.words, self.words[1:], strict=False)
            if flag == "--override" and "=" in value
        ]
        try:
            found = load_properties(self.directory / files[0]) if files else {}
        except (OSError, PropertiesError):
            found = {}
        return found | parse_pairs(overrides)


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_tool, arguments)


def _tool(arguments: Sequence[str]) -> int:
    options = PARSER.parse(arguments, empty_is_help=False)
    node_id, role = options.value("node-id"), options.value("process-role")
    if node_id and role:
        print("When both node-id and process-role are provided, the value for node-id will take precedence")
    found = brokers(Path("/proc"), os.getuid())
    if not found:
        print("No kafka server to stop")
        return 1
    chosen = [process for process in found if matches(process, node_id, role)]
    wanted = signal.Signals[f"SIG{os.environ.get('SIGNAL', 'TERM').removeprefix('SIG')}"]
    for process in chosen:
        try:
            os.kill(process.pid, wanted)
        except ProcessLookupError:
            print(f"process {process.pid} has already gone", file=sys.stderr)
    return 0


def matches(process: BrokerProcess, node_id: str | None, role: str | None) -> bool:
    if node_id:
        properties = process.properties()
        return properties.get("node.id", properties.get("broker.id")) == node_id
    return not role or process.properties().get("process.roles") == role


def brokers(proc: Path, user_id: int) -> list[BrokerProcess]:
    """The brokers among the processes of one user."""
    found = []
    for entry in sorted(
        (path for path in proc.iterdir() if path.name.isdecimal()), key=lambda p: int(p.name)
    ):
        try:
            if entry.stat().st_uid != user_id:
                continue
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
            arguments = broker_arguments(words)
            if arguments is not None:
                found.append(BrokerProcess(int(entry.name), (entry / "cwd").readlink(), arguments))
        except OSError:
            continue  # it ended while we looked, or is not ours to look at
    return found


def broker_arguments(words: Sequence[str]) -> tuple[str, ...] | None:
    """What a broker was started with; None if this command line is not a broker's.

    Only the program counts: an editor with `kafka-server-start` among its arguments is no broker."""
    for index, word in enumerate(words[:4]):
        program = os.path.basename(word)
        if index <= 1 and program in _SCRIPTS:
            return tuple(words[index + 1 :])
        if index >= 1 and words[index - 1] == "-m" and word in _MODULES:
            return tuple(words[index + 1 :])
        if index <= 1 and program == "barnabas" and words[index + 1 : index + 2] == ["run"]:
            return tuple(words[index + 2 :])
    return None
