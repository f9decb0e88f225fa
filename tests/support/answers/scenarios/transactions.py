"""Transactions, on both ways of counting epochs: InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn,
WriteTxnMarkers, DescribeTransactions, ListTransactions, DescribeProducers, and what readers get to see."""

from __future__ import annotations

import time
from typing import Any

from tests.support.answers.dialogue import Dialogue
from tests.support.answers.scenario import scenario
from tests.support.answers.scenarios.fetch import at, fetch
from tests.support.answers.scenarios.offsets import list_offsets
from tests.support.answers.scenarios.produce import T0_MS, produce
from tests.support.batches import Batch

from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from barnabas.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from barnabas.protocol.messages.describe_producers import DescribeProducersRequest, TopicRequest
from barnabas.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
)
from barnabas.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from barnabas.protocol.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.protocol.messages.list_transactions import ListTransactionsRequest
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from barnabas.protocol.messages.produce import ProduceRequest
from barnabas.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from barnabas.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)

TRANSACTIONAL = 0x10
VERSION_2 = 5  # of EndTxn
_SOON = {
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
}


class Owner:
    """A producer that owns a transactional id, as far as it knows."""

    def __init__(self, d: Dialogue, short: str = "x") -> None:
        self.d = d
        self.id = d.name(short)
        self.producer_id = self.epoch = -1
        self.sequences: dict[tuple[str, int], int] = {}

    def ready(self) -> Owner:
        """Own the id, however long the coordinator takes to be found. Producer id 0 goes to nobody: it is not
        shown where it is the default."""
        self.take(self._given(None))
        self.take(self._given(self.id))
        return self

    def _given(self, transactional_id: str | None) -> InitProducerIdResponse:
        for _ in range(400):
            found = self.d.peer.exchange(FindCoordinatorRequest("", 1, [self.id]), 4)
            assert isinstance(found, FindCoordinatorResponse), found
            answer = self.d.peer.exchange(InitProducerIdRequest(transactional_id, 60_000), 4)
            assert isinstance(answer, InitProducerIdResponse), answer
            if answer.error_code == 0:
                return answer
            assert answer.error_code in _SOON, answer
            time.sleep(0.05)
        raise AssertionError("no transaction coordinator")

    def take(self, answer: Any) -> None:
        self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
        self.sequences = {}

    def init(self, producer_id: int = -1, epoch: int = -1, timeout_ms: int = 60_000) -> InitProducerIdRequest:
        return InitProducerIdRequest(self.id, timeout_ms, producer_id, epoch)

    def add(
        self, topic: str, *indexes: int, version: int = 3, verify: bool = False
    ) -> AddPartitionsToTxnRequest:
        topics = [AddPartitionsToTxnTopic(topic, list(indexes))]
        if version < 4:
            return AddPartitionsToTxnRequest([], self.id, self.producer_id, self.epoch, topics)
        return AddPartitionsToTxnRequest(
            [AddPartitionsToTxnTransaction(self.id, self.producer_id, self.epoch, verify, topics)]
        )

    def records(
        self, topic: str, index: int = 0, *, count: int = 2, epoch: int | None = None
    ) -> ProduceRequest:
        sequence = self.sequences.get((topic, index), 0)
        self.sequences[topic, index] = sequence + count
        batch = Batch(
            tuple(b"v%d" % number for number in range(count)),
            attributes=TRANSACTIONAL,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=sequence,
            timestamp_ms=T0_MS,
        )
        request = produce(topic, batch.encode(), index=index)
        request.transactional_id = self.id
        return request

    def end(self, committed: bool) -> EndTxnRequest:
        return EndTxnRequest(self.id, self.producer_id, self.epoch, committed)

    def settle(self) -> str:
        """Wait until the markers are written."""
        for _ in range(400):
            answer = self.d.peer.exchange(DescribeTransactionsRequest([self.id]), 0)
            assert isinstance(answer, DescribeTransactionsResponse), answer
            state = answer.transaction_states[0].transaction_state
            if not state.startswith("Prepare"):
                return state
            time.sleep(0.02)
        raise AssertionError(f"{self.id} does not settle")

    def finish(self, committed: bool, version: int = 3) -> None:
        """End a transaction, off the record."""
        answer = self.d.peer.exchange(self.end(committed), version)
        assert isinstance(answer, EndTxnResponse), answer
        assert answer.error_code == 0, answer
        self.settle()
        if version >= VERSION_2:
            self.take(answer)


def look(owner: Owner, label: str) -> None:
    owner.d.ask(f"{label}: described", DescribeTransactionsRequest([owner.id]), view=_partitions_sorted)


def _partitions_sorted(shown: Any) -> Any:
    for row in shown["transaction_states"]:
        for topic in row.get("topics", []):
            topic["partitions"].sort()
    return shown


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
    d.ask("two producers in one request", both, (9, 11, 12))
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


# --- offsets -----------------------------------------------------------------------------------------------


@scenario
def offsets_in_transactions(d: Dialogue) -> None:
    topic, group = d.topic("t", 2), d.name("g")
    owner = Owner(d).ready()
    _group_ready(d, group)

    def commit(offset: int, *indexes: int, name: str = topic, **others: Any) -> TxnOffsetCommitRequest:
        rows = [TxnOffsetCommitRequestPartition(index, offset, 3, "m") for index in indexes]
        request = TxnOffsetCommitRequest(
            owner.id, group, owner.producer_id, owner.epoch, topics=[TxnOffsetCommitRequestTopic(name, rows)]
        )
        for field, value in others.items():
            setattr(request, field, value)
        return request

    def seen(label: str) -> None:
        for stable in (False, True):
            topics = [OffsetFetchRequestTopics(name=topic, partition_indexes=[0, 1])]
            wanted = OffsetFetchRequestGroup(group, topics=topics)
            request = OffsetFetchRequest(groups=[wanted], require_stable=stable)
            d.ask(f"{label}: offsets, {'stable' if stable else 'any'}", request, (8, 9))

    d.ask("not added", commit(1, 0), range(5))
    adding = AddOffsetsToTxnRequest(owner.id, owner.producer_id, owner.epoch, group)
    d.ask("added", adding)
    d.ask("unknown partition", commit(5, 0, 7))
    d.ask("unknown topic", commit(5, 0, name=d.name("no")))
    d.ask("no group", commit(5, 0, group_id=""))
    d.ask("another epoch", commit(5, 0, producer_epoch=owner.epoch + 1))
    d.ask("a generation of nobody", commit(5, 0, generation_id=3, member_id="nobody"), range(3, 6))
    d.ask("committed", commit(5, 0))
    seen("open")
    owner.finish(True)
    seen("ended")
    d.ask("the same without adding", commit(6, 0), range(5))
    d.peer.exchange(adding, 3)
    d.peer.exchange(commit(7, 0, 1), 4)
    seen("open again")
    owner.finish(False)
    seen("aborted")
    d.ask("version 2 adds by itself", commit(8, 1), 5)
    d.ask("version 2: described", DescribeTransactionsRequest([owner.id]), view=_somewhere)
    seen("version 2, open")
    owner.finish(True, VERSION_2)
    seen("version 2, ended")
    d.ask("a late commit", commit(9, 1, producer_epoch=owner.epoch - 1))
    d.ask("a late commit of an unknown id", commit(9, 1, transactional_id=d.name("who")))
    d.ask("an empty id", commit(9, 1, transactional_id=""))
    seen("after late ones")


def _somewhere(shown: Any) -> Any:
    """A group's name decides its partition, and names differ from run to run."""
    for topic in shown["transaction_states"][0]["topics"]:
        topic["partitions"] = len(topic["partitions"])
    return shown


def _group_ready(d: Dialogue, group: str) -> None:
    for _ in range(400):
        d.peer.exchange(FindCoordinatorRequest("", 0, [group]), 4)
        request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group, topics=[])])
        answer = d.peer.exchange(request, 8)
        assert isinstance(answer, OffsetFetchResponse), answer
        if answer.groups[0].error_code not in _SOON:
            return
        time.sleep(0.05)
    raise AssertionError("no group coordinator")


# --- readers and administrators ----------------------------------------------------------------------------


@scenario
def transactions_as_readers_see_them(d: Dialogue) -> None:
    topic = d.topic("t", 2)
    one, other = Owner(d, "a").ready(), Owner(d, "b").ready()
    for owner in (one, other):
        d.peer.exchange(owner.records(topic), 12)
    d.peer.exchange(produce(topic, Batch((b"plain",), timestamp_ms=T0_MS).encode()), 9)
    _seen(d, topic, "both open")
    d.ask("waits for what is open", fetch(d, "t", at(0), isolation=1, max_wait_ms=300, min_bytes=1), 12)
    other.finish(True, VERSION_2)
    _seen(d, topic, "one open")
    one.finish(False, VERSION_2)
    _seen(d, topic, "both ended")
    d.ask("one batch at a time", fetch(d, "t", at(2, max_bytes=1), isolation=1), 12)
    d.ask("behind the aborted", fetch(d, "t", at(4), isolation=1), 12)
    d.ask("at the end", fetch(d, "t", at(7), isolation=1), 12)


def _seen(d: Dialogue, topic: str, label: str) -> None:
    for isolation in (0, 1):
        d.ask(
            f"{label}: fetched with isolation {isolation}",
            fetch(d, "t", at(0), at(0, 1), isolation=isolation),
            (4, 12),
        )
        for timestamp in (-1, -2, -3, T0_MS):
            d.ask(
                f"{label}: offset of {'time' if timestamp > 0 else timestamp} with isolation {isolation}",
                list_offsets(topic, (0, timestamp), isolation=isolation),
                7,
            )
    d.ask(f"{label}: producers", DescribeProducersRequest([TopicRequest(topic, [0, 1])]), view=_by_producer)


def _by_producer(shown: Any) -> Any:
    for topic in shown["topics"]:
        for partition in topic["partitions"]:
            partition.get("active_producers", []).sort(key=lambda row: row["producer_id"])
    return shown


@scenario
def hanging_transactions(d: Dialogue) -> None:
    topic = d.topic("t", 2)
    owner = Owner(d).ready().ready()
    d.peer.exchange(owner.records(topic), 12)

    def markers(
        epoch: int, *indexes: int, committed: bool = False, coordinator: int = 0, version: int = 0
    ) -> Any:
        rows = [WritableTxnMarkerTopic(topic, list(indexes))]
        return WriteTxnMarkersRequest(
            [WritableTxnMarker(owner.producer_id, epoch, committed, rows, coordinator, version)]
        )

    producers = DescribeProducersRequest([TopicRequest(topic, [0, 1, 5]), TopicRequest(d.name("no"), [0])])
    d.ask("producers", producers)
    d.ask("no markers", WriteTxnMarkersRequest([]))
    d.ask("unknown partition", markers(owner.epoch, 5))
    d.ask("an older epoch", markers(owner.epoch - 1, 0))
    d.ask("version 2 with the same epoch", markers(owner.epoch, 0, version=2), 2)
    d.ask("both, one unknown", markers(owner.epoch, 0, 5), view=_marked)
    d.ask("producers after the marker", producers)
    d.ask("repeated", markers(owner.epoch, 0))
    d.ask("an older coordinator", markers(owner.epoch, 0, coordinator=-1))
    d.ask("where nothing was written", markers(owner.epoch, 1))
    d.ask("producers at last", producers)
    d.ask("read", fetch(d, "t", at(0), isolation=1), 12)
    owner.finish(False, VERSION_2)


def _marked(shown: Any) -> Any:
    for marker in shown["markers"]:
        for topic in marker["topics"]:
            topic["partitions"].sort(key=lambda row: row.get("partition_index", 0))
    return shown


@scenario
def transactions_listed(d: Dialogue) -> None:
    topic = d.topic("t")
    idle, ongoing = Owner(d, "idle").ready(), Owner(d, "open").ready()
    d.peer.exchange(ongoing.add(topic, 0), 3)
    look(idle, "idle")
    look(ongoing, "open")

    def mine(shown: Any) -> Any:
        rows = shown.get("transaction_states", [])
        names = {d.renderer.text(idle.id), d.renderer.text(ongoing.id)}
        shown["transaction_states"] = sorted(
            (row for row in rows if row["transactional_id"] in names), key=lambda row: row["transactional_id"]
        )
        return shown

    d.ask("all", ListTransactionsRequest(), view=mine)
    d.ask("ongoing", ListTransactionsRequest(["Ongoing"]), view=mine)
    d.ask("an unknown state", ListTransactionsRequest(["Ongoing", "Sleeping"]), view=mine)
    d.ask("only an unknown state", ListTransactionsRequest(["Sleeping"]), view=mine)
    d.ask(
        "every state",
        ListTransactionsRequest(["Empty", "Dead", "PrepareEpochFence", "CompleteAbort"]),
        view=mine,
    )
    d.ask("a producer", ListTransactionsRequest([], [idle.producer_id]), view=mine)
    d.ask("longer than an hour", ListTransactionsRequest([], [], 3_600_000), (1, 2), view=mine)
    d.ask("longer than nothing", ListTransactionsRequest(["Ongoing"], [], 0), (1, 2), view=mine)
    prefix = d.prefix
    d.ask("a pattern", ListTransactionsRequest([], [], -1, prefix + "o.*"), 2, view=mine)
    d.ask("half a name", ListTransactionsRequest([], [], -1, prefix + "o"), 2, view=mine)
    d.ask("an empty pattern", ListTransactionsRequest([], [], -1, ""), 2, view=mine)
    d.ask("no pattern", ListTransactionsRequest([], [], -1, "("), 2, view=mine)
    ongoing.finish(False)
