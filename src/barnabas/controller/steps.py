"""Image deltas as they travel between brokers, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from barnabas.model.endpoint import Endpoint, SecurityProtocol
from barnabas.model.image import (
    BrokerChanged,
    BrokerGone,
    BrokerImage,
    ClusterImage,
    ConfigChanged,
    ConfigKind,
    ConfigResource,
    ControllerChanged,
    Delta,
    FeaturesChanged,
    PartitionChanged,
    PartitionImage,
    PartitionsAdded,
    ProducerIdBlock,
    ProducerIdsAllocated,
    TopicCreated,
    TopicDeleted,
    TopicImage,
)
from barnabas.protocol.private import (
    BrokerRow,
    ConfigRow,
    ControllerRow,
    EndpointRow,
    FeaturesRow,
    LevelRow,
    PairRow,
    PartitionRow,
    ProducerIdsRow,
    StepRow,
    TopicRow,
)


def whole(image: ClusterImage) -> StepRow:
    """The image as one step from nothing."""
    deltas: list[Delta] = [BrokerChanged(broker) for broker in image.brokers.values()]
    deltas += [TopicCreated(topic) for topic in image.topics.values()]
    deltas += [ConfigChanged(resource, values) for resource, values in image.configs.items()]
    deltas.append(
        ControllerChanged(image.controller_id, image.controller_epoch, image.controller_epoch_version)
    )
    deltas.append(FeaturesChanged(image.features, image.features_epoch))
    if image.producer_ids is not None:
        deltas.append(ProducerIdsAllocated(image.producer_ids))
    row = step(image.version, deltas)
    row.unreadable = sorted(image.unreadable)
    return row


def image_of(row: StepRow, cluster_id: str) -> ClusterImage:
    image = ClusterImage(version=row.version - 1, cluster_id=cluster_id, unreadable=frozenset(row.unreadable))
    return image.apply(deltas(image, row))


def step(version: int, changes: Iterable[Delta]) -> StepRow:
    """What leads to this version."""
    made = _Step(version)
    for delta in changes:
        made.add(delta)
    return made.row()


class _Step:
    def __init__(self, version: int) -> None:
        self._row = StepRow(version, [], [], [], [], [], [], [], [], [])
        self._changed: dict[str, list[PartitionRow]] = {}

    def add(self, delta: Delta) -> None:
        row = self._row
        match delta:
            case BrokerGone(broker_id):
                _append(row.gone, broker_id)
            case BrokerChanged(broker):
                _append(row.brokers, _broker_row(broker))
            case TopicDeleted(name, topic_id):
                _append(row.deleted, TopicRow(name, topic_id))
            case TopicCreated(topic):
                rows = [_partition_row(partition) for partition in topic.partitions]
                _append(row.created, TopicRow(topic.name, topic.id, rows))
            case PartitionChanged(topic, partition):
                self._changed.setdefault(topic, []).append(_partition_row(partition))
            case PartitionsAdded(topic, partitions):
                self._changed.setdefault(topic, []).extend(map(_partition_row, partitions))
            case ConfigChanged(resource, values):
                _append(row.configs, ConfigRow(str(resource.kind), resource.name, _pairs(values)))
            case ControllerChanged(controller_id, epoch, epoch_version):
                row.controller = [ControllerRow(controller_id, epoch, epoch_version)]
            case FeaturesChanged(features, epoch):
                row.features = [FeaturesRow(epoch, [LevelRow(n, level) for n, level in features.items()])]
            case ProducerIdsAllocated(block):
                row.producer_ids = [ProducerIdsRow(block.broker, block.first, block.last)]

    def row(self) -> StepRow:
        self._row.changed = [TopicRow(name, partitions=rows) for name, rows in self._changed.items()]
        return self._row


def _append(rows: object, row: object) -> None:
    assert isinstance(rows, list)
    rows.append(row)


def deltas(base: ClusterImage, row: StepRow) -> Iterator[Delta]:
    """What leads from `base` to the next version."""
    yield from (BrokerGone(broker_id) for broker_id in row.gone)
    yield from (BrokerChanged(_broker(broker)) for broker in row.brokers)
    yield from (TopicDeleted(topic.name, topic.topic_id) for topic in row.deleted)
    for topic in row.created:
        yield TopicCreated(TopicImage(topic.name, topic.topic_id, tuple(map(_partition, topic.partitions))))
    for topic in row.changed:
        yield from _changed(base, topic)
    for config in row.configs:
        resource = ConfigResource(ConfigKind(config.kind), config.name)
        yield ConfigChanged(resource, {pair.name: pair.value for pair in config.values})
    yield from (ControllerChanged(c.broker_id, c.epoch, c.epoch_version) for c in row.controller)
    for features in row.features:
        yield FeaturesChanged({level.name: level.level for level in features.levels}, features.epoch)
    for block in row.producer_ids:
        yield ProducerIdsAllocated(ProducerIdBlock(block.broker, block.first, block.last))


def _changed(base: ClusterImage, topic: TopicRow) -> Iterator[Delta]:
    known = base.topics.get(topic.name)
    count = 0 if known is None else len(known.partitions)
    added = []
    for partition in map(_partition, topic.partitions):
        if partition.index < count:
            yield PartitionChanged(topic.name, partition)
        else:
            added.append(partition)
    if added:
        yield PartitionsAdded(topic.name, tuple(added))


def _broker_row(broker: BrokerImage) -> BrokerRow:
    endpoints = [EndpointRow(name, *endpoint) for name, endpoint in broker.endpoints.items()]
    return BrokerRow(broker.id, broker.epoch, broker.rack, broker.fenced, broker.leaving, endpoints)


def _broker(row: BrokerRow) -> BrokerImage:
    endpoints = {
        e.listener: Endpoint(e.host, e.port, SecurityProtocol(e.security_protocol)) for e in row.endpoints
    }
    return BrokerImage(row.broker_id, row.epoch, endpoints, row.rack, row.fenced, row.leaving)


def _partition_row(partition: PartitionImage) -> PartitionRow:
    return PartitionRow(
        partition.index,
        partition.replicas,
        partition.isr,
        partition.leader,
        partition.leader_epoch,
        partition.partition_epoch,
        partition.adding,
        partition.removing,
        partition.elr,
        partition.last_known_elr,
    )


def _partition(row: PartitionRow) -> PartitionImage:
    return PartitionImage(
        row.index,
        tuple(row.replicas),
        tuple(row.isr),
        row.leader,
        row.leader_epoch,
        row.partition_epoch,
        tuple(row.adding),
        tuple(row.removing),
        tuple(row.elr),
        tuple(row.last_known_elr),
    )


def _pairs(values: Mapping[str, str]) -> list[PairRow]:
    return [PairRow(name, value) for name, value in values.items()]
