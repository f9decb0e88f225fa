"""What tools decide before, and after, they talk to a broker."""

from __future__ import annotations

import argparse

import pytest

from barnabas.cli import kafka_configs, kafka_run_class, kafka_topics
from barnabas.cli.barnabas import NOUNS
from barnabas.cli.barnabas import main as barnabas_main
from barnabas.cli.barnabas.common import show
from barnabas.cli.kafka_broker_api_versions import versions_text
from barnabas.cli.kafka_delete_records import parse_offsets
from barnabas.cli.kafka_get_offsets import parse_rule, parse_time
from barnabas.cli.parts.configs_options import PARSER as CONFIGS_PARSER
from barnabas.cli.parts.configs_options import entity_of
from barnabas.cli.parts.configs_quotas import java_double
from barnabas.cli.parts.topics_describe import Shown, replication_factor, topic_lines
from barnabas.cli.support.connecting import matching
from barnabas.cli.support.failures import ToolError, java_name, sentence
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from barnabas.protocol.messages.describe_configs import DescribeConfigsResourceResult
from barnabas.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from barnabas.protocol.messages.list_partition_reassignments import OngoingPartitionReassignment
from barnabas.wire import DeadlineError, SettingsError

PARTITIONS = [
    DescribeTopicPartitionsResponsePartition(0, 0, 1, 0, [1, 2], [1, 2], [], []),
    DescribeTopicPartitionsResponsePartition(0, 1, 2, 0, [2, 1], [2]),
    DescribeTopicPartitionsResponsePartition(5, 2, -1, 0, [3], []),
    DescribeTopicPartitionsResponsePartition(0, 3, 1, 0, [1, 2, 3], [1, 2, 3]),
]
TOPIC = DescribeTopicPartitionsResponseTopic(0, "t", b"\x01" * 16, partitions=PARTITIONS)
MIN_ISR = DescribeConfigsResourceResult("min.insync.replicas", "2", config_source=1)


def _described(**flags: bool) -> list[str]:
    names = ("under_replicated", "unavailable", "under_min_isr", "at_min_isr", "only_overrides")
    shown = Shown(**{name: flags.get(name, False) for name in names})
    return topic_lines(TOPIC, [MIN_ISR], shown, {1, 2}, {})


def test_a_topic_is_described_line_by_line() -> None:
    assert _described() == [
        "Topic: t\tTopicId: AQEBAQEBAQEBAQEBAQEBAQ\tPartitionCount: 4\tReplicationFactor: 2"
        "\tConfigs: min.insync.replicas=2",
        "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2\tElr: \tLastKnownElr: ",
        "\tTopic: t\tPartition: 1\tLeader: 2\tReplicas: 2,1\tIsr: 2\tElr: N/A\tLastKnownElr: N/A",
        "\tTopic: t\tPartition: 2\tLeader: none\tReplicas: 3\tIsr: \tElr: N/A\tLastKnownElr: N/A",
        "\tTopic: t\tPartition: 3\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3\tElr: N/A\tLastKnownElr: N/A",
    ]


@pytest.mark.parametrize(
    ("flag", "partitions"),
    [("under_replicated", [1, 2]), ("unavailable", [2]), ("under_min_isr", [1, 2]), ("at_min_isr", [0])],
)
def test_reports_show_only_the_partitions_in_trouble(flag: str, partitions: list[int]) -> None:
    assert [int(line.split("Partition: ")[1][0]) for line in _described(**{flag: True})] == partitions


def test_replicas_that_are_only_being_added_do_not_count() -> None:
    partition = DescribeTopicPartitionsResponsePartition(replica_nodes=[1, 2, 3])
    assert replication_factor(partition, OngoingPartitionReassignment(0, [1, 2, 3], [3], [])) == 2
    assert replication_factor(partition, None) == 3


def test_topic_patterns_are_whole_names_with_commas_for_or() -> None:
    names = ["a", "ab", "b.c", "__consumer_offsets"]
    assert matching(names, "a", False) == ["a"]
    assert matching(names, "a.*, b\\.c", False) == ["a", "ab", "b.c"]
    assert matching(names, "'a'", False) == ["a"]
    assert matching(names, None, True) == ["a", "ab", "b.c"]
    with pytest.raises(ToolError, match="is an invalid regex"):
        matching(names, "(", False)


def test_assignments_are_read_and_checked() -> None:
    assert kafka_topics.parse_assignment("0:1, 1:2") == {0: [0, 1], 1: [1, 2]}
    assert kafka_topics.parse_assignment(None) == {}
    for text, complaint in {
        "1:1": "duplicate entries: 1",
        "0:1,2": "Partition 1 has different replication factor",
        "x": 'For input string: "x"',
    }.items():
        with pytest.raises(ToolError, match=complaint):
            kafka_topics.parse_assignment(text)


@pytest.mark.parametrize("pair", ["a", "a=", "=b=c", "a=b=c"])
def test_topic_settings_are_name_and_value(pair: str) -> None:
    with pytest.raises(ToolError, match="must be in the format"):
        kafka_topics.parse_configs([pair])


def test_square_brackets_group_values_with_commas() -> None:
    options = CONFIGS_PARSER.parse(["--add-config", "a=1,b=[x,y=z], c = 3"])
    assert kafka_configs.parse_added(options) == {"a": "1", "b": "x,y=z", "c": "3"}


def test_entities_are_named_in_the_order_they_were_typed() -> None:
    words = ["--entity-type", "users", "--entity-default", "--entity-type", "clients", "--entity-name", "c"]
    entity = entity_of(CONFIGS_PARSER.parse(words))
    assert (entity.types, entity.names) == (["users", "clients"], ["", "c"])
    short = entity_of(CONFIGS_PARSER.parse(["--broker-defaults"]))
    assert (short.types, short.names) == (["brokers"], [""])


@pytest.mark.parametrize(
    ("number", "text"),
    [(1024.0, "1024.0"), (0.0, "0.0"), (1e7, "1.0E7"), (1.5e9, "1.5E9"), (0.0001, "1.0E-4")],
)
def test_numbers_look_as_in_java(number: float, text: str) -> None:
    assert java_double(number) == text


def test_partition_rules_are_numbers_or_ranges_without_their_end() -> None:
    def chosen(rule: str) -> list[int]:
        return [index for index in range(6) if parse_rule(rule)(TopicPartition("t", index))]

    assert chosen("t:3") == [3]
    assert chosen("t:1-3") == [1, 2]
    assert chosen("t:4-") == [4, 5]
    assert chosen(":-2") == [0, 1]
    assert chosen("t") == list(range(6))
    assert chosen("other") == []
    with pytest.raises(ToolError, match="Invalid rule specification"):
        parse_rule("t:x")


def test_times_have_names_and_numbers() -> None:
    assert [parse_time(text) for text in ("latest", "-2", "max-timestamp", "1700000000000")] == [
        -1,
        -2,
        -3,
        1700000000000,
    ]
    with pytest.raises(ToolError, match="Malformed time argument soon"):
        parse_time("soon")


def test_api_versions_show_what_is_usable_unknown_and_missing() -> None:
    lines = versions_text(
        ApiVersionsResponse(
            api_keys=[
                ApiVersion(3, 0, 99),
                ApiVersion(18, 2, 2),
                ApiVersion(1, 90, 91),
                ApiVersion(9999, 0, 1),
            ]
        )
    ).splitlines()
    assert "\tMetadata(3): 0 to 99 [usable: 13]," in lines
    assert "\tApiVersions(18): 2 [usable: 2]," in lines
    assert "\tFetch(1): 90 to 91 [usable: NONE]," in lines
    assert "\tProduce(0): UNSUPPORTED," in lines
    assert lines[-2:] == ["\tUNKNOWN(9999): 0 to 1", ")"]


def test_offsets_to_delete_to_are_read_and_checked() -> None:
    good = '{"partitions": [{"topic": "t", "partition": 1, "offset": -1}]}'
    assert parse_offsets(good) == {TopicPartition("t", 1): -1}
    for text, complaint in {
        "[]": r"Expected JSON object, received \[\]",
        "{}": "Missing partitions field",
        "{": "not a valid JSON",
        '{"partitions": [], "version": 3}': "Not supported version field value 3",
        '{"partitions": [{"topic": "t"}]}': "No such field exists: `partition`",
        '{"partitions": [{"topic": "t", "partition": "x", "offset": 1}]}': "Expected `Integer` value",
        '{"partitions": [{"topic": "t", "partition": 1, "offset": 1.5}]}': "Expected `Long` value",
        '{"partitions": [3]}': "Expected JSON object, received 3",
    }.items():
        with pytest.raises(ToolError, match=complaint):
            parse_offsets(text)


def test_errors_have_the_names_of_javas_exceptions() -> None:
    package = "org.apache.kafka.common.errors."
    assert java_name(ApiError(ErrorCode.TOPIC_ALREADY_EXISTS)) == package + "TopicExistsException"
    assert java_name(ApiError(ErrorCode.NOT_CONTROLLER)) == package + "NotControllerException"
    assert java_name(DeadlineError("x")) == package + "TimeoutException"
    assert sentence(DeadlineError("x"), "listTopics") == (
        "Timed out waiting for a node assignment. Call: listTopics"
    )
    assert sentence(SettingsError("bad"), "x").splitlines() == [
        "Failed to create new KafkaAdminClient",
        "bad",
    ]


def test_a_class_typed_wrong_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert kafka_run_class.main(["-daemon", "-name", "x", "kafka.tools.GetOfsetShell"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "Error: Could not find or load main class kafka.tools.GetOfsetShell",
        "did you mean org.apache.kafka.tools.GetOffsetShell?",
    ]


def test_a_class_runs_its_tool_with_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert kafka_run_class.main(["kafka.admin.TopicCommand", "--list"]) == 1
    assert capsys.readouterr().err == "--bootstrap-server must be specified\n"


def test_a_noun_typed_wrong_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert barnabas_main(["topcis"]) == 2
    assert "did you mean: barnabas topics?" in capsys.readouterr().err


def test_the_overview_names_every_noun(capsys: pytest.CaptureFixture[str]) -> None:
    assert barnabas_main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"barnabas {noun} " in shown for noun in NOUNS)


def test_an_empty_table_is_a_sentence_and_an_empty_list_stays_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    show(argparse.Namespace(json=False), ("a",), [], "No rows here.")
    show(argparse.Namespace(json=True), ("a",), [], "No rows here.")
    assert capsys.readouterr().out == "No rows here.\n[]\n"
