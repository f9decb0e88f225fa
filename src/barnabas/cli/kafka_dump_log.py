"""kafka-dump-log: what is in a partition's files. Kafka's DumpLogSegments 4.3: flags and lines.

The decoders of other internal topics come with what writes them; until then asking for one is answered with a
sentence.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from barnabas.cli.parts.dump_log_batches import (
    MAX_BYTES,
    Decode,
    Findings,
    LogView,
    Parse,
    decoding,
    log_lines,
)
from barnabas.cli.parts.dump_log_indexes import (
    CorruptFileError,
    base_offset,
    index_lines,
    snapshot_lines,
    time_index_lines,
    transaction_index_lines,
)
from barnabas.cli.support.options import Option, OptionError, Options, Parser
from barnabas.cli.support.running import parse, run
from barnabas.log.producer_snapshots import CorruptSnapshotError


def _number(layout: str) -> Decode:
    def decode(data: bytes) -> str:
        try:
            return str(struct.unpack(layout, data)[0])
        except struct.error:
            raise OptionError(f"{len(data)} bytes are not a number of {struct.calcsize(layout)}") from None

    return decode


_DECODERS: dict[str, Decode] = {
    "StringDecoder": lambda data: data.decode(errors="replace"),
    "DefaultDecoder": repr,
    "IntegerDecoder": _number(">i"),
    "LongDecoder": _number(">q"),
}
_LATER = (
    "cluster-metadata-decoder",
    "remote-log-metadata-decoder",
    "share-group-state-decoder",
)
_TOPIC_DECODERS = {"offsets-decoder": "__consumer_offsets", "transaction-log-decoder": "__transaction_state"}
_STRING_DECODER = "org.apache.kafka.tools.api.StringDecoder"

PARSER = Parser(
    "This tool helps to parse a log file and dump its contents to the console, "
    "useful for debugging a seemingly corrupt log segment.",
    [
        Option(
            "files",
            "REQUIRED: The files to show, separated by commas.",
            "String: file1, file2, ...",
            separator=",",
        ),
        Option("print-data-log", "Show keys and values too."),
        Option("deep-iteration", "Show every record, not only batches."),
        Option("index-sanity-check", "Only check indexes as a starting broker does."),
        Option("verify-index-only", "Check indexes against the log without showing them."),
        Option("max-message-size", "Accepted for compatibility.", "Integer: size", "5242880"),
        Option("max-bytes", "Read no more than so many bytes of each log.", "Integer: size", str(MAX_BYTES)),
        Option(
            "value-decoder-class", "How to read values.", "String", _STRING_DECODER, argument_optional=True
        ),
        Option("key-decoder-class", "How to read keys.", "String", _STRING_DECODER, argument_optional=True),
        Option("skip-record-metadata", "Show only keys and values."),
        Option("offsets-decoder", "Show what groups have committed, from a log of __consumer_offsets."),
        Option("transaction-log-decoder", "Show transactions, from a log of __transaction_state."),
        *(Option(name, "Not available yet.") for name in _LATER),
    ],
)


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_tool, arguments)


def _tool(arguments: Sequence[str]) -> int:
    options = parse(PARSER, arguments)
    options.require("files")
    for name in _LATER:
        if options.has(name):
            raise OptionError(f"--{name} is not available yet: --print-data-log shows the records undecoded")
    view = _view(options)
    findings = Findings()
    code = 0
    for name in options.values("files"):
        path = Path(name.strip())
        print(f"Dumping {path}")
        try:
            for line in _lines(path, view, options, findings):
                print(line)
        except CorruptSnapshotError as error:
            print(error, file=sys.stderr)
        except CorruptFileError as error:
            print(error, file=sys.stderr)
            code = 1
        except FileNotFoundError as error:
            raise OptionError(f"java.nio.file.NoSuchFileException: {error.filename}") from None
    sys.stdout.flush()
    for line in findings.lines():
        print(line, file=sys.stderr)
    return code


def _view(options: Options) -> LogView:
    given = ("value-decoder-class", "key-decoder-class", *_TOPIC_DECODERS)
    decoders_given = any(options.has(name) for name in given)
    contents = options.has("print-data-log") or decoders_given
    return LogView(
        deep=contents or options.has("deep-iteration"),
        contents=contents,
        metadata=not options.has("skip-record-metadata"),
        bytes_max=options.integer("max-bytes") or 0,
        parse=_parse(options),
    )


def _parse(options: Options) -> Parse:
    for name, topic in _TOPIC_DECODERS.items():
        if options.has(name):
            from barnabas.cli.parts.dump_log_internal import parser_of

            return parser_of(topic)
    return decoding(_decoder(options, "key-decoder-class"), _decoder(options, "value-decoder-class"))


def _decoder(options: Options, name: str) -> Decode:
    wanted = options.text(name)
    simple = wanted.rpartition(".")[2]
    if simple not in _DECODERS:
        raise OptionError(f"java.lang.ClassNotFoundException: {wanted}")
    return _DECODERS[simple]


def _lines(path: Path, view: LogView, options: Options, findings: Findings) -> Iterator[str]:
    sanity_only, verify_only = options.has("index-sanity-check"), options.has("verify-index-only")
    match path.suffix:
        case ".log":
            yield f"Log starting offset: {base_offset(path)}"
            yield from log_lines(path, view, findings)
        case ".checkpoint":
            yield _checkpoint_title(path)
            yield from log_lines(path, view, findings)
        case ".index":
            yield from index_lines(path, sanity_only, verify_only, findings)
        case ".timeindex":
            yield from time_index_lines(path, sanity_only, verify_only, findings)
        case ".snapshot":
            yield from snapshot_lines(path)
        case ".txnindex":
            yield from transaction_index_lines(path)
        case _:
            print(f"Ignoring unknown file {path}", file=sys.stderr)


def _checkpoint_title(path: Path) -> str:
    if path.name == "bootstrap.checkpoint":
        return "KRaft bootstrap snapshot"
    offset, _, epoch = path.stem.partition("-")
    return f"Snapshot end offset: {int(offset)}, epoch: {int(epoch)}"
