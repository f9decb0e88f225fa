"""Transactions, on both ways of counting epochs: InitProducerId, AddPartitionsToTxn, EndTxn."""

from __future__ import annotations

from typing import Any

from tests.support.answers.dialogue import Dialogue
from tests.support.answers.owner import VERSION_2, Owner, look
from tests.support.answers.scenario import scenario
from tests.support.answers.scenarios.fetch import at, fetch

from barnabas.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from barnabas.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
)
from barnabas.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
)
from barnabas.protocol.messages.end_txn import EndTxnRequest
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest

# --- owners ------------------------------------------------------------------------------------------------


@scenario
def transactional_ids_have_owners(d: Dialogue) -> None:
    owner = Owner(d).ready()
    look(owner, "new")
    d.ask("again, every version", owner.init())
    d.ask("timeout too long", owner.init(timeout_ms=900_001), 5)
    d.ask("no timeout", owner.init(timeout_ms=0), 5)
    d.ask("negative timeout", owner.init(timeout_ms=-1), 5)
    d.ask("empty id", InitProducerIdRequest("", 60_000))
    d.ask("half an expectation", owner.init(producer_id=5))
    d.ask("the other half", owner.init(epoch=5))
    owner.ready()
    producer_id, epoch = owner.producer_id, owner.epoch
    d.ask("expects what is so", owner.init(producer_id, epoch), 5)
    d.ask("repeats that", owner.init(producer_id, epoch), 5)
    d.ask("an older epoch", owner.init(producer_id, epoch - 1), range(3, 6))
    d.ask("a future epoch", owner.init(producer_id, epoch + 9), range(3, 6))
    d.ask("another producer id", owner.init(producer_id + 7, epoch), range(3, 6))
    d.ask("after that", owner.init(), 5)
    d.ask("the repeat is too late", owner.init(producer_id, epoch), range(3, 6))
    fresh = Owner(d, "y")
    d.ask("expects an owner that never was", fresh.init(99, 4), 5)


@scenario
def an_owner_fences_the_one_before(d: Dialogue) -> None:
    topic = d.topic("t")
    old = Owner(d).ready()
    d.peer.exchange(old.add(topic, 0), 3)
    d.ask("old one writes", old.records(topic), 11)
    d.ask("another owner", old.init(), 5)
    old.settle()
    look(old, "fenced")
    d.ask("old one writes more", old.records(topic), range(9, 12))
    d.ask("old one adds", lambda version: old.add(topic, 0, version=version))
    d.ask("old one adds offsets", AddOffsetsToTxnRequest(old.id, old.producer_id, old.epoch, "g"))
    d.ask("old one commits", old.end(True))
    d.ask("old one aborts", old.end(False))
    d.ask("stored", fetch(d, "t", at(0), isolation=1), 12)
    d.ask("the other owner, again", old.init(), 5)


# --- version 1 ---------------------------------------------------------------------------------------------


@scenario
def transactions_before_version_2(d: Dialogue) -> None:
    topic = d.topic("t", 2)
    owner = Owner(d).ready()
    for committed in (True, False):
        word = "commit" if committed else "abort"
        for version in range(4):
            d.ask(f"{word}: add", owner.add(topic, 0), version)
            d.ask(f"{word}: add again", owner.add(topic, 0), version)
            look(owner, f"{word} v{version}")
            d.ask(f"{word}: write", owner.records(topic), 11)
            d.ask(f"{word}: end", owner.end(committed), version)
            owner.settle()
            look(owner, f"{word} v{version}, ended")
            d.ask(f"{word}: end again", owner.end(committed), version)
            d.ask(f"{word}: end otherwise", owner.end(not committed), version)
    d.ask("v4 of EndTxn: nothing was added", owner.end(True), 4)
    d.ask("add two, one unknown", lambda v: owner.add(topic, 0, 9, version=v), view=_by_transaction)
    d.ask("add of unknown topic", lambda v: owner.add(d.name("no"), 0, version=v))
    look(owner, "still at rest")
    d.ask("committed only", fetch(d, "t", at(0), isolation=1), 12)
    d.ask("everything", fetch(d, "t", at(0)), 12)


@scenario
def transactions_need_their_partitions(d: Dialogue) -> None:
    topic = d.topic("t", 2)
    owner = Owner(d).ready()
    d.ask("write what was not added", lambda v: _fresh(owner).records(topic), range(3, 12))
    d.peer.exchange(owner.add(topic, 0), 3)
    d.ask("write elsewhere", lambda v: _fresh(owner).records(topic, 1), range(3, 12))
    d.ask("verify", owner.add(topic, 0, 1, version=4, verify=True), (4, 5), _by_transaction)
    wrong = Owner(d)
    wrong.producer_id, wrong.epoch = owner.producer_id, owner.epoch + 1
    d.ask("verify a future epoch", wrong.add(topic, 0, version=4, verify=True), (4, 5), _by_transaction)
    d.ask("write in a future epoch", wrong.records(topic), range(9, 12))
    wrong.producer_id, wrong.epoch = owner.producer_id + 1, owner.epoch
    d.ask("verify another producer", wrong.add(topic, 0, version=4, verify=True), (4, 5), _by_transaction)
    d.ask("write as another producer", wrong.records(topic), range(9, 12))
    unknown = Owner(d, "unknown")
    unknown.producer_id, unknown.epoch = 4242, 0
    d.ask("verify an unknown id", unknown.add(topic, 0, version=4, verify=True), (4, 5), _by_transaction)
    d.ask("write with an unknown id", unknown.records(topic), range(9, 14))
    d.ask("add with an unknown id", lambda v: unknown.add(topic, 0, version=v))
    d.ask("end with an unknown id", unknown.end(True))
    d.ask("offsets with an unknown id", AddOffsetsToTxnRequest(unknown.id, 4242, 0, "g"))
    both = _fresh(owner).records(topic)
    both.topic_data[0].partition_data = [
        *both.topic_data[0].partition_data,
        *wrong.records(topic, 1).topic_data[0].partition_data,
    ]
    d.ask("two producers in one request", both, (9, 11, 12), view=_by_index)
    empty = Owner(d)
    empty.id = ""
    empty.producer_id, empty.epoch = owner.producer_id, owner.epoch
    d.ask("write with an empty id", empty.records(topic, 1), range(9, 13))
    d.ask("add with an empty id", lambda v: empty.add(topic, 0, version=v))
    d.ask("end with an empty id", empty.end(True))
    d.ask("describe nothing", DescribeTransactionsRequest([]))
    d.ask("describe an empty id", DescribeTransactionsRequest([""]))
    d.ask("describe an unknown id", DescribeTransactionsRequest([unknown.id]))
    owner.finish(False)


def _by_index(shown: Any) -> Any:
    for topic in shown["responses"]:
        topic["partition_responses"].sort(key=lambda row: row.get("index", 0))
    return shown


def _fresh(owner: Owner) -> Owner:
    owner.sequences = {}
    return owner


@scenario
def transactions_of_many(d: Dialogue) -> None:
    topic = d.topic("t", 3)
    first, second = Owner(d, "a").ready(), Owner(d, "b").ready()
    both = first.add(topic, 0, 1, version=4)
    both.transactions = [*both.transactions, *second.add(topic, 2, version=4).transactions]
    d.ask("add for two", both, (4, 5), view=_by_transaction)
    for one in both.transactions:
        one.verify_only = True
    d.ask("verify for two", both, (4, 5), view=_by_transaction)
    d.ask("no transactions", AddPartitionsToTxnRequest([]), (4, 5))
    look(first, "first")
    look(second, "second")
    first.finish(True, VERSION_2)
    second.finish(False, VERSION_2)


def _by_transaction(shown: Any) -> Any:
    """Kafka keeps sets, and tells them in the order of their hashes."""
    rows = shown.get("results_by_transaction", [])
    rows.sort(key=lambda row: row["transactional_id"])
    lists = [row["topic_results"] for row in rows] or [shown["results_by_topic_v3_and_below"]]
    for topics in lists:
        for topic in topics:
            topic["results_by_partition"].sort(key=lambda result: result.get("partition_index", 0))
    return shown


# --- version 2 ---------------------------------------------------------------------------------------------


@scenario
def transactions_version_2(d: Dialogue) -> None:
    topic = d.topic("t", 2)
    owner = Owner(d).ready()
    for committed in (True, False):
        word = "commit" if committed else "abort"
        d.ask(f"{word}: write without adding", owner.records(topic), 12)
        look(owner, word)
        answer = d.ask(f"{word}: end", owner.end(committed), VERSION_2)
        owner.settle()
        look(owner, f"{word}, ended")
        d.ask(f"{word}: end again", owner.end(committed), VERSION_2)
        d.ask(f"{word}: end otherwise", owner.end(not committed), VERSION_2)
        late = owner.records(topic)
        d.ask(f"{word}: a late write", late, 12)
        d.ask(f"{word}: a late write of an old client", late, 11)
        owner.take(answer)
        d.ask(f"{word}: commit nothing", owner.end(True), VERSION_2)
        d.ask(f"{word}: the next one writes", owner.records(topic, 1), 12)
        before = EndTxnRequest(owner.id, owner.producer_id, owner.epoch - 1, committed)
        d.ask(f"{word}: a late end", before, VERSION_2)
        d.ask(f"{word}: a late end otherwise", EndTxnRequest(*_with(before, not committed)), VERSION_2)
        d.ask(
            f"{word}: a future end",
            EndTxnRequest(owner.id, owner.producer_id, owner.epoch + 1, True),
            VERSION_2,
        )
        owner.finish(True, VERSION_2)
        answer = d.ask(f"{word}: abort nothing", owner.end(False), VERSION_2)
        owner.settle()
        look(owner, f"{word}: nothing aborted")
        owner.take(answer)
    d.ask("committed only", fetch(d, "t", at(0), at(0, 1), isolation=1), 12)
    d.ask("everything", fetch(d, "t", at(0), at(0, 1)), 12)


def _with(request: EndTxnRequest, committed: bool) -> tuple[str, int, int, bool]:
    return request.transactional_id, request.producer_id, request.producer_epoch, committed


@scenario
def transactions_of_both_versions(d: Dialogue) -> None:
    topic = d.topic("t", 2)
    owner = Owner(d).ready()
    d.ask("added and written as in version 1", owner.add(topic, 0), 3)
    d.ask("written", owner.records(topic), 11)
    d.ask("ended as in version 2", owner.end(True), VERSION_2)
    owner.settle()
    look(owner, "mixed")
    d.ask("ended again as in version 1", owner.end(True), 4)
    d.ask("the owner introduces itself with its old epoch", owner.init(owner.producer_id, owner.epoch), 5)
    look(owner, "introduced")
    owner.ready()
    d.ask("written as in version 2", owner.records(topic, 1), 12)
    d.ask("ended as in version 1", owner.end(True), 4)
    owner.settle()
    look(owner, "mixed the other way")
    d.ask("and ended again as in version 2", owner.end(True), VERSION_2)
    d.ask("or aborted", owner.end(False), VERSION_2)
