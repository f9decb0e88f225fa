"""Whatever members do, and whatever fails, a classic group keeps its books and answers everybody."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from tests.support.coordination import FakeTicket
from tests.support.groups import REBALANCE_MS, SESSION_MS, Groups, identity, subscription

from barnabas.groups.classic.group import ClassicGroup
from barnabas.groups.classic.rebalance import NEW_MEMBER_TIMEOUT_MS
from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.join_group import JoinGroupRequestProtocol, JoinGroupResponse
from barnabas.protocol.messages.sync_group import SyncGroupResponse

STEPS = 150
INSTANCES = (None, None, "i", "j")


class Crowd:
    """Members without sense: they join, sync, beat and leave as chance has it, in any generation."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.groups = Groups(group_max_size="4", group_initial_rebalance_delay_ms="300")
        self.ids: list[tuple[str, str | None]] = [("", None)]
        self.open: list[tuple[FakeTicket, str | None]] = []
        self.assigned: dict[int, set[bytes]] = {}

    def step(self) -> None:
        action = self.chance.choice(
            (
                self.join,
                self.join,
                self.sync,
                self.sync,
                self.beat,
                self.leave,
                self.wait,
                self.wait,
                self.fail,
            )
        )
        action()
        if self.chance.random() < 0.01:
            self.restart()
        self.collect()
        self.check()

    def who(self) -> tuple[str, str | None]:
        return self.chance.choice(self.ids[-8:])

    def generation(self) -> int:
        group = self.group
        known = 1 if group is None else group.generation
        return max(0, known - (self.chance.random() < 0.2))

    @property
    def group(self) -> ClassicGroup | None:
        group = self.groups.shard.groups.get("g")
        assert group is None or isinstance(group, ClassicGroup)
        return group

    def join(self) -> None:
        member_id, instance_id = (
            self.who() if self.chance.random() < 0.7 else ("", self.chance.choice(INSTANCES))
        )
        names = self.chance.choice((("a", "b"), ("b", "a"), ("a",)))
        protocols = [JoinGroupRequestProtocol(name, subscription("t")) for name in names]
        version = self.chance.choice((3, 9))
        ticket = self.groups.join(
            member_id, version=version, group_instance_id=instance_id, protocols=protocols
        )
        self.open.append((ticket, instance_id))

    def sync(self) -> None:
        member_id, instance_id = self.who()
        group = self.group
        known = () if group is None else tuple(group.member_ids())
        generation = self.generation()
        rows = {name: f"{generation} {name}".encode() for name in known}
        ticket = self.groups.sync(member_id, generation, rows, group_instance_id=instance_id)
        self.open.append((ticket, instance_id))

    def beat(self) -> None:
        member_id, instance_id = self.who()
        self.groups.heartbeat(member_id, self.generation(), group_instance_id=instance_id)

    def leave(self) -> None:
        self.groups.leave(identity(*self.who()))

    def wait(self) -> None:
        self.groups.host.pass_ms(self.chance.choice((1, 200, 2000, SESSION_MS)))

    def fail(self) -> None:
        self.groups.host.refuse_next = ErrorCode.COORDINATOR_NOT_AVAILABLE

    def restart(self) -> None:
        self.groups.shard.unloaded()
        self.groups.host.refuse_next = None
        self.groups.restart()

    def collect(self) -> None:
        for ticket, instance_id in self.open:
            if isinstance(ticket.response, JoinGroupResponse) and ticket.response.member_id:
                self.ids.append((ticket.response.member_id, instance_id))
        self.open = [(ticket, instance_id) for ticket, instance_id in self.open if not ticket.done]

    def check(self) -> None:
        """What the group counts is what is there."""
        group = self.group
        if group is None:
            return
        members = group.members.values()
        assert group.joining == sum(member.join is not None for member in members)
        supporters = Counter(name for member in members for name in member.protocols)
        assert +group._supporters == supporters
        assert group.static_members == {
            m.instance_id: m.member_id for m in members if m.instance_id is not None
        }
        assert group.unsynced <= group.members.keys()
        assert not group.pending & group.members.keys()
        assert (group.leader_id in group.members) if group.members else group.leader_id is None
        assert len(group.members) <= 4 or group.state == "PreparingRebalance"


@pytest.mark.parametrize("seed", range(150))
def test_everybody_is_answered_and_nobody_stays_for_ever(seed: int) -> None:
    crowd = Crowd(seed)
    for _ in range(STEPS):
        crowd.step()
    # Silence: whoever waits is answered, whoever is in goes, nothing is left to do.
    crowd.groups.host.refuse_next = None
    crowd.groups.host.pass_ms(NEW_MEMBER_TIMEOUT_MS + 3 * REBALANCE_MS)
    crowd.collect()
    assert crowd.open == []
    group = crowd.group
    assert group is None or (group.is_empty and not group.members and not group.pending)


@pytest.mark.parametrize("seed", range(40))
def test_a_restart_finds_the_last_assignment(seed: int) -> None:
    crowd = Crowd(1000 + seed)
    seen: dict[int, dict[str, bytes]] = {}
    for _ in range(STEPS):
        crowd.step()
        group = crowd.group
        if group is not None and group.state == "Stable":
            seen[group.generation] = dict(group.assignments())
    crowd.restart()
    group = crowd.group
    if group is not None and group.members:
        assert group.assignments() == seen[group.generation]


def test_an_assignment_reaches_only_its_own_generation() -> None:
    for seed in range(30):
        crowd = Crowd(2000 + seed)
        tickets: list[tuple[int, FakeTicket]] = []
        for _ in range(STEPS):
            before = len(crowd.open)
            generation = -1 if crowd.group is None else crowd.group.generation
            crowd.step()
            tickets += [(generation, ticket) for ticket, _ in crowd.open[before:]]
        for generation, ticket in tickets:
            if isinstance(ticket.response, SyncGroupResponse) and ticket.response.assignment:
                assert ticket.response.assignment.split()[0] == str(generation).encode()
