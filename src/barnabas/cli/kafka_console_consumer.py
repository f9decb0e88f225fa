"""kafka-console-consumer: records on standard output, one per line.

Kafka's ConsoleConsumer 4.3, and the older spellings `--whitelist`, `--new-consumer`, `--property`,
`--consumer-property`, `--consumer.config`. Without --group it is the only member of a group
`console-consumer-NNNNN` that nobody else will ever join; with --partition there is no group.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from barnabas.cli.parts.console_consumer_formatters import FormatterError, OutputRecord
from barnabas.cli.parts.console_consumer_options import PARSER, Request, request_of
from barnabas.cli.support.legacy_zookeeper import found_in_zookeeper
from barnabas.cli.support.librdkafka import ERRORS, ConfigError, check_resolvable
from barnabas.cli.support.log_lines import log
from barnabas.cli.support.record_source import ReadingError, RecordSource
from barnabas.cli.support.running import parse, run

if TYPE_CHECKING:
    from confluent_kafka import Message

_SOURCE = "org.apache.kafka.tools.consumer.ConsoleConsumer"
_NEW_PROTOCOL = (
    "The consumer rebalance protocol (KIP-848) is production-ready! "
    "Set group.protocol=consumer to try it out. "
    "See https://kafka.apache.org/documentation/#consumer_rebalance_protocol"
)
_BATCH = 500
_TIMESTAMP_TYPES = {1: "CreateTime", 2: "LogAppendTime"}


class Terminated(Exception):  # noqa: N818  # not an error
    """SIGTERM: report and leave, as Kafka's shutdown hook does."""


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_tool, arguments)


def _tool(arguments: Sequence[str]) -> int:
    request = request_of(parse(PARSER, found_in_zookeeper(arguments)))
    try:
        check_resolvable(request.selection.properties["bootstrap.servers"])
        _check_isolation(request.selection.properties["isolation.level"])
        _check_reset(request.selection.properties["auto.offset.reset"])
        source = RecordSource(request.selection, request.timeout_ms)
    except ConfigError as error:
        return _unknown_error(error.told("consumer"))
    if request.selection.partition is None:
        _announce_protocol(request.selection.properties.get("group.protocol"))
    return _read(request, source)


def _read(request: Request, source: RecordSource) -> int:
    try:
        source.begin()
    except ValueError as error:
        source.close()
        return _unknown_error(f"java.lang.IllegalArgumentException: {error}")
    signal.signal(signal.SIGTERM, _terminate)
    printer = Printer(request)
    try:
        code = printer.copy(source)
    finally:
        source.close()
        print(f"Processed a total of {printer.count} messages", file=sys.stderr)
        if request.system_test_events and not printer.output_is_gone:
            print("shutdown_complete", flush=True)
    return code if printer.failure is None else _unknown_error(printer.failure)


def _unknown_error(sentence: str) -> int:
    log("ERROR", "Unknown error when running consumer: ", _SOURCE)
    print(sentence, file=sys.stderr)
    return 1


def _announce_protocol(chosen: str | None) -> None:
    if (chosen or "classic").lower() == "classic":
        print(_NEW_PROTOCOL, file=sys.stderr, flush=True)


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    raise Terminated


def _check_isolation(level: str) -> None:
    known = ("read_committed", "read_uncommitted")
    if level not in known:
        raise ConfigError(
            f"Invalid value {level} for configuration isolation.level: "
            f"String must be one of: {', '.join(known)}"
        )


def _check_reset(policy: str) -> None:
    if policy not in {"earliest", "latest", "none"} and not policy.startswith("by_duration:"):
        name = "for configuration auto.offset.reset"
        raise ConfigError(
            f"Invalid value {policy} {name}: Invalid value `{policy}` {name}. The value must be either "
            "'earliest', 'latest', 'none' or of the format 'by_duration:<PnDTnHnMn.nS.>'."
        )


class Printer:
    def __init__(self, request: Request) -> None:
        self._request = request
        self.count = 0
        self.output_is_gone = False
        self.failure: str | None = None  # told after the count, as Kafka does

    def copy(self, source: RecordSource) -> int:
        """Until the count, the silence or the reader of our output says enough; the exit code."""
        try:
            self._copy(source)
        except ReadingError as error:
            log("ERROR", "Error processing message, terminating consumer process: ", _SOURCE)
            print(error, file=sys.stderr)
        except FormatterError as error:
            self.failure = f"{ERRORS}SerializationException: {error}"
        except KeyboardInterrupt:
            return 130
        except Terminated:
            return 143
        except BrokenPipeError:
            self.output_is_gone = True
            print("Unable to write to standard out, closing consumer.", file=sys.stderr)
            _abandon_output()
        return 0

    def _copy(self, source: RecordSource) -> None:
        output = sys.stdout.buffer
        limit = self._request.messages_max
        while limit is None or self.count < limit:
            for message in source.receive(_BATCH if limit is None else min(_BATCH, limit - self.count)):
                self.count += 1
                output.write(self._formatted(message))
                source.processed(message)
            output.flush()

    def _formatted(self, message: Message) -> bytes:
        try:
            return self._request.formatter.format(_output_record(message))
        except FormatterError as error:
            if not self._request.skip_errors:
                raise
            log("ERROR", "Error processing message, skipping this message: ", _SOURCE)
            print(f"{ERRORS}SerializationException: {error}", file=sys.stderr)
            return b""


def _output_record(message: Message) -> OutputRecord:
    kind, timestamp_ms = message.timestamp()
    name = _TIMESTAMP_TYPES.get(kind)
    headers: Any = message.headers() or []
    partition, offset = message.partition(), message.offset()
    assert partition is not None
    assert offset is not None
    timestamp = None if name is None else f"{name}:{timestamp_ms}"
    return OutputRecord(partition, offset, timestamp, message.key(), message.value(), headers)


def _abandon_output() -> None:
    """Python would complain of the closed pipe once more when it flushes at exit."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
