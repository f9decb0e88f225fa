"""Records of the coordinators' topics are shown as Kafka's tool shows them."""

from __future__ import annotations

from barnabas.cli.parts.dump_log_internal import parser_of
from barnabas.protocol import codec
from barnabas.protocol.internal import groups, transactions
from barnabas.protocol.internal.entries import encode_entry
from barnabas.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from barnabas.protocol.schema import Message
from barnabas.records.walk import Record

OFFSETS, TRANSACTIONS = "__consumer_offsets", "__transaction_state"


def shown(topic: str, key: bytes | None, value: bytes | None) -> tuple[str | None, str | None]:
    return parser_of(topic)(Record(3, 1000, key, value, ()))


def entry(topic: str, key: Message, value: Message | None) -> tuple[str | None, str | None]:
    return shown(topic, *encode_entry(key, value))


def test_a_committed_offset_is_json() -> None:
    key = groups.OffsetCommitKey("g", "t", 3)
    assert entry(OFFSETS, key, groups.OffsetCommitValue(42, 7, "müßig", 1000)) == (
        '{"type":"1","data":{"group":"g","topic":"t","partition":3}}',
        '{"version":"4","data":{"offset":42,"leaderEpoch":7,"metadata":"müßig","commitTimestamp":1000}}',
    )
    assert entry(OFFSETS, key, None)[1] == "<DELETE>"


def test_what_a_consumer_told_the_group_is_opened_and_what_cannot_be_stays_closed() -> None:
    subscription = b"\0\0" + codec.encode(ConsumerProtocolSubscription(["t"]), 0)
    member = groups.MemberMetadata("m", None, "c", "/h", 1, 2, subscription, b"mine")
    value = groups.GroupMetadataValue("consumer", 1, "range", "m", 5, [member])
    _, payload = entry(OFFSETS, groups.GroupMetadataKey("g"), value)
    assert payload is not None
    assert '"subscription":{"topics":["t"],"userData":null},"assignment":"bWluZQ=="' in payload


def test_a_group_of_another_protocol_keeps_its_bytes() -> None:
    member = groups.MemberMetadata("m", subscription=b"\1\2", assignment=b"")
    value = groups.GroupMetadataValue("connect", 1, "sessioned", "m", 5, [member])
    _, payload = entry(OFFSETS, groups.GroupMetadataKey("g"), value)
    assert payload is not None
    assert payload.endswith('"subscription":"AQI=","assignment":""}]}}')


def test_tagged_fields_are_shown_only_where_they_say_something() -> None:
    plain = transactions.TransactionLogValue(9, 9, -1, 0, 60_000, 0, None, 10, -1)
    assert entry(TRANSACTIONS, transactions.TransactionLogKey("tx"), plain) == (
        '{"type":"0","data":{"transactionalId":"tx"}}',
        '{"version":"1","data":{"producerId":9,"previousProducerId":9,"producerEpoch":0,'
        '"transactionTimeoutMs":60000,"transactionStatus":0,"transactionPartitions":null,'
        '"transactionLastUpdateTimestampMs":10,"transactionStartTimestampMs":-1}}',
    )
    member = groups.ConsumerGroupMemberMetadataValue(client_id="c")
    _, payload = entry(OFFSETS, groups.ConsumerGroupMemberMetadataKey("g", "m"), member)
    assert payload is not None
    assert payload.endswith('"classicMemberMetadata":null}}')


def test_an_id_is_shown_as_kafka_writes_ids() -> None:
    value = groups.ConsumerGroupTargetAssignmentMemberValue([groups.TargetPartitions(b"\1" * 16, [0])])
    _, payload = entry(OFFSETS, groups.ConsumerGroupTargetAssignmentMemberKey("g", "m"), value)
    assert payload is not None
    assert '"topicId":"AQEBAQEBAQEBAQEBAQEBAQ"' in payload


def test_what_cannot_be_read_is_said_and_skipped() -> None:
    assert shown(OFFSETS, b"\0\x63x", b"") == ("Unknown record type 99 at offset 3, skipping.", None)
    key, payload = shown(OFFSETS, b"\0\1\0\5g", b"")
    assert key is not None
    assert key.startswith("Error at offset 3, skipping. ")
    assert payload is None
    key, _ = shown(OFFSETS, None, b"")
    assert key is not None
    assert "message had a missing key" in key
