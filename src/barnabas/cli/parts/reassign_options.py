"""The options of kafka-reassign-partitions and which of them go with which action."""

from __future__ import annotations

from collections.abc import Sequence

from barnabas.cli.support.legacy_zookeeper import found_in_zookeeper
from barnabas.cli.support.options import Option, Options, Parser

_RATE = (
    "bytes per second. It goes with --execute; to change it later, execute the same file again with "
    "--additional. At least 1 KB/s."
)

OPTIONS = (
    Option("verify", "Say whether the moves of --reassignment-json-file are done; then lift the throttles."),
    Option("generate", "Propose where the partitions of --topics-to-move-json-file could go; move nothing."),
    Option("execute", "Begin the moves of --reassignment-json-file."),
    Option("cancel", "Take back the moves of --reassignment-json-file that are under way."),
    Option("list", "List all moves that are under way."),
    Option(
        "bootstrap-server",
        "The broker or brokers to connect to.",
        "String: Server(s) to use for bootstrapping",
        argument_optional=True,
    ),
    Option(
        "bootstrap-controller",
        "The controller to connect to, for --cancel and --list; any broker will do.",
        "String: bootstrap controller to connect to",
        argument_optional=True,
    ),
    Option(
        "command-config",
        "A properties file with settings for the connection.",
        "String: Admin client property file",
    ),
    Option(
        "reassignment-json-file",
        "A JSON file with the brokers of each partition:\n"
        '{"partitions":\n  [{"topic": "foo",\n    "partition": 1,\n    "replicas": [1,2,3],\n'
        '    "log_dirs": ["dir1","dir2","dir3"]}],\n"version":1\n}\n'
        '"log_dirs" may be left out; each is a log directory of the broker at its place, or "any".',
        "String: manual assignment json file path",
    ),
    Option(
        "topics-to-move-json-file",
        'With --generate: the topics to move.\n{"topics":\n  [{"topic": "foo"},{"topic": "foo1"}],\n'
        '"version":1\n}',
        "String: topics to reassign json file path",
    ),
    Option("broker-list", 'With --generate: the brokers to move to, as "0,1,2".', "String: brokerlist"),
    Option("disable-rack-aware", "With --generate: do not look at racks."),
    Option(
        "throttle",
        f"Replicas that move from broker to broker get no more than so many {_RATE}",
        "Long: throttle",
        "-1",
    ),
    Option(
        "replica-alter-log-dirs-throttle",
        f"Replicas that move between log directories of a broker get no more than so many {_RATE}",
        "Long: replicaAlterLogDirsThrottle",
        "-1",
    ),
    Option(
        "timeout",
        "How many milliseconds to wait until moves between log directories have begun.",
        "Long: timeout",
        "10000",
    ),
    Option(
        "additional", "Move these as well while others move; also changes the throttle of what is moving."
    ),
    Option("preserve-throttles", "Leave the throttles of brokers and topics as they are."),
    Option(
        "disallow-replication-factor-change",
        "Refuse moves that would leave a partition with more or fewer replicas.",
    ),
)
PARSER = Parser("This tool helps to move topic partitions between replicas.", OPTIONS)

ACTIONS = ("generate", "execute", "verify", "cancel", "list")
_REQUIRED = {
    "verify": ("reassignment-json-file",),
    "generate": ("topics-to-move-json-file", "broker-list"),
    "execute": ("reassignment-json-file",),
    "cancel": ("reassignment-json-file",),
    "list": (),
}
_PERMITTED = {
    "verify": ("bootstrap-server", "command-config", "preserve-throttles"),
    "generate": ("bootstrap-server", "command-config", "disable-rack-aware"),
    "execute": (
        "additional",
        "bootstrap-server",
        "command-config",
        "throttle",
        "replica-alter-log-dirs-throttle",
        "timeout",
        "disallow-replication-factor-change",
    ),
    "cancel": (
        "bootstrap-server",
        "bootstrap-controller",
        "command-config",
        "preserve-throttles",
        "timeout",
    ),
    "list": ("bootstrap-server", "bootstrap-controller", "command-config"),
}


def parse(arguments: Sequence[str]) -> tuple[str, Options]:
    """The action, and the options it was given. The checks are in Kafka's order."""
    options = PARSER.parse(found_in_zookeeper(arguments))
    actions = [action for action in ACTIONS if options.has(action)]
    if len(actions) != 1:
        names = ", ".join(f"--{action}" for action in ACTIONS)
        raise options.wrong(f"Command must include exactly one action: {names}")
    (action,) = actions
    if options.has("bootstrap-server") and options.has("bootstrap-controller"):
        raise options.wrong("Please don't specify both --bootstrap-server and --bootstrap-controller")
    if not options.values("bootstrap-server") and not options.values("bootstrap-controller"):
        raise options.wrong("Please specify either --bootstrap-server or --bootstrap-controller")
    options.require(*_REQUIRED[action])
    for name in dict.fromkeys(options.order):
        if name != action and name not in (*_REQUIRED[action], *_PERMITTED[action]):
            raise options.wrong(f'Option "[{name}]" can\'t be used with action "[{action}]"')
    return action, options


def bootstrap_option(options: Options) -> str:
    return "bootstrap-server" if options.has("bootstrap-server") else "bootstrap-controller"
