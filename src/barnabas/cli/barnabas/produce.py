"""barnabas produce: send the lines of a file, or what is typed, to a topic."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, BinaryIO

from barnabas.cli.barnabas.common import add_common, connect, done, file_properties, run
from barnabas.cli.support.failures import ToolError
from barnabas.client.config import translate

COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="barnabas produce", description="Send each line as a record. Type, and end with Ctrl-D."
    )
    add_common(parser)
    parser.add_argument("topic")
    parser.add_argument("--file", metavar="PATH", help="read the lines from here")
    parser.add_argument(
        "--key-separator", metavar="TEXT", help="what stands before the first of these is the key"
    )
    parser.add_argument("--partition", type=int, default=-1, help="always this partition")
    parser.add_argument("--compression", choices=COMPRESSIONS, default="none")
    parser.set_defaults(action=_produce)
    return run(parser, arguments)


def _produce(asked: argparse.Namespace) -> int:
    with connect(asked) as cluster:
        # Asking once tells at once when no broker is there; a new topic is made if the broker allows it.
        cluster.metadata([asked.topic], auto_create=True)
    with ExitStack() as stack:
        source: BinaryIO = sys.stdin.buffer
        if asked.file:
            try:
                source = stack.enter_context(open(asked.file, "rb"))
            except OSError as error:
                raise ToolError(f"{asked.file} cannot be read: {error.strerror}.") from None
        lines = stack.enter_context(_progress(source)) if _draws(asked, source) else source
        sent = _send(asked, lines)
    plural = "record" if sent == 1 else "records"
    return done(asked, f"Sent {sent} {plural} to {asked.topic}.", topic=asked.topic, sent=sent)


def _draws(asked: argparse.Namespace, source: BinaryIO) -> bool:
    return bool(asked.file) and not asked.json and sys.stderr.isatty() and source.seekable()


def _progress(source: BinaryIO) -> Any:
    import os

    from rich.console import Console
    from rich.progress import wrap_file

    size = os.fstat(source.fileno()).st_size
    return wrap_file(source, size, description="sending", console=Console(stderr=True))


def _send(asked: argparse.Namespace, lines: Any) -> int:
    from confluent_kafka import Producer

    failures: list[str] = []
    producer = Producer(
        translate(file_properties(asked))
        | {
            "bootstrap.servers": asked.server,
            "compression.type": asked.compression,
            "linger.ms": 5,
            "message.timeout.ms": max(1000, int(asked.timeout * 1000)),
        }
    )

    def delivered(error: Any, _: Any) -> None:
        if error is not None:
            failures.append(error.str())

    sent = 0
    for key, value in _records(lines, asked.key_separator):
        _enqueue(producer, asked, key, value, delivered)
        sent += 1
        if failures:
            break
    producer.flush()
    if failures:
        raise ToolError(f"The broker did not take every record: {failures[0]}")
    return sent


def _enqueue(
    producer: Any, asked: argparse.Namespace, key: bytes | None, value: bytes, delivered: Any
) -> None:
    while True:
        try:
            producer.produce(asked.topic, value, key, asked.partition, on_delivery=delivered)
        except BufferError:
            producer.poll(0.1)  # the queue is full: wait for deliveries to make room
        else:
            producer.poll(0)
            return


def _records(lines: Any, separator: str | None) -> Iterator[tuple[bytes | None, bytes]]:
    for line in lines:
        text = line.rstrip(b"\n")
        if separator is None:
            yield None, text
            continue
        key, found, value = text.partition(separator.encode())
        if not found:
            raise ToolError(f"No '{separator}' in the line {text.decode(errors='replace')!r}.")
        yield key, value
