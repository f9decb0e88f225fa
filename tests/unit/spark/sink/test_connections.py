"""A driver's connections stay from one batch to the next, and nobody shares them."""

from __future__ import annotations

import gc
import pickle

import pytest

from barnabas.spark.options import Options
from barnabas.spark.sink import connections
from barnabas.spark.sink.columns import Columns
from barnabas.spark.sink.connections import Kept
from barnabas.spark.sink.settings import Sink, sink_of
from barnabas.spark.sink.stream import BatchSink
from barnabas.wire import Cluster

SINK = sink_of(Options({"kafka.bootstrap.servers": "127.0.0.1:1", "topic": "out"}))


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> list[Cluster]:
    found: list[Cluster] = []

    def close(cluster: Cluster) -> None:
        found.append(cluster)

    monkeypatch.setattr(Cluster, "close", close)
    return found


def test_the_next_batch_finds_the_connections_of_the_one_before(closed: list[Cluster]) -> None:
    kept = Kept(SINK)
    with kept.borrowed() as first:
        pass
    with kept.borrowed() as second:
        assert second is first
    assert closed == []


def test_batches_at_the_same_time_have_connections_of_their_own(closed: list[Cluster]) -> None:
    kept = Kept(SINK)
    with kept.borrowed() as one, kept.borrowed() as other:
        assert one is not other
    assert len(closed) == 1, "one is enough to keep"


def test_what_goes_wrong_ends_the_connections(closed: list[Cluster]) -> None:
    kept = Kept(SINK)
    with pytest.raises(ZeroDivisionError), kept.borrowed() as first:
        raise ZeroDivisionError
    assert closed == [first]
    with kept.borrowed() as second:
        assert second is not first


def test_connections_that_were_idle_for_long_are_not_trusted(
    closed: list[Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Kept(SINK)
    with kept.borrowed() as first:
        pass
    monkeypatch.setattr(connections, "_IDLE_MAX_S", 0)
    with kept.borrowed() as second:
        assert second is not first
    assert closed == [first]


def test_who_is_forgotten_leaves_no_connection_open(closed: list[Cluster]) -> None:
    kept = Kept(SINK)
    with kept.borrowed() as first:
        pass
    del kept
    gc.collect()
    assert closed == [first]


def test_a_sink_pickles_without_its_connections() -> None:
    """Over Spark Connect it goes to the server."""
    sink = BatchSink(SINK, Columns(topic=False, partition=False, key=True, headers=False), (), None)
    with sink._connections.borrowed() as first:
        pass
    copy = pickle.loads(pickle.dumps(sink))
    with copy._connections.borrowed() as second:
        assert isinstance(second, Cluster)
        assert second is not first
    assert isinstance(copy._sink, Sink)
