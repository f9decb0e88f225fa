"""CreateTopics, CreatePartitions, DeleteTopics, Metadata, DescribeTopicPartitions, DescribeLogDirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from tests.support.answers.dialogue import Dialogue
from tests.support.answers.scenario import scenario
from tests.support.answers.scenarios.fetch import fill

from barnabas.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from barnabas.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from barnabas.protocol.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from barnabas.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from barnabas.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic

NO_ID = bytes(16)
CREATE_LATEST = 7


def in_any_order(*path: str) -> Callable[[Any], Any]:
    """Kafka answers in the order of a hash map here."""

    def view(shown: Any) -> Any:
        rows = shown
        for name in path[:-1]:
            rows = rows.get(name, [])
        rows.get(path[-1], []).sort(key=repr)
        return shown

    return view


def without_configs(shown: Any) -> Any:
    """The settings of the new topic have a step of their own."""
    for row in shown.get("topics", []):
        row.pop("configs", None)
        row.pop("topic_id", None)
    shown.get("topics", []).sort(key=repr)
    return shown


def create(
    name: str, partitions: int = 1, factor: int = 1, *placed: tuple[int, list[int]], **configs: str | None
) -> CreatableTopic:
    return CreatableTopic(
        name,
        partitions,
        factor,
        [CreatableReplicaAssignment(*row) for row in placed],
        [CreatableTopicConfig(key.replace("_", "."), value) for key, value in configs.items()],
    )


TOPIC_CONFIGS: dict[str, dict[str, str | None]] = {
    "good": {"retention_ms": "1000"},
    "unknown": {"no_such": "1"},
    "null": {"retention_ms": None},
    "null unknown": {"no_such": None},
    "not a number": {"retention_ms": "x"},
    "too small": {"retention_ms": "-2"},
    "blanks around": {"retention_ms": " 1000 "},
    "bad policy": {"cleanup_policy": "shred"},
    "empty policy": {"cleanup_policy": ""},
    "both policies": {"cleanup_policy": "compact,delete"},
    "policy twice": {"cleanup_policy": "compact,compact"},
    "bad codec": {"compression_type": "rar"},
    "upper case codec": {"compression_type": "GZIP"},
    "bad boolean": {"preallocate": "maybe"},
    "upper case boolean": {"preallocate": "TRUE"},
    "bad ratio": {"min_cleanable_dirty_ratio": "1.5"},
    "not a ratio": {"min_cleanable_dirty_ratio": "x"},
    "small segment": {"segment_bytes": "10"},
    "huge segment": {"segment_bytes": "3000000000"},
    "lags crossed": {"min_compaction_lag_ms": "10", "max_compaction_lag_ms": "5"},
    "retired": {"message_format_version": "3.0"},
    "local retention above": {"retention_ms": "10", "local_retention_ms": "20"},
    "remote": {"remote_storage_enable": "true"},
    "throttled replicas": {"leader_replication_throttled_replicas": "nonsense"},
    "throttled all": {"leader_replication_throttled_replicas": "*"},
    "two bad ones": {"retention_ms": "x", "segment_bytes": "y"},
    "a bad and an unknown one": {"retention_ms": "x", "no_such": "y"},
    "zero isr": {"min_insync_replicas": "0"},
    "bad type": {"message_timestamp_type": "Never"},
    "level": {"compression_gzip_level": "99"},
    "empty number": {"retention_ms": ""},
    "index": {"segment_index_bytes": "3"},
    "negative bytes": {"max_message_bytes": "-1"},
}  # fmt: skip


class AskToCreate(Protocol):
    def __call__(
        self, label: str, *topics: CreatableTopic, validate_only: bool = True, versions: Any = None
    ) -> None: ...


@scenario
def create_topics(d: Dialogue) -> None:
    def ask(label: str, *topics: CreatableTopic, validate_only: bool = True, versions: Any = None) -> None:
        request = CreateTopicsRequest(list(topics), 5000, validate_only)
        d.ask(label, request, versions, view=without_configs)

    name = d.name("new")
    _create_by_count(d, name, ask)
    _create_by_assignment(name, ask)
    _create_with_configs(d, name, ask)
    _create_beside_others(d, ask)
    _create_for_real(d, ask)


def _create_by_count(d: Dialogue, name: str, ask: AskToCreate) -> None:
    ask("good", create(name))
    ask("defaults", create(name, -1, -1))
    ask("0 partitions", create(name, 0))
    ask("-2 partitions", create(name, -2))
    ask("factor 0", create(name, 1, 0))
    ask("factor -2", create(name, 1, -2))
    ask("factor 2", create(name, 1, 2))
    ask("factor 32767", create(name, 1, 32767), versions=CREATE_LATEST)
    ask("too many partitions", create(name, 100_001), versions=CREATE_LATEST)
    for label, bad in {
        "empty": "",
        "a dot": ".",
        "two dots": "..",
        "slash": "a/b",
        "blank": "a b",
        "umlaut": "ä",
        "colon": "a:b",
    }.items():
        ask(f"name is {label}", create(bad))
    ask("name too long", create(d.name("x" * 240)))
    ask("name as long as may be", create(d.name("x" * 239)))
    # Not the offsets topic: whether that is there depends on who asked for a group before.
    ask("internal name", create("__share_group_state"), versions=CREATE_LATEST)
    ask("metadata name", create("__cluster_metadata"), versions=CREATE_LATEST)
    ask("twice", create(name), create(name))
    ask("twice and another", create(name), create(name), create(d.name("other")), versions=CREATE_LATEST)
    ask("three times", create(name), create(name, 2), create(name, 3), versions=CREATE_LATEST)
    ask("no topics")


def _create_by_assignment(name: str, ask: AskToCreate) -> None:
    ask("assigned", create(name, -1, -1, (0, [1]), (1, [1])))
    ask("assigned and count", create(name, 1, -1, (0, [1])))
    ask("assigned and factor", create(name, -1, 1, (0, [1])))
    ask("assigned and both", create(name, 1, 1, (0, [1])))
    ask("assigned with a gap", create(name, -1, -1, (0, [1]), (2, [1])))
    ask("assigned from 1", create(name, -1, -1, (1, [1])))
    ask("assigned negative", create(name, -1, -1, (-1, [1])))
    ask("assigned twice", create(name, -1, -1, (0, [1]), (0, [1])))
    ask("assigned to a stranger", create(name, -1, -1, (0, [9])))
    ask("assigned to one twice", create(name, -1, -1, (0, [1, 1])))
    ask("assigned to nobody", create(name, -1, -1, (0, [])))
    ask("assigned unevenly", create(name, -1, -1, (0, [1]), (1, [])))
    ask("assigned to a negative", create(name, -1, -1, (0, [-1])))


def _create_with_configs(d: Dialogue, name: str, ask: AskToCreate) -> None:
    for label, values in TOPIC_CONFIGS.items():
        ask(f"config {label}", create(name, 1, 1, **values), versions=(4, CREATE_LATEST))
    twice = create(name)
    twice.configs = [CreatableTopicConfig("retention.ms", "1"), CreatableTopicConfig("retention.ms", "2")]
    ask("config twice", twice, versions=CREATE_LATEST)
    ask("bad name and bad factor", create("a b", 1, 7), versions=CREATE_LATEST)
    ask("bad factor and bad config", create(name, 1, 7, retention_ms="x"), versions=CREATE_LATEST)
    ask("bad count and bad config", create(name, 0, 1, retention_ms="x"), versions=CREATE_LATEST)
    ask("two, one bad", create(name), create(d.name("other"), 0), versions=CREATE_LATEST)


def _create_beside_others(d: Dialogue, ask: AskToCreate) -> None:
    d.topic("there.is_one")
    ask("exists", create(d.name("there.is_one")))
    ask("exists, bad config", create(d.name("there.is_one"), 1, 1, retention_ms="x"), versions=CREATE_LATEST)
    ask("exists, 0 partitions", create(d.name("there.is_one"), 0), versions=CREATE_LATEST)
    ask("collides", create(d.name("there_is_one")))
    ask("collides the other way", create(d.name("there.is.one")), versions=CREATE_LATEST)
    ask("two that collide", create(d.name("p.q")), create(d.name("p_q")), versions=CREATE_LATEST)


def _create_for_real(d: Dialogue, ask: AskToCreate) -> None:
    ask("for real", create(d.name("real"), 3), validate_only=False, versions=CREATE_LATEST)
    ask("for real again", create(d.name("real"), 3), validate_only=False, versions=CREATE_LATEST)
    ask(
        "one that exists and one new",
        create(d.name("real")),
        create(d.name("fresh")),
        validate_only=False,
        versions=CREATE_LATEST,
    )
    d.ask(
        "timeout 0",
        CreateTopicsRequest([create(d.name("fast"))], 0, False),
        CREATE_LATEST,
        view=without_configs,
    )
    d.ask("timeout 0, bad name", CreateTopicsRequest([create("a/b")], 0, True), CREATE_LATEST)
    d.ask(
        "negative timeout",
        CreateTopicsRequest([create(d.name("faster"))], -1, False),
        CREATE_LATEST,
        view=without_configs,
    )


@scenario
def create_topics_configs(d: Dialogue) -> None:
    """What a new topic's settings are, and where each comes from."""

    def view(shown: Any) -> Any:
        (row,) = shown["topics"]
        row.pop("topic_id", None)
        row["configs"] = {config.pop("name"): config for config in row.get("configs") or []}
        return shown

    asked = create(d.name("t"), 1, 1, retention_ms="5", cleanup_policy="compact")
    d.ask("configs", CreateTopicsRequest([asked], 5000, True), (5, CREATE_LATEST), view=view)


@scenario
def create_partitions(d: Dialogue) -> None:
    topic = d.topic("t", 3)

    def ask(
        label: str,
        *rows: tuple[str, int, list[list[int]] | None],
        validate_only: bool = True,
        versions: Any = None,
    ) -> None:
        topics = [
            CreatePartitionsTopic(
                name, count, None if placed is None else [CreatePartitionsAssignment(row) for row in placed]
            )
            for name, count, placed in rows
        ]
        d.ask(
            label,
            CreatePartitionsRequest(topics, 5000, validate_only),
            versions,
            view=in_any_order("results"),
        )

    ask("five", (topic, 5, None))
    for count in (3, 2, 0, -1, 200_000):
        ask(f"{count}", (topic, count, None))
    ask("assigned", (topic, 5, [[1], [1]]))
    ask("assigned too few", (topic, 5, [[1]]))
    ask("assigned too many", (topic, 5, [[1], [1], [1]]))
    ask("assigned to a stranger", (topic, 4, [[9]]))
    ask("assigned to one twice", (topic, 4, [[1, 1]]))
    ask("assigned to nobody", (topic, 4, [[]]))
    ask("assigned nothing", (topic, 4, []))
    ask("assigned another factor", (topic, 4, [[1, 2]]))
    ask("assigned to a negative", (topic, 4, [[-1]]))
    ask("unknown topic", (d.name("no"), 5, None))
    ask("invalid name", ("a/b", 5, None))
    ask("empty name", ("", 5, None))
    ask("twice", (topic, 5, None), (topic, 6, None))
    ask("twice and another", (topic, 5, None), (topic, 6, None), (d.name("no"), 5, None))
    ask("no topics")
    ask("for real", (topic, 5, None), validate_only=False, versions=3)
    d.wait_for(topic, 5)
    ask("for real again", (topic, 5, None), validate_only=False, versions=3)
    nothing_at_once = CreatePartitionsRequest([CreatePartitionsTopic(topic, 7)], 0, False)
    d.ask("timeout 0", nothing_at_once, 3)
    ask("one more, assigned", (topic, 6, [[1]]), validate_only=False, versions=3)
    d.wait_for(topic, 6)
    d.ask("seen", MetadataRequest([MetadataRequestTopic(NO_ID, topic)], False), 12, view=_brokers_apart)


def _brokers_apart(shown: Any) -> Any:
    for topic in shown.get("topics", []):
        topic.get("partitions", []).sort(key=lambda row: row.get("partition_index", 0))
    return shown


@scenario
def delete_topics(d: Dialogue) -> None:
    for short in ("a", "b", "c", "e"):
        d.topic(short)

    def by_name(label: str, *names: str, versions: Any = None) -> None:
        request = DeleteTopicsRequest([DeleteTopicState(name) for name in names], list(names), 5000)
        d.ask(label, request, versions, view=in_any_order("responses"))

    def rows(label: str, *states: DeleteTopicState) -> None:
        d.ask(label, DeleteTopicsRequest(list(states), [], 5000), 6, view=in_any_order("responses"))

    by_name("unknown", d.name("no"))
    by_name("invalid name", "a/b")
    by_name("empty name", "")
    by_name("unknown twice", d.name("no"), d.name("no"))
    by_name("known twice", d.name("a"), d.name("a"))
    by_name("none")
    rows("unknown id", DeleteTopicState(None, b"u" * 16))
    rows("unknown id twice", DeleteTopicState(None, b"u" * 16), DeleteTopicState(None, b"u" * 16))
    rows("neither", DeleteTopicState(None, NO_ID))
    both = DeleteTopicState(d.name("no"), b"u" * 16)
    rows("both twice", both, both)
    rows("neither twice", DeleteTopicState(None, NO_ID), DeleteTopicState(None, NO_ID))
    rows("both", DeleteTopicState(d.name("a"), d.topic_id("a")))
    rows("once by name, once by id", DeleteTopicState(d.name("a")), DeleteTopicState(None, d.topic_id("a")))
    rows("id twice", DeleteTopicState(None, d.topic_id("a")), DeleteTopicState(None, d.topic_id("a")))
    by_name("good and unknown", d.name("a"), d.name("no"), versions=5)
    at_once = [DeleteTopicState(d.name("b")), DeleteTopicState(None, b"u" * 16)]
    d.ask("timeout 0", DeleteTopicsRequest(at_once, [d.name("b")], 0), view=in_any_order("responses"))
    rows("by id", DeleteTopicState(None, d.topic_id("b")))
    rows("by id again", DeleteTopicState(None, d.topic_id("b")))
    rows("by name and by id", DeleteTopicState(d.name("c")), DeleteTopicState(None, d.topic_id("e")))
    d.settle()
    wanted = [MetadataRequestTopic(NO_ID, d.name(short)) for short in "abce"]
    d.ask("gone", MetadataRequest(wanted, False), 12, view=in_any_order("topics"))


@scenario
def metadata(d: Dialogue) -> None:
    topic = d.topic("t", 2)
    d.topic("u")

    def ask(label: str, *rows: MetadataRequestTopic, versions: Any = None, **flags: bool) -> None:
        request = MetadataRequest(list(rows), False)
        for flag, value in flags.items():
            setattr(request, flag, value)
        d.ask(label, request, versions, view=in_any_order("topics"))

    def named(name: str | None, topic_id: bytes = NO_ID) -> MetadataRequestTopic:
        return MetadataRequestTopic(topic_id, name)

    creating = range(4, 14)  # earlier versions always create
    ask("one", named(topic))
    ask("two", named(topic), named(d.name("u")))
    ask("one twice", named(topic), named(topic))
    ask("none", versions=range(1, 14))
    ask("unknown", named(d.name("no")), versions=creating)
    ask("unknown twice", named(d.name("no")), named(d.name("no")), versions=creating)
    ask("known and unknown", named(topic), named(d.name("no")), versions=creating)
    ask("invalid name", named("a/b"), versions=creating)
    ask("empty name", named(""), versions=creating)
    ask("invalid name, creating", named("a/b"), allow_auto_topic_creation=True)
    ask("empty name, creating", named(""), allow_auto_topic_creation=True)
    ask("name too long, creating", named("x" * 250), allow_auto_topic_creation=True)
    ask(
        "colliding name, creating",
        named(d.name("pre.fix")),
        allow_auto_topic_creation=False,
        versions=creating,
    )
    ask("by id", named(None, d.topic_id("t")), versions=range(10, 14))
    ask("by unknown id", named(None, b"u" * 16), versions=range(10, 14))
    ask("by unknown id twice", named(None, b"u" * 16), named(None, b"u" * 16), versions=range(10, 14))
    ask("by zero id", named(None), versions=range(10, 14))
    ask("by id and name", named(topic, d.topic_id("t")), versions=range(10, 14))
    ask("by id and wrong name", named("wrong", d.topic_id("t")), versions=range(10, 14))
    ask("an id and a name", named(None, d.topic_id("t")), named(d.name("u")), versions=range(10, 14))
    ask("null name", named(None), versions=(11,))
    ask("an id and nothing", named(None, d.topic_id("t")), named(None), versions=(12, 13))
    ask(
        "operations",
        named(topic),
        include_topic_authorized_operations=True,
        include_cluster_authorized_operations=True,
        versions=range(8, 14),
    )
    ask(
        "operations of unknown",
        named(d.name("no")),
        include_topic_authorized_operations=True,
        versions=range(8, 14),
    )

    def only_ours(shown: Any) -> Any:
        shown["topics"] = [row for row in shown.get("topics", []) if row.get("name") in {"t", "u"}]
        shown["topics"].sort(key=repr)
        return shown

    everything = MetadataRequest(None, False)
    d.ask("all topics", everything, range(1, 14), view=only_ours)
    d.ask("all topics, v0", MetadataRequest([], False), 0, view=only_ours)


@scenario
def describe_topic_partitions(d: Dialogue) -> None:
    first, second, third = d.topic("a", 3), d.topic("b", 2), d.topic("c", 4)

    def ask(label: str, names: list[str], limit: int = 2000, cursor: Cursor | None = None) -> None:
        asked = [TopicRequest(name) for name in names]
        d.ask(label, DescribeTopicPartitionsRequest(asked, limit, cursor))

    every = [third, first, second]
    ask("one", [first])
    ask("three, unsorted", every)
    ask("one twice", [first, first])
    ask("unknown", [d.name("no")])
    ask("invalid name", ["a/b"])
    ask("empty name", [""])
    ask("unknown among known", [first, d.name("bb"), third])
    for limit in (1, 2, 3, 4, 5, 8, 9, 10, 0, -1):
        ask(f"limit {limit}", every, limit)
    ask("cursor at 1", every, 3, Cursor(first, 1))
    ask("cursor at the end", every, 3, Cursor(first, 3))
    ask("cursor beyond the end", every, 3, Cursor(first, 9))
    ask("cursor at b", every, 3, Cursor(second, 1))
    ask("cursor of no topic", every, 3, Cursor(d.name("bb"), 0))
    ask("cursor of no topic, partition 5", every, 3, Cursor(d.name("bb"), 5))
    ask("cursor after all", every, 3, Cursor(d.name("zz"), 0))
    ask("cursor of an unasked topic", [first, third], 3, Cursor(second, 0))
    ask("negative cursor", every, 3, Cursor(first, -1))
    ask("empty cursor", every, 3, Cursor("", 0))

    def ours(shown: Any) -> Any:
        shown["topics"] = [row for row in shown["topics"] if row["name"] in {"a", "b", "c"}]
        return shown

    d.ask("all topics", DescribeTopicPartitionsRequest([], 2000, Cursor(first, 0)), view=ours)
    ask("unknown at the limit", [first, d.name("aa"), third], 3)


@scenario
def describe_log_dirs(d: Dialogue) -> None:
    topic = d.topic("t", 3)
    fill(d, "t")

    def view(shown: Any) -> Any:
        for row in shown.get("results", []):
            row["topics"] = sorted(
                (t for t in row.get("topics", []) if t["name"] in {"t", "no"}), key=lambda t: str(t["name"])
            )
            for one in row["topics"]:
                one["partitions"].sort(key=lambda p: p.get("partition_index", 0))
        return shown

    def ask(label: str, topics: list[DescribableLogDirTopic] | None) -> None:
        d.ask(label, DescribeLogDirsRequest(topics), view=view)

    ask("all", None)
    ask("nothing", [])
    ask("one", [DescribableLogDirTopic(topic, [0])])
    ask("two", [DescribableLogDirTopic(topic, [2, 1])])
    ask("without partitions", [DescribableLogDirTopic(topic, [])])
    ask("unknown partition", [DescribableLogDirTopic(topic, [0, 9])])
    ask("unknown topic", [DescribableLogDirTopic(d.name("no"), [0])])
    ask("twice", [DescribableLogDirTopic(topic, [0, 0])])


@scenario
def metadata_creates_topics(d: Dialogue) -> None:
    for version in (0, 1, 4, 9, 12, 13):
        name = d.name(f"born{version}")
        request = MetadataRequest([MetadataRequestTopic(NO_ID, name)], True)
        d.ask(f"v{version}: first", request, version)
        d.wait_for(name, 1)

        def anonymous(shown: Any) -> Any:
            for row in shown["topics"]:
                row.pop("topic_id", None)
            return shown

        d.ask(f"v{version}: then", request, version, view=anonymous)
    wrong = [MetadataRequestTopic(NO_ID, "a/b"), MetadataRequestTopic(NO_ID, d.name("born99"))]
    d.ask("a good and a bad name", MetadataRequest(wrong, True), 12, view=in_any_order("topics"))
    answer = d.peer.exchange(CreateTopicsRequest([create(d.name("born99"))], 5000, True), 7)
    assert isinstance(answer, CreateTopicsResponse)
