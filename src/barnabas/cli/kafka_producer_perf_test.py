"""kafka-producer-perf-test: how fast records are taken. Kafka's ProducerPerformance 4.3: flags and lines."""

from __future__ import annotations

import argparse
import json
import random
import string
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from barnabas.cli.parts.producer_perf_statistics import Throttle, Totals, Window
from barnabas.cli.support.argument_parser import KafkaArgumentParser
from barnabas.cli.support.connection_warnings import ConnectionWarnings
from barnabas.cli.support.librdkafka import (
    PRODUCER_DEFAULTS,
    ConfigError,
    build,
    check_resolvable,
    exception_name,
    print_metrics,
    sentence,
)
from barnabas.cli.support.options import OptionError
from barnabas.cli.support.properties import properties_file
from barnabas.cli.support.running import run

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message

_TRANSACTION_MS = 3000
_POOL_SIZE = 1 << 20
_USAGE = """kafka-producer-perf-test
       [-h] [--bootstrap-server BOOTSTRAP-SERVER] --topic TOPIC
       --num-records NUM-RECORDS [--payload-delimiter PAYLOAD-DELIMITER]
       --throughput THROUGHPUT
       [--producer-props PROP-NAME=PROP-VALUE [PROP-NAME=PROP-VALUE ...]]
       [--command-property PROP-NAME=PROP-VALUE [PROP-NAME=PROP-VALUE ...]]
       [--producer.config CONFIG-FILE] [--command-config CONFIG-FILE]
       [--print-metrics] [--transactional-id TRANSACTIONAL-ID]
       [--transaction-duration-ms TRANSACTION-DURATION]
       [--warmup-records WARMUP-RECORDS] [--reporting-interval INTERVAL-MS]
       (--record-size RECORD-SIZE | --payload-file PAYLOAD-FILE |
       --payload-monotonic)"""


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_tool, arguments)


def _tool(arguments: Sequence[str]) -> int:
    parser = _parser()
    if not arguments:
        parser.print_help()
        return 0
    options = parser.parse_args(arguments)
    _check(parser, options)
    properties = _properties(options)
    payload = _payloads(options)
    try:
        check_resolvable(properties.get("bootstrap.servers", ""))
        test = Test(options, properties, payload)
    except ConfigError as error:
        raise OptionError(error.told("producer")) from None
    test.run()
    return 0


def _parser() -> KafkaArgumentParser:
    parser = KafkaArgumentParser(
        prog="kafka-producer-perf-test",
        usage=_USAGE,
        description="Measures how fast a topic takes records.",
        allow_abbrev=False,
    )
    parser.java_types = {"--num-records": "Long", "--throughput": "Double"}
    parser.add_argument("--bootstrap-server", help="where to find the cluster")
    parser.add_argument("--topic", required=True, help="the topic to write to")
    parser.add_argument("--num-records", required=True, type=int, help="how many records to send")
    parser.add_argument(
        "--payload-delimiter", default="\\n", help="what separates payloads in --payload-file"
    )
    parser.add_argument("--throughput", required=True, type=float, help="records per second; -1: no limit")
    parser.add_argument("--producer-props", nargs="+", help="(DEPRECATED) use --command-property")
    parser.add_argument("--command-property", nargs="+", help="producer settings, as key=value")
    parser.add_argument("--producer.config", dest="producer_config", help="(DEPRECATED) use --command-config")
    parser.add_argument("--command-config", help="file with producer settings")
    parser.add_argument("--print-metrics", action="store_true", help="print the client's metrics at the end")
    parser.add_argument("--transactional-id", help="send in transactions under this id")
    parser.add_argument("--transaction-duration-ms", type=int, help="commit after so long (default 3000)")
    parser.add_argument(
        "--warmup-records", type=int, default=0, help="records left out of the steady-state line"
    )
    parser.add_argument(
        "--reporting-interval", type=int, default=5000, help="milliseconds between two progress lines"
    )
    payload = parser.add_mutually_exclusive_group(required=True)
    payload.add_argument("--record-size", type=int, help="bytes of each record, random capitals")
    payload.add_argument("--payload-file", help="file to choose payloads from")
    payload.add_argument("--payload-monotonic", action="store_true", help="payloads are 0, 1, 2, …")
    return parser


def _check(parser: KafkaArgumentParser, options: argparse.Namespace) -> None:
    for name in ("num_records", "record_size", "transaction_duration_ms", "reporting_interval"):
        value = getattr(options, name)
        if value is not None and value <= 0:
            parser.error(f"--{name.replace('_', '-')} should be greater than zero.")
    if options.warmup_records >= options.num_records:
        parser.error(
            "The value for --warmup-records must be strictly fewer than the number of records in the test, "
            "--num-records."
        )
    if options.producer_props and options.command_property:
        parser.error("--command-property and --producer-props cannot be specified together.")
    if options.producer_config and options.command_config:
        parser.error("--command-config and --producer.config cannot be specified together.")
    sources = ("bootstrap_server", "command_property", "producer_props", "producer_config", "command_config")
    if not any(getattr(options, name) for name in sources):
        parser.error(
            "At least one of --bootstrap-server, --command-property, --producer-props, --producer.config or "
            "--command-config must be specified."
        )


def _properties(options: argparse.Namespace) -> dict[str, str]:
    for old, new in (("producer-props", "command-property"), ("producer.config", "command-config")):
        if getattr(options, old.replace("-", "_").replace(".", "_")):
            print(
                f"Option --{old} has been deprecated and will be removed in a future version. "
                f"Use --{new} instead.",
                file=sys.stderr,
            )
    properties = properties_file(options.command_config or options.producer_config)
    for pair in options.command_property or options.producer_props or ():
        pieces = pair.split("=")
        if len(pieces) != 2:
            raise OptionError(f"java.lang.IllegalArgumentException: Invalid property: {pair}")
        properties[pieces[0]] = pieces[1]
    if options.bootstrap_server:
        properties["bootstrap.servers"] = options.bootstrap_server
    properties.setdefault("client.id", "perf-producer-client")
    if options.transactional_id:
        properties["transactional.id"] = options.transactional_id
    elif options.transaction_duration_ms and "transactional.id" not in properties:
        properties["transactional.id"] = f"performance-producer-{uuid.uuid4()}"
    return properties


def _payloads(options: argparse.Namespace) -> Callable[[int], bytes]:
    """The payload of the n-th record. The same every run: the seed is fixed."""
    chance = random.Random(0)
    if options.payload_monotonic:
        return lambda index: b"%d" % index
    if options.payload_file is not None:
        choices = _read_payloads(options.payload_file, options.payload_delimiter.replace("\\n", "\n"))
        return lambda _: chance.choice(choices)
    size: int = options.record_size
    # Drawing every letter of every record would measure the drawing.
    pool = "".join(chance.choices(string.ascii_uppercase, k=_POOL_SIZE)).encode()
    pool *= size // _POOL_SIZE + 2
    return lambda _: pool[(start := chance.randrange(_POOL_SIZE)) : start + size]


def _read_payloads(path: str, delimiter: str) -> list[bytes]:
    print(f"Reading payloads from: {Path(path).absolute()}")
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        text = ""
    if not text:
        raise OptionError("java.lang.IllegalArgumentException: File does not exist or empty file provided.")
    payloads = text.removesuffix(delimiter).split(delimiter)
    print(f"Number of records read: {len(payloads)}")
    return [payload.encode() for payload in payloads]


class Test:
    """One run: send, count acknowledgements as they come, print."""

    def __init__(
        self, options: argparse.Namespace, properties: dict[str, str], payload: Callable[[int], bytes]
    ) -> None:
        import confluent_kafka

        self._options = options
        self._payload = payload
        self._client_id = properties["client.id"]
        self._transactional = "transactional.id" in properties
        self._metrics: dict[str, Any] = {}
        arguments: dict[str, Any] = {
            "error_cb": ConnectionWarnings(f"Producer clientId={self._client_id}").librdkafka,
            "stats_cb": self._keep_metrics,
            "statistics.interval.ms": 500 if options.print_metrics else 0,
        }
        self._producer = build(confluent_kafka.Producer, PRODUCER_DEFAULTS, properties, **arguments)

    def run(self) -> None:
        options = self._options
        if options.warmup_records:
            print(
                f"Warmup first {options.warmup_records} records. "
                "Steady state results will print after the complete test summary."
            )
        if self._transactional:
            self._producer.init_transactions()
        now_ms = time.time() * 1000
        self._window = Window(now_ms)
        self._totals = Totals.begin(options.num_records, now_ms)
        self._steady: Totals | None = None
        self._send_all()
        self._producer.flush()
        now_ms = time.time() * 1000
        print(self._totals.line(now_ms))
        if self._steady is not None:
            print(self._steady.line(now_ms))
        if options.print_metrics:
            self._producer.poll(1.0)
            print_metrics("producer", self._client_id, self._metrics)

    def _send_all(self) -> None:
        options = self._options
        throttle = Throttle(options.throughput, time.monotonic())
        duration_seconds = (options.transaction_duration_ms or _TRANSACTION_MS) / 1000
        transaction_since: float | None = None
        for index in range(options.num_records):
            now_seconds = time.monotonic()
            if self._transactional and transaction_since is None:
                self._producer.begin_transaction()
                transaction_since = now_seconds
            self._send(self._payload(index))
            if transaction_since is not None and now_seconds - transaction_since >= duration_seconds:
                self._producer.commit_transaction()
                transaction_since = None
            pause_seconds = throttle.pause_seconds(index, now_seconds)
            if pause_seconds:
                time.sleep(pause_seconds)
        if transaction_since is not None:
            self._producer.commit_transaction()

    def _send(self, payload: bytes) -> None:
        while True:
            try:
                self._producer.produce(self._options.topic, payload, on_delivery=self._delivered)
            except BufferError:
                self._producer.poll(0.01)
            else:
                self._producer.poll(0)
                return

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            print(f"{exception_name(error)}: {sentence(error)}", file=sys.stderr)
            return
        latency_ms = int((message.latency() or 0.0) * 1000)
        size = len(message.value() or b"")
        now_ms = time.time() * 1000
        warmup = self._options.warmup_records
        if warmup and self._steady is None and self._totals.window.count >= warmup:
            self._steady = Totals.begin(self._options.num_records - warmup, now_ms, steady=True)
        if self._steady is not None:
            self._steady.add(latency_ms, size)
        self._totals.add(latency_ms, size)
        self._window.add(latency_ms, size)
        if now_ms - self._window.start_ms >= self._options.reporting_interval:
            print(self._window.line(now_ms), flush=True)
            self._window = Window(now_ms)

    def _keep_metrics(self, text: str) -> None:
        self._metrics = json.loads(text)
