"""When a leader must look inside batches, and what it then appends in their place."""

from __future__ import annotations

from barnabas.log.checks import Batches, sound_batches
from barnabas.log.config import LONG_MAX, LogConfig
from barnabas.log.producer_entry import Origin
from barnabas.model.errors import ApiError
from barnabas.model.ids import TopicPartition
from barnabas.records.batch import (
    CREATE_TIME,
    HEADER_SIZE,
    LOG_APPEND_TIME,
    headers,
    read_header,
    set_max_timestamp_and_type,
)
from barnabas.records.compress import Codec
from barnabas.records.validate import Rules, needs_walk, validate_batch

_CODECS = {
    "uncompressed": Codec.NONE,
    "gzip": Codec.GZIP,
    "snappy": Codec.SNAPPY,
    "lz4": Codec.LZ4,
    "zstd": Codec.ZSTD,
}

# What is looked into sooner than somebody else is asked. What is compressed may unfold to anything.
SHORT_LOOK_BYTES = 16 << 10


def must_inspect(config: LogConfig) -> bool:
    """True if every batch of the topic needs at least a question; else only a late or odd timestamp does."""
    return (
        config.compact
        or config.compression_type != "producer"
        or config.message_timestamp_before_max_ms < LONG_MAX
    )


def is_known(batches: Batches, config: LogConfig, origin: Origin) -> bool:
    """What a coordinator of this broker made a moment ago has keys and is dated now; it may only need another
    codec."""
    if origin is not Origin.COORDINATOR:
        return False
    codec = _CODECS.get(config.compression_type)
    return codec is None or all(header.codec == codec for _, header in batches)


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


class LongLook:
    """A client's batch that must be opened, by a worker: a megabyte takes many milliseconds. What it finds is
    appended, or raised, when its turn comes."""

    __slots__ = ("_config", "_found", "_now_ms", "_partition", "_records")

    def __init__(
        self, records: memoryview, config: LogConfig, partition: TopicPartition, now_ms: int
    ) -> None:
        self._records = records
        self._config = config
        self._partition = partition
        self._now_ms = now_ms
        self._found: memoryview | ApiError | None = None

    def run(self) -> None:
        view, limit = self._records, self._config.max_message_bytes
        try:
            batches = sound_batches(view, 0, len(view), limit, Origin.CLIENT, self._partition)
            self._found, _ = inspected(
                view, batches, self._config, self._partition, self._now_ms, Origin.CLIENT
            )
        except ApiError as error:
            self.fail(error)

    def fail(self, error: ApiError) -> None:
        self._found = error

    def result(self) -> memoryview:
        assert self._found is not None, "nobody has looked yet"
        if isinstance(self._found, ApiError):
            raise self._found
        return self._found


def takes_long(records: memoryview, config: LogConfig, partition: TopicPartition, now_ms: int) -> bool:
    """Whether these are a batch that has to be opened, and it may take long."""
    if len(records) < HEADER_SIZE:
        return False
    header = read_header(records, 0)
    if header.size != len(records) or (header.codec == Codec.NONE and header.size <= SHORT_LOOK_BYTES):
        return False
    return needs_walk(header, _rules(config, partition, now_ms, Origin.CLIENT))


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
