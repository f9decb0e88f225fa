"""kafka-consumer-groups --reset-offsets: ask for what the plan needs, and carry it out."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from pathlib import Path

from barnabas.cli.parts import consumer_groups_reset as planning
from barnabas.cli.parts.consumer_groups_actions import EXECUTION, RUNTIME, Service, failing_in
from barnabas.cli.parts.consumer_groups_options import SCENARIOS
from barnabas.cli.support import partitions
from barnabas.cli.support.failures import ToolError
from barnabas.cli.support.log_lines import log
from barnabas.cli.support.options import Options
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import TopicPartition
from barnabas.wire import Cluster
from barnabas.wire.admin import group_offsets, groups, topics
from barnabas.wire.admin.offsets import Spec

Plan = dict[TopicPartition, int]
_SOURCE = "org.apache.kafka.tools.OffsetsUtils"
_INACTIVE = ("Empty", "Dead")


class Resetter:
    def __init__(self, cluster: Cluster, options: Options, service: Service) -> None:
        self._cluster = cluster
        self._options = options
        self._service = service

    def reset(self) -> dict[str, Plan]:
        """The plan of every group, carried out if --execute says so; an empty one for groups with members."""
        plans: dict[str, Plan] = {}
        with failing_in("describeConsumerGroups(api=FIND_COORDINATOR)", EXECUTION, RUNTIME):
            described = groups.describe(self._cluster, self._service.group_ids())
            for answer in described.values():
                # A group nobody has heard of is one that starts with these offsets.
                if isinstance(answer, ApiError) and answer.code is not ErrorCode.GROUP_ID_NOT_FOUND:
                    raise answer
        for group_id, answer in described.items():
            if isinstance(answer, ApiError) or answer.state in _INACTIVE:
                plans[group_id] = self._reset_one(group_id)
                continue
            print(
                f"\nError: Assignments can only be reset if the group '{group_id}' is inactive, "
                f"but the current state is {answer.state}."
            )
            plans[group_id] = {}
        return plans

    def _reset_one(self, group_id: str) -> Plan:
        scope = self._scope(group_id)
        plan = self._plan(group_id, scope)
        if self._options.has("execute"):
            with failing_in("alterConsumerGroupOffsets(api=FIND_COORDINATOR)"):
                group_offsets.commit(self._cluster, group_id, plan)
        return plan

    # --- which partitions --------------------------------------------------------------------------------

    def _scope(self, group_id: str) -> list[TopicPartition]:
        if self._options.has("all-topics"):
            wanted = sorted(self._committed(group_id))
        elif self._options.has("topic"):
            wanted = self._named()
        elif self._options.has("from-file"):
            return []
        else:
            raise ToolError("One of the reset scopes should be defined: --all-topics, --topic.")
        self._check(wanted)
        return wanted

    def _named(self) -> list[TopicPartition]:
        words = [planning.parse_topic(word) for word in self._options.values("topic")]
        named = [TopicPartition(word.topic, index) for word in words for index in word.partitions or ()]
        whole = [word.topic for word in words if word.partitions is None]
        with failing_in("describeTopics"):
            found = partitions.of_topics(self._cluster, whole)
        return list(dict.fromkeys([*named, *found]))

    def _check(self, wanted: Collection[TopicPartition]) -> None:
        with failing_in("describeTopics", EXECUTION, RUNTIME):
            led = partitions.of_topics(self._cluster, {one.topic for one in wanted})
        errors = "org.apache.kafka.common.errors."
        absent = ",".join(str(one) for one in wanted if one not in led)
        if absent:
            raise ToolError(
                f'The partitions "{absent}" do not exist', f"{errors}UnknownTopicOrPartitionException"
            )
        leaderless = ",".join(str(one) for one in wanted if not led[one])
        if leaderless:
            raise ToolError(
                f'The partitions "{leaderless}" have no leader', f"{errors}LeaderNotAvailableException"
            )

    # --- where to ----------------------------------------------------------------------------------------

    def _plan(self, group_id: str, scope: list[TopicPartition]) -> Plan:
        options = self._options
        scenarios: dict[str, Callable[[], Plan]] = {
            "to-offset": lambda: self._bounded(dict.fromkeys(scope, options.integer("to-offset") or 0)),
            "to-earliest": lambda: self._at(scope, Spec.EARLIEST),
            "to-latest": lambda: self._at(scope, Spec.LATEST),
            "shift-by": lambda: self._bounded(
                planning.shifted(scope, self._committed(group_id), options.integer("shift-by") or 0)
            ),
            "to-datetime": lambda: self._since(scope, planning.parse_datetime(options.text("to-datetime"))),
            "by-duration": lambda: self._since(scope, self._ago_ms()),
            "from-file": lambda: self._from_file(group_id),
            "to-current": lambda: self._current(group_id, scope),
        }
        for name, scenario in scenarios.items():
            if options.has(name):
                return scenario()
        listed = ", ".join(f"[{name}]" for name in SCENARIOS)
        raise ToolError(f"Option '[reset-offsets]' requires one of the following scenarios: [{listed}]")

    def _ago_ms(self) -> int:
        return int(time.time() * 1000) - planning.parse_duration(self._options.text("by-duration"))

    def _committed(self, group_id: str) -> Plan:
        with failing_in("listConsumerGroupOffsets(api=FIND_COORDINATOR)", EXECUTION, RUNTIME):
            found = group_offsets.committed(self._cluster, group_id)
        return {partition: row.offset for partition, row in found.items()}

    def _at(self, scope: Collection[TopicPartition], place: Spec | int) -> Plan:
        with failing_in("listOffsets(api=METADATA)", EXECUTION, RUNTIME):
            return partitions.offsets_at(self._cluster, scope, place)

    def _since(self, scope: Collection[TopicPartition], timestamp_ms: int) -> Plan:
        found = self._at(scope, timestamp_ms)
        nothing_since = [partition for partition in scope if found[partition] < 0]
        for partition in nothing_since:
            print(
                f"\nWarn: Partition {partition.partition} from topic {partition.topic} is empty. "
                "Falling back to latest known offset."
            )
        return found | self._at(nothing_since, Spec.LATEST)

    def _bounded(self, wanted: Plan) -> Plan:
        starts, ends = self._at(wanted, Spec.EARLIEST), self._at(wanted, Spec.LATEST)
        plan, warnings = planning.within_bounds(wanted, starts, ends)
        for warning in warnings:
            log("WARN", warning, _SOURCE)
        return plan

    def _from_file(self, group_id: str) -> Plan:
        path = self._options.text("from-file")
        try:
            text = Path(path).read_text()
        except (OSError, UnicodeDecodeError):
            raise ToolError(f"java.io.IOException: Unable to read file {path}", RUNTIME) from None
        plan = planning.plans_of_csv(text, self._options.values("group")).get(group_id)
        if plan is None:
            print(f"\nError: No reset plan for group {group_id} found")
            return {}
        self._find_topics(plan)
        return self._bounded(plan)

    def _find_topics(self, wanted: Plan) -> None:
        """For a topic that nobody knows Kafka's client does not wait."""
        with failing_in("listOffsets(api=METADATA)", EXECUTION, RUNTIME):
            known = set(topics.names(self._cluster))
            for partition in wanted:
                if partition.topic not in known:
                    raise ApiError(
                        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                        f"Failed to fetch metadata for partition {partition} because metadata for topic "
                        f"`{partition.topic}` could not be found",
                    )

    def _current(self, group_id: str, scope: Collection[TopicPartition]) -> Plan:
        committed = self._committed(group_id)
        never_read = [partition for partition in scope if partition not in committed]
        return {one: committed[one] for one in scope if one in committed} | self._at(never_read, Spec.LATEST)
