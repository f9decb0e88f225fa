"""Where --reset-offsets would put a group."""

from __future__ import annotations

import pytest

from barnabas.cli.parts.consumer_groups_reset import (
    TopicWord,
    parse_datetime,
    parse_duration,
    parse_topic,
    plans_of_csv,
    shifted,
    within_bounds,
)
from barnabas.cli.support.failures import ToolError
from barnabas.model.ids import TopicPartition

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def test_a_topic_may_name_its_partitions() -> None:
    assert parse_topic("t") == TopicWord("t", None)
    assert parse_topic("t:0,2") == TopicWord("t", (0, 2))


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("t:x", "Invalid partition 'x' specified in topic arg 't:x''"),
        ("t:", "Invalid topic arg 't:', expected topic name and partitions"),
        ("t:0:1", "Invalid topic arg 't:0:1', expected topic name and partitions"),
    ],
)
def test_partitions_that_are_none_are_refused(word: str, problem: str) -> None:
    with pytest.raises(ToolError) as caught:
        parse_topic(word)
    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("1970-01-01T00:00:01.500", 1500),
        ("1970-01-01T00:00:01.5", 1005),
        ("1970-01-01T00:00:00.000Z", 0),
        ("1970-01-01T02:00:00.000+02:00", 0),
        ("1970-01-01T02:00:00.000+0200", 0),
        ("1969-12-31T22:30:00.000-01:30", 0),
        ("2020-02-29T00:00:00.000", 1582934400000),
    ],
)
def test_a_moment_is_read_as_kafka_reads_it(text: str, milliseconds: int) -> None:
    assert parse_datetime(text) == milliseconds


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("yesterday", "Error parsing timestamp. It does not contain a 'T' according to ISO8601 format"),
        ("2020-01-01", "Error parsing timestamp. It does not contain a 'T' according to ISO8601 format"),
        ("2020-01-01T00:00:00", 'Unparseable date: "2020-01-01T00:00:00Z"'),
        ("2021-02-29T00:00:00.000", 'Unparseable date: "2021-02-29T00:00:00.000Z"'),
    ],
)
def test_a_moment_that_is_none_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ToolError) as caught:
        parse_datetime(text)
    assert str(caught.value) == f"java.text.ParseException: {problem}"


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("PT1S", 1000),
        ("P1DT2H3M4.5S", 93_784_500),
        ("pt0.001s", 1),
        ("-PT1M", -60_000),
        ("PT-1.5S", -1500),
        ("P2D", 172_800_000),
    ],
)
def test_a_duration_is_iso_8601(text: str, milliseconds: int) -> None:
    assert parse_duration(text) == milliseconds


@pytest.mark.parametrize("text", ["", "P", "PT", "P1DT", "1h", "PT1H ", "P1M"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ToolError, match="Text cannot be parsed to a Duration"):
        parse_duration(text)


def test_offsets_that_do_not_exist_become_the_nearest_that_do() -> None:
    plan, warnings = within_bounds({T0: 50, T1: -3}, {T0: 0, T1: 2}, {T0: 10, T1: 5})
    assert plan == {T0: 10, T1: 2}
    assert warnings == [
        "New offset (50) is higher than latest offset for topic partition t-0. Value will be set to 10",
        "New offset (-3) is lower than earliest offset for topic partition t-1. Value will be set to 2",
    ]
    assert within_bounds({T0: 10}, {T0: 0}, {T0: 10}) == ({T0: 10}, [])


def test_only_what_was_committed_can_be_shifted() -> None:
    assert shifted([T0], {T0: 5, T1: 7}, -2) == {T0: 3}
    with pytest.raises(ToolError) as caught:
        shifted([T0, T1], {T0: 5}, 1)
    assert (
        str(caught.value)
        == "Cannot shift offset for partition t-1 since there is no current committed offset"
    )


def test_a_file_names_the_group_or_leaves_it_to_the_command_line() -> None:
    assert plans_of_csv("t,0,2\nt,1,99\n", ["g"]) == {"g": {T0: 2, T1: 99}}
    assert plans_of_csv('g,t,0,2\n"h,h",t,1,3', ["g", "other"]) == {"g": {T0: 2}, "h,h": {T1: 3}}
    assert plans_of_csv("g,t,0,2", ["g"]) == {"g": {T0: 2}}


@pytest.mark.parametrize("text", ["", "\n", "g,t,0,2,5", "g,t,zero,2", "g,t,0,2\n\ng,t,1,2", "g,t,0,1e3"])
def test_a_file_that_makes_no_sense_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(ToolError, match=r"line \d of the CSV file"):
        plans_of_csv(text, ["g"])
