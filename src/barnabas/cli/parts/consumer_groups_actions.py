"""What kafka-consumer-groups does, except resetting: ask the cluster, print the tables."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from barnabas.cli.parts import consumer_groups_tables as tables
from barnabas.cli.parts.consumer_groups_reset import parse_topic
from barnabas.cli.parts.consumer_groups_rows import OffsetRow, offset_rows, partitions_of
from barnabas.cli.support import partitions
from barnabas.cli.support.failures import ToolError, java_name, sentence
from barnabas.cli.support.options import Options
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.protocol.messages.list_groups import ListedGroup
from barnabas.wire import Cluster, DeadlineError, SettingsError, WireError
from barnabas.wire.admin import group_offsets, groups
from barnabas.wire.admin.group_offsets import Committed
from barnabas.wire.admin.groups import Group

EXECUTION = "java.util.concurrent.ExecutionException"
RUNTIME = "java.lang.RuntimeException"
# A group's states, in Kafka's spelling; people may type them in any case.
STATES = (
    "PreparingRebalance",
    "Assigning",
    "Empty",
    "Dead",
    "Reconciling",
    "CompletingRebalance",
    "Stable",
)
TYPES = ("Consumer", "Classic")


def thrown(error: Exception, call: str) -> str:
    """The exception as Java would print it."""
    if isinstance(error, DeadlineError) and call == "listGroups":
        return "org.apache.kafka.common.KafkaException: Failed to find brokers to send ListGroups"
    return f"{java_name(error)}: {sentence(error, call)}"


@contextmanager
def failing_in(call: str, *wrappers: str) -> Iterator[None]:
    """Kafka's tool wraps what its client throws, here once, there twice, and prints the wrapping too."""
    try:
        yield
    except SettingsError:
        raise
    except (ApiError, WireError) as error:
        if not wrappers:
            raise ToolError(sentence(error, call), java_name(error)) from None
        text = thrown(error, call)
        for wrapper in wrappers[:-1]:
            text = f"{wrapper}: {text}"
        raise ToolError(text, wrappers[-1]) from None


def words_of(text: str | None, known: tuple[str, ...], kind: str) -> list[str]:
    """`stable, Empty` → the names of states or types; nothing at all stands for every one."""
    if not text:
        return []
    spelt = {name.lower(): name for name in known}
    found = [spelt.get(word.strip().lower()) for word in text.split(",")]
    if None in found:
        listed = "Valid states are" if kind == "state" else "Valid types are"
        raise ToolError(f"Invalid {kind} list '{text}'. {listed}: {', '.join(known)}")
    return [name for name in found if name is not None]


class Service:
    def __init__(self, cluster: Cluster, options: Options) -> None:
        self._cluster = cluster
        self._options = options

    # --- --list ------------------------------------------------------------------------------------------

    def list_groups(self) -> None:
        with_type, with_state = self._options.has("type"), self._options.has("state")
        if with_type or with_state:
            types = words_of(self._options.value("type"), TYPES, "types")
            states = words_of(self._options.value("state"), STATES, "state")
            with failing_in("listGroups", EXECUTION):
                found = groups.list_consumer_groups(self._cluster, states, types)
        else:
            found = self._every_group()
        _print(tables.list_lines(found, with_type, with_state))

    def _every_group(self) -> list[ListedGroup]:
        with failing_in("listGroups", EXECUTION, RUNTIME):
            return groups.list_consumer_groups(self._cluster, types=TYPES)

    def group_ids(self) -> list[str]:
        if self._options.has("all-groups"):
            return [row.group_id for row in self._every_group()]
        return list(dict.fromkeys(self._options.values("group")))

    # --- --describe --------------------------------------------------------------------------------------

    def describe(self) -> None:
        found = [group for _, group in sorted(self._described().items())]
        verbose = self._options.has("verbose")
        if self._options.has("members"):
            tables_of = [tables.member_lines(group, verbose) for group in found]
        elif self._options.has("state"):
            tables_of = [tables.state_lines(group, verbose) for group in found]
        else:
            tables_of = [tables.offset_lines(rows, verbose) for rows in self._offset_rows(found)]
        for group, lines in zip(found, tables_of, strict=True):
            self._print_described(group, list(lines))

    def _described(self) -> dict[str, Group]:
        found = {}
        with failing_in("describeConsumerGroups(api=FIND_COORDINATOR)", EXECUTION):
            for group_id, answer in groups.describe(self._cluster, self.group_ids()).items():
                if isinstance(answer, ApiError):
                    raise answer
                found[group_id] = answer
        return found

    def _offset_rows(self, found: Sequence[Group]) -> list[list[OffsetRow]]:
        """Of all groups with a handful of questions: a cluster may have thousands of them."""
        committed: dict[str, dict[TopicPartition, Committed]] = {}
        with failing_in("listConsumerGroupOffsets(api=FIND_COORDINATOR)", EXECUTION, RUNTIME):
            answers = group_offsets.committed_by_group(self._cluster, [group.group_id for group in found])
            for group_id, answer in answers.items():
                if isinstance(answer, ApiError):
                    raise answer
                committed[group_id] = answer
            wanted = {one for group in found for one in partitions_of(group, committed[group.group_id])}
            ends = partitions.ends(self._cluster, wanted)
        return [offset_rows(group, committed[group.group_id], ends) for group in found]

    def _print_described(self, group: Group, lines: list[str]) -> None:
        if group.state == "Dead":
            print(f"\nError: Consumer group '{group.group_id}' does not exist.")
            lines = lines if self._options.has("members") else []
        warning = tables.state_warning(group.group_id, group.state)
        if warning is not None:
            sys.stdout.flush()
            print(warning, file=sys.stderr, flush=True)
        _print(lines)

    # --- --delete ----------------------------------------------------------------------------------------

    def delete(self) -> None:
        group_ids = self.group_ids()
        call = "deleteConsumerGroups(api=FIND_COORDINATOR)"
        results: dict[str, str | None] = {}
        try:
            for group_id, answer in groups.delete(self._cluster, group_ids).items():
                results[group_id] = None if answer is None else thrown(answer, call)
        except DeadlineError as error:
            results = dict.fromkeys(group_ids, thrown(error, call))
        _print(tables.deleted_group_lines(results))

    # --- --delete-offsets --------------------------------------------------------------------------------

    def delete_offsets(self) -> None:
        group_id = self._options.text("group")
        named, results = self._partitions_to_forget()
        outcome = ErrorCode.NONE
        try:
            answers = group_offsets.delete(self._cluster, group_id, named)
        except ApiError as error:
            outcome, answers = error.code, dict.fromkeys(named, error)
        except DeadlineError as error:
            outcome, answers = ErrorCode.REQUEST_TIMED_OUT, {}
            call = "deleteConsumerGroupOffsets(api=FIND_COORDINATOR)"
            results |= dict.fromkeys(named, thrown(error, call))
        for partition, answer in answers.items():
            results[partition] = None if answer is None else thrown(answer, "")
            if answer is not None and outcome is ErrorCode.NONE:
                outcome = answer.code
        print(_deletion_sentence(group_id, outcome))
        _print(tables.deleted_offset_lines(results))

    def _partitions_to_forget(self) -> tuple[set[TopicPartition], dict[TopicPartition, str | None]]:
        """Those named, and what is wrong with topics whose partitions could not be found out."""
        named: set[TopicPartition] = set()
        wrong: dict[TopicPartition, str | None] = {}
        for word in map(parse_topic, self._options.values("topic")):
            if word.partitions is not None:
                named |= {TopicPartition(word.topic, index) for index in word.partitions}
                continue
            try:
                named |= partitions.of_topics(self._cluster, [word.topic]).keys()
            except (ApiError, DeadlineError) as error:
                wrong[TopicPartition(word.topic, -1)] = thrown(error, "listNodes")
        return named, wrong


_OF_THE_GROUP = frozenset(
    {
        ErrorCode.INVALID_GROUP_ID,
        ErrorCode.GROUP_ID_NOT_FOUND,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.NON_EMPTY_GROUP,
    }
)
_OF_PARTITIONS = frozenset(
    {
        ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
)


def _deletion_sentence(group_id: str, outcome: ErrorCode) -> str:
    if outcome is ErrorCode.NONE:
        return f"Request succeeded for deleting offsets from group {group_id}."
    if outcome in _OF_THE_GROUP:
        return f"\nError: {outcome.sentence}"
    if outcome in _OF_PARTITIONS:
        return "\nError: Encountered some partition-level error, see the follow-up details."
    return f"\nError: Encountered some unknown error: {outcome.name}"


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)
