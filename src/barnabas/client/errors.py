"""What can go wrong at the client's side.

    ClientError                 carries Kafka's name of the error and whether a retry may help
    ├── DeliveryError           records were not acknowledged; `failures` says which and why
    ├── ConsumeError            the topic is missing, the broker is unreachable, the offset is gone
    └── TransactionError        nothing of the transaction is committed
        └── FencedError         another producer has taken the transactional id: this one has to end

Administration raises `barnabas.model.errors.ApiError`, the broker's own answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from barnabas.model.errors import ErrorCode

if TYPE_CHECKING:
    from confluent_kafka import KafkaError


_NAMES = {int(row): row.name for row in ErrorCode}
_FENCED = frozenset({"_FENCED", "PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH"})


class ClientError(Exception):
    """`name` is Kafka's (`UNKNOWN_TOPIC_OR_PARTITION`), or librdkafka's for what never reached a broker."""

    def __init__(self, name: str, sentence: str, *, retriable: bool = False) -> None:
        super().__init__(f"{name}: {sentence}")
        self.name = name
        self.retriable = retriable


class ConsumeError(ClientError):
    """Reading cannot go on."""


class TransactionError(ClientError):
    """The transaction was aborted. When it is `retriable`, the same records may be tried again."""


class FencedError(TransactionError):
    """Another producer has the transactional id now; whatever this one does is refused."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One record that was not acknowledged."""

    topic: str
    name: str
    sentence: str


class DeliveryError(ClientError):
    """Records were not acknowledged. `count` is how many; `failures` describes the first of them."""

    def __init__(self, failures: tuple[Failure, ...], count: int) -> None:
        first = failures[0]
        records = "1 record was" if count == 1 else f"{count} records were"
        super().__init__(first.name, f"{records} not acknowledged: {first.sentence} (topic {first.topic})")
        self.failures = failures
        self.count = count


def error_name(error: KafkaError) -> str:
    """Kafka's name for a broker's answer; librdkafka's own (`_TRANSPORT`) for what happened before one."""
    return _NAMES.get(error.code()) or str(error.name())


def consume_error(error: KafkaError) -> ConsumeError:
    return ConsumeError(error_name(error), str(error.str()), retriable=bool(error.retriable()))


def transaction_error(error: KafkaError) -> TransactionError:
    name, sentence = error_name(error), str(error.str())
    if name in _FENCED:
        return FencedError(name, sentence)
    return TransactionError(name, sentence, retriable=bool(error.retriable() or error.txn_requires_abort()))
