"""KIP-227, as a consumer sees it."""

from __future__ import annotations

import pytest
from tests.support.chance import SeededRandom

from barnabas.broker.fetch_sessions import FetchSessions
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
)


def sessions(slots: int = 2) -> FetchSessions:
    return FetchSessions(slots, 1000, SeededRandom(7))


def request(session_id: int = 0, epoch: int = 0, partitions: tuple[int, ...] = (0,)) -> FetchRequest:
    topics = [FetchTopic(topic="t", partitions=[FetchPartition(p) for p in partitions])] if partitions else []
    return FetchRequest(session_id=session_id, session_epoch=epoch, topics=topics)


def test_a_full_fetch_opens_a_session_that_increments_continue() -> None:
    cache = sessions()
    session, incremental = cache.begin(request(partitions=(0, 1)), False, False, 0)
    assert session is not None
    assert not incremental
    again, incremental = cache.begin(request(session.id, 1, ()), False, False, 1)
    assert again is session
    assert incremental
    assert [p.partition for _, p in session.entries()] == [0, 1]


def test_forgotten_and_added_partitions_change_the_session() -> None:
    cache = sessions()
    session, _ = cache.begin(request(partitions=(0, 1)), False, False, 0)
    assert session is not None
    change = request(session.id, 1, (2,))
    change.forgotten_topics_data = [ForgottenTopic(topic="t", partitions=[0])]
    cache.begin(change, False, False, 1)
    assert [p.partition for _, p in session.entries()] == [1, 2]


@pytest.mark.parametrize(
    ("session_id", "epoch", "by_id", "code"),
    [
        (12345, 1, False, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (None, 5, False, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (None, 1, True, ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR),
    ],
)
def test_a_wrong_session_is_refused(session_id: int | None, epoch: int, by_id: bool, code: ErrorCode) -> None:
    cache = sessions()
    session, _ = cache.begin(request(), False, False, 0)
    assert session is not None
    with pytest.raises(ApiError) as caught:
        cache.begin(request(session_id or session.id, epoch, ()), by_id, False, 1)
    assert caught.value.code is code


def test_a_full_cache_gives_no_session_and_evicts_only_the_stale() -> None:
    cache = sessions(slots=1)
    first, _ = cache.begin(request(), False, False, 0)
    assert first is not None
    assert cache.begin(request(), False, False, 500)[0] is None
    late, _ = cache.begin(request(), False, False, 2000)
    assert late is not None
    with pytest.raises(ApiError):
        cache.begin(request(first.id, 1, ()), False, False, 2001)


def test_only_news_is_told_and_an_error_makes_the_next_answer_news() -> None:
    cache = sessions()
    session, _ = cache.begin(request(), False, False, 0)
    assert session is not None
    quiet = PartitionData(0, 0, 10, 10, 0, records=b"")
    assert session.is_news("t", quiet)
    assert not session.is_news("t", quiet)
    assert session.is_news("t", PartitionData(0, 0, 11, 11, 0, records=b""))
    assert session.is_news("t", PartitionData(0, int(ErrorCode.OFFSET_OUT_OF_RANGE), -1, records=b""))
    assert session.is_news("t", PartitionData(0, 0, 11, 11, 0, records=b""))
    assert session.is_news("t", PartitionData(0, 0, 11, 11, 0, records=b"data"))


def test_a_partition_that_gave_data_goes_to_the_end_of_the_line() -> None:
    cache = sessions()
    session, _ = cache.begin(request(partitions=(0, 1)), False, False, 0)
    assert session is not None
    session.is_news("t", PartitionData(0, 0, 1, 1, 0, records=b"data"))
    assert [p.partition for _, p in session.entries()] == [1, 0]
