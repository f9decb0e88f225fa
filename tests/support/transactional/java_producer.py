"""Java's transactional producer (transactions version 2 where the broker has it) and its administrator."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.java_client import JavaDriver
from tests.support.members.face import Committed, Place
from tests.support.members.java_member import places, rows
from tests.support.transactional.face import ActiveProducer, DescribedTransaction

_numbers = itertools.count(1)


class JavaTransactions:
    def __init__(self, bootstrap: str, transactional_id: str, timeout_ms: int, driver: JavaDriver) -> None:
        self._driver = driver
        self._name = f"producer-{next(_numbers)}"
        settings = {
            "transactional.id": transactional_id,
            "transaction.timeout.ms": str(timeout_ms),
            "max.block.ms": "30000",
            "retry.backoff.ms": "20",
        }
        self._ask("open", bootstrap=bootstrap, settings=settings)

    def _ask(self, what: str, **arguments: Any) -> None:
        self._driver.ask({"do": f"transaction_{what}", "producer": self._name, **arguments})

    def init(self) -> None:
        self._ask("init")

    def begin(self) -> None:
        self._ask("begin")

    def send(self, topic: str, values: Sequence[bytes], partition: int = 0) -> None:
        encoded = [base64.b64encode(value).decode() for value in values]
        self._ask("send", topic=topic, partition=partition, values=encoded)

    def send_offsets(self, member: Any, group: str, offsets: Mapping[Place, int]) -> None:
        wanted = {place: Committed(offset) for place, offset in offsets.items()}
        self._ask("offsets", member=member.name, offsets=rows(wanted))

    def commit(self) -> None:
        self._ask("commit")

    def abort(self) -> None:
        self._ask("abort")

    def close(self) -> None:
        self._ask("close")


class JavaTransactionAdmin:
    def __init__(self, bootstrap: str, driver: JavaDriver) -> None:
        self._bootstrap = bootstrap
        self._driver = driver

    def _ask(self, what: str, **arguments: Any) -> Any:
        return self._driver.ask({"do": f"transactions_{what}", "bootstrap": self._bootstrap, **arguments})

    def transactions(self) -> dict[str, str]:
        return dict(self._ask("list"))

    def describe(self, transactional_id: str) -> DescribedTransaction:
        found = self._ask("describe", id=transactional_id)
        return DescribedTransaction(
            found["state"], found["producer_id"], found["epoch"], found["timeout_ms"], places(found["places"])
        )

    def producers(self, place: Place) -> list[ActiveProducer]:
        return [ActiveProducer(**row) for row in self._ask("producers", place=place)]

    def abort(self, place: Place, producer_id: int, epoch: int, coordinator_epoch: int) -> None:
        self._ask(
            "abort", place=place, producer_id=producer_id, epoch=epoch, coordinator_epoch=coordinator_epoch
        )

    def fence(self, transactional_id: str) -> None:
        self._ask("fence", id=transactional_id)
