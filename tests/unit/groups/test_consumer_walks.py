"""Whatever members do and whenever the broker dies: no partition has two owners, nobody is stuck, and the log
says it all, before and after compaction."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.consumer_group import GROUP, Consumer, Scene
from tests.support.coordination import FakeShardHost

from barnabas.coordination.outcome import Entry
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.shard import GroupShard
from barnabas.model.errors import ErrorCode
from barnabas.protocol.internal.entries import decode_entry, encode_entry

_NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
_STEPS = st.one_of(
    st.tuples(st.just("join"), _NAMES, st.sampled_from([("t",), ("t", "u"), ("u",), ()])),
    st.tuples(st.just("pattern"), _NAMES, st.sampled_from(["t", ".*", "v.*"])),
    st.tuples(st.just("beat"), _NAMES, st.booleans()),
    st.tuples(st.just("beat"), _NAMES, st.booleans()),
    st.tuples(st.just("beat"), _NAMES, st.booleans()),
    st.tuples(st.just("want"), _NAMES, st.sampled_from([("t",), ("u",), ("t", "u")])),
    st.tuples(st.just("leave"), _NAMES, st.none()),
    st.tuples(st.just("vanish"), _NAMES, st.none()),
    st.tuples(st.just("wait"), st.just(""), st.sampled_from([1_000, 1_000, 11_000, 46_000])),
    st.tuples(st.just("wait"), st.just(""), st.just(1_000)),
    st.tuples(st.just("restart"), st.just(""), st.none()),
    st.tuples(
        st.just("topics"), st.just(""), st.sampled_from([{"t": 3, "u": 2}, {"t": 5}, {"t": 3, "v1": 2}])
    ),
)

_START_AGAIN = (
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.FENCED_MEMBER_EPOCH,
    ErrorCode.GROUP_ID_NOT_FOUND,
)


class Walk:
    """Well-behaved clients: whom we refuse starts again, owning nothing."""

    def __init__(self) -> None:
        self.scene = Scene(t=3, u=2)
        self.alive: dict[str, Consumer] = {}
        self.wishes: dict[str, dict[str, Any]] = {}
        self.joins = 0
        for name in ("a", "b"):
            self.take(("join", name, ("t",)))

    def take(self, step: tuple[str, str, Any]) -> None:
        what, name, detail = step
        match what:
            case "join":
                self.wishes[name] = {"topics": detail}
                self.join(name)
            case "pattern":
                self.wishes[name] = {"topics": (), "subscribed_topic_regex": detail}
                self.join(name)
            case "beat" if name in self.alive:
                self.beat(name, says_what_it_owns=detail)
            case "want" if name in self.alive:
                self.wishes[name] = {"topics": detail}
                self.beat(name, subscribed_topic_names=list(detail), subscribed_topic_regex="")
            case "leave" if name in self.alive:
                self.alive.pop(name).leave()
            case "vanish":
                self.alive.pop(name, None)
            case "wait":
                self.scene.host.pass_ms(detail)
                self.beat_all()
            case "restart":
                self.scene.restart()
            case "topics":
                self.scene.change_topics(**detail)
        self.check()

    def join(self, name: str) -> None:
        """A process of its own each time: the last one under this name is gone."""
        self.joins += 1
        wish = dict(self.wishes[name])
        self.alive[name] = Consumer(self.scene, f"{name}{self.joins}", *wish.pop("topics"), **wish)

    def beat(self, name: str, says_what_it_owns: bool = True, **fields: Any) -> None:
        consumer = self.alive[name]
        answer = consumer.beat(**fields) if says_what_it_owns else consumer.beat_silently(**fields)
        if answer.error_code in _START_AGAIN:
            self.join(name)
        else:
            assert answer.error_code == ErrorCode.NONE, answer

    def beat_all(self) -> None:
        for name in list(self.alive):
            self.beat(name)

    def check(self) -> None:
        """The coordinator's books: what somebody may still own nobody else is given."""
        group = self.scene.shard.groups.get(GROUP)
        if not isinstance(group, ConsumerGroup):
            return
        owned = Counter(
            (topic_id, partition)
            for member in group.members.values()
            for held in (member.assigned, member.pending_revocation)
            for topic_id, partitions in held.items()
            for partition in partitions
        )
        assert all(count == 1 for count in owned.values()), owned
        assert all(group.is_taken(*each) for each in owned)

    def finish(self) -> None:
        """Left in peace, all get what they asked for."""
        for _ in range(3):  # sessions of the vanished expire; patterns are looked at again
            for _ in range(10):
                self.scene.host.pass_ms(5_000)
                self.beat_all()
        for _ in range(4):
            self.scene.host.pass_ms(1_000)
            self.beat_all()
        given = Counter(each for consumer in self.alive.values() for each in consumer.partitions)
        wanted = {
            (topic, partition.index)
            for consumer in self.alive.values()
            for topic in self.scene.group.subscriptions.topics_of(
                self.scene.group.members[consumer.member_id]
            )
            if topic in self.scene.host.image.topics
            for partition in self.scene.host.image.topics[topic].partitions
        }
        assert set(given) == wanted
        assert all(count == 1 for count in given.values())
        if self.alive:
            assert self.scene.group.state == "Stable"


@settings(max_examples=100, deadline=None)
@given(st.lists(_STEPS, max_size=40))
def test_no_partition_has_two_owners_and_nobody_is_stuck(steps: list[tuple[str, str, Any]]) -> None:
    walk = Walk()
    for step in steps:
        walk.take(step)
    walk.finish()


def _compacted(log: list[Entry], *, with_tombstones: bool) -> list[Entry]:
    """Only the last record of each key is left, where it was."""
    last = {encode_entry(entry.key, None)[0]: index for index, entry in enumerate(log)}
    kept = [log[index] for index in sorted(last.values())]
    return [entry for entry in kept if with_tombstones or entry.value is not None]


def _replayed(scene: Scene, log: list[Entry]) -> ConsumerGroup | None:
    host = FakeShardHost(image=scene.host.image)
    shard = GroupShard(host)
    for offset, (key, value) in enumerate(log):
        decoded = decode_entry("__consumer_offsets", *encode_entry(key, value))
        assert decoded is not None
        shard.replay(Entry(*decoded), offset, None)
    group = shard.groups.get(GROUP)
    return group if isinstance(group, ConsumerGroup) else None


def _state(group: ConsumerGroup | None) -> dict[str, Any]:
    if group is None:
        return {}
    soft = ("looked_at_topics_in_epoch", "regexes_resolved_ms", "regexes_resolved_at_arrival")
    return {name: value for name, value in vars(group).items() if name not in soft}


@settings(max_examples=100, deadline=None)
@given(st.lists(_STEPS, max_size=30), st.booleans())
def test_the_log_tells_the_state_before_and_after_compaction(
    steps: list[tuple[str, str, Any]], with_tombstones: bool
) -> None:
    walk = Walk()
    for step in steps:
        walk.take(step)
    log = walk.scene.written()
    live = walk.scene.shard.groups.get(GROUP)
    assert isinstance(live, ConsumerGroup | None)
    assert _state(_replayed(walk.scene, log)) == _state(live)
    compacted = _replayed(walk.scene, _compacted(log, with_tombstones=with_tombstones))
    assert _state(compacted) == _state(live)
