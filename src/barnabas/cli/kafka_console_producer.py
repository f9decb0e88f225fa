"""kafka-console-producer: each line of standard input becomes a record.

Kafka's ConsoleProducer 4.3, and the older spellings `--broker-list`, `--property`, `--producer-property`,
`--producer.config`. Only its own line reader can be named: there are no Java classes here.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from barnabas.cli.parts.console_producer_options import (
    PARSER,
    checked,
    producer_properties,
    reader_properties,
)
from barnabas.cli.parts.console_producer_readers import InputRecord, LineReader, ReaderError
from barnabas.cli.support.connection_warnings import ConnectionWarnings
from barnabas.cli.support.failures import java_name
from barnabas.cli.support.librdkafka import (
    ERRORS,
    PRODUCER_DEFAULTS,
    ConfigError,
    build,
    check_resolvable,
    exception_name,
    sentence,
)
from barnabas.cli.support.log_lines import log
from barnabas.cli.support.options import Options
from barnabas.cli.support.running import parse, run
from barnabas.cli.support.topic_metadata import RefusedError, TopicMetadata
from barnabas.model.errors import ApiError, ErrorCode

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message

_CALLBACK = "org.apache.kafka.clients.producer.internals.ErrorLoggingCallback"
_ILLEGAL_STATE = "java.lang.IllegalStateException"
_RETRY_SECONDS = (0.1, 0.2, 0.4, 0.8, 1.0)


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_tool, arguments)


def _tool(arguments: Sequence[str]) -> int:
    options = parse(PARSER, arguments)
    servers = checked(options)
    try:
        reader = LineReader.configured(reader_properties(options))
        check_resolvable(servers)
        session = Session(producer_properties(options, servers), options)
    except ReaderError as error:
        print(f"org.apache.kafka.common.KafkaException: {error}", file=sys.stderr)
        return 1
    except ConfigError as error:
        print(error.told("producer"), file=sys.stderr)
        return 1
    return _copy(reader, session)


def _copy(reader: LineReader, session: Session) -> int:
    try:
        for number, line in enumerate(_lines(), start=1):
            if not session.send(reader.read(line, number)):
                return 1
    except ReaderError as error:
        print(f"org.apache.kafka.common.KafkaException: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        session.close()
    return 0


def _lines() -> Iterator[str]:
    """Standard input, line by line; a prompt where a person sits at both ends. Bytes that are not UTF-8 go
    through as they are."""
    prompt = sys.stdin.isatty() and sys.stdout.isatty()
    text = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="surrogateescape")
    try:
        while True:
            if prompt:
                print(">", end="", flush=True)
            line = text.readline()
            if not line:
                return
            yield line.removesuffix("\n")
    finally:
        text.detach()


class Session:
    """One producer and one topic. Failures of single records are logged and the next line is read, as Kafka
    does; with --sync the first one ends the session."""

    def __init__(self, properties: dict[str, str], options: Options) -> None:
        import confluent_kafka

        self._topic = options.text("topic")
        self._sync = options.has("sync")
        self._max_block_ms = options.integer("max-block-ms") or 0
        self._who = f"Producer clientId={properties['client.id']}"
        self._topic_is_there = False
        warnings = ConnectionWarnings(self._who)
        self._metadata = TopicMetadata(self._who, properties, warnings)
        self._producer = build(
            confluent_kafka.Producer, PRODUCER_DEFAULTS, properties, error_cb=warnings.librdkafka
        )
        self._failure: str | None = None
        self._transactional = "transactional.id" in properties

    def send(self, record: InputRecord) -> bool:
        """False when the session must end."""
        self._failure = None
        problem = None if self._topic_is_there else self._wait_for_topic()
        if problem is None and self._transactional:
            # Nobody begins a transaction here, so Kafka's producer refuses the first record.
            rule = "to transaction before completing a call to initTransactions"
            print(f"{_ILLEGAL_STATE}: Cannot add partition {self._topic}-0 {rule}", file=sys.stderr)
            return False
        if problem is None:
            self._topic_is_there = True
            self._metadata.close()
            self._enqueue(record)
        else:
            self._failed(record, problem)
        if self._sync and self._failure is None:
            self._producer.flush()
        if self._sync and self._failure is not None:
            print(f"java.util.concurrent.ExecutionException: {self._failure}", file=sys.stderr)
            return False
        return True

    def close(self) -> None:
        self._metadata.close()
        if self._topic_is_there:
            self._producer.flush()

    def _enqueue(self, record: InputRecord) -> None:
        import confluent_kafka

        def delivered(error: KafkaError | None, _: Message) -> None:
            if error is not None:
                self._failed(record, f"{exception_name(error)}: {sentence(error)}")

        arguments: dict[str, Any] = {"headers": record.headers} if record.headers else {}
        while True:
            try:
                self._producer.produce(
                    self._topic, record.value, record.key, on_delivery=delivered, **arguments
                )
            except BufferError:
                self._producer.poll(0.1)
            except confluent_kafka.KafkaException as refusal:
                delivered(refusal.args[0], confluent_kafka.Message())
                return
            else:
                self._producer.poll(0)
                return

    def _wait_for_topic(self) -> str | None:
        """Ask until the topic has leaders; what Kafka throws when that takes longer than max.block.ms."""
        deadline = time.monotonic() + self._max_block_ms / 1000
        attempt = 0
        while self._metadata.is_available and (left := deadline - time.monotonic()) > 0:
            try:
                states = self._metadata.ask([self._topic], left)
            except RefusedError as refusal:
                return str(refusal)
            if states is not None and not states[0].error:
                return None
            if states is not None and not states[0].may_appear:
                return self._complaint(states[0].error)
            time.sleep(min(_RETRY_SECONDS[min(attempt, 4)], max(0.0, deadline - time.monotonic())))
            attempt += 1
        if not self._metadata.is_available:
            return None  # then it is librdkafka's to find out
        timeout = f"Topic {self._topic} not present in metadata after {self._max_block_ms} ms."
        return f"{ERRORS}TimeoutException: {timeout}"

    def _complaint(self, code: ErrorCode) -> str:
        sentence = code.sentence
        if code is ErrorCode.INVALID_TOPIC_EXCEPTION:
            sentence = f"Invalid topics: [{self._topic}]"
        return f"{java_name(ApiError(code))}: {sentence}"

    def _failed(self, record: InputRecord, problem: str) -> None:
        self._failure = problem
        if self._sync:
            return
        key = "null" if record.key is None else f"{len(record.key)} bytes"
        value = "null" if record.value is None else f"{len(record.value)} bytes"
        log(
            "ERROR",
            f"Error when sending message to topic {self._topic} with key: {key}, value: {value} with error:",
            _CALLBACK,
        )
        print(problem, file=sys.stderr, flush=True)
