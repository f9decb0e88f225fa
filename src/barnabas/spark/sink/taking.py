"""When a writer of PySpark's takes its transactional id."""

from __future__ import annotations

from typing import Any

from barnabas.spark.planning_errors import plainly
from barnabas.spark.sink.commit import Begun, begin
from barnabas.spark.sink.settings import Sink
from barnabas.spark.sink.telling import telling


class TakesId:
    """A writer is pickled on its way to the tasks, several times: the first time the id is taken. The process
    that commits never pickles it, so it takes none."""

    def __init__(self, sink: Sink, transactional_id: str) -> None:
        self._sink = sink
        self._transactional_id = transactional_id
        self._begun: Begun | None = None

    def __getstate__(self) -> dict[str, Any]:
        if self._sink.exactly_once and self._begun is None:
            self._begun = self._begin()
        return self.__dict__

    @plainly
    def _begin(self) -> Begun:
        with self._sink.connect() as cluster:
            return telling(lambda: begin(self._sink, cluster, self._transactional_id))
