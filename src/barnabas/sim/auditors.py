"""Those who ask the coordinators, when all should be at rest, and write down what they say."""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
)
from barnabas.protocol.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from barnabas.protocol.messages.list_transactions import ListTransactionsRequest, ListTransactionsResponse
from barnabas.sim.classic_member import ClassicMember
from barnabas.sim.crews import GroupCrew
from barnabas.sim.history import GroupFound, TransactionsFound
from barnabas.sim.membership import GROUP, Membership, Places, find_coordinator
from barnabas.sim.network import Door
from barnabas.sim.scripts import Actor, Script, insist, rest
from barnabas.sim.transaction_checkers import AT_REST
from barnabas.sim.world import World

_PAUSE_MS = 60
_TRIES = 200
_STABLE = "Stable"


class GroupAuditor(Actor):
    """Asks until the group is stable with all its members, or patience ends."""

    def __init__(self, world: World, host: Door, crew: GroupCrew) -> None:
        super().__init__(world, host, f"auditor-of-{crew.membership.group}")
        self._crew = crew
        self._group = crew.membership.group

    def script(self) -> Script[None]:
        yield from find_coordinator(self._group, GROUP)
        for _ in range(_TRIES):
            state, members = yield from self._describe()
            if state == _STABLE and members == self._crew.present:
                break
            yield from rest(_PAUSE_MS)
        self.world.history.add(GroupFound(self._group, state, members, self._crew.present))

    def _describe(self) -> Script[tuple[str, int]]:
        asked = ConsumerGroupDescribeRequest([self._group])
        told = yield from insist(ConsumerGroupDescribeResponse, asked, 1)
        if told.groups[0].error_code != ErrorCode.GROUP_ID_NOT_FOUND:
            return told.groups[0].group_state, len(told.groups[0].members)
        request = DescribeGroupsRequest([self._group])
        answer = yield from insist(DescribeGroupsResponse, request, 5)
        return answer.groups[0].group_state, len(answer.groups[0].members)


class OffsetAuditor(Actor):
    """Reads what the groups have committed, belonging to none of them."""

    def __init__(self, world: World, host: Door, name: str, groups: Mapping[str, Places]) -> None:
        super().__init__(world, host, name)
        self._groups = groups

    def script(self) -> Script[None]:
        for group, places in self._groups.items():
            member = ClassicMember(self.world, Membership(group, places, 0, 0), self.name)
            yield from find_coordinator(group, GROUP)
            while (yield from member.committed(places)) is None:
                yield from rest(_PAUSE_MS)


class OffsetWatcher(OffsetAuditor):
    """Does so all the time: a commit that was lost shows before the next one hides it."""

    def script(self) -> Script[None]:
        while True:
            for group, places in self._groups.items():
                member = ClassicMember(self.world, Membership(group, places, 0, 0), self.name)
                yield from member.committed(places)
            yield from rest(self.world.random.between(1, 2 * _PAUSE_MS))


class TransactionAuditor(Actor):
    """Asks until no transaction is open, or patience ends."""

    def __init__(self, world: World, host: Door) -> None:
        super().__init__(world, host, "transaction-auditor")

    def script(self) -> Script[None]:
        states: Mapping[str, str] = {}
        for _ in range(_TRIES):
            answer = yield from insist(ListTransactionsResponse, ListTransactionsRequest(), 0)
            states = {one.transactional_id: one.transaction_state for one in answer.transaction_states}
            if answer.error_code == ErrorCode.NONE and all(state in AT_REST for state in states.values()):
                break
            yield from rest(_PAUSE_MS)
        self.world.history.add(TransactionsFound(states))
