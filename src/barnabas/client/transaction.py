"""librdkafka's transactional calls, with our errors. Only `Producer` uses them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from barnabas.client.errors import FencedError, TransactionError, transaction_error

TAKE_ID_SECONDS = 60.0
# Each waits as long as the transaction may last; afterwards the broker has decided without us.
ATTEMPTS_MAX = 3


class Transactions:
    """One transaction after the other; `begin`, then `commit` or `abort`."""

    def __init__(self, producer: Any) -> None:
        self._producer = producer
        # Fences whoever had the id, and ends what it left open.
        self._call(lambda: producer.init_transactions(TAKE_ID_SECONDS))

    def begin(self) -> None:
        self._call(self._producer.begin_transaction)

    def send_offsets(self, positions: list[Any], group_metadata: Any) -> None:
        if positions:
            self._call(lambda: self._producer.send_offsets_to_transaction(positions, group_metadata))

    def commit(self) -> None:
        self._call(self._producer.commit_transaction)

    def abort(self, because: BaseException) -> None:
        """Whoever is fenced has nothing left to abort, and what goes wrong here comes second."""
        if isinstance(because, FencedError):
            return
        try:
            self._call(self._producer.abort_transaction)
        except TransactionError as problem:
            because.add_note(str(problem))

    def _call(self, work: Callable[[], None]) -> None:
        import confluent_kafka

        for attempt in range(1, ATTEMPTS_MAX + 1):
            try:
                return work()
            except confluent_kafka.KafkaException as problem:
                error = problem.args[0]
                if not error.retriable() or attempt == ATTEMPTS_MAX:
                    raise transaction_error(error) from None
        raise AssertionError("the last attempt returns or raises")
