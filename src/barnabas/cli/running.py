"""What every tool's `main` has in common: how mistakes are printed, exit codes, warnings on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from datetime import datetime

from barnabas.cli.options import KAFKA_VERSION, OptionError, UsageError, VersionAsked


def run(tool: Callable[[Sequence[str]], int], arguments: Sequence[str] | None = None) -> int:
    """The exit code of `tool` for this command line. Anything `tool` does not handle itself is a bug of ours
    and shows its traceback."""
    try:
        code = tool(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return code
    except VersionAsked:
        from importlib.metadata import version

        print(f"{KAFKA_VERSION} (Barnabas {version('barnabas')})")
        return 0
    except OptionError as error:
        print(error, file=sys.stderr)
        if error.hint:
            print(error.hint, file=sys.stderr)
        return 1
    except UsageError as error:
        print(error, file=sys.stderr)
        print(error.usage, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # `kafka-topics --list | head`: the reader has seen enough. Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def warn(message: str, source: str = "org.apache.kafka.clients.NetworkClient") -> None:
    """A warning in the shape of Kafka's log lines, where Kafka's tools put theirs."""
    now = datetime.now().isoformat(" ", "milliseconds").replace(".", ",")
    print(f"[{now}] WARN [AdminClient clientId=adminclient-1] {message} ({source})", file=sys.stderr)
