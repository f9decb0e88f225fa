"""Whose fault it is when a transaction is gone."""

from __future__ import annotations

from barnabas.spark.sink.commit import Begun, fenced_sentence
from barnabas.wire.transactions import Producer

BEGUN = Begun(Producer("payments", 7, 3), (), 60_000, began_at_s=1000.0)


def test_a_batch_that_outlasted_its_transaction_is_told_of_the_timeout() -> None:
    sentence = fenced_sentence("payments", BEGUN, now_s=1060.0)
    assert "60000 ms" in sentence
    assert "kafka.transaction.timeout.ms" in sentence


def test_before_that_it_is_another_query() -> None:
    sentence = fenced_sentence("payments", BEGUN, now_s=1059.9)
    assert sentence.startswith("Two queries share one transactional id, 'payments'")
