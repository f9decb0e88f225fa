"""Creating topics.

Errors and messages are those of Kafka 4.3. A topic's settings, its node and its partitions' states are
written in one multi: after a crash there is a whole topic or none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from barnabas.controller import tree
from barnabas.controller.decision import Decision, fence
from barnabas.controller.partitions import check_replicas, first_states, partition_writes
from barnabas.controller.placement import place
from barnabas.controller.znodes.administration import encode_config
from barnabas.controller.znodes.topics import encode_topic
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import RESERVED_UUIDS, ZERO_UUID, topic_name_problem
from barnabas.model.image import (
    ClusterImage,
    ConfigChanged,
    ConfigKind,
    ConfigResource,
    Delta,
    TopicCreated,
    TopicImage,
)
from barnabas.ports import Create, Put, Random, Write

# Raises ApiError when these would not do as the whole settings of the resource.
ConfigCheck = Callable[[ConfigResource, Mapping[str, str]], None]

PARTITIONS_PER_REQUEST_MAX = 10_000
RECORDS_PER_REQUEST_MAX = 10_000  # Kafka counts what it would log: a topic, its settings, its partitions
_METADATA_TOPIC = "__cluster_metadata"


@dataclass(frozen=True, slots=True)
class Assignment:
    partition: int
    replicas: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NewTopic:
    name: str
    partitions: int = -1
    replication_factor: int = -1
    assignments: tuple[Assignment, ...] = ()
    configs: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TopicDefaults:
    partitions: int
    replication_factor: int


@dataclass(frozen=True, slots=True)
class TopicResult:
    name: str
    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    topic_id: bytes = ZERO_UUID
    partitions: int = -1
    replication_factor: int = -1
    configs: Mapping[str, str] = field(default_factory=dict)  # what the request set


def create_topics(
    image: ClusterImage,
    requests: Sequence[NewTopic],
    *,
    defaults: TopicDefaults,
    check_configs: ConfigCheck,
    random: Random,
    validate_only: bool = False,
) -> Decision[TopicResult]:
    """Each topic is judged for itself; those that pass are written together."""
    try:
        _check_request_size(requests, defaults)
    except ApiError as problem:
        return _all_refused(requests, problem)
    times = Counter(request.name for request in requests)
    results, created = [], []
    for request in requests:
        if times[request.name] > 1 or request.name == _METADATA_TOPIC:
            continue
        try:
            topic = _new_topic(image, request, defaults, check_configs, random)
        except ApiError as problem:
            results.append(TopicResult(request.name, problem.code, problem.message))
            continue
        created.append((topic, _texts(request.configs)))
        results.append(_created(*created[-1]))
    if sum(1 + len(configs) + len(topic.partitions) for topic, configs in created) > RECORDS_PER_REQUEST_MAX:
        message = "Unable to perform excessively large batch operation."
        return _all_refused(requests, ApiError(ErrorCode.POLICY_VIOLATION, message))
    results.extend(never_creatable(times))
    if validate_only or not created:
        return Decision(tuple(results))
    operations = [
        operation for topic, configs in created for operation in topic_writes(image, topic, configs)
    ]
    deltas = [delta for topic, configs in created for delta in topic_deltas(topic, configs)]
    return Decision(tuple(results), (fence(image), *operations), tuple(deltas))


def _all_refused(requests: Sequence[NewTopic], problem: ApiError) -> Decision[TopicResult]:
    names = dict.fromkeys(request.name for request in requests)
    return Decision(tuple(TopicResult(name, problem.code, problem.message) for name in names))


def _check_request_size(requests: Sequence[NewTopic], defaults: TopicDefaults) -> None:
    """Before anything is placed: a count that a peer made up must not cost us memory."""
    total = 0
    for request in requests:
        if request.assignments:
            total += len(request.assignments)
        else:
            total += defaults.partitions if request.partitions == -1 else max(request.partitions, 0)
    if total > PARTITIONS_PER_REQUEST_MAX:
        raise ApiError(ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request.")


def never_creatable(times: Mapping[str, int]) -> list[TopicResult]:
    """What is refused before the controller is asked at all."""
    duplicates = [
        TopicResult(name, ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        for name, count in times.items()
        if count > 1
    ]
    if times.get(_METADATA_TOPIC) == 1:
        message = f"Creation of internal topic {_METADATA_TOPIC} is prohibited."
        duplicates.append(TopicResult(_METADATA_TOPIC, ErrorCode.INVALID_REQUEST, message))
    return duplicates


def _new_topic(
    image: ClusterImage,
    request: NewTopic,
    defaults: TopicDefaults,
    check_configs: ConfigCheck,
    random: Random,
) -> TopicImage:
    _check_name(image, request.name)
    nulls = [name for name, value in request.configs.items() if value is None]
    if nulls:
        message = f"Null value not supported for topic configs: {','.join(nulls)}"
        raise ApiError(ErrorCode.INVALID_CONFIG, message)
    if request.configs:
        check_configs(ConfigResource(ConfigKind.TOPIC, request.name), _texts(request.configs))
    manual = bool(request.assignments)
    replicas = _assigned(image, request) if manual else _placed(image, request, defaults, random)
    return TopicImage(request.name, new_topic_id(image, random), first_states(image, 0, replicas))


def _check_name(image: ClusterImage, name: str) -> None:
    if name in image.topics:
        raise ApiError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    problem = topic_name_problem(name)
    if problem is not None:
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}")
    other = image.names_folded.get(name.replace(".", "_")) if "." in name or "_" in name else None
    if other is not None:
        message = f"Topic '{name}' collides with existing topic: {other}"
        raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)


def _assigned(image: ClusterImage, request: NewTopic) -> list[tuple[int, ...]]:
    prefix = "A manual partition assignment was specified, but"
    if request.replication_factor != -1:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"{prefix} replication factor was not set to -1.")
    if request.partitions != -1:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"{prefix} numPartitions was not set to -1.")
    found: dict[int, tuple[int, ...]] = {}
    replication_factor = None
    for partition, replicas in ((a.partition, a.replicas) for a in request.assignments):
        if partition in found:
            message = f"Found multiple manual partition assignments for partition {partition}"
            raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
        check_replicas(image, partition, replicas, replication_factor)
        replication_factor = len(replicas)
        found[partition] = replicas
    if set(found) != set(range(len(found))):
        message = "partitions should be a consecutive 0-based integer sequence"
        raise ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
    return [found[index] for index in range(len(found))]


def _placed(
    image: ClusterImage, request: NewTopic, defaults: TopicDefaults, random: Random
) -> list[tuple[int, ...]]:
    if request.replication_factor < -1 or request.replication_factor == 0:
        message = "Replication factor must be larger than 0, or -1 to use the default value."
        raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, message)
    if request.partitions < -1 or request.partitions == 0:
        message = "Number of partitions was set to an invalid non-positive value."
        raise ApiError(ErrorCode.INVALID_PARTITIONS, message)
    partitions = defaults.partitions if request.partitions == -1 else request.partitions
    factor = defaults.replication_factor if request.replication_factor == -1 else request.replication_factor
    try:
        return place(image.brokers.values(), partitions, factor, random)
    except ApiError as problem:
        message = f"Unable to replicate the partition {factor} time(s): {problem.message}"
        raise ApiError(problem.code, message) from None


def new_topic_id(image: ClusterImage, random: Random) -> bytes:
    """Random, of version 4; as in Kafka never one whose text begins with '-', which tools take for a flag."""
    while True:
        raw = bytearray(random.bytes(16))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        topic_id = bytes(raw)
        begins_with_dash = raw[0] >> 2 == 0b111110
        if not begins_with_dash and topic_id not in RESERVED_UUIDS and topic_id not in image.topic_names:
            return topic_id


def _texts(configs: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in configs.items() if value is not None}


def _created(topic: TopicImage, configs: Mapping[str, str]) -> TopicResult:
    return TopicResult(
        topic.name,
        topic_id=topic.id,
        partitions=len(topic.partitions),
        replication_factor=topic.replication_factor,
        configs=configs,
    )


def topic_writes(image: ClusterImage, topic: TopicImage, configs: Mapping[str, str]) -> list[Write]:
    """Settings first: whoever sees the topic's node finds them. Kafka writes them even if empty."""
    resource = ConfigResource(ConfigKind.TOPIC, topic.name)
    return [
        Put(tree.config_path(resource), encode_config(configs)),
        Create(tree.topic_path(topic.name), encode_topic(topic)),
        Create(f"{tree.topic_path(topic.name)}/partitions"),
        *partition_writes(image, topic.name, topic.partitions),
    ]


def topic_deltas(topic: TopicImage, configs: Mapping[str, str]) -> list[Delta]:
    created: list[Delta] = [TopicCreated(topic)]
    if configs:
        created.append(ConfigChanged(ConfigResource(ConfigKind.TOPIC, topic.name), configs))
    return created
