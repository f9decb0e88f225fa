"""kafka-transactions: list, describe and abort transactions, with the lines of Kafka 4.3's
TransactionsCommand. A failure is one line on standard error, and exit code 1."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from barnabas.cli.parts import transactions_tables as tables
from barnabas.cli.parts.transactions_options import parser
from barnabas.cli.parts.transactions_tables import Open
from barnabas.cli.support import partitions
from barnabas.cli.support.connecting import connect_to
from barnabas.cli.support.failures import NO_CLIENT, ToolError, sentence
from barnabas.cli.support.properties import load_properties
from barnabas.cli.support.running import run
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.model.properties import PropertiesError
from barnabas.protocol.messages.describe_producers import PartitionResponse
from barnabas.wire import Cluster, SettingsError, WireError
from barnabas.wire.admin import brokers, topics, transactions
from barnabas.wire.admin.transactions import EVERY_DURATION, Abort, Transaction

_DEFAULT_TIMEOUT_MINUTES = 15
_BATCH = 500
_DEBUG = "Enable debug logging for additional detail."


def main(arguments: Sequence[str] | None = None) -> int:
    return run(transactions_tool, arguments)


def transactions_tool(arguments: Sequence[str]) -> int:
    asked = parser().parse_args(arguments)
    try:
        with _connect(asked) as cluster:
            for line in _COMMANDS[asked.command](cluster, asked):
                print(line)
    except SettingsError as error:
        print(f"org.apache.kafka.common.KafkaException: {NO_CLIENT}", file=sys.stderr)
        print(f"Caused by: org.apache.kafka.common.config.ConfigException: {error}", file=sys.stderr)
        return 1
    except ToolError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _connect(asked: argparse.Namespace) -> Cluster:
    properties: Mapping[str, str] = {}
    if asked.command_config is not None:
        try:
            properties = load_properties(asked.command_config)
        except (OSError, PropertiesError) as error:
            problem = asked.command_config if isinstance(error, OSError) else error
            raise ToolError(f"Failed to load admin client properties: {problem}. {_DEBUG}") from None
    return connect_to(asked.bootstrap_server, properties)


@contextmanager
def _failing_to(what: str, call: str) -> Iterator[None]:
    try:
        yield
    except SettingsError:
        raise
    except (ApiError, WireError) as error:
        raise ToolError(f"Failed to {what}: {sentence(error, call)}. {_DEBUG}") from None


def _now_ms() -> int:
    return int(time.time() * 1000)


# --- looking ---------------------------------------------------------------------------------------------


def _list(cluster: Cluster, asked: argparse.Namespace) -> Iterator[str]:
    duration_ms = EVERY_DURATION if asked.duration_filter is None else asked.duration_filter
    pattern = asked.transactional_id_pattern
    with _failing_to("list transactions", "listTransactions(api=METADATA)"):
        found = transactions.list_all(cluster, duration_ms=duration_ms, pattern=pattern)
    return tables.table(tables.LIST, tables.list_rows(found))


def _describe(cluster: Cluster, asked: argparse.Namespace) -> Iterator[str]:
    name = asked.transactional_id
    what = f"describe transaction state of transactional-id `{name}`"
    with _failing_to(what, "describeTransactions(api=FIND_COORDINATOR)"):
        answer = transactions.describe(cluster, [name])[name]
        if isinstance(answer, ApiError):
            raise answer
    return tables.table(tables.DESCRIBE, [tables.describe_row(answer, _now_ms())])


def _describe_producers(cluster: Cluster, asked: argparse.Namespace) -> Iterator[str]:
    partition = TopicPartition(asked.topic, asked.partition)
    where = "leader" if asked.broker_id is None else f"broker {asked.broker_id}"
    with _failing_to(f"describe producers for partition {partition} on {where}", _producers_call(asked)):
        found = _producers(cluster, [partition], asked.broker_id)[partition]
    return tables.table(tables.PRODUCERS, tables.producer_rows(found.active_producers))


def _producers_call(asked: argparse.Namespace) -> str:
    return f"describeProducers(api={'METADATA' if asked.broker_id is None else 'DESCRIBE_PRODUCERS'})"


def _producers(
    cluster: Cluster, wanted: Sequence[TopicPartition], broker_id: int | None
) -> dict[TopicPartition, PartitionResponse]:
    found = {}
    for partition, answer in brokers.producers(cluster, wanted, broker_id).items():
        if isinstance(answer, ApiError):
            raise answer
        found[partition] = answer
    return found


# --- hanging transactions --------------------------------------------------------------------------------


def _find_hanging(cluster: Cluster, asked: argparse.Namespace) -> Iterator[str]:
    if asked.topic is None and asked.broker_id is None:
        raise ToolError(
            "The `find-hanging` command requires either --topic or --broker-id "
            "to limit the scope of the search"
        )
    if asked.partition is not None and asked.topic is None:
        raise ToolError("The --partition argument requires --topic to be provided")
    candidates = _open_too_long(cluster, _partitions_to_search(cluster, asked), asked)
    found = tables.hanging(candidates, *_coordinators_view(cluster, candidates)) if candidates else []
    return tables.table(tables.HANGING, tables.hanging_rows(found, _now_ms()))


def _partitions_to_search(cluster: Cluster, asked: argparse.Namespace) -> list[TopicPartition]:
    if asked.partition is not None:
        return [TopicPartition(asked.topic, asked.partition)]
    names = [asked.topic]
    if asked.topic is None:
        with _failing_to("list topics", "listTopics"):
            names = topics.names(cluster)
    with _failing_to(f"describe {len(names)} topics", "describeTopics"):
        if asked.broker_id is None:
            return list(partitions.of_topics(cluster, names))
        return partitions.on_broker(cluster, names, asked.broker_id)


def _open_too_long(
    cluster: Cluster, wanted: Sequence[TopicPartition], asked: argparse.Namespace
) -> list[Open]:
    """In batches: a broker may lead a hundred thousand partitions."""
    minutes = asked.max_transaction_timeout
    longest_ms = (_DEFAULT_TIMEOUT_MINUTES if minutes is None else minutes) * 60_000
    found: list[Open] = []
    where = "Optional.empty" if asked.broker_id is None else f"Optional[{asked.broker_id}]"
    for start in range(0, len(wanted), _BATCH):
        batch = wanted[start : start + _BATCH]
        what = f"describe producers for {len(batch)} partitions on broker {where}"
        with _failing_to(what, _producers_call(asked)):
            for partition, row in _producers(cluster, batch, asked.broker_id).items():
                found += tables.open_too_long(partition, row.active_producers, _now_ms(), longest_ms)
    return found


def _coordinators_view(
    cluster: Cluster, candidates: Sequence[Open]
) -> tuple[dict[int, str], dict[str, Transaction | None]]:
    """What the coordinators know of these producers: their transactional ids, and what these have open."""
    producer_ids = {one.producer.producer_id for one in candidates}
    what = f"list transactions for {len(producer_ids)} producers"
    with _failing_to(what, "listTransactions(api=METADATA)"):
        listed = transactions.list_all(cluster, producer_ids)
    names = {row.producer_id: row.transactional_id for row in listed if row.producer_id in producer_ids}
    described: dict[str, Transaction | None] = {}
    with _failing_to(f"describe {len(names)} transactions", "describeTransactions(api=FIND_COORDINATOR)"):
        for name, answer in transactions.describe(cluster, names.values()).items():
            if isinstance(answer, ApiError) and answer.code is not ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                raise answer
            described[name] = None if isinstance(answer, ApiError) else answer
    return names, described


# --- ending ----------------------------------------------------------------------------------------------


def _abort(cluster: Cluster, asked: argparse.Namespace) -> Iterator[str]:
    partition = TopicPartition(asked.topic, asked.partition)
    if asked.start_offset is not None:
        wanted = _starting_at(cluster, partition, asked.start_offset)
    elif asked.producer_id is None:
        raise ToolError(
            "The transaction to abort must be identified either with --start-offset (for brokers on 3.0 or "
            "above) or with --producer-id, --producer-epoch, and --coordinator-epoch (for older brokers)"
        )
    else:
        for name in ("producer-epoch", "coordinator-epoch"):
            if getattr(asked, name.replace("-", "_")) is None:
                raise ToolError(f"Missing required argument --{name}")
        # A producer's first transaction has no coordinator epoch yet, and 0 is below every real one.
        wanted = Abort(partition, asked.producer_id, asked.producer_epoch, max(asked.coordinator_epoch, 0))
    with _failing_to(f"abort transaction {wanted}", "abortTransaction(api=METADATA)"):
        transactions.abort(cluster, wanted)
    return iter(())


def _starting_at(cluster: Cluster, partition: TopicPartition, offset: int) -> Abort:
    what = f"validate producer state for partition {partition}"
    with _failing_to(what, "describeProducers(api=METADATA)"):
        found = _producers(cluster, [partition], None)[partition]
    for row in found.active_producers:
        if row.current_txn_start_offset == offset:
            return Abort(partition, row.producer_id, row.producer_epoch, max(row.coordinator_epoch, 0))
    raise ToolError(
        f"Could not find any open transactions starting at offset {offset} on partition {partition}"
    )


def _force_terminate(cluster: Cluster, asked: argparse.Namespace) -> Iterator[str]:
    name = asked.transactionalId
    with _failing_to(f"force terminate transactionalId `{name}`", "fenceProducer(api=FIND_COORDINATOR)"):
        transactions.force_terminate(cluster, name)
    return iter(())


_COMMANDS: dict[str, Callable[[Cluster, argparse.Namespace], Iterator[str]]] = {
    "list": _list,
    "describe": _describe,
    "describe-producers": _describe_producers,
    "abort": _abort,
    "find-hanging": _find_hanging,
    "forceTerminateTransaction": _force_terminate,
}
