"""When a leader must look inside batches, and what it then appends in their place."""

from __future__ import annotations

from barnabas.log.checks import Batches
from barnabas.log.config import LONG_MAX, LogConfig
from barnabas.log.producer_entry import Origin
from barnabas.model.ids import TopicPartition
from barnabas.records.batch import CREATE_TIME, LOG_APPEND_TIME, headers, set_max_timestamp_and_type
from barnabas.records.compress import Codec
from barnabas.records.validate import Rules, needs_walk, validate_batch

_CODECS = {
    "uncompressed": Codec.NONE,
    "gzip": Codec.GZIP,
    "snappy": Codec.SNAPPY,
    "lz4": Codec.LZ4,
    "zstd": Codec.ZSTD,
}


def must_inspect(config: LogConfig) -> bool:
    """True if every batch of the topic needs at least a question; else only a late or odd timestamp does."""
    return (
        config.compact
        or config.compression_type != "producer"
        or config.message_timestamp_before_max_ms < LONG_MAX
    )


def must_inspect_ours(config: LogConfig) -> bool:
    """What coordinators append has keys and the time of day already; only its codec may have to change."""
    return config.compression_type != "producer"


def inspected(
    view: memoryview,
    batches: Batches,
    config: LogConfig,
    partition: TopicPartition,
    now_ms: int,
    origin: Origin,
) -> tuple[memoryview, Batches]:
    """The bytes to append and their batches: the ones given, or new ones where the codec changes."""
    rules = _rules(config, partition, now_ms, origin)
    pieces: list[memoryview | bytearray] = []
    replaced = False
    for position, header in batches:
        piece: memoryview | bytearray = view[position : position + header.size]
        if needs_walk(header, rules):
            validated = validate_batch(view, position, header, rules)
            if validated.replacement is not None:
                piece, replaced = validated.replacement, True
            set_max_timestamp_and_type(piece, 0, validated.max_timestamp, validated.timestamp_type)
        pieces.append(piece)
    if replaced:
        view = memoryview(bytearray().join(pieces))
        return view, list(headers(view, 0, len(view)))
    # A corrected timestamp is in the bytes, so the headers are read again.
    start, (last, last_header) = batches[0][0], batches[-1]
    return view, list(headers(view, start, last + last_header.size))


def _rules(config: LogConfig, partition: TopicPartition, now_ms: int, origin: Origin) -> Rules:
    codec = _CODECS.get(config.compression_type)
    return Rules(
        partition,
        now_ms,
        compacted=config.compact,
        timestamp_type=LOG_APPEND_TIME if config.log_append_time else CREATE_TIME,
        before_max_ms=config.message_timestamp_before_max_ms,
        after_max_ms=config.message_timestamp_after_max_ms,
        target_codec=codec,
        target_level=_level(codec, config),
        max_message_bytes=config.max_message_bytes,
        from_client=origin is Origin.CLIENT,
    )


def _level(codec: Codec | None, config: LogConfig) -> int | None:
    match codec:
        case Codec.GZIP:
            return config.compression_gzip_level
        case Codec.LZ4:
            return config.compression_lz4_level
        case Codec.ZSTD:
            return config.compression_zstd_level
        case _:
            return None
