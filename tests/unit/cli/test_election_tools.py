"""What kafka-leader-election and kafka-cluster read and print."""

from __future__ import annotations

import pytest

from barnabas.cli import kafka_cluster
from barnabas.cli.kafka_cluster import endpoint_lines
from barnabas.cli.kafka_leader_election import parse_partitions, result_lines
from barnabas.cli.support.failures import ToolError
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.describe_cluster import DescribeClusterBroker


def test_elections_are_told_by_what_became_of_them() -> None:
    results = {
        TopicPartition("t", 10): ApiError(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE),
        TopicPartition("t", 2): None,
        TopicPartition("a", 0): None,
        TopicPartition("t", 3): ApiError(ErrorCode.ELECTION_NOT_NEEDED),
    }
    assert result_lines("PREFERRED", results) == [
        "Successfully completed leader election (PREFERRED) for partitions a-0, t-2",
        "Valid replica already elected for partitions t-3",
        "Error completing leader election (PREFERRED) for partition: t-10: "
        "org.apache.kafka.common.errors.PreferredLeaderNotAvailableException: "
        "The preferred leader was not available.",
    ]


def test_partitions_are_read_from_a_file() -> None:
    text = '{"partitions": [{"topic": "a", "partition": 1}, {"topic": "b", "partition": 0}]}'
    assert parse_partitions(text) == [TopicPartition("a", 1), TopicPartition("b", 0)]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "data is empty"),
        ("[]", r"JsonMappingException: Expected JSON object, received \[\]"),
        ("{}", 'missing "partitions" field'),
        ('{"partitions": 1}', "Expected JSON array, received 1"),
        ('{"partitions": [1]}', "Expected JSON object, received 1"),
        ('{"partitions": [{"partition": 0}]}', "No such field exists: `topic`"),
        ('{"partitions": [{"topic": "a", "partition": "x"}]}', 'Expected `Integer` value, received "x"'),
    ],
)
def test_a_file_that_names_no_partitions_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ToolError, match=complaint):
        parse_partitions(text)


def test_endpoints_stand_in_columns_as_wide_as_the_widest() -> None:
    rows = [
        DescribeClusterBroker(1, "one.example", 9092, "rack-one-and-more"),
        DescribeClusterBroker(2, "two", 9093, None, is_fenced=True),
    ]
    assert endpoint_lines(rows) == [
        "ID         HOST        PORT       RACK              STATE      ENDPOINT_TYPE  ",
        "1          one.example 9092       rack-one-and-more unfenced   broker         ",
        "2          two         9093       null              fenced     broker         ",
    ]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "kafka-cluster: error: too few arguments"),
        (["unregister", "-b", "host:1"], "kafka-cluster: error: argument --id/-i is required"),
        (
            ["cluster-id"],
            "kafka-cluster: error: one of the arguments --bootstrap-server/-b --bootstrap-controller/-C is "
            "required",
        ),
        (
            ["unregister", "-b", "host:1", "--id", "x"],
            "kafka-cluster: error: argument --id/-i: could not convert 'x' to Integer "
            '(For input string: "x")',
        ),
    ],
)
def test_mistakes_of_kafka_cluster_are_answered_in_kafkas_words(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        kafka_cluster.main(words)
    assert left.value.code == 1
    assert capsys.readouterr().err.splitlines()[-1] == complaint


def test_brokers_are_no_controllers(capsys: pytest.CaptureFixture[str]) -> None:
    assert kafka_cluster.main(["cluster-id", "--bootstrap-controller", "host:1"]) == 1
    assert "MismatchedEndpointTypeException" in capsys.readouterr().err
