"""barnabas cluster: several brokers on this machine, ZooKeeper included, under a supervisor. One module per
verb, each with TEXT, `arguments(parser)` and `act(asked)`."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Sequence

from barnabas.cli.barnabas.common import Action, run
from barnabas.cli.support.failures import ToolError
from barnabas.runtime.cluster_plan import NoClusterError

VERBS = ("start", "status", "stop", "kill", "add-broker", "balance")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="barnabas cluster",
        description="Several brokers on this machine, ZooKeeper included; what dies comes back.",
    )
    choices = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in VERBS:
        module = importlib.import_module(f"{__name__}.{verb.replace('-', '_')}")
        child = choices.add_parser(verb, help=module.TEXT, description=module.TEXT)
        child.add_argument("--data", default="./cluster", metavar="DIR", help="(default: ./cluster)")
        child.add_argument("--timeout", type=float, default=90.0, metavar="SECONDS", help="(default: 90)")
        module.arguments(child)
        child.set_defaults(action=_in_one_sentence(module.act))
    return run(parser, arguments)


def _in_one_sentence(act: Action) -> Action:
    """A folder that cannot be written is the user's to mend, and no bug of ours."""

    def acted(asked: argparse.Namespace) -> int:
        try:
            return act(asked)
        except NoClusterError as error:
            raise ToolError(str(error)) from None
        except OSError as error:
            raise ToolError(f"{error.filename or asked.data}: {error.strerror}") from None

    return acted
