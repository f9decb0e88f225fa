"""Records are written as Kafka's message formatters write them."""

from __future__ import annotations

import struct

import pytest

from barnabas.cli.parts.console_consumer_formatters import FormatterError, OutputRecord, formatter_named
from barnabas.protocol.internal import groups
from barnabas.protocol.internal.entries import encode_entry
from barnabas.protocol.schema import Message

PACKAGE = "org.apache.kafka.tools.consumer."
RECORD = OutputRecord(3, 7, "CreateTime:12", b"k", b"v", [("h", b"1"), ("n", None)])
BARE = OutputRecord(0, 0, None, None, None, [])
EVERYTHING = {
    f"print.{column}": "true"
    for column in ("timestamp", "partition", "offset", "delivery", "epoch", "headers", "key", "value")
}


def written(
    record: OutputRecord, properties: dict[str, str], name: str = PACKAGE + "DefaultMessageFormatter"
) -> bytes:
    return formatter_named(name, properties, lambda _: None).format(record)


def test_only_the_value_is_shown_by_default() -> None:
    assert written(RECORD, {}) == b"v\n"
    assert written(BARE, {}) == b"null\n"


def test_columns_come_in_kafkas_order() -> None:
    assert written(RECORD, EVERYTHING | {"key.separator": "|"}) == (
        b"CreateTime:12|Partition:3|Offset:7|Delivery:NOT_PRESENT|Epoch:NOT_PRESENT|h:1,n:null|k|v\n"
    )


def test_what_is_missing_has_a_name() -> None:
    assert written(BARE, EVERYTHING | {"null.literal": "-"}) == (
        b"NO_TIMESTAMP\tPartition:0\tOffset:0\tDelivery:NOT_PRESENT\tEpoch:NOT_PRESENT\tNO_HEADERS\t-\t-\n"
    )


def test_the_last_column_ends_the_line_whichever_it_is() -> None:
    assert written(RECORD, {"print.key": "true", "print.value": "false"}) == b"k\n"
    assert written(RECORD, {"print.value": "false"}) == b""
    assert written(RECORD, {"line.separator": "<br>"}) == b"v<br>"


def test_values_that_are_not_text_are_written_as_they_are() -> None:
    assert written(OutputRecord(0, 0, None, None, b"\xff\x00", []), {}) == b"\xff\x00\n"


@pytest.mark.parametrize(
    ("name", "data", "shown"),
    [
        ("LongDeserializer", struct.pack(">q", -5), b"-5\n"),
        ("IntegerDeserializer", struct.pack(">i", 7), b"7\n"),
        ("DoubleDeserializer", struct.pack(">d", 0.5), b"0.5\n"),
        ("BooleanDeserializer", b"\x01", b"true\n"),
        ("StringDeserializer", "ä".encode(), "ä\n".encode()),
        ("ByteArrayDeserializer", b"x", b"x\n"),
    ],
)
def test_kafkas_deserialisers_are_known_by_name(name: str, data: bytes, shown: bytes) -> None:
    properties = {"value.deserializer": f"org.apache.kafka.common.serialization.{name}"}
    assert written(OutputRecord(0, 0, None, None, data, []), properties) == shown


def test_a_value_of_the_wrong_size_is_an_error() -> None:
    with pytest.raises(FormatterError, match=r"^Size of data received by LongDeserializer is not 8$"):
        written(RECORD, {"value.deserializer": "LongDeserializer"})


def test_the_logging_formatter_tells_the_log_too() -> None:
    lines: list[str] = []
    formatter = formatter_named(PACKAGE + "LoggingMessageFormatter", {}, lines.append)
    assert formatter.format(RECORD) == b"v\n"
    assert formatter.format(BARE) == b"null\n"
    assert lines == ["CreateTime:12, key:k, value:v", "key:null value:null"]


def test_the_noop_formatter_writes_nothing_and_unknown_ones_are_refused() -> None:
    assert written(RECORD, {}, PACKAGE + "NoOpMessageFormatter") == b""
    with pytest.raises(FormatterError, match=r"^com\.example\.Mine$"):
        written(RECORD, {}, "com.example.Mine")


def test_the_coordinators_topics_have_formatters_of_their_own() -> None:
    def shown(name: str, key: Message, value: Message | None) -> bytes:
        formatter = formatter_named(name, {}, lambda _: None)
        return formatter.format(OutputRecord(0, 1, None, *encode_entry(key, value), []))

    commit = groups.OffsetCommitKey("g", "t", 3)
    offsets = "org.apache.kafka.tools.consumer.OffsetsMessageFormatter"
    assert shown(offsets, commit, groups.OffsetCommitValue(42, 7, "", 1000)) == (
        b'{"key":{"type":1,"data":{"group":"g","topic":"t","partition":3}},"value":{"version":4,"data":'
        b'{"offset":42,"leaderEpoch":7,"metadata":"","commitTimestamp":1000}}}'
    )
    assert shown(offsets, commit, None).endswith(b',"value":null}')
    assert shown(offsets, groups.GroupMetadataKey("g"), None) == b""
    old_name = "kafka.coordinator.group.GroupMetadataManager$GroupMetadataMessageFormatter"
    assert shown(old_name, groups.GroupMetadataKey("g"), None).startswith(b'{"key":{"type":2')
    assert shown(old_name, commit, None) == b""


def test_a_record_that_is_not_the_coordinators_is_refused_or_passed_over() -> None:
    formatter = formatter_named("TransactionLogMessageFormatter", {}, lambda _: None)
    assert formatter.format(OutputRecord(0, 1, None, None, b"x", [])) == b""
    assert formatter.format(OutputRecord(0, 1, None, b"\0", b"x", [])) == b""
    with pytest.raises(FormatterError):
        formatter.format(OutputRecord(0, 1, None, b"\0\0\0\5", b"x", []))
