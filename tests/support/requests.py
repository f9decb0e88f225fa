"""Requests that the raw tests send again and again, built with kio's classes."""

from __future__ import annotations

from datetime import timedelta
from types import ModuleType
from typing import Any

from kio.index import load_payload_module
from kio.static.constants import EntityType

PRODUCE, FETCH, LIST_OFFSETS, METADATA, API_VERSIONS, INIT_PRODUCER_ID = 0, 1, 2, 3, 18, 22


def request_module(api_key: int, version: int) -> ModuleType:
    return load_payload_module(api_key, version, EntityType.request)


def produce_request(
    topic: str, records: bytes | None, *, partition: int = 0, acks: int = 1, version: int = 9
) -> Any:
    schema = request_module(PRODUCE, version)
    data = schema.PartitionProduceData(index=partition, records=records)
    return schema.ProduceRequest(
        acks=acks,
        timeout=timedelta(seconds=10),
        topic_data=(schema.TopicProduceData(name=topic, partition_data=(data,)),),
    )


def fetch_request(
    topic: str,
    offset: int,
    *,
    partition: int = 0,
    max_wait_ms: int = 0,
    min_bytes: int = 1,
    max_bytes: int = 50_000_000,
    partition_max_bytes: int = 1_048_576,
    version: int = 11,
) -> Any:
    schema = request_module(FETCH, version)
    data = schema.FetchPartition(
        partition=partition, fetch_offset=offset, partition_max_bytes=partition_max_bytes
    )
    return schema.FetchRequest(
        max_wait=timedelta(milliseconds=max_wait_ms),
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        topics=(schema.FetchTopic(topic=topic, partitions=(data,)),),
        forgotten_topics_data=(),
        replica_id=-1,
        session_id=0,
        session_epoch=-1,
        isolation_level=0,
        rack_id="",
    )


def list_offsets_request(topic: str, timestamp_ms: int, *, partition: int = 0, version: int = 7) -> Any:
    schema = request_module(LIST_OFFSETS, version)
    data = schema.ListOffsetsPartition(partition_index=partition, timestamp=timestamp_ms)
    return schema.ListOffsetsRequest(
        replica_id=-1,
        isolation_level=0,
        topics=(schema.ListOffsetsTopic(name=topic, partitions=(data,)),),
    )


def metadata_request(topic: str, *, auto_create: bool, version: int = 9) -> Any:
    schema = request_module(METADATA, version)
    return schema.MetadataRequest(
        topics=(schema.MetadataRequestTopic(name=topic),),
        allow_auto_topic_creation=auto_create,
        include_cluster_authorized_operations=False,
        include_topic_authorized_operations=False,
    )


def api_versions_request(version: int = 3) -> Any:
    schema = request_module(API_VERSIONS, version)
    return schema.ApiVersionsRequest(client_software_name="raw", client_software_version="1")


def init_producer_id_request(version: int = 4) -> Any:
    schema = request_module(INIT_PRODUCER_ID, version)
    return schema.InitProducerIdRequest(
        transactional_id=None, transaction_timeout=timedelta(minutes=1), producer_id=-1, producer_epoch=-1
    )


def partition_of(response: Any) -> Any:
    """The only partition in the answer to Produce, Fetch or ListOffsets."""
    (topic,) = response.responses if hasattr(response, "responses") else response.topics
    for name in ("partition_responses", "partitions"):
        if hasattr(topic, name):
            (partition,) = getattr(topic, name)
            return partition
    raise AssertionError(f"no partition in {response}")
