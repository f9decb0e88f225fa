"""Other clients' codecs and batch readers, to compare ours with."""

from __future__ import annotations

import warnings

import aiokafka.codec as aiokafka_codec
from aiokafka.record.default_records import DefaultRecordBatchBuilder as AiokafkaBuilder
from aiokafka.record.memory_records import MemoryRecords as AiokafkaRecords

with warnings.catch_warnings():
    # kafka-python's import uses a deprecated call of importlib; it is not what is tested here.
    warnings.simplefilter("ignore", DeprecationWarning)
    import kafka.codec as kafka_codec
    from kafka.partitioner.default import murmur2 as kafka_murmur2
    from kafka.record.memory_records import MemoryRecords as KafkaPythonRecords
    from kafka.record.memory_records import MemoryRecordsBuilder as KafkaPythonBuilder

__all__ = [
    "AiokafkaBuilder",
    "AiokafkaRecords",
    "KafkaPythonBuilder",
    "KafkaPythonRecords",
    "aiokafka_codec",
    "kafka_codec",
    "kafka_murmur2",
]
