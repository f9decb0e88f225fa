"""DescribeConfigs, AlterConfigs, IncrementalAlterConfigs, ListConfigResources."""

from __future__ import annotations

from typing import Any, Protocol

from tests.support.answers.dialogue import Dialogue
from tests.support.answers.peer import SILENT_S
from tests.support.answers.scenario import scenario

from barnabas.protocol.messages import alter_configs as whole
from barnabas.protocol.messages import incremental_alter_configs as incremental
from barnabas.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from barnabas.protocol.messages.list_config_resources import ListConfigResourcesRequest

UNKNOWN, TOPIC, BROKER, LOGGER, METRICS, GROUP = 0, 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = 0, 1, 2, 3

# What the two kinds of broker have to be told, each its own way, before they start.
STARTED_WITH = frozenset(
    {
        "advertised.listeners", "listeners", "listener.security.protocol.map", "log.dirs", "process.roles",
        "offsets.topic.replication.factor", "transaction.state.log.replication.factor",
        "transaction.state.log.min.isr", "share.coordinator.state.topic.replication.factor",
        "share.coordinator.state.topic.min.isr", "group.initial.rebalance.delay.ms",
    }
)  # fmt: skip


def by_name(shown: Any) -> Any:
    """Settings by name, since their order is that of a hash map."""
    for row in shown.get("results", []):
        row["configs"] = {config.pop("name"): config for config in sorted(row.get("configs", []), key=repr)}
    shown.get("results", []).sort(key=lambda row: (row.get("resource_type", 0), row.get("resource_name", "")))
    return shown


def rows_in_order(shown: Any) -> Any:
    shown.get("responses", []).sort(key=repr)
    return shown


def describe(*resources: tuple[int, str, list[str] | None], synonyms: bool = True, docs: bool = False) -> Any:
    return DescribeConfigsRequest([DescribeConfigsResource(*row) for row in resources], synonyms, docs)


@scenario
def describe_configs(d: Dialogue) -> None:
    topic = d.topic("t", segment_bytes="2000000", cleanup_policy="compact,delete")
    d.ask("topic", describe((TOPIC, topic, None)), view=by_name)
    d.ask("topic without synonyms", describe((TOPIC, topic, None), synonyms=False), (1, 4), view=by_name)
    d.ask("topic with documentation", describe((TOPIC, topic, None), docs=True), (3, 4), view=by_name)
    d.ask("topic, some", describe((TOPIC, topic, ["retention.ms", "no.such"])), view=by_name)
    d.ask("topic, none", describe((TOPIC, topic, [])), view=by_name)
    d.ask("unknown topic", describe((TOPIC, d.name("no"), None)), view=by_name)
    d.ask("invalid name", describe((TOPIC, "a/b", None)), view=by_name)
    d.ask("empty topic name", describe((TOPIC, "", None)), view=by_name)
    d.ask("another broker", describe((BROKER, "9", None)), view=by_name)
    d.ask("no broker id", describe((BROKER, "x", None)), view=by_name)
    d.ask("all brokers", describe((BROKER, "", None)), view=by_name)
    keys = [
        "log.retention.hours",
        "log.retention.ms",
        "num.io.threads",
        "node.id",
        "broker.id",
        "ssl.key.password",
    ]
    d.ask("broker, some", describe((BROKER, "1", [*keys, "no.such"])), view=by_name)
    d.ask("logger of another broker", describe((LOGGER, "9", None)), view=by_name)
    d.ask("logger without name", describe((LOGGER, "", None)), view=by_name)
    d.ask("loggers, root", describe((LOGGER, "1", ["no.such.logger"])), view=by_name)
    d.ask("group", describe((GROUP, d.name("g"), None)), view=by_name)
    d.ask("group with documentation", describe((GROUP, d.name("g"), None), docs=True), 4, view=by_name)
    d.ask("group without name", describe((GROUP, "", None)), view=by_name)
    d.ask("client metrics", describe((METRICS, d.name("m"), None)), view=by_name)
    d.ask("client metrics without name", describe((METRICS, "", None)), view=by_name)
    for kind in (UNKNOWN, 1, 3, 5, 64, 127, -1):
        d.ask(f"type {kind}", describe((kind, "x", None)), view=by_name)
    d.ask("type 64 and a topic", describe((64, "x", None), (TOPIC, topic, ["retention.ms"])), view=by_name)
    d.ask("nothing", describe(), view=by_name)
    d.ask(
        "twice", describe((TOPIC, topic, ["retention.ms"]), (TOPIC, topic, ["segment.bytes"])), view=by_name
    )
    d.ask(
        "good and bad",
        describe((TOPIC, topic, ["retention.ms"]), (TOPIC, d.name("no"), None)),
        4,
        view=by_name,
    )


@scenario
def describe_configs_of_broker(d: Dialogue) -> None:
    """Every setting of a broker: type, source, synonyms, whether it is secret or fixed."""

    def view(shown: Any) -> Any:
        rows = by_name(shown)["results"][0]["configs"]
        for name in [name for name in rows if name in STARTED_WITH or name.startswith("controller.")]:
            del rows[name]
        return shown

    d.ask("broker", describe((BROKER, "1", None), docs=True), 4, view=view)


def change(kind: int, name: str, *rows: tuple[str, int, str | None]) -> incremental.AlterConfigsResource:
    return incremental.AlterConfigsResource(kind, name, [incremental.AlterableConfig(*row) for row in rows])


class AskToAlter(Protocol):
    def __call__(self, label: str, *resources: incremental.AlterConfigsResource) -> None: ...


@scenario
def incremental_alter_configs(d: Dialogue) -> None:
    def ask(label: str, *resources: incremental.AlterConfigsResource) -> None:
        request = incremental.IncrementalAlterConfigsRequest(list(resources), validate_only=True)
        d.ask(label, request, view=rows_in_order)

    _alter_topics(d, ask)
    _alter_brokers(ask)
    _alter_groups_and_metrics(d, ask)
    _alter_loggers(ask)


def _alter_topics(d: Dialogue, ask: AskToAlter) -> None:
    topic = d.topic("t")
    ms = "retention.ms"
    ask("set", change(TOPIC, topic, (ms, SET, "5")))
    ask("set null", change(TOPIC, topic, (ms, SET, None)))
    ask("delete", change(TOPIC, topic, (ms, DELETE, None)))
    ask("delete with value", change(TOPIC, topic, (ms, DELETE, "x")))
    ask("delete what is not set", change(TOPIC, topic, ("segment.ms", DELETE, None)))
    ask("delete unknown", change(TOPIC, topic, ("no.such", DELETE, None)))
    ask("unknown setting", change(TOPIC, topic, ("no.such", SET, "1")))
    ask("bad value", change(TOPIC, topic, (ms, SET, "x")))
    ask("too small", change(TOPIC, topic, (ms, SET, "-2")))
    ask("append to a number", change(TOPIC, topic, (ms, APPEND, "5")))
    ask("subtract from a number", change(TOPIC, topic, (ms, SUBTRACT, "5")))
    ask("append", change(TOPIC, topic, ("cleanup.policy", APPEND, "compact")))
    ask("append what is there", change(TOPIC, topic, ("cleanup.policy", APPEND, "delete")))
    ask("append nonsense", change(TOPIC, topic, ("cleanup.policy", APPEND, "shred")))
    ask("append null", change(TOPIC, topic, ("cleanup.policy", APPEND, None)))
    ask("subtract", change(TOPIC, topic, ("cleanup.policy", SUBTRACT, "delete")))
    ask("subtract what is not there", change(TOPIC, topic, ("cleanup.policy", SUBTRACT, "compact")))
    ask("append to unknown", change(TOPIC, topic, ("no.such", APPEND, "1")))
    ask("append to a number of no topic", change(TOPIC, "", (ms, APPEND, "1")))
    ask("twice and null", change(TOPIC, topic, (ms, SET, None), (ms, SET, None)))
    ask("type 64, null", change(64, "x", (ms, SET, None)))
    ask("type 64, setting twice", change(64, "x", (ms, SET, "1"), (ms, SET, None)))
    ask("broker, append to unknown", change(BROKER, "1", ("no.such", APPEND, "1")))
    ask("operation 9", change(TOPIC, topic, (ms, 9, "1")))
    ask("operation -1", change(TOPIC, topic, (ms, -1, "1")))
    ask("setting twice", change(TOPIC, topic, (ms, SET, "1"), (ms, SET, "2")))
    ask("set and delete", change(TOPIC, topic, (ms, SET, "1"), (ms, DELETE, None)))
    ask("no settings", change(TOPIC, topic))
    ask("empty setting", change(TOPIC, topic, ("", SET, "1")))
    ask(
        "lags crossed",
        change(TOPIC, topic, ("min.compaction.lag.ms", SET, "9"), ("max.compaction.lag.ms", SET, "5")),
    )
    ask("unknown topic", change(TOPIC, d.name("no"), (ms, SET, "1")))
    ask("unknown topic, bad value", change(TOPIC, d.name("no"), (ms, SET, "x")))
    ask("invalid name", change(TOPIC, "a/b", (ms, SET, "1")))
    ask("empty name", change(TOPIC, "", (ms, SET, "1")))
    ask("topic twice", change(TOPIC, topic, (ms, SET, "1")), change(TOPIC, topic, (ms, SET, "2")))
    ask("good and bad", change(TOPIC, topic, (ms, SET, "1")), change(TOPIC, d.name("no"), (ms, SET, "2")))
    ask("nothing")
    for kind in (UNKNOWN, 1, 3, 64, -1):
        ask(f"type {kind}", change(kind, "x", (ms, SET, "1")))


def _alter_brokers(ask: AskToAlter) -> None:
    ask("broker", change(BROKER, "1", ("log.cleaner.io.buffer.load.factor", SET, "0.8")))
    ask("all brokers", change(BROKER, "", ("message.max.bytes", SET, "2000000")))
    ask("broker, fixed", change(BROKER, "1", ("node.id", SET, "5")))
    ask("broker, fixed, deleted", change(BROKER, "1", ("node.id", DELETE, None)))
    ask("broker, unknown", change(BROKER, "1", ("no.such", SET, "5")))
    ask("broker, bad value", change(BROKER, "1", ("num.io.threads", SET, "x")))
    ask("broker, 0 threads", change(BROKER, "1", ("num.io.threads", SET, "0")))
    ask("broker, too many threads", change(BROKER, "1", ("num.io.threads", SET, "100")))
    ask("broker, null", change(BROKER, "1", ("num.io.threads", SET, None)))
    ask("broker, append to a number", change(BROKER, "1", ("num.io.threads", APPEND, "1")))
    ask("broker, operation 9", change(BROKER, "1", ("num.io.threads", 9, "1")))
    ask(
        "broker, setting twice",
        change(BROKER, "1", ("num.io.threads", SET, "9"), ("num.io.threads", SET, "9")),
    )
    ask("another broker", change(BROKER, "9", ("num.io.threads", SET, "9")))
    ask("no broker id", change(BROKER, "x", ("num.io.threads", SET, "9")))
    ask(
        "all brokers, per broker setting",
        change(BROKER, "", ("advertised.listeners", SET, "PLAINTEXT://x:1")),
    )
    ask(
        "all brokers, listener",
        change(BROKER, "", ("listener.name.plaintext.ssl.keystore.location", SET, "x")),
    )
    ask("broker, ssl without prefix", change(BROKER, "1", ("ssl.keystore.location", SET, "x")))
    ask("broker, retention", change(BROKER, "1", ("log.retention.ms", SET, "-2")))
    ask("broker, policy", change(BROKER, "1", ("log.cleanup.policy", SET, "shred")))


def _alter_groups_and_metrics(d: Dialogue, ask: AskToAlter) -> None:
    ask("group", change(GROUP, d.name("g"), ("consumer.session.timeout.ms", SET, "50000")))
    ask("group, too small", change(GROUP, d.name("g"), ("consumer.session.timeout.ms", SET, "1")))
    ask("group, too large", change(GROUP, d.name("g"), ("consumer.session.timeout.ms", SET, "9999999")))
    ask("group, unknown", change(GROUP, d.name("g"), ("no.such", SET, "1")))
    ask("group, bad value", change(GROUP, d.name("g"), ("consumer.session.timeout.ms", SET, "x")))
    ask("group without name", change(GROUP, "", ("consumer.session.timeout.ms", SET, "50000")))
    ask("metrics", change(METRICS, d.name("m"), ("interval.ms", SET, "5000")))
    ask("metrics, too small", change(METRICS, d.name("m"), ("interval.ms", SET, "5")))
    ask("metrics, bad value", change(METRICS, d.name("m"), ("interval.ms", SET, "x")))
    ask("metrics, unknown", change(METRICS, d.name("m"), ("no.such", SET, "5")))
    ask("metrics, match", change(METRICS, d.name("m"), ("match", SET, "client_id=[")))
    ask("metrics without name", change(METRICS, "", ("interval.ms", SET, "5000")))


def _alter_loggers(ask: AskToAlter) -> None:
    ask("logger", change(LOGGER, "1", ("root", SET, "INFO")))
    ask("logger, bad level", change(LOGGER, "1", ("root", SET, "LOUD")))
    ask("logger, off", change(LOGGER, "1", ("root", SET, "OFF")))
    ask("logger, subtract", change(LOGGER, "1", ("root", SUBTRACT, "INFO")))
    ask("logger, unknown", change(LOGGER, "1", ("no.such.logger", SET, "INFO")))
    ask("logger, append", change(LOGGER, "1", ("root", APPEND, "INFO")))
    ask("logger, root deleted", change(LOGGER, "1", ("root", DELETE, None)))
    ask("logger, operation 9", change(LOGGER, "1", ("root", 9, "INFO")))
    ask("logger, null", change(LOGGER, "1", ("root", SET, None)))
    ask("logger of another broker", change(LOGGER, "9", ("root", SET, "INFO")))
    ask("logger without name", change(LOGGER, "", ("root", SET, "INFO")))
    ask("logger of no broker", change(LOGGER, "x", ("root", SET, "INFO")))
    ask(
        "logger twice", change(LOGGER, "1", ("root", SET, "INFO")), change(LOGGER, "1", ("root", SET, "INFO"))
    )


@scenario
def altered_configs_are_seen(d: Dialogue) -> None:
    topic = d.topic("t")

    def alter(label: str, *resources: incremental.AlterConfigsResource) -> None:
        d.ask(
            label, incremental.IncrementalAlterConfigsRequest(list(resources), False), 1, view=rows_in_order
        )
        d.settle()

    def see(label: str, kind: int, name: str, *keys: str) -> None:
        d.ask(label, describe((kind, name, list(keys))), 4, view=by_name)

    alter("topic", change(TOPIC, topic, ("segment.ms", SET, "77777"), ("cleanup.policy", APPEND, "compact")))
    see("topic, seen", TOPIC, topic, "segment.ms", "cleanup.policy", "retention.ms")
    alter(
        "topic, taken back",
        change(TOPIC, topic, ("segment.ms", DELETE, None), ("cleanup.policy", SUBTRACT, "delete")),
    )
    see("topic, seen again", TOPIC, topic, "segment.ms", "cleanup.policy")
    cluster, own = ("log.segment.bytes", "99999999"), ("log.cleaner.backoff.ms", "14000")
    alter("all brokers", change(BROKER, "", (cluster[0], SET, cluster[1])))
    alter("one broker", change(BROKER, "1", (own[0], SET, own[1]), (cluster[0], SET, "88888888")))
    see("all brokers, seen", BROKER, "")
    see("one broker, seen", BROKER, "1", cluster[0], own[0])
    see("topic inherits", TOPIC, topic, "segment.bytes")
    alter("one broker, taken back", change(BROKER, "1", (own[0], DELETE, None), (cluster[0], DELETE, None)))
    see("topic inherits from all", TOPIC, topic, "segment.bytes")
    alter("all brokers, taken back", change(BROKER, "", (cluster[0], DELETE, None)))
    see("topic inherits nothing", TOPIC, topic, "segment.bytes")
    alter("group", change(GROUP, d.name("g"), ("consumer.session.timeout.ms", SET, "50000")))
    see("group, seen", GROUP, d.name("g"))
    alter("metrics", change(METRICS, d.name("m"), ("interval.ms", SET, "5000"), ("metrics", SET, "a,b")))
    see("metrics, seen", METRICS, d.name("m"))

    def ours(shown: Any) -> Any:
        rows = shown.get("config_resources", [])
        shown["config_resources"] = sorted(
            (row for row in rows if row["resource_name"] in {"t", "g", "m", "1", ""}), key=repr
        )
        return shown

    for label, kinds in {
        "all": [], "topics": [TOPIC], "brokers": [BROKER], "loggers": [LOGGER], "metrics": [METRICS],
        "groups": [GROUP], "two kinds": [GROUP, METRICS], "twice": [GROUP, GROUP], "unknown": [0], "64": [64],
        "unknown among known": [TOPIC, 99], "negative": [-1],
    }.items():  # fmt: skip
        d.ask(f"list {label}", ListConfigResourcesRequest(kinds), view=ours)
    alter(
        "taken back",
        change(GROUP, d.name("g"), ("consumer.session.timeout.ms", DELETE, None)),
        change(METRICS, d.name("m"), ("interval.ms", DELETE, None), ("metrics", DELETE, None)),
    )
    d.ask("list what is left", ListConfigResourcesRequest([GROUP, METRICS]), 1, view=ours)


@scenario
def alter_configs(d: Dialogue) -> None:
    topic = d.topic("t")

    def ask(label: str, *rows: tuple[int, str, dict[str, str | None]], validate_only: bool = True) -> None:
        resources = [
            whole.AlterConfigsResource(kind, name, [whole.AlterableConfig(*item) for item in values.items()])
            for kind, name, values in rows
        ]
        d.ask(label, whole.AlterConfigsRequest(resources, validate_only), view=rows_in_order)

    ask("set", (TOPIC, topic, {"retention.ms": "5"}))
    ask("null", (TOPIC, topic, {"retention.ms": None}))
    ask("unknown", (TOPIC, topic, {"no.such": "5"}))
    ask("bad value", (TOPIC, topic, {"retention.ms": "x"}))
    ask("nothing set", (TOPIC, topic, {}))
    ask("unknown topic", (TOPIC, d.name("no"), {"retention.ms": "5"}))
    ask("invalid name", (TOPIC, "a/b", {"retention.ms": "5"}))
    ask("empty name", (TOPIC, "", {"retention.ms": "5"}))
    d.ask("setting twice", _twice(topic), view=rows_in_order)
    both = [whole.AlterConfigsResource(TOPIC, topic, []), whole.AlterConfigsResource(TOPIC, topic, [])]
    d.ask("twice", whole.AlterConfigsRequest(both, True), 2, view=rows_in_order, timeout_s=SILENT_S)
    ask("nothing")
    ask("broker", (BROKER, "1", {"log.cleaner.io.buffer.load.factor": "0.8"}))
    ask("broker, fixed", (BROKER, "1", {"node.id": "8"}))
    ask("broker, unknown", (BROKER, "1", {"no.such": "8"}))
    ask("all brokers", (BROKER, "", {"message.max.bytes": "2000000"}))
    ask("another broker", (BROKER, "9", {"message.max.bytes": "2000000"}))
    ask("no broker id", (BROKER, "x", {"message.max.bytes": "2000000"}))
    ask("logger", (LOGGER, "1", {"root": "INFO"}))
    ask("group", (GROUP, d.name("g"), {"consumer.session.timeout.ms": "50000"}))
    ask("metrics", (METRICS, d.name("m"), {"interval.ms": "5000"}))
    for kind in (UNKNOWN, 1, 64, -1):
        ask(f"type {kind}", (kind, "x", {"retention.ms": "5"}))
    ask("for real", (TOPIC, topic, {"segment.ms": "88888"}), validate_only=False)
    d.settle()
    keys = ["segment.ms", "retention.ms"]
    d.ask("seen", describe((TOPIC, topic, keys)), 4, view=by_name)


def _twice(topic: str) -> whole.AlterConfigsRequest:
    rows = [whole.AlterableConfig("retention.ms", "5"), whole.AlterableConfig("retention.ms", "6")]
    return whole.AlterConfigsRequest([whole.AlterConfigsResource(TOPIC, topic, rows)], True)
