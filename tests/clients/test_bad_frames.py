"""Bytes that are not requests: Kafka closes the connection, and so do we; nobody else notices."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator

import pytest
from tests.conftest import StartTarget
from tests.support.batches import Batch
from tests.support.ready import create_ready_topic
from tests.support.requests import (
    api_versions_request,
    fetch_request,
    metadata_request,
    partition_of,
    produce_request,
)
from tests.support.waiting import eventually
from tests.support.wire import Connection, frame, raw_header, request_bytes

from barnabas.testing import BrokerProcess

UNSUPPORTED_VERSION = 35
REQUEST_BYTES_MAX = 104_857_600  # the default of socket.request.max.bytes


@pytest.fixture(autouse=True)
def _others_notice_nothing(target: BrokerProcess) -> Iterator[None]:
    """A client that was there before goes on working afterwards."""
    with Connection(target.port) as bystander:
        assert bystander.ask(api_versions_request()).error_code == 0
        yield
        assert bystander.ask(api_versions_request()).error_code == 0
    assert target.is_running()


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", id="http"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xaa" * 100, id="tls"),
        pytest.param(struct.pack(">i", -5) + b"xx", id="negative-length"),
        pytest.param(struct.pack(">i", 0), id="zero-length"),
        pytest.param(struct.pack(">i", REQUEST_BYTES_MAX + 1) + b"x", id="absurd-length"),
        pytest.param(frame(b"\x00\x12"), id="header-too-short"),
        pytest.param(frame(bytes(range(256))), id="garbage"),
        pytest.param(frame(raw_header(9_999, 0)), id="unknown-api"),
        pytest.param(frame(raw_header(-3, 0)), id="negative-api"),
        pytest.param(frame(raw_header(3, 99) + b"\0"), id="unknown-version"),
        pytest.param(frame(raw_header(1, 3) + b"\0" * 20), id="retired-version"),
        pytest.param(frame(raw_header(0, 0) + struct.pack(">hii", 1, 1_000, 0)), id="produce-v0"),
        pytest.param(frame(raw_header(0, 2) + struct.pack(">hii", 1, 1_000, 0)), id="produce-v2"),
        pytest.param(frame(raw_header(3, 1) + struct.pack(">i", 2**31 - 1)), id="array-longer-than-frame"),
        pytest.param(
            frame(raw_header(3, 1) + struct.pack(">ih", 1, 30_000) + b"x"), id="string-longer-than-frame"
        ),
    ],
)
def test_what_is_not_a_request_closes_the_connection(target: BrokerProcess, data: bytes) -> None:
    with Connection(target.port) as connection:
        connection.send(data)
        assert connection.is_closed_by_peer()


def test_an_unknown_version_of_api_versions_is_answered_with_version_0(target: BrokerProcess) -> None:
    with Connection(target.port) as connection:
        connection.send(frame(raw_header(18, 99, correlation_id=77) + b"\0"))
        reply = connection.receive_frame()
        assert reply is not None
        # correlation id, error code, then one row: ApiVersions itself with the versions that would work
        correlation_id, code, rows, key, oldest, newest = struct.unpack(">ihihhh", reply)
        assert (correlation_id, code, rows, key, oldest, newest) == (77, UNSUPPORTED_VERSION, 1, 18, 0, 4)
        assert connection.ask(api_versions_request()).error_code == 0, "the connection stays usable"


def test_bytes_after_a_complete_request_are_ignored(target: BrokerProcess) -> None:
    with Connection(target.port) as connection:
        connection.send(frame(request_bytes(metadata_request("nobody", auto_create=False), 5) + b"TRAILING"))
        reply = connection.receive_frame()
        assert reply is not None
        assert reply[:4] == struct.pack(">i", 5)


def test_a_client_id_that_is_not_utf8_is_served(target: BrokerProcess) -> None:
    with Connection(target.port) as connection:
        connection.send(frame(struct.pack(">hhih", 18, 0, 5, 3) + b"\xff\xfe\xfd"))
        reply = connection.receive_frame()
        assert reply is not None
        assert reply[:6] == struct.pack(">ih", 5, 0)


def test_a_request_that_arrives_byte_by_byte_is_answered(target: BrokerProcess) -> None:
    data = frame(request_bytes(api_versions_request(), 9))
    with Connection(target.port) as connection:
        for position in range(len(data)):
            connection.send(data[position : position + 1])
            time.sleep(0.001)
        reply = connection.receive_frame()
        assert reply is not None
        assert reply[:4] == struct.pack(">i", 9)


def test_a_client_that_leaves_in_the_middle_of_a_frame_harms_nobody(
    target: BrokerProcess, existing_topic: str
) -> None:
    data = frame(request_bytes(produce_request(existing_topic, Batch(values=[b"x" * 5_000]).encode()), 1))
    for size in (1, 3, 4, 5, 11, len(data) // 2, len(data) - 1):
        with Connection(target.port) as connection:
            connection.send(data[:size])
    with Connection(target.port) as connection:
        answer = partition_of(connection.ask(fetch_request(existing_topic, 0)))
        assert (answer.error_code, answer.high_watermark) == (0, 0), "nothing of it was stored"


def test_a_client_that_stops_in_the_middle_of_a_frame_keeps_nobody_waiting(target: BrokerProcess) -> None:
    with Connection(target.port) as stuck, Connection(target.port) as other:
        stuck.send(frame(request_bytes(api_versions_request(), 3))[:9])
        for _ in range(20):
            assert other.ask(api_versions_request()).error_code == 0


def test_a_reader_that_never_drains_costs_bounded_memory_and_delays_nobody(
    target: BrokerProcess, existing_topic: str
) -> None:
    value = b"x" * 900_000
    with Connection(target.port) as producer:
        for _ in range(8):
            assert (
                partition_of(
                    producer.ask(produce_request(existing_topic, Batch([value]).encode()))
                ).error_code
                == 0
            )
    before = _resident_bytes(target.pid)
    slow = [Connection(target.port) for _ in range(20)]
    request = frame(request_bytes(fetch_request(existing_topic, 0, partition_max_bytes=8_000_000), 1))
    try:
        for connection in slow:
            connection.socket.setblocking(False)
            _send_until_full(connection.socket, request * 20)
        with Connection(target.port) as other:
            for _ in range(20):
                assert other.ask(api_versions_request()).error_code == 0
        asked_for = len(slow) * 20 * 8 * len(value)
        assert _resident_bytes(target.pid) - before < asked_for / 10
    finally:
        for connection in slow:
            connection.close()


def _send_until_full(connection: socket.socket, data: bytes) -> None:
    try:
        connection.send(data)
    except BlockingIOError:
        return


def _resident_bytes(pid: int) -> int:
    with open(f"/proc/{pid}/statm") as statm:
        return int(statm.read().split()[1]) * 4096


def test_a_thousand_idle_connections_do_not_keep_a_new_client_out(target: BrokerProcess) -> None:
    idle: list[Connection] = []
    try:
        for _ in range(40):  # not faster than the broker accepts, or the kernel makes clients wait a second
            idle += [Connection(target.port) for _ in range(25)]
            assert idle[-1].ask(api_versions_request()).error_code == 0
        with Connection(target.port) as other:
            assert other.ask(api_versions_request()).error_code == 0
        assert idle[0].ask(api_versions_request()).error_code == 0
        assert idle[-1].ask(api_versions_request()).error_code == 0
    finally:
        for connection in idle:
            connection.close()


def test_connections_above_the_limit_per_address_are_closed(start_target: StartTarget) -> None:
    broker = start_target({"max.connections.per.ip": 8})
    kept = _occupy(broker.port, 8)
    try:
        with Connection(broker.port) as excess:
            assert excess.is_closed_by_peer()
        kept.pop().close()
        eventually(lambda: _answers(broker.port))
    finally:
        for connection in kept:
            connection.close()


def test_connections_above_the_limit_wait_until_one_leaves(start_target: StartTarget) -> None:
    broker = start_target({"max.connections": 8})
    kept = _occupy(broker.port, 8)
    try:
        with Connection(broker.port, timeout_s=0.5) as waiting:
            waiting.send_request(api_versions_request())
            with pytest.raises(TimeoutError):
                waiting.receive_frame()
            kept.pop().close()
            waiting.socket.settimeout(60)
            assert waiting.receive_frame() is not None
    finally:
        for connection in kept:
            connection.close()


def test_idle_connections_are_closed_after_their_time(start_target: StartTarget) -> None:
    broker = start_target({"connections.max.idle.ms": 3_000})
    with Connection(broker.port) as idle:
        assert idle.ask(api_versions_request()).error_code == 0
        assert idle.is_closed_by_peer()


def test_a_frame_above_the_configured_limit_is_refused_before_it_is_read(start_target: StartTarget) -> None:
    broker = start_target({"socket.request.max.bytes": 20_000})
    create_ready_topic(broker, "small")
    with Connection(broker.port) as connection:
        connection.send(struct.pack(">i", 20_001))
        assert connection.is_closed_by_peer()


def _occupy(port: int, count: int) -> list[Connection]:
    """Connections that answer; those of the start-up may still count against a limit for a moment."""
    kept: list[Connection] = []
    deadline = time.monotonic() + 60
    while len(kept) < count:
        assert time.monotonic() < deadline
        connection = Connection(port)
        connection.send_request(api_versions_request())
        if connection.receive_frame() is None:
            connection.close()
        else:
            kept.append(connection)
    return kept


def _answers(port: int) -> bool:
    with Connection(port) as connection:
        connection.send_request(api_versions_request())
        return connection.receive_frame() is not None
