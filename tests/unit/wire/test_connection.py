from __future__ import annotations

import struct

import pytest
from tests.unit.wire.fake_peer import FakeNetwork, FakePeer, serving

from barnabas.protocol.messages.metadata import MetadataRequest, MetadataResponse
from barnabas.protocol.schema import Message
from barnabas.wire import Connection, NotAvailableError, PeerError, Settings, VersionError
from barnabas.wire.address import Address
from barnabas.wire.settings import DEFAULTS


def _empty_cluster(_: Message) -> Message:
    return MetadataResponse(cluster_id="here")


def test_the_newest_version_both_sides_speak_is_used() -> None:
    peer = FakePeer(_empty_cluster, serving({18: (0, 4), 3: (0, 7)}))
    answer = Connection(peer, DEFAULTS).call(MetadataRequest([]), MetadataResponse)
    assert answer.cluster_id == "here"
    assert peer.heard == [("ApiVersions", 4), ("Metadata", 7)]


def test_a_broker_newer_than_us_is_spoken_to_in_our_newest_version() -> None:
    peer = FakePeer(_empty_cluster, serving({18: (0, 99), 3: (0, 99)}))
    Connection(peer, DEFAULTS).call(MetadataRequest([]), MetadataResponse)
    assert peer.heard[-1] == ("Metadata", 13)


def test_an_old_broker_is_asked_again_with_a_version_it_knows() -> None:
    peer = FakePeer(_empty_cluster, serving({18: (0, 2), 3: (0, 7)}))
    Connection(peer, DEFAULTS)
    assert peer.heard == [("ApiVersions", 4), ("ApiVersions", 2)]


def test_an_api_the_broker_lacks_is_named_before_anything_is_sent() -> None:
    peer = FakePeer(_empty_cluster, serving({18: (0, 4)}))
    connection = Connection(peer, DEFAULTS)
    with pytest.raises(VersionError, match="does not support METADATA"):
        connection.call(MetadataRequest([]), MetadataResponse)
    assert len(peer.heard) == 1
    assert not connection.serves(3)


def test_versions_that_do_not_overlap_are_refused() -> None:
    connection = Connection(FakePeer(_empty_cluster, serving({18: (0, 4), 3: (90, 99)})), DEFAULTS)
    with pytest.raises(VersionError):
        connection.version_of(3)


class _Babbling(FakePeer):
    """Announces frames of any length, or answers somebody else's request."""

    def __init__(self, raw: bytes) -> None:
        super().__init__(_empty_cluster)
        self._raw = raw

    def send(self, data: bytes) -> None:
        self._pending += self._raw


@pytest.mark.parametrize(
    "raw",
    [
        struct.pack(">i", 0x48545450),  # "HTTP"
        struct.pack(">i", -1),
        struct.pack(">i", 2),
        struct.pack(">iih", 6, 77, 0),
        struct.pack(">i", 5) + struct.pack(">ib", 1, 1),
    ],
)
def test_bytes_that_make_no_sense_are_the_peers_fault(raw: bytes) -> None:
    with pytest.raises(PeerError):
        Connection(_Babbling(raw), DEFAULTS)


def test_a_refused_connection_says_where_in_kafkas_words() -> None:
    with pytest.raises(NotAvailableError) as caught:
        Connection.open(Address("localhost", 9092), dial=FakeNetwork({}).dial)
    where = "Connection to node -1 (localhost/127.0.0.1:9092) could not be established."
    assert str(caught.value) == f"{where} Node may not be available."


def test_a_connection_that_fails_to_negotiate_is_closed() -> None:
    peer = _Babbling(struct.pack(">i", -1))
    network = FakeNetwork({Address("a", 1): lambda: peer})
    with pytest.raises(PeerError):
        Connection.open(Address("a", 1), Settings(), dial=network.dial)
    assert peer.closed
