"""Fetch: offsets, limits, epochs, isolation, sessions, and who waits for what."""

from __future__ import annotations

import random
import time

from tests.support.answers.dialogue import Dialogue
from tests.support.answers.scenario import momentary, scenario
from tests.support.answers.scenarios.produce import T0_MS, produce
from tests.support.batches import Batch

from barnabas.protocol.messages.api_versions import ApiVersionsRequest
from barnabas.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from barnabas.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from barnabas.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)

LATEST = 18
BY_NAME = 12
MIB = 1 << 20
WAIT_MS = 1200  # long enough to tell waiting from answering


def fetch(
    d: Dialogue,
    short: str,
    *partitions: FetchPartition,
    max_wait_ms: int = 0,
    min_bytes: int = 0,
    max_bytes: int = MIB,
    isolation: int = 0,
    session: tuple[int, int] = (0, -1),
    forgotten: tuple[ForgottenTopic, ...] = (),
    topics: list[FetchTopic] | None = None,
    topic_id: bytes | None = None,
) -> FetchRequest:
    if topics is None:
        topics = [
            FetchTopic(d.topic_id(short) if topic_id is None else topic_id, d.name(short), list(partitions))
        ]
    return FetchRequest(
        None,
        ReplicaState(),
        -1,
        max_wait_ms,
        min_bytes,
        max_bytes,
        isolation,
        *session,
        topics,
        list(forgotten),
        "",
    )


def at(
    offset: int, index: int = 0, *, epoch: int = -1, last_epoch: int = -1, max_bytes: int = MIB
) -> FetchPartition:
    return FetchPartition(index, epoch, offset, last_epoch, -1, max_bytes)


def fill(d: Dialogue, short: str, index: int = 0, *counts: int) -> None:
    for number, count in enumerate(counts or (3, 4, 2)):
        batch = Batch(tuple(b"v%d" % n for n in range(count)), key=b"k", timestamp_ms=T0_MS + 1000 * number)
        d.peer.exchange(produce(d.name(short), batch.encode(), index=index), 9)


@scenario
def fetch_offsets(d: Dialogue) -> None:
    d.topic("t", 2)
    fill(d, "t")
    for offset in range(-3, 12):
        versions = None if offset in {0, 4, 9, 10, -1} else (11, LATEST)
        d.ask(f"from {offset}", fetch(d, "t", at(offset)), versions)
    d.ask("from 2**62", fetch(d, "t", at(2**62)), LATEST)
    d.ask("empty partition", fetch(d, "t", at(0, 1)))
    d.ask("unknown partition", fetch(d, "t", at(0, 9)))
    d.ask("negative partition", fetch(d, "t", at(0, -1)))
    d.ask("unknown topic", fetch(d, "no", at(0), topic_id=b"u" * 16))
    d.ask("zero id or empty name", fetch(d, "t", topics=[FetchTopic(bytes(16), "", [at(0)])]))
    d.ask("invalid name", fetch(d, "t", topics=[FetchTopic(bytes(16), "a/b", [at(0)])]), range(4, 13))
    d.ask("no topics", fetch(d, "t", topics=[]))
    d.ask("no partitions", fetch(d, "t"))
    d.ask("a partition twice", fetch(d, "t", at(0), at(4)), (11, LATEST))
    d.ask("both partitions", fetch(d, "t", at(0), at(0, 1)), (11, LATEST))
    asked = [DeleteRecordsPartition(0, 4)]
    d.ask("delete below 4", DeleteRecordsRequest([DeleteRecordsTopic(d.name("t"), asked)], 5000), 2)
    for offset in (0, 2, 3, 4, 9):
        d.ask(f"after deletion from {offset}", fetch(d, "t", at(offset)), (4, 5, 11, LATEST))


@scenario
def fetch_limits(d: Dialogue) -> None:
    d.topic("t", 2)
    fill(d, "t")
    fill(d, "t", 1)
    d.ask("negative limit", fetch(d, "t", at(0, max_bytes=-1)), (4, 11, LATEST))
    for limit in (0, 1, 60, 100, 110, 200, 300):
        d.ask(f"partition limit {limit}", fetch(d, "t", at(0, max_bytes=limit)), (4, 11, LATEST))
        d.ask(f"request limit {limit}", fetch(d, "t", at(0), at(0, 1), max_bytes=limit), (4, 11, LATEST))
        d.ask(
            f"limit {limit} twice",
            fetch(d, "t", at(0, max_bytes=limit), at(0, 1, max_bytes=limit)),
            (4, 11, LATEST),
        )
        d.ask(f"partition limit {limit} in the middle", fetch(d, "t", at(4, max_bytes=limit)), LATEST)
    big = Batch((b"x" * 5000,), timestamp_ms=T0_MS).encode()
    d.topic("big", 2)
    for index in (0, 1):
        d.peer.exchange(produce(d.name("big"), big, index=index), 9)
    d.ask("first batch above the limit", fetch(d, "big", at(0, max_bytes=100), at(0, 1, max_bytes=100)))
    d.ask("above the request's limit", fetch(d, "big", at(0), at(0, 1), max_bytes=10))


@scenario
def fetch_epochs(d: Dialogue) -> None:
    d.topic("t")
    fill(d, "t")
    for epoch in (-2, -1, 0, 1, 5, 2**31 - 1):
        d.ask(f"current epoch {epoch}", fetch(d, "t", at(0, epoch=epoch)), range(9, LATEST + 1))
    for last in (-2, -1, 0, 1, 7):
        d.ask(f"last fetched epoch {last}", fetch(d, "t", at(4, last_epoch=last)), range(12, LATEST + 1))
    d.ask("last fetched epoch 0 at the end", fetch(d, "t", at(9, last_epoch=0)), (12, LATEST))
    d.ask("last fetched epoch 0 beyond the end", fetch(d, "t", at(20, last_epoch=0)), (12, LATEST))
    d.ask("last fetched epoch 0 before the start", fetch(d, "t", at(-1, last_epoch=0)), (12, LATEST))
    for isolation in (0, 1, 5):
        d.ask(f"isolation {isolation}", fetch(d, "t", at(0), isolation=isolation))


@momentary
def fetch_waits(d: Dialogue) -> None:
    d.topic("t")
    fill(d, "t")

    def timed(label: str, request: FetchRequest) -> None:
        started = time.monotonic()
        d.ask(label, request, 12)
        waited = time.monotonic() - started > 0.9 * WAIT_MS / 1000
        d.note(f"{label}, how long", "waits" if waited else "answers at once")

    timed("nothing new", fetch(d, "t", at(9), max_wait_ms=WAIT_MS, min_bytes=1))
    timed("min_bytes 0", fetch(d, "t", at(9), max_wait_ms=WAIT_MS, min_bytes=0))
    timed("too little", fetch(d, "t", at(0), max_wait_ms=WAIT_MS, min_bytes=10_000))
    timed("enough", fetch(d, "t", at(0), max_wait_ms=WAIT_MS, min_bytes=20))
    timed(
        "enough only beyond the partition's limit",
        fetch(d, "t", at(0, max_bytes=10), max_wait_ms=WAIT_MS, min_bytes=50),
    )
    timed("out of range", fetch(d, "t", at(90), max_wait_ms=WAIT_MS, min_bytes=1))
    timed("unknown partition", fetch(d, "t", at(0, 5), max_wait_ms=WAIT_MS, min_bytes=1))
    timed("unknown and nothing new", fetch(d, "t", at(0, 5), at(9), max_wait_ms=WAIT_MS, min_bytes=1))
    timed("no partitions", fetch(d, "t", max_wait_ms=WAIT_MS, min_bytes=1))
    timed("no topics", fetch(d, "t", topics=[], max_wait_ms=WAIT_MS, min_bytes=1))
    timed("negative wait", fetch(d, "t", at(9), max_wait_ms=-1, min_bytes=1))
    timed("newer epoch", fetch(d, "t", at(9, epoch=4), max_wait_ms=WAIT_MS, min_bytes=1))
    timed("diverging", fetch(d, "t", at(9, last_epoch=4), max_wait_ms=WAIT_MS, min_bytes=1))


@scenario
def fetch_parked_in_front(d: Dialogue) -> None:
    """A parked fetch holds the answers of the same connection back, and keeps their order."""
    d.topic("t")
    fill(d, "t")
    first = d.peer.send(fetch(d, "t", at(9), max_wait_ms=400, min_bytes=1), 11)
    second = d.peer.send(ApiVersionsRequest("a", "1"), 0)
    third = d.peer.send(fetch(d, "t", at(0)), 11)
    for expected in (first, second, third):
        frame = d.peer.receive_frame()
        assert isinstance(frame, bytes)
        got = int.from_bytes(frame[:4], "big")
        d.note(f"answer {expected - first}", "in order" if got == expected else f"{got - first} came first")
    d.peer.send(fetch(d, "t", at(9), max_wait_ms=30_000, min_bytes=1), 12)
    time.sleep(0.1)
    other = Dialogue(d.peer.port, d.prefix)
    try:
        fill(other, "t", 0, 1)
    finally:
        other.close()
    d.note("woken by a record", d.peer.receive(1, 12), 12)


@scenario
def fetch_sessions(d: Dialogue) -> None:
    d.topic("t", 4)
    fill(d, "t", 0)
    fill(d, "t", 1)
    for version in (7, 11, BY_NAME, 13, LATEST):

        def say(
            label: str,
            session: tuple[int, int],
            *rows: FetchPartition,
            forget: tuple[int, ...] = (),
            version: int = version,
        ) -> int:
            topics = [FetchTopic(d.topic_id("t"), d.name("t"), list(rows))] if rows else []
            forgotten = (ForgottenTopic(d.topic_id("t"), d.name("t"), forget),) if forget else ()
            request = fetch(d, "t", topics=topics, session=session, forgotten=forgotten)
            return int(d.ask(f"v{version}: {label}", request, version).session_id)

        say("no session", (0, -1), at(0))
        number = say("new session", (0, 0), at(0), at(0, 1), at(0, 2))
        say("nothing changed", (number, 1))
        say("moved on", (number, 2), at(9), at(9, 1))
        say("nothing new", (number, 3))
        say("one more partition", (number, 4), at(0, 3))
        say("and nothing", (number, 5))
        say("an unknown partition", (number, 6), at(0, 77))
        say("an error is said again", (number, 7))
        say("forget it", (number, 8), forget=(77,))
        say("all quiet", (number, 9))
        say("forget what is not there", (number, 10), forget=(66,))
        say("out of range", (number, 11), at(100, 2))
        say("back in range", (number, 12), at(0, 2))
        say("wrong epoch", (number, 20))
        say("old epoch", (number, 3))
        say("right epoch after wrong ones", (number, 13))
        say("move one back", (number, 14), at(3, 1))
        say("unknown session", (number + 1 if number < 2**31 - 1 else 5, 1))
        say("negative session", (-5, 1))
        say("epoch without session", (0, 3))
        say("negative epoch", (number, -2))
        say("close it", (number, -1), at(0))
        say("closed", (number, 15))
        empty = say("new empty session", (0, 0))
        say("its next", (empty, 1), at(9))
        again = say("new session", (0, 0), at(9))
        say("renewed", (again, 0), at(9), at(9, 1))
        say("the old one", (again, 1))


@scenario
def fetch_sessions_and_topics(d: Dialogue) -> None:
    """Unknown ids inside sessions, a session that changes its version, a topic that goes away."""
    d.topic("t", 2)
    fill(d, "t")
    unknown = FetchTopic(b"u" * 16, d.name("no"), [at(0)])
    known = FetchTopic(d.topic_id("t"), d.name("t"), [at(9)])
    for version in (BY_NAME, LATEST):
        answer = d.ask(
            f"v{version}: unknown topic in a new session",
            fetch(d, "t", topics=[unknown, known], session=(0, 0)),
            version,
        )
        d.ask(f"v{version}: said again", fetch(d, "t", topics=[], session=(answer.session_id, 1)), version)
        gone = (ForgottenTopic(b"u" * 16, d.name("no"), [0]),)
        d.ask(
            f"v{version}: forgotten",
            fetch(d, "t", topics=[], session=(answer.session_id, 2), forgotten=gone),
            version,
        )
    session = d.ask("by id", fetch(d, "t", topics=[known], session=(0, 0)), LATEST).session_id
    d.ask("then by name", fetch(d, "t", topics=[known], session=(session, 1)), BY_NAME)
    d.ask("then by id again", fetch(d, "t", topics=[known], session=(session, 1)), LATEST)
    session = d.ask("by name", fetch(d, "t", topics=[known], session=(0, 0)), BY_NAME).session_id
    d.ask("then with an id", fetch(d, "t", topics=[known], session=(session, 1)), LATEST)
    for version in (BY_NAME, LATEST):
        short = f"doomed{version}"
        d.topic(short)
        doomed = FetchTopic(d.topic_id(short), d.name(short), [at(0)])
        session = d.ask(
            f"v{version}: a topic", fetch(d, "t", topics=[doomed], session=(0, 0)), version
        ).session_id
        d.peer.exchange(DeleteTopicsRequest([DeleteTopicState(d.name(short))], (), 5000), 6)
        d.settle()
        d.ask(f"v{version}: deleted", fetch(d, "t", topics=[], session=(session, 1)), version)
        d.ask(f"v{version}: deleted, without a session", fetch(d, "t", topics=[doomed]), version)


@scenario
def fetch_as_replica(d: Dialogue) -> None:
    """A fetch that says it comes from a follower that is none."""
    d.topic("t")
    fill(d, "t")
    for replica in (-3, -2, 1, 2, 99):
        request = fetch(d, "t", at(0))
        request.replica_id = replica
        request.replica_state = ReplicaState(replica, -1)
        d.ask(f"replica {replica}", request, (11, LATEST))


@scenario
def fetch_session_walks(d: Dialogue) -> None:
    """Sessions at random, always the same: partitions come and go, records come, limits change."""
    names = ("t", "u")
    for short in names:
        d.topic(short, 2)
        fill(d, short)
    for seed in range(5):
        walk = random.Random(seed)
        version = walk.choice((7, BY_NAME, 13, LATEST))
        session = (0, 0)
        for step in range(10):
            if walk.random() < 0.3:
                fill(d, walk.choice(names), walk.randrange(2), 1)
            topics = [
                FetchTopic(d.topic_id(short), d.name(short), [_some(walk) for _ in range(walk.randrange(3))])
                for short in walk.sample(names, walk.choice((1, 2) if step == 0 else (0, 0, 1, 2)))
            ]
            lost = walk.choice(names)
            forgotten = (ForgottenTopic(d.topic_id(lost), d.name(lost), [walk.randrange(2)]),)
            request = fetch(
                d,
                "t",
                topics=topics,
                max_bytes=walk.choice((MIB, 150, 0)),
                isolation=walk.choice((0, 1)),
                session=session,
                forgotten=forgotten if walk.random() < 0.2 else (),
            )
            answer = d.ask(f"walk {seed} step {step}", request, version)
            session = (answer.session_id, session[1] + 1) if answer.session_id else (0, 0)


def _some(walk: random.Random) -> FetchPartition:
    offset = walk.choice((0, 1, 5, 9, 9, 12, 100))
    return at(
        offset, walk.randrange(3), epoch=walk.choice((-1, -1, 0, 1)), max_bytes=walk.choice((MIB, 100, 0))
    )
