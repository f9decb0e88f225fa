"""What kafka-reassign-partitions and `barnabas cluster balance` work out before they ask a broker."""

from __future__ import annotations

import argparse
import json

import pytest

from barnabas.cli.barnabas.cluster.balance import amount
from barnabas.cli.parts import reassign_log_dirs as log_dirs
from barnabas.cli.parts import reassign_throttles as throttles
from barnabas.cli.parts.balance_reading import Reading
from barnabas.cli.parts.reassign_json import Plan, check_executable, plan_text, read_plan, read_topics
from barnabas.cli.parts.reassign_options import parse
from barnabas.cli.parts.reassign_throttles import PartitionMove
from barnabas.cli.support.failures import ToolError
from barnabas.cli.support.options import UsageError
from barnabas.controller.balancing import Placed, Situation
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.list_partition_reassignments import OngoingPartitionReassignment
from barnabas.wire.admin.reassignments import Replica, ReplicaPlace

HERE = TopicPartition("t", 0)
THERE = TopicPartition("t", 1)


def test_a_plan_that_is_printed_can_be_read_again() -> None:
    targets = {THERE: (2, 1), HERE: (1,)}
    text = plan_text(targets, {Replica("t", 0, 1): "/data"})
    plan = read_plan(text)
    assert plan.targets == targets
    assert plan.log_dirs == {Replica("t", 0, 1): "/data"}
    assert [row["partition"] for row in json.loads(text)["partitions"]] == [0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "Expected JSON object, received []"),
        ('{"partitions":{}}', "Expected JSON array, received {}"),
        ('{"partitions":[{"topic":1,"partition":0,"replicas":[]}]}', "Expected `String` value, received 1"),
        (
            '{"partitions":[{"topic":"t","partition":true,"replicas":[]}]}',
            "Expected `Integer` value, received true",
        ),
        ('{"version":7}', "Not supported version field value 7"),
        ("[" * 100_000, "The input string is not a valid JSON"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(text: str, message: str) -> None:
    with pytest.raises(ToolError) as refused:
        read_plan(text)
    assert str(refused.value).startswith(message)


def test_topics_to_move_may_be_none() -> None:
    assert read_topics("{}") == []
    assert read_topics('{"topics":[{"topic":"a"},{"topic":"b"}],"version":1}') == ["a", "b"]


def test_what_may_be_verified_may_not_all_be_executed() -> None:
    for rows in ([], [(HERE, ())], [(HERE, (1,)), (HERE, (2,))], [(HERE, (1, 1))]):
        with pytest.raises(ToolError):
            check_executable(Plan(rows))
    check_executable(Plan([(HERE, (1,)), (THERE, (1,))]))


def test_options_of_another_action_are_refused() -> None:
    bootstrap = ("--bootstrap-server", "localhost:9092")
    assert parse([*bootstrap, "--list"])[0] == "list"
    with pytest.raises(UsageError, match=r'Option "\[throttle\]" can\'t be used with action "\[list\]"'):
        parse([*bootstrap, "--list", "--throttle", "1"])
    with pytest.raises(UsageError, match="exactly one action"):
        parse([*bootstrap, "--list", "--cancel"])
    with pytest.raises(UsageError, match="either --bootstrap-server or"):
        parse(["--list", "--bootstrap-server"])


def test_throttles_name_who_sends_and_who_receives() -> None:
    moves = throttles.proposed_moves({}, {HERE: (2, 3), THERE: (1,)}, {HERE: (1, 2), THERE: (1, 2)})
    assert throttles.throttled_replicas(moves) == {"t": ("0:1,0:2,1:1,1:2", "0:3")}
    assert throttles.brokers_of(moves) == {1, 2, 3}


def test_what_moves_already_sends_from_where_it_began() -> None:
    ongoing = {HERE: OngoingPartitionReassignment(0, [4, 1], [4], [1]), THERE: _row(1, [5, 2], [5])}
    moves = throttles.proposed_moves(ongoing, {HERE: (3,)}, {HERE: (4, 1)})
    assert moves == {
        HERE: PartitionMove(frozenset({1}), frozenset({3})),
        THERE: PartitionMove(frozenset({2}), frozenset({5})),
    }


def _row(index: int, replicas: list[int], adding: list[int]) -> OngoingPartitionReassignment:
    return OngoingPartitionReassignment(index, replicas, adding, [])


@pytest.mark.parametrize(
    ("place", "line", "done"),
    [
        (ReplicaPlace("/new"), "Reassignment of replica t-0-1 completed successfully.", True),
        (
            ReplicaPlace("/old"),
            "Partition t-0 on broker 1 is not being moved from log dir /old to /new.",
            True,
        ),
        (ReplicaPlace("/old", "/new"), "Reassignment of replica t-0-1 is still in progress.", False),
        (
            ReplicaPlace("/old", "/third"),
            "Partition t-0 on broker 1 is being moved to log dir /third instead of /new.",
            False,
        ),
        (
            ReplicaPlace(),
            "Partition t-0 is not found in any live log dir on broker 1. There is likely an offline log "
            "directory on the broker.",
            False,
        ),
    ],
)
def test_moves_between_log_directories_are_told_in_kafkas_words(
    place: ReplicaPlace, line: str, done: bool
) -> None:
    replica = Replica("t", 0, 1)
    assert log_dirs.state_lines({replica: "/new"}, {replica: place}) == [line]
    assert log_dirs.are_done({replica: place}) is done


def test_amounts_are_bytes_with_or_without_a_unit() -> None:
    read = [amount(text) for text in ("0", "2048", "50MB", "1.5 kb", "2G")]
    assert read == [0, 2048, 50_000_000, 1500, 2_000_000_000]
    for text in ("", "fast", "-1", "5TB"):
        with pytest.raises(argparse.ArgumentTypeError):
            amount(text)


def test_a_reading_knows_who_leads_and_who_should() -> None:
    situation = Situation({1: None, 2: None}, {HERE: Placed(HERE, (1, 2)), THERE: Placed(THERE, (1, 2))})
    reading = Reading(situation, {HERE: 2, THERE: 1}, 0)
    assert reading.misled == [HERE]
    assert reading.as_led.partitions[HERE].replicas == (2, 1)
    assert reading.as_led.partitions[THERE].replicas == (1, 2)
