"""Every option means what it means to the connector that Spark brings along; a bad one is one sentence."""

from __future__ import annotations

import pickle

import pytest

from barnabas.model.ids import TopicPartition
from barnabas.spark.errors import PipelineError
from barnabas.spark.options import Options
from barnabas.spark.source.offsets import from_json, to_json
from barnabas.spark.source.places import (
    EARLIEST,
    LATEST,
    AtOffsets,
    AtTimestamps,
    Everywhere,
    refuse_incomplete,
)
from barnabas.spark.source.selection import Assign, Matching, Subscribe
from barnabas.spark.source.settings import SourceSettings, check_options, source_settings

A, B = TopicPartition("t", 0), TopicPartition("t", 1)


def settings(streaming: bool = False, /, **given: str) -> SourceSettings:
    named = {name.replace("__", "."): value for name, value in given.items()}
    options = {"kafka.bootstrap.servers": "localhost:9092", "subscribe": "t", **named}
    return source_settings(Options({name: text for name, text in options.items() if text}), streaming)


def test_a_stream_starts_at_the_latest_and_a_batch_reads_everything() -> None:
    assert settings(True).start == Everywhere(LATEST)
    assert settings().start == Everywhere(EARLIEST)
    assert settings().end == Everywhere(LATEST)


def test_data_loss_fails_unless_told_otherwise() -> None:
    assert settings().fail_on_data_loss
    assert not settings(failOnDataLoss="False").fail_on_data_loss


def test_topics_are_separated_by_commas() -> None:
    assert settings(subscribe=" a, b ,,").selection == Subscribe(frozenset({"a", "b"}))


def test_assign_takes_partitions_one_by_one() -> None:
    assert settings(subscribe="", assign='{"t":[0,1]}').selection == Assign(frozenset({A, B}))


def test_a_pattern_matches_whole_names() -> None:
    selection = settings(subscribe="", subscribePattern="orders-.*").selection
    assert isinstance(selection, Matching)
    assert selection.matches("orders-1")
    assert not selection.matches("old-orders-1")


def test_a_timestamp_goes_before_timestamps_and_they_before_offsets() -> None:
    both = settings(startingOffsets="earliest", startingOffsetsByTimestamp='{"t":{"0":5}}')
    assert both.start == AtTimestamps({A: 5}, "startingOffsetsByTimestamp", False)
    all_three = settings(startingTimestamp="7", startingOffsetsByTimestamp='{"t":{"0":5}}')
    assert all_three.start == AtTimestamps({}, "startingTimestamp", False, 7)


def test_a_time_without_records_may_stand_for_the_latest() -> None:
    start = settings(startingTimestamp="7", startingOffsetsByTimestampStrategy="latest").start
    assert isinstance(start, AtTimestamps)
    assert start.or_latest


def test_offsets_are_json() -> None:
    assert settings(True, startingOffsets='{"t":{"0":23,"1":-1}}').start == AtOffsets(
        {A: 23, B: -1}, "startingOffsets"
    )


def test_times_have_units() -> None:
    assert settings(maxTriggerDelay="90s").max_trigger_delay_ms == 90_000
    assert settings().max_trigger_delay_ms == 15 * 60_000


def test_a_group_is_named_in_two_ways_and_none_is_made_up() -> None:
    assert settings(kafka__group__id="a", groupId="b").group_id == "a"
    assert settings(groupId="b").group_id == "b"
    assert settings(groupIdPrefix="p").group_id is None


def test_settings_travel_to_tasks() -> None:
    sent = settings(subscribe="", subscribePattern="a.*")
    assert pickle.loads(pickle.dumps(sent)) == sent


def test_offsets_have_the_json_of_sparks_own_checkpoints() -> None:
    offsets = {TopicPartition("b", 1): 7, TopicPartition("a", 0): 12, TopicPartition("b", 0): 0}
    written = to_json(offsets)
    assert written == {"a": {"0": 12}, "b": {"0": 0, "1": 7}}
    assert from_json(written) == offsets


BAD = [
    ({"subscribe": ""}, "One of the options subscribe, subscribePattern and assign must say what to read"),
    ({"assign": "{}"}, "Only one of .*, not subscribe and assign"),
    ({"kafka__bootstrap__servers": ""}, "Option 'kafka.bootstrap.servers' must be set"),
    ({"subscribe": " , "}, "names no topic"),
    ({"subscribe": "a b"}, "a topic that cannot exist"),
    ({"subscribe": "", "assign": "x"}, "Option assign expects JSON"),
    ({"subscribe": "", "assign": '{"t":["0"]}'}, "Option assign expects JSON"),
    ({"subscribe": "", "assign": "{}"}, "names no partition"),
    ({"subscribe": "", "subscribePattern": " "}, "Option subscribePattern is empty"),
    ({"subscribe": "", "subscribePattern": "*("}, "not a regular expression"),
    ({"startingOffsets": "nope"}, "must be earliest, latest or JSON"),
    ({"startingOffsets": '{"t":{"0":"1"}}'}, "expects JSON"),
    ({"startingOffsets": '{"t":{"0":-3}}'}, "offset of at least 0"),
    ({"startingOffsets": "{"}, "expects JSON"),
    ({"startingTimestamp": "soon"}, "startingTimestamp must be a whole number"),
    ({"startingOffsetsByTimestamp": '{"t":{"0":-1}}'}, "milliseconds since 1970"),
    ({"startingOffsetsByTimestampStrategy": "guess"}, "must be error or latest"),
    ({"failOnDataLoss": "x"}, "failOnDataLoss must be true or false"),
    ({"minPartitions": "0"}, "minPartitions must be a whole number of at least 1"),
    ({"maxRecordsPerPartition": "x"}, "maxRecordsPerPartition must be a whole number"),
    ({"maxOffsetsPerTrigger": "0"}, "maxOffsetsPerTrigger must be a whole number of at least 1"),
    ({"minOffsetsPerTrigger": "9", "maxOffsetsPerTrigger": "8"}, "must not be greater"),
    ({"maxTriggerDelay": "soon"}, "must be a time such as 90s"),
    ({"kafka__isolation__level": "x"}, "must be read_committed or read_uncommitted"),
    ({"kafka__auto__offset__reset": "latest"}, "'auto.offset.reset' is not supported: .*startingOffsets"),
    ({"kafka__key__deserializer": "x"}, "'key.deserializer' is not supported"),
    ({"kafka__value__deserializer": "x"}, "'value.deserializer' is not supported"),
    ({"kafka__enable__auto__commit": "true"}, "'enable.auto.commit' is not supported"),
    ({"kafka__interceptor__classes": "x"}, "'interceptor.classes' is not supported"),
]


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize(("given", "sentence"), BAD)
def test_a_bad_option_is_one_sentence(given: dict[str, str], sentence: str, streaming: bool) -> None:
    with pytest.raises(PipelineError, match=sentence):
        settings(streaming, **given)


@pytest.mark.parametrize("option", ["endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp"])
def test_a_stream_has_no_end(option: str) -> None:
    with pytest.raises(PipelineError, match=f"{option} is not valid in a streaming query"):
        settings(True, **{option: "latest"})


@pytest.mark.parametrize(
    "given",
    [
        {"startingOffsets": "latest"},
        {"startingOffsets": '{"t":{"0":-1}}'},
        {"endingOffsets": "earliest"},
        {"endingOffsets": '{"t":{"0":-2}}'},
    ],
)
def test_a_batch_that_would_read_nothing_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(PipelineError, match="A batch query cannot"):
        settings(False, **given)


def test_loading_refuses_what_neither_a_stream_nor_a_batch_could_use() -> None:
    servers = {"kafka.bootstrap.servers": "localhost:9092", "subscribe": "t"}
    check_options(Options({**servers, "startingOffsets": "latest"}))
    check_options(Options({**servers, "endingOffsets": "latest"}))
    with pytest.raises(PipelineError, match="minPartitions"):
        check_options(Options({**servers, "endingOffsets": "latest", "minPartitions": "none"}))


def test_offsets_must_name_every_partition_and_no_other() -> None:
    with pytest.raises(PipelineError, match=r"must name every partition .* t-1 missing"):
        refuse_incomplete(AtOffsets({A: 1}, "startingOffsets"), {A, B})
    with pytest.raises(PipelineError, match="names partitions that are not read: t-1"):
        refuse_incomplete(AtTimestamps({A: 1, B: 1}, "startingOffsetsByTimestamp", False), {A})


def test_a_misspelt_option_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    servers = {"kafka.bootstrap.servers": "localhost:9092", "subscribe": "t"}
    check_options(Options({**servers, "startingOffset": "latest", "checkpointLocation": "x"}))
    (warning,) = capsys.readouterr().err.splitlines()
    assert warning.startswith("barnabas: Option startingoffset is not known")
    assert "startingOffsets" in warning
