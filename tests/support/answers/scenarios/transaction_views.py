"""What readers, groups and administrators see of transactions: offsets, isolation, WriteTxnMarkers, lists."""

from __future__ import annotations

from typing import Any

from tests.support.answers.dialogue import Dialogue
from tests.support.answers.owner import VERSION_2, Owner, group_ready, look
from tests.support.answers.scenario import scenario
from tests.support.answers.scenarios.fetch import at, fetch
from tests.support.answers.scenarios.offsets import list_offsets
from tests.support.answers.scenarios.produce import T0_MS, produce
from tests.support.batches import Batch

from barnabas.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from barnabas.protocol.messages.describe_producers import DescribeProducersRequest, TopicRequest
from barnabas.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
)
from barnabas.protocol.messages.list_transactions import ListTransactionsRequest
from barnabas.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
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

# --- offsets -----------------------------------------------------------------------------------------------


@scenario
def offsets_in_transactions(d: Dialogue) -> None:
    topic, group = d.topic("t", 2), d.name("g")
    owner = Owner(d).ready()
    group_ready(d, group)

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
