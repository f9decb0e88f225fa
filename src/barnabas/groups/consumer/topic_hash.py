"""What a consumer group remembers of its topics: one number that changes when one of them comes, goes, grows
or moves to other racks. The same number as Kafka's, so that a move between the two rebalances nothing."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from xxhash import xxh3_64_intdigest

from barnabas.model.image import ClusterImage, TopicImage

_FORMAT_VERSION = b"\0"
_INT = struct.Struct("<i")
_UNSIGNED_LONG = struct.Struct("<Q")


class TopicHashes:
    """Hashes of topics, kept until their topic changes."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[TopicImage, int]] = {}

    def of_topics(self, names: Iterable[str], image: ClusterImage) -> int:
        """0 when none of them exists; signed, as it is stored."""
        topics = [topic for name in sorted(names) if (topic := image.topics.get(name)) is not None]
        if not topics:
            return 0
        return _signed(
            xxh3_64_intdigest(b"".join(_UNSIGNED_LONG.pack(self._of(topic, image)) for topic in topics))
        )

    def _of(self, topic: TopicImage, image: ClusterImage) -> int:
        known = self._known.get(topic.name)
        if known is None or known[0] is not topic:
            known = self._known[topic.name] = (topic, topic_hash(topic, image))
        return known[1]

    def forget(self, names: Iterable[str]) -> None:
        for name in names:
            self._known.pop(name, None)

    def forget_all(self) -> None:
        """A broker's rack may have changed."""
        self._known.clear()


def topic_hash(topic: TopicImage, image: ClusterImage) -> int:
    pieces = [
        _FORMAT_VERSION,
        topic.id[7::-1],
        topic.id[:7:-1],
        _text(topic.name),
        _INT.pack(len(topic.partitions)),
    ]
    for partition in topic.partitions:
        pieces.append(_INT.pack(partition.index))
        brokers = (image.brokers.get(replica) for replica in partition.replicas)
        for rack in sorted(broker.rack for broker in brokers if broker is not None and broker.rack):
            pieces += [_INT.pack(len(rack)), _text(rack)]
    return xxh3_64_intdigest(b"".join(pieces))


def _text(text: str) -> bytes:
    units = text.encode("utf-16-le", "surrogatepass")
    return units + _INT.pack(len(units) // 2)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
