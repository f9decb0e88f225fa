"""Records of the internal topics come back as they were written, in Kafka's layout."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.protocol import codec
from barnabas.protocol.codec import MalformedError
from barnabas.protocol.internal import groups, transactions
from barnabas.protocol.internal.entries import decode_entry, encode_entry
from barnabas.protocol.schema import Message

OFFSETS, TRANSACTIONS = "__consumer_offsets", "__transaction_state"

CURRENT = groups.ConsumerGroupCurrentMemberAssignmentValue(
    3, 2, 1, [groups.CurrentPartitions(bytes(range(16)), [0, 2], [3, 3])]
)
MEMBER = groups.ConsumerGroupMemberMetadataValue(
    "i", None, "c", "/127.0.0.1", ["a"], None, 300_000, "uniform",
    groups.ClassicMemberMetadata(45_000, [groups.ClassicProtocol("range", b"x")]),
)  # fmt: skip
PAIRS: list[tuple[str, Message, Message | None]] = [
    (OFFSETS, groups.OffsetCommitKey("g", "t", 3), groups.OffsetCommitValue(42, 7, "m", 1000)),
    (OFFSETS, groups.OffsetCommitKey("g", "t", 3), groups.OffsetCommitValue(42, -1, "m", 1000, 2000)),
    (OFFSETS, groups.OffsetCommitKey("g", "t", 3), None),
    (
        OFFSETS,
        groups.GroupMetadataKey("g"),
        groups.GroupMetadataValue("consumer", 1, "range", "m", 5, [groups.MemberMetadata("m")]),
    ),
    (OFFSETS, groups.ConsumerGroupMetadataKey("g"), groups.ConsumerGroupMetadataValue(2, 99)),
    (OFFSETS, groups.ConsumerGroupMemberMetadataKey("g", "m"), MEMBER),
    (
        OFFSETS,
        groups.ConsumerGroupMemberMetadataKey("g", "m"),
        groups.ConsumerGroupMemberMetadataValue("i"),
    ),
    (OFFSETS, groups.ConsumerGroupCurrentMemberAssignmentKey("g", "m"), CURRENT),
    (
        OFFSETS,
        groups.ConsumerGroupRegularExpressionKey("g", "a.*"),
        groups.ConsumerGroupRegularExpressionValue(["ab"], 12, 1000),
    ),
    (
        TRANSACTIONS,
        transactions.TransactionLogKey("tx"),
        transactions.TransactionLogValue(
            9, 8, -1, 4, 60_000, 1, [transactions.PartitionsSchema("t", [0, 1])], 10, 11, 2
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("topic", "key", "value"), PAIRS)
def test_what_is_written_is_read(topic: str, key: Message, value: Message | None) -> None:
    assert decode_entry(topic, *encode_entry(key, value)) == (key, value)


def test_an_offset_commit_is_laid_out_as_kafka_does() -> None:
    key, value = encode_entry(groups.OffsetCommitKey("g", "t", 3), groups.OffsetCommitValue(42, 7, "m", 1000))
    assert key == b"\0\1" + b"\0\1g" + b"\0\1t" + b"\0\0\0\3"
    assert (
        value == b"\0\4" + (42).to_bytes(8, "big") + b"\0\0\0\7" + b"\2m" + (1000).to_bytes(8, "big") + b"\0"
    )


def test_a_member_of_the_newer_protocol_is_laid_out_as_kafka_does() -> None:
    """Kafka says of every such member that it has no classic metadata; without the tag it would have some."""
    written = bytes.fromhex(
        "0000 00 00 056e657731 0b2f3132372e302e302e31 02 0968782d7468726565 01 000493e0 00 01 00 01 00"
    )
    member = groups.ConsumerGroupMemberMetadataValue(
        None, None, "new1", "/127.0.0.1", ["hx-three"], "", 300_000, None, None
    )
    key = groups.ConsumerGroupMemberMetadataKey("g", "m")
    assert encode_entry(key, member)[1] == written
    assert decode_entry(OFFSETS, encode_entry(key, member)[0], written) == (key, member)


def test_partitions_without_assignment_epochs_make_the_round_trip() -> None:
    value = groups.ConsumerGroupCurrentMemberAssignmentValue(
        3, 2, 1, [groups.CurrentPartitions(bytes(range(16)), [0, 2])]
    )
    key = groups.ConsumerGroupCurrentMemberAssignmentKey("g", "m")
    assert decode_entry(OFFSETS, *encode_entry(key, value)) == (key, value)


def test_a_type_from_the_future_is_left_alone() -> None:
    assert decode_entry(OFFSETS, b"\0\x63anything", b"whatever") is None


@pytest.mark.parametrize(("key", "value"), [(b"", None), (b"\0\1\0\5g", None), (b"\0\2\0\1g", b"\0\x09")])
def test_what_cannot_be_read_is_malformed(key: bytes, value: bytes | None) -> None:
    with pytest.raises(MalformedError):
        decode_entry(OFFSETS, key, value)


@given(
    st.builds(
        groups.OffsetCommitKey, st.text(max_size=300), st.text(max_size=300), st.integers(0, 2**31 - 1)
    ),
    st.builds(
        groups.OffsetCommitValue,
        st.integers(-(2**63), 2**63 - 1),
        st.integers(-(2**31), 2**31 - 1),
        st.text(max_size=300),
        st.integers(0, 2**63 - 1),
        st.just(-1),
        st.binary(min_size=16, max_size=16) | st.just(bytes(16)),
    ),
)
def test_an_offset_is_written_by_hand_as_its_rows_say(
    key: groups.OffsetCommitKey, value: groups.OffsetCommitValue
) -> None:
    written = encode_entry(key, value)
    assert written == (b"\0\1" + codec.encode(key, 0), b"\0\4" + codec.encode(value, 4))


def test_a_member_that_does_not_speak_the_classic_protocol_says_so() -> None:
    """Kafka takes silence for an empty struct, and so for a classic member."""
    key = groups.ConsumerGroupMemberMetadataKey("g", "m")
    _, value = encode_entry(key, groups.ConsumerGroupMemberMetadataValue(subscribed_topic_regex=""))
    assert value is not None
    assert value.endswith(b"\1\0\1\0")
