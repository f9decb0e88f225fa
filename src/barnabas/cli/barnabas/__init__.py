"""`barnabas <noun> …`: what Kafka's tools do, in a friendlier shape. One module per noun, loaded only when it
is asked for, so that `barnabas run` starts without rich or librdkafka."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from barnabas.cli.support.nearest import nearest

# noun → what it is for; the module of the same name has `main(arguments) -> int`
NOUNS = {
    "run": "start a broker here",
    "cluster": "start several here, with ZooKeeper, and keep them alive",
    "demo": "a thousand trucks, two readers of their positions, and a PySpark pipeline",
    "doctor": "what this machine has, what it lacks, and what to type about it",
    "topics": "list, show, create, grow and delete topics",
    "configs": "show and change settings of topics and brokers",
    "offsets": "where partitions begin and end; delete old records",
    "brokers": "who is in the cluster, and what they speak",
    "produce": "send lines to a topic",
    "consume": "read a topic",
    "groups": "who reads what, and how far behind; move and delete offsets",
    "transactions": "which are open, and ending those that hang",
    "logs": "log directories, and what is inside a log file",
}


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in {"-h", "--help", "help"}:
        print(overview())
        return 0 if words else 2
    if words[0] == "--version":
        from importlib.metadata import version

        print(f"barnabas {version('barnabas')}")
        return 0
    noun = words[0]
    if noun not in NOUNS:
        print(f"barnabas has no '{noun}'.", file=sys.stderr)
        meant = nearest(noun, NOUNS)
        print(f"did you mean: barnabas {meant}?" if meant else overview(), file=sys.stderr)
        return 2
    code = importlib.import_module(f"barnabas.cli.barnabas.{noun}").main(words[1:])
    assert isinstance(code, int)
    return code


def overview() -> str:
    rows = "\n".join(f"  barnabas {noun:<12} {text}" for noun, text in NOUNS.items())
    return f"Apache Kafka's job, done in Python.\n\n{rows}\n\n`barnabas <noun> --help` says more."
