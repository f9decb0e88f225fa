"""A query's progress as a consumer group, for people and tools to see its lag. Nobody resumes from it: the
checkpoint is the truth."""

from __future__ import annotations

import time
from collections.abc import Mapping

from barnabas.model.errors import ApiError
from barnabas.model.ids import TopicPartition
from barnabas.spark.options import Options
from barnabas.spark.planning_errors import warn
from barnabas.wire import Cluster, WireError
from barnabas.wire.admin import group_offsets

# A query never waits longer than this for its group's coordinator, and not again right after.
PATIENCE_MS = 3_000
PAUSE_MS = 30_000
_LIMITS = {
    "default.api.timeout.ms": str(PATIENCE_MS),
    "request.timeout.ms": str(PATIENCE_MS),
    "socket.connection.setup.timeout.ms": str(PATIENCE_MS),
}


class Progress:
    """Commits without being a member of the group. What goes wrong is a warning, once, and never an error."""

    def __init__(self, options: Options, group_id: str | None) -> None:
        self._options = options
        self._group_id = group_id
        self._cluster: Cluster | None = None
        self._committed: Mapping[TopicPartition, int] = {}
        self._quiet_until_s = 0.0
        self._warned = ""

    def finished(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Everything before these offsets has been read, processed and written."""
        if self._group_id is None or offsets == self._committed or time.monotonic() < self._quiet_until_s:
            return
        if self._cluster is None:
            self._cluster = self._options.connect(overrides=_LIMITS)
        try:
            group_offsets.commit(self._cluster, self._group_id, offsets)
        except ApiError as error:
            self._warn(f"{error.code.name}: {error}")
        except WireError as error:
            self._quiet_until_s = time.monotonic() + PAUSE_MS / 1000
            self._warn(str(error))
        else:
            self._committed, self._warned = dict(offsets), ""

    def close(self) -> None:
        if self._cluster is not None:
            self._cluster.close()

    def _warn(self, why: str) -> None:
        if why != self._warned:
            self._warned = why
            warn(
                f"The query goes on, but its progress is not shown by the consumer group {self._group_id}, "
                f"which no running consumer may use at the same time: {why}"
            )
