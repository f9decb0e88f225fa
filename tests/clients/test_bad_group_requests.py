"""Requests to a group coordinator that no library would send: Kafka's error, and the group goes on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from tests.support.group_requests import (
    DELETE_GROUPS,
    LIST_GROUPS,
    await_coordinators,
    commit_codes,
    commit_request,
    consumer_heartbeat_request,
    heartbeat_request,
    join,
    join_alone,
    join_request,
    leave_request,
    sync_request,
)
from tests.support.ready import create_ready_topic
from tests.support.requests import request_module
from tests.support.waiting import eventually
from tests.support.wire import Connection

from barnabas.testing import BrokerProcess

UNKNOWN_TOPIC_OR_PARTITION, ILLEGAL_GENERATION, INCONSISTENT_GROUP_PROTOCOL = 3, 22, 23
INVALID_GROUP_ID, UNKNOWN_MEMBER_ID, INVALID_SESSION_TIMEOUT, REBALANCE_IN_PROGRESS = 24, 25, 26, 27
INVALID_REQUEST, FENCED_INSTANCE_ID, FENCED_MEMBER_EPOCH, UNSUPPORTED_ASSIGNOR = 42, 82, 110, 112
STALE_MEMBER_EPOCH, INVALID_REGULAR_EXPRESSION = 113, 128
CROWD = 100
MANY_GROUPS = 1_200
ENORMOUS = 30_000


@pytest.fixture
def raw(coordinator: BrokerProcess, group: str) -> Iterator[Connection]:
    with Connection(coordinator.port) as connection:
        await_coordinators(connection, group)
        yield connection


def test_a_wrong_generation_is_refused(
    raw: Connection, coordinator: BrokerProcess, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    joined = join_alone(raw, group)
    member = joined.member_id
    for wrong in (joined.generation_id + 1, joined.generation_id - 1):
        assert raw.ask(heartbeat_request(group, wrong, member)).error_code == ILLEGAL_GENERATION
        assert raw.ask(sync_request(group, wrong, member)).error_code == ILLEGAL_GENERATION
        commit = commit_request(group, (topic, 0), generation=wrong, member=member)
        assert commit_codes(raw.ask(commit)) == [ILLEGAL_GENERATION]
    right = commit_request(group, (topic, 0), generation=joined.generation_id, member=member)
    assert commit_codes(raw.ask(right)) == [0]


def test_an_unknown_member_is_refused(
    raw: Connection, coordinator: BrokerProcess, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    generation = join_alone(raw, group).generation_id
    assert raw.ask(join_request(group, "nobody")).error_code == UNKNOWN_MEMBER_ID
    assert raw.ask(heartbeat_request(group, generation, "nobody")).error_code == UNKNOWN_MEMBER_ID
    assert raw.ask(sync_request(group, generation, "nobody")).error_code == UNKNOWN_MEMBER_ID
    commit = commit_request(group, (topic, 0), generation=generation, member="nobody")
    assert commit_codes(raw.ask(commit)) == [UNKNOWN_MEMBER_ID]
    (left,) = raw.ask(leave_request(group, "nobody")).members
    assert left.error_code == UNKNOWN_MEMBER_ID
    from_outside = commit_request(group, (topic, 0))
    assert commit_codes(raw.ask(from_outside)) == [UNKNOWN_MEMBER_ID]


def test_a_group_that_does_not_exist_has_no_members(raw: Connection, topic: str, group: str) -> None:
    nowhere = f"{group}-nowhere"
    await_coordinators(raw, nowhere)
    assert raw.ask(heartbeat_request(nowhere, 1, "somebody")).error_code == UNKNOWN_MEMBER_ID
    assert raw.ask(sync_request(nowhere, 1, "somebody")).error_code == UNKNOWN_MEMBER_ID
    commit = commit_request(nowhere, (topic, 0), generation=1, member="somebody")
    assert commit_codes(raw.ask(commit)) in ([ILLEGAL_GENERATION], [UNKNOWN_TOPIC_OR_PARTITION])


def test_a_commit_for_a_partition_that_does_not_exist_fails_alone(
    raw: Connection, coordinator: BrokerProcess, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    places = ((f"{topic}-no", 0), (topic, 0), (topic, 7))
    answer = raw.ask(commit_request(group, *places))
    rows = [(topic.name, row) for topic in answer.topics for row in topic.partitions]
    codes = {(name, row.partition_index): row.error_code for name, row in rows}
    no = UNKNOWN_TOPIC_OR_PARTITION
    assert codes == dict(zip(places, (no, 0, no), strict=True))


def test_an_empty_group_id_is_refused(raw: Connection, topic: str) -> None:
    assert raw.ask(join_request("")).error_code == INVALID_GROUP_ID
    assert raw.ask(sync_request("", 1, "x")).error_code == INVALID_GROUP_ID
    assert raw.ask(heartbeat_request("", 1, "x")).error_code == INVALID_GROUP_ID
    assert raw.ask(leave_request("", "x")).error_code == INVALID_GROUP_ID
    assert raw.ask(consumer_heartbeat_request("", "x", 1)).error_code == INVALID_REQUEST


def test_an_enormous_group_id_is_a_group_like_any_other_or_refused(
    raw: Connection, coordinator: BrokerProcess, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    enormous = group + "x" * ENORMOUS
    await_coordinators(raw, enormous)
    joined = join_alone(raw, enormous)
    assert raw.ask(heartbeat_request(enormous, joined.generation_id, joined.member_id)).error_code == 0
    (left,) = raw.ask(leave_request(enormous, joined.member_id)).members
    assert left.error_code == 0


def test_a_session_timeout_outside_the_broker_s_limits_is_refused(raw: Connection, group: str) -> None:
    for timeout_ms in (0, 499, 1_800_001):
        answer = raw.ask(join_request(group, session_ms=timeout_ms))
        assert answer.error_code == INVALID_SESSION_TIMEOUT


def test_a_member_that_shares_no_protocol_is_refused(raw: Connection, group: str) -> None:
    join_alone(raw, group, protocols=("range",))
    strange = join_request(group, protocols=("of-my-own",))
    assert raw.ask(strange).error_code == INCONSISTENT_GROUP_PROTOCOL
    assert raw.ask(join_request(group, protocol_type="other")).error_code == INCONSISTENT_GROUP_PROTOCOL
    assert raw.ask(join_request(f"{group}-2", protocols=())).error_code == INCONSISTENT_GROUP_PROTOCOL


def test_a_member_that_never_syncs_does_not_hold_the_others(
    raw: Connection, coordinator: BrokerProcess, group: str
) -> None:
    lazy = join(raw, group, rebalance_ms=700, session_ms=30_000)
    assert lazy.leader == lazy.member_id
    with Connection(coordinator.port) as other:
        first = other.ask(join_request(group, rebalance_ms=700))
        rejoin = join_request(group, first.member_id, rebalance_ms=700)
        joined = other.ask(rejoin)
        assert joined.error_code == 0
        # The lazy one did not come back either: it is out, and the other one leads alone.
        assert (joined.leader, [one.member_id for one in joined.members]) == (
            joined.member_id,
            [joined.member_id],
        )
        synced = other.ask(
            sync_request(group, joined.generation_id, joined.member_id, {joined.member_id: b"all"})
        )
        assert (synced.error_code, synced.assignment) == (0, b"all")
    gone = heartbeat_request(group, lazy.generation_id, lazy.member_id)
    assert raw.ask(gone).error_code == UNKNOWN_MEMBER_ID


def test_a_follower_whose_leader_never_syncs_is_told_to_join_again(
    raw: Connection, coordinator: BrokerProcess, group: str
) -> None:
    details: dict[str, Any] = {"rebalance_ms": 3_000, "session_ms": 30_000}
    leader = join_alone(raw, group, **details)
    with Connection(coordinator.port) as other:
        first = other.ask(join_request(group, **details))
        other.send_request(join_request(group, first.member_id, **details))
        beat = heartbeat_request(group, leader.generation_id, leader.member_id)
        eventually(lambda: raw.ask(beat).error_code == REBALANCE_IN_PROGRESS)
        again = raw.ask(join_request(group, leader.member_id, **details))
        _, joined = other.receive_response(type(join_request(group)))
        assert again.generation_id == joined.generation_id
        waiting = other.ask(sync_request(group, joined.generation_id, joined.member_id))
        assert waiting.error_code == REBALANCE_IN_PROGRESS
        rejoined = other.ask(join_request(group, joined.member_id, **details))
        assert (rejoined.error_code, len(rejoined.members)) == (0, 1)


def test_a_hundred_members_join_at_once_and_share_one_generation(
    raw: Connection, coordinator: BrokerProcess, group: str
) -> None:
    crowd = Crowd(coordinator.port, group, CROWD)
    crowd.run()
    assert crowd.errors == []
    assert len({member for member, _ in crowd.synced}) == CROWD
    assert len({generation for _, generation in crowd.synced}) == 1


def test_a_thousand_groups_are_kept_listed_and_deleted(
    raw: Connection, coordinator: BrokerProcess, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    names = [f"{group}-{number}" for number in range(MANY_GROUPS)]
    for name in names:
        raw.send_request(commit_request(name, (topic, 0)))
    for _ in names:
        _, answer = raw.receive_response(type(commit_request(group)))
        assert commit_codes(answer) == [0]
    listing = request_module(LIST_GROUPS, 5).ListGroupsRequest()
    assert set(names) <= {one.group_id for one in raw.ask(listing).groups}
    deletion = request_module(DELETE_GROUPS, 2).DeleteGroupsRequest(groups_names=tuple(names))
    assert {row.error_code for row in raw.ask(deletion).results} == {0}
    assert not set(names) & {one.group_id for one in raw.ask(listing).groups}


def test_the_new_protocol_refuses_what_it_does_not_know(
    raw: Connection, coordinator: BrokerProcess, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    member = str(uuid4())

    def code_of(epoch: int, name: str = member, **details: Any) -> int:
        return int(raw.ask(consumer_heartbeat_request(group, name, epoch, **details)).error_code)

    joining: dict[str, Any] = {"topics": (topic,), "rebalance_ms": 5_000, "owned": ()}
    assert code_of(0) == INVALID_REQUEST
    assert code_of(0, **{**joining, "assignor": "of-my-own"}) == UNSUPPORTED_ASSIGNOR
    assert code_of(0, **{**joining, "topics": None, "regex": "(unclosed"}) == INVALID_REGULAR_EXPRESSION
    assert code_of(0, **joining) == 0
    assert code_of(1, name="nobody") == UNKNOWN_MEMBER_ID
    assert code_of(99) == FENCED_MEMBER_EPOCH
    assert code_of(-1) == 0
    assert code_of(1) == UNKNOWN_MEMBER_ID


def test_a_commit_with_a_stale_epoch_is_refused_by_the_new_protocol(
    raw: Connection, coordinator: BrokerProcess, topic: str, group: str
) -> None:
    create_ready_topic(coordinator, topic)
    member = str(uuid4())
    joined = raw.ask(
        consumer_heartbeat_request(group, member, 0, topics=(topic,), rebalance_ms=5_000, owned=())
    )
    assert joined.error_code == 0
    epoch = joined.member_epoch
    for wrong in (epoch - 1, epoch + 1):
        answer = raw.ask(commit_request(group, (topic, 0), generation=wrong, member=member))
        assert commit_codes(answer) == [STALE_MEMBER_EPOCH]
    answer = raw.ask(commit_request(group, (topic, 0), generation=epoch, member=member))
    assert commit_codes(answer) == [0]
    stranger = raw.ask(commit_request(group, (topic, 0), generation=epoch, member="nobody"))
    assert commit_codes(stranger) == [UNKNOWN_MEMBER_ID]


class Crowd:
    """Members on a thread each, joining and syncing until all of them are in one generation."""

    def __init__(self, port: int, group: str, size: int) -> None:
        self._port = port
        self._group = group
        self._size = size
        self._complete = threading.Event()
        self._start = threading.Barrier(size)
        self.synced: list[tuple[str, int]] = []
        self.errors: list[object] = []

    def run(self) -> None:
        threads = [threading.Thread(target=self._member, daemon=True) for _ in range(self._size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)

    def _member(self) -> None:
        with Connection(self._port, timeout_s=120) as connection:
            self._start.wait()
            member = connection.ask(join_request(self._group, session_ms=30_000)).member_id
            while True:
                joined = connection.ask(join_request(self._group, member, session_ms=30_000))
                if joined.error_code != 0:
                    self.errors.append(joined)
                    return
                if self._is_settled(connection, joined):
                    self.synced.append((member, joined.generation_id))
                    return

    def _is_settled(self, connection: Connection, joined: Any) -> bool:
        member, generation = joined.member_id, joined.generation_id
        members = [one.member_id for one in joined.members]
        if len(members) == self._size:
            self._complete.set()
        synced = connection.ask(
            sync_request(self._group, generation, member, dict.fromkeys(members, b"share"))
        )
        if synced.error_code == REBALANCE_IN_PROGRESS:
            return False
        while not self._complete.is_set():
            beat = connection.ask(heartbeat_request(self._group, generation, member))
            if beat.error_code == REBALANCE_IN_PROGRESS:
                return False
            self._complete.wait(0.05)
        beat = connection.ask(heartbeat_request(self._group, generation, member))
        return bool(beat.error_code == 0)
