"""What brokers say only among themselves: API keys from 10000, on the inter-broker listener, not
advertised.

An image travels as steps. A step holds what one decision of the controller changed, in the order in which
`ClusterImage.apply` takes it; a whole image is one step from nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from barnabas.protocol.messages import Api
from barnabas.protocol.schema import Field, Message

FORWARD = 10_000
PULL_IMAGE = 10_001
CONTROLLED_SHUTDOWN = 10_002
ALLOCATE_PRODUCER_IDS = 10_003
REPLICAS_OFFLINE = 10_004

VERSION = 0
_MODULE = "barnabas.protocol.private"

PRIVATE_APIS: dict[int, Api] = {
    key: Api(key, name, _MODULE, VERSION, VERSION, 0)
    for key, name in (
        (FORWARD, "Forward"),
        (PULL_IMAGE, "PullImage"),
        (CONTROLLED_SHUTDOWN, "ControlledShutdown"),
        (ALLOCATE_PRODUCER_IDS, "AllocateProducerIds"),
        (REPLICAS_OFFLINE, "ReplicasOffline"),
    )
}


class _Private(Message):
    __slots__ = ()
    FLEXIBLE_SINCE: ClassVar[int] = 0


# --- forwarding: a request that only the controller can answer -------------------------------------------


class ForwardRequest(_Private):
    """`request` is what the client sent, from its header on; `host` and `listener` say where it came from."""

    __slots__ = ("host", "listener", "request")
    API_KEY: ClassVar[int] = FORWARD
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("listener", "string", ""),
        Field("host", "string", ""),
        Field("request", "bytes", b""),
    )

    def __init__(self, listener: str = "", host: str = "", request: bytes = b"") -> None:
        self.listener = listener
        self.host = host
        self.request = request


class ForwardResponse(_Private):
    """`response` is the answer from its header on. It tells of the image `version` of this epoch: whoever
    waits until it has that one reads what it wrote."""

    __slots__ = ("controller_epoch", "error_code", "response", "version")
    API_KEY: ClassVar[int] = FORWARD
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("error_code", "int16", 0),
        Field("controller_epoch", "int32", -1),
        Field("version", "int64", -1),
        Field("response", "bytes", b""),
    )

    def __init__(
        self, error_code: int = 0, controller_epoch: int = -1, version: int = -1, response: bytes = b""
    ) -> None:
        self.error_code = error_code
        self.controller_epoch = controller_epoch
        self.version = version
        self.response = response


# --- the image -------------------------------------------------------------------------------------------


class PullImageRequest(_Private):
    """What comes after `version` of this epoch; the answer waits until there is something."""

    __slots__ = ("broker_epoch", "broker_id", "controller_epoch", "max_wait_ms", "version")
    API_KEY: ClassVar[int] = PULL_IMAGE
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("broker_id", "int32", -1),
        Field("broker_epoch", "int64", -1),
        Field("controller_epoch", "int32", -1),
        Field("version", "int64", -1),
        Field("max_wait_ms", "int32", 0),
    )

    def __init__(
        self,
        broker_id: int = -1,
        broker_epoch: int = -1,
        controller_epoch: int = -1,
        version: int = -1,
        max_wait_ms: int = 0,
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.controller_epoch = controller_epoch
        self.version = version
        self.max_wait_ms = max_wait_ms


class EndpointRow(_Private):
    __slots__ = ("host", "listener", "port", "security_protocol")
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("listener", "string", ""),
        Field("host", "string", ""),
        Field("port", "int32", 0),
        Field("security_protocol", "string", ""),
    )

    def __init__(
        self, listener: str = "", host: str = "", port: int = 0, security_protocol: str = ""
    ) -> None:
        self.listener = listener
        self.host = host
        self.port = port
        self.security_protocol = security_protocol


class BrokerRow(_Private):
    __slots__ = ("broker_id", "endpoints", "epoch", "fenced", "leaving", "rack")
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("broker_id", "int32", -1),
        Field("epoch", "int64", -1),
        Field("rack", "string", None, nullable_since=0),
        Field("fenced", "bool", False),
        Field("leaving", "bool", False),
        Field("endpoints", "struct", (), array=True, struct=EndpointRow),
    )

    def __init__(
        self,
        broker_id: int = -1,
        epoch: int = -1,
        rack: str | None = None,
        fenced: bool = False,
        leaving: bool = False,
        endpoints: Sequence[EndpointRow] = (),
    ) -> None:
        self.broker_id = broker_id
        self.epoch = epoch
        self.rack = rack
        self.fenced = fenced
        self.leaving = leaving
        self.endpoints = endpoints


class PartitionRow(_Private):
    __slots__ = (
        "adding", "elr", "index", "isr", "last_known_elr", "leader", "leader_epoch", "partition_epoch",
        "removing", "replicas",
    )  # fmt: skip
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("index", "int32", 0),
        Field("replicas", "int32", (), array=True),
        Field("isr", "int32", (), array=True),
        Field("leader", "int32", -1),
        Field("leader_epoch", "int32", -1),
        Field("partition_epoch", "int32", -1),
        Field("adding", "int32", (), array=True),
        Field("removing", "int32", (), array=True),
        Field("elr", "int32", (), array=True),
        Field("last_known_elr", "int32", (), array=True),
    )

    def __init__(
        self,
        index: int = 0,
        replicas: Sequence[int] = (),
        isr: Sequence[int] = (),
        leader: int = -1,
        leader_epoch: int = -1,
        partition_epoch: int = -1,
        adding: Sequence[int] = (),
        removing: Sequence[int] = (),
        elr: Sequence[int] = (),
        last_known_elr: Sequence[int] = (),
    ) -> None:
        self.index = index
        self.replicas = replicas
        self.isr = isr
        self.leader = leader
        self.leader_epoch = leader_epoch
        self.partition_epoch = partition_epoch
        self.adding = adding
        self.removing = removing
        self.elr = elr
        self.last_known_elr = last_known_elr


class TopicRow(_Private):
    """Of `created`: a whole topic. Of `changed`: those of its partitions that are new or different."""

    __slots__ = ("name", "partitions", "topic_id")
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("name", "string", ""),
        Field("topic_id", "uuid", bytes(16)),
        Field("partitions", "struct", (), array=True, struct=PartitionRow),
    )

    def __init__(
        self, name: str = "", topic_id: bytes = bytes(16), partitions: Sequence[PartitionRow] = ()
    ) -> None:
        self.name = name
        self.topic_id = topic_id
        self.partitions = partitions


class PairRow(_Private):
    __slots__ = ("name", "value")
    FIELDS: ClassVar[tuple[Field, ...]] = (Field("name", "string", ""), Field("value", "string", ""))

    def __init__(self, name: str = "", value: str = "") -> None:
        self.name = name
        self.value = value


class ConfigRow(_Private):
    __slots__ = ("kind", "name", "values")
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("kind", "string", ""),
        Field("name", "string", ""),
        Field("values", "struct", (), array=True, struct=PairRow),
    )

    def __init__(self, kind: str = "", name: str = "", values: Sequence[PairRow] = ()) -> None:
        self.kind = kind
        self.name = name
        self.values = values


class ControllerRow(_Private):
    __slots__ = ("broker_id", "epoch", "epoch_version")
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("broker_id", "int32", -1),
        Field("epoch", "int32", -1),
        Field("epoch_version", "int32", -1),
    )

    def __init__(self, broker_id: int = -1, epoch: int = -1, epoch_version: int = -1) -> None:
        self.broker_id = broker_id
        self.epoch = epoch
        self.epoch_version = epoch_version


class LevelRow(_Private):
    __slots__ = ("level", "name")
    FIELDS: ClassVar[tuple[Field, ...]] = (Field("name", "string", ""), Field("level", "int16", 0))

    def __init__(self, name: str = "", level: int = 0) -> None:
        self.name = name
        self.level = level


class FeaturesRow(_Private):
    __slots__ = ("epoch", "levels")
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("epoch", "int64", -1),
        Field("levels", "struct", (), array=True, struct=LevelRow),
    )

    def __init__(self, epoch: int = -1, levels: Sequence[LevelRow] = ()) -> None:
        self.epoch = epoch
        self.levels = levels


class ProducerIdsRow(_Private):
    __slots__ = ("broker", "first", "last")
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("broker", "int32", -1),
        Field("first", "int64", -1),
        Field("last", "int64", -1),
    )

    def __init__(self, broker: int = -1, first: int = -1, last: int = -1) -> None:
        self.broker = broker
        self.first = first
        self.last = last


class StepRow(_Private):
    """Applied in the order of the fields. Controller, features and producer ids are lists of one, or of none;
    what is unreadable is said in a whole image only."""

    __slots__ = (
        "brokers", "changed", "configs", "controller", "created", "deleted", "features", "gone",
        "producer_ids", "unreadable", "version",
    )  # fmt: skip
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("version", "int64", -1),
        Field("gone", "int32", (), array=True),
        Field("brokers", "struct", (), array=True, struct=BrokerRow),
        Field("deleted", "struct", (), array=True, struct=TopicRow),
        Field("created", "struct", (), array=True, struct=TopicRow),
        Field("changed", "struct", (), array=True, struct=TopicRow),
        Field("configs", "struct", (), array=True, struct=ConfigRow),
        Field("controller", "struct", (), array=True, struct=ControllerRow),
        Field("features", "struct", (), array=True, struct=FeaturesRow),
        Field("producer_ids", "struct", (), array=True, struct=ProducerIdsRow),
        Field("unreadable", "string", (), array=True),
    )

    def __init__(
        self,
        version: int = -1,
        gone: Sequence[int] = (),
        brokers: Sequence[BrokerRow] = (),
        deleted: Sequence[TopicRow] = (),
        created: Sequence[TopicRow] = (),
        changed: Sequence[TopicRow] = (),
        configs: Sequence[ConfigRow] = (),
        controller: Sequence[ControllerRow] = (),
        features: Sequence[FeaturesRow] = (),
        producer_ids: Sequence[ProducerIdsRow] = (),
        unreadable: Sequence[str] = (),
    ) -> None:
        self.version = version
        self.gone = gone
        self.brokers = brokers
        self.deleted = deleted
        self.created = created
        self.changed = changed
        self.configs = configs
        self.controller = controller
        self.features = features
        self.producer_ids = producer_ids
        self.unreadable = unreadable


class PullImageResponse(_Private):
    """`from_nothing`: the one step is a whole image, and what was known before does not count."""

    __slots__ = ("cluster_id", "controller_epoch", "error_code", "from_nothing", "steps")
    API_KEY: ClassVar[int] = PULL_IMAGE
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("error_code", "int16", 0),
        Field("controller_epoch", "int32", -1),
        Field("cluster_id", "string", ""),
        Field("from_nothing", "bool", False),
        Field("steps", "struct", (), array=True, struct=StepRow),
    )

    def __init__(
        self,
        error_code: int = 0,
        controller_epoch: int = -1,
        cluster_id: str = "",
        from_nothing: bool = False,
        steps: Sequence[StepRow] = (),
    ) -> None:
        self.error_code = error_code
        self.controller_epoch = controller_epoch
        self.cluster_id = cluster_id
        self.from_nothing = from_nothing
        self.steps = steps


# --- a broker that stops in good order -------------------------------------------------------------------


class ControlledShutdownRequest(_Private):
    __slots__ = ("broker_epoch", "broker_id")
    API_KEY: ClassVar[int] = CONTROLLED_SHUTDOWN
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("broker_id", "int32", -1),
        Field("broker_epoch", "int64", -1),
    )

    def __init__(self, broker_id: int = -1, broker_epoch: int = -1) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch


class ControlledShutdownResponse(_Private):
    """`remaining`: partitions that nobody else can lead."""

    __slots__ = ("error_code", "remaining")
    API_KEY: ClassVar[int] = CONTROLLED_SHUTDOWN
    FIELDS: ClassVar[tuple[Field, ...]] = (Field("error_code", "int16", 0), Field("remaining", "int32", 0))

    def __init__(self, error_code: int = 0, remaining: int = 0) -> None:
        self.error_code = error_code
        self.remaining = remaining


# --- producer ids ----------------------------------------------------------------------------------------


class AllocateProducerIdsRequest(_Private):
    __slots__ = ("broker_epoch", "broker_id")
    API_KEY: ClassVar[int] = ALLOCATE_PRODUCER_IDS
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("broker_id", "int32", -1),
        Field("broker_epoch", "int64", -1),
    )

    def __init__(self, broker_id: int = -1, broker_epoch: int = -1) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch


class AllocateProducerIdsResponse(_Private):
    __slots__ = ("error_code", "first", "last")
    API_KEY: ClassVar[int] = ALLOCATE_PRODUCER_IDS
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("error_code", "int16", 0),
        Field("first", "int64", -1),
        Field("last", "int64", -1),
    )

    def __init__(self, error_code: int = 0, first: int = -1, last: int = -1) -> None:
        self.error_code = error_code
        self.first = first
        self.last = last


# --- failed disks ----------------------------------------------------------------------------------------


class OfflineTopicRow(_Private):
    __slots__ = ("partitions", "topic_id")
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("topic_id", "uuid", bytes(16)),
        Field("partitions", "int32", (), array=True),
    )

    def __init__(self, topic_id: bytes = bytes(16), partitions: Sequence[int] = ()) -> None:
        self.topic_id = topic_id
        self.partitions = partitions


class ReplicasOfflineRequest(_Private):
    """The disk of these replicas has failed: others are to lead and be counted on."""

    __slots__ = ("broker_epoch", "broker_id", "topics")
    API_KEY: ClassVar[int] = REPLICAS_OFFLINE
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("broker_id", "int32", -1),
        Field("broker_epoch", "int64", -1),
        Field("topics", "struct", (), array=True, struct=OfflineTopicRow),
    )

    def __init__(
        self, broker_id: int = -1, broker_epoch: int = -1, topics: Sequence[OfflineTopicRow] = ()
    ) -> None:
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.topics = topics


class ReplicasOfflineResponse(_Private):
    __slots__ = ("error_code",)
    API_KEY: ClassVar[int] = REPLICAS_OFFLINE
    FIELDS: ClassVar[tuple[Field, ...]] = (Field("error_code", "int16", 0),)

    def __init__(self, error_code: int = 0) -> None:
        self.error_code = error_code
