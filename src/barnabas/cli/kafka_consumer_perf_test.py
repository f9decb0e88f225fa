"""kafka-consumer-perf-test: how fast records are read. Kafka's ConsumerPerformance 4.3: flags and lines.

Without --group it is the only member of a group `perf-consumer-NNNNN`. What was read is committed, as there.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from barnabas.cli.support.connecting import NO_ZOOKEEPER
from barnabas.cli.support.legacy_zookeeper import found_in_zookeeper
from barnabas.cli.support.librdkafka import ConfigError, check_resolvable, print_metrics
from barnabas.cli.support.options import Option, OptionError, Options, Parser
from barnabas.cli.support.properties import properties_of
from barnabas.cli.support.record_source import ReadingError, RecordSource, Selection, topic_pattern
from barnabas.cli.support.running import one_of, parse, run

_BATCH = 2000
_STATISTICS_INTERVAL_MS = 200
_MEGABYTE = 1024 * 1024
_RATES = ", rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"
_DATE_LETTERS = {
    "yyyy": "%Y",
    "yy": "%y",
    "MM": "%m",
    "dd": "%d",
    "HH": "%H",
    "hh": "%I",
    "mm": "%M",
    "ss": "%S",
    "a": "%p",
}

PARSER = Parser(
    "This tool is used to verify the consumer performance.",
    [
        Option("bootstrap-server", "REQUIRED: Where to find the cluster.", "String: server to connect to"),
        Option("broker-list", "Old name of --bootstrap-server.", "String: server to connect to", hidden=True),
        Option("topic", "The topic to read.", "String: topic"),
        Option("include", "Read all topics whose name matches this.", "String: Java regex (String)"),
        Option("group", "The group to read in; without it none is joined.", "String: gid"),
        Option("fetch-size", "max.partition.fetch.bytes.", "Integer: size", "1048576"),
        Option("from-latest", "Start with the newest record where no offset was committed."),
        Option("socket-buffer-size", "receive.buffer.bytes.", "Integer: size", "2097152"),
        Option("consumer.config", "(DEPRECATED) Use --command-config.", "String: config file"),
        Option("command-config", "File with consumer settings.", "String: config file"),
        Option("command-property", "A consumer setting, as key=value.", "String: prop1=val1"),
        Option("print-metrics", "Print the client's metrics at the end."),
        Option("show-detailed-stats", "A line for each interval instead of one for all."),
        Option(
            "timeout",
            "Give up when no record came for so long.",
            "Long: milliseconds",
            "10000",
            argument_optional=True,
        ),
        Option("num-records", "REQUIRED: How many records to read.", "Long: count"),
        Option("messages", "(DEPRECATED) Use --num-records.", "Long: count"),
        Option("reporting-interval", "Milliseconds between two lines.", "Long: interval_ms", "5000"),
        Option(
            "date-format",
            "How times are written, in the letters of java.text.SimpleDateFormat.",
            "String: date format",
            "yyyy-MM-dd HH:mm:ss:SSS",
        ),
        Option("hide-header", "Leave the header line out."),
    ],
    gone={"zookeeper": NO_ZOOKEEPER},
)


@dataclass(slots=True)
class Counts:
    records: int = 0
    size: int = 0


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_tool, arguments)


def _tool(arguments: Sequence[str]) -> int:
    options = parse(PARSER, found_in_zookeeper(arguments))
    _check(options)
    detailed = options.has("show-detailed-stats")
    if not options.has("hide-header"):
        first = "time, threadId" if detailed else "start.time, end.time"
        print(f"{first}, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec{_RATES}")
    if (options.integer("reporting-interval") or 0) <= 0:
        raise OptionError("Reporting interval must be greater than 0.")
    selection = _selection(options)
    try:
        check_resolvable(selection.properties["bootstrap.servers"])
        Test(options, selection).run()
    except ConfigError as error:
        print(error.told("consumer"), file=sys.stderr)
        return 1
    return 0


def _check(options: Options) -> None:
    if sum(options.has(name) for name in ("topic", "include")) != 1:
        raise options.wrong("Exactly one of the following arguments is required: [topic], [include]")
    if sum(options.has(name) for name in ("messages", "num-records")) != 1:
        raise options.wrong("Exactly one of the following arguments is required: [messages], [num-records]")
    if not options.has("broker-list"):
        options.require("bootstrap-server")
    if options.has("consumer.config") and options.has("command-config"):
        raise options.wrong("Options --consumer.config and --command-config cannot be specified together.")
    if options.has("messages"):
        print("Warning: --messages is deprecated. Use --num-records instead.", file=sys.stderr)


def _selection(options: Options) -> Selection:
    properties = properties_of(
        options, one_of(options, "command-config", "consumer.config"), "command-property"
    )
    properties["bootstrap.servers"] = options.value("bootstrap-server") or options.text("broker-list")
    properties["group.id"] = options.value("group") or f"perf-consumer-{random.randrange(100_000)}"
    properties["receive.buffer.bytes"] = options.text("socket-buffer-size")
    properties["max.partition.fetch.bytes"] = options.text("fetch-size")
    properties["auto.offset.reset"] = "latest" if options.has("from-latest") else "earliest"
    properties["check.crcs"] = "false"
    properties.setdefault("client.id", "perf-consumer-client")
    properties.setdefault("isolation.level", "read_uncommitted")
    if options.has("print-metrics"):
        properties["statistics.interval.ms"] = str(_STATISTICS_INTERVAL_MS)
    include = options.value("include")
    pattern = None if include is None else topic_pattern(include)
    return Selection(options.value("topic"), pattern, None, "earliest", properties)


class Test:
    """One run. `read` is what was read in all, `before` what had been when the current interval began."""

    def __init__(self, options: Options, selection: Selection) -> None:
        wanted = options.integer("num-records") or options.integer("messages") or 0
        self._wanted = wanted
        self._timeout_ms = options.integer("timeout") or 0
        self._interval_ms = options.integer("reporting-interval") or 1
        self._detailed = options.has("show-detailed-stats")
        self._print_metrics = options.has("print-metrics")
        self._date = date_writer(options.text("date-format"))
        self._client_id = selection.properties["client.id"]
        self._metrics: dict[str, Any] = {}
        self._source = RecordSource(selection, self._timeout_ms, statistics=self._keep_metrics)
        self._source.begin()
        self._read = Counts()
        self._before = Counts()
        self._join_shown_ms = 0

    def run(self) -> None:
        start_ms = now_ms()
        self._start_ms = self._interval_start_ms = start_ms
        try:
            while self._read.records < self._wanted:
                self._read_batch()
        except ReadingError:
            print(
                "WARNING: Exiting before consuming the expected number of records: timeout "
                f"({self._timeout_ms} ms) exceeded. You can use the --timeout option to increase the timeout."
            )
        end_ms = now_ms()
        if self._print_metrics:
            self._source.serve(2 * _STATISTICS_INTERVAL_MS / 1000)
        self._source.processed_all()
        self._source.close()
        if not self._detailed:
            print(self._total(start_ms, end_ms))
        if self._print_metrics:
            print_metrics("consumer", self._client_id, self._metrics)

    def _read_batch(self) -> None:
        for message in self._source.receive(_BATCH):
            self._read.records += 1
            self._read.size += len(message.key() or b"") + len(message.value() or b"")
        time_ms = now_ms()
        if time_ms - self._interval_start_ms >= self._interval_ms:
            if self._detailed:
                print(self._progress(time_ms), flush=True)
            self._interval_start_ms = time_ms
            self._before = Counts(self._read.records, self._read.size)

    def _join_ms(self) -> int:
        joined = self._source.assigned_at_ms
        return 0 if joined is None else max(0, joined - self._start_ms)

    def _total(self, start_ms: int, end_ms: int) -> str:
        elapsed_ms = end_ms - start_ms
        join_ms = min(self._join_ms(), elapsed_ms)
        return f"{self._date(start_ms)}, {self._date(end_ms)}, " + rates(
            self._read, self._read, elapsed_ms, join_ms
        )

    def _progress(self, time_ms: int) -> str:
        join_ms = self._join_ms() - self._join_shown_ms
        self._join_shown_ms += join_ms
        news = Counts(self._read.records - self._before.records, self._read.size - self._before.size)
        return f"{self._date(time_ms)}, 0, " + rates(
            self._read, news, time_ms - self._interval_start_ms, join_ms
        )

    def _keep_metrics(self, text: str) -> None:
        self._metrics = json.loads(text)


def rates(total: Counts, news: Counts, elapsed_ms: int, join_ms: int) -> str:
    """Eight columns: what was read in all, and how fast the news came, with and without the time to join."""
    megabytes = news.size / _MEGABYTE
    fetch_ms = elapsed_ms - join_ms
    return (
        f"{total.size / _MEGABYTE:.4f}, {_per_second(megabytes, elapsed_ms):.4f}, "
        f"{total.records}, {_per_second(news.records, elapsed_ms):.4f}, {join_ms}, {fetch_ms}, "
        f"{_per_second(megabytes, fetch_ms):.4f}, {_per_second(news.records, fetch_ms):.4f}"
    )


def _per_second(amount: float, elapsed_ms: int) -> float:
    return 1000 * amount / elapsed_ms if elapsed_ms > 0 else 0.0


def now_ms() -> int:
    return int(time.time() * 1000)


def date_writer(pattern: str) -> Callable[[int], str]:
    """Times in the letters of SimpleDateFormat, as far as people use them."""
    pieces = re.findall(r"([a-zA-Z])(\1*)|([^a-zA-Z]+)", pattern)

    def write(time_ms: int) -> str:
        moment = datetime.fromtimestamp(time_ms / 1000)
        return "".join(other or _date_piece(letter + rest, moment, time_ms) for letter, rest, other in pieces)

    return write


def _date_piece(letters: str, moment: datetime, time_ms: int) -> str:
    if letters[0] == "S":
        return f"{time_ms % 1000:0{len(letters)}d}"
    return moment.strftime(_DATE_LETTERS[letters]) if letters in _DATE_LETTERS else letters
