"""zookeeper-server-stop: ask what zookeeper-server-start started to stop ($SIGNAL, else SIGTERM).

Kafka's script stops every ZooKeeper that ps shows. This one stops those of this user that our script started;
with a properties file, only the one that was started from it.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from barnabas.cli.support.options import Parser
from barnabas.cli.support.running import run
from barnabas.runtime import zookeeper

PARSER = Parser("USAGE: zookeeper-server-stop [zookeeper.properties]", [])


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_tool, arguments)


def _tool(arguments: Sequence[str]) -> int:
    options = PARSER.parse(arguments, empty_is_help=False)
    wanted = {os.path.abspath(path) for path in options.stray}
    found = servers(Path("/proc"), os.getuid())
    chosen = [pid for pid, file in found.items() if not wanted or file in wanted]
    if not chosen:
        print("No zookeeper server to stop")
        return 1
    number = signal.Signals[f"SIG{os.environ.get('SIGNAL', 'TERM').removeprefix('SIG')}"]
    for pid in chosen:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            print(f"process {pid} has already gone", file=sys.stderr)
    return 0


def servers(proc: Path, user_id: int) -> dict[int, str]:
    """Our ZooKeepers among the processes of one user, each with the properties file it was started from."""
    found = {}
    for entry in proc.iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            if entry.stat().st_uid != user_id:
                continue
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
        except OSError:
            continue  # it ended while we looked, or is not ours to look at
        if zookeeper.is_server(words):
            mark = next(word for word in words if word.startswith(zookeeper.MARK))
            found[int(entry.name)] = mark.removeprefix(zookeeper.MARK)
    return found
