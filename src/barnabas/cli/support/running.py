"""What every tool's `main` has in common: how command lines are read, mistakes printed, exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from barnabas.cli.support.options import (
    KAFKA_VERSION,
    OptionError,
    Options,
    Parser,
    UsageError,
    VersionAsked,
)


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


def parse(parser: Parser, arguments: Sequence[str]) -> Options:
    """These tools follow a line they cannot read with the usage; what was probably meant comes in between."""
    try:
        return parser.parse(arguments)
    except OptionError as error:
        message = str(error) if error.hint is None else f"{error}\n{error.hint}"
        raise UsageError(message, parser.usage()) from None


def one_of(options: Options, new: str, old: str, word: str = "Warning:") -> str:
    """Which spelling of the two was used; the old one is still heard, and answered with the new one.

    Kafka says so on standard output, in the middle of the records. Ours goes to standard error."""
    if not options.has(old):
        return new
    print(
        f"{word} --{old} is deprecated and will be removed in a future version. Use --{new} instead.",
        file=sys.stderr,
    )
    return old
