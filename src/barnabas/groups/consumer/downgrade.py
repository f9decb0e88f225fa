"""A consumer group becomes a classic group: the last member that spoke the new protocol is gone.

The classic group is alive at once, with timers and waiting members, so its records are not replayed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from barnabas.coordination.outcome import Entry, Outcome
from barnabas.groups.classic.group import ClassicGroup
from barnabas.groups.classic.member import ClassicMember
from barnabas.groups.classic.records import group_entry
from barnabas.groups.classic.states import Stable
from barnabas.groups.consumer import records
from barnabas.groups.consumer.context import Context
from barnabas.groups.consumer.embedded import write_assignment
from barnabas.groups.consumer.group import CONSUMER_PROTOCOL, ConsumerGroup
from barnabas.groups.consumer.member import Member
from barnabas.groups.group import Group
from barnabas.model.errors import ErrorCode
from barnabas.protocol.internal.groups import GroupMetadataValue


def may_downgrade(
    context: Context, group: ConsumerGroup, leaving: Sequence[Member], joining: int = 0
) -> bool:
    """Only classic members would be left, and there would be some."""
    settings = context.host.settings
    modern = sum(not member.speaks_classic for member in leaving)
    left = len(group.members) - len(leaving) + joining
    return (
        0 < modern == len(group.members) - group.subscriptions.classic_members
        and 0 < left <= settings.integer("group.max.size")
        and settings.text("group.consumer.migration.policy").lower() in ("bidirectional", "downgrade")
    )


def downgrade(
    context: Context,
    group: ConsumerGroup,
    leaving: Sequence[Member],
    entries: list[Entry],
    joining: Member | None = None,
    *,
    rebalance: bool = True,
) -> Outcome:
    """`entries` were decided before; `joining` takes the place of whom it replaces."""
    staying = [member for member in group.members.values() if member not in leaving]
    classic = _classic(context, group, staying + ([] if joining is None else [joining]))
    member_ids = [*classic.members] if joining is not None else [*group.members]
    outcome = Outcome(
        [
            *entries,
            *records.group_tombstones(group, member_ids),
            _remembered(classic, rebalance),
        ],
        replays=False,
    )
    _take_over(context, group, classic)
    if rebalance:
        context.rebalancer.prepare(classic, outcome)
    _take_back_if_refused(context, group, classic, outcome)
    return outcome


def _remembered(classic: ClassicGroup, rebalance: bool) -> Entry:
    """A rebalance that begins is not in the log. Should we die before it ends, what the leaving member owned
    would be nobody's: with a generation that no member knows, all of them come again (Kafka's do not).
    Without a leader, whoever loads the group rebalances it: else a static member gets back what it had."""
    key, value = group_entry(classic, classic.assignments())
    assert isinstance(value, GroupMetadataValue)
    if rebalance:
        value.generation += 1
        value.leader = None
    return Entry(key, value)


def _classic(context: Context, group: ConsumerGroup, members: Iterable[Member]) -> ClassicGroup:
    classic = ClassicGroup(group.group_id)
    classic.generation = group.epoch
    classic.status_since_ms = context.host.wall_ms
    for member in members:
        assert member.classic is not None
        protocols = {each.name: each.metadata for each in member.classic_protocols}
        like = next(iter(protocols.values()))
        classic.add(
            ClassicMember(
                member.member_id,
                member.instance_id,
                member.client_id,
                member.client_host,
                member.rebalance_timeout_ms,
                member.classic.session_timeout_ms,
                protocols,
                write_assignment(member.assigned, context.host.image, like),
            ),
            CONSUMER_PROTOCOL,
        )
    classic.status = Stable()
    classic.agree(classic.select_protocol())
    return classic


def _take_over(context: Context, group: ConsumerGroup, classic: ClassicGroup) -> None:
    for member_id in group.members:
        context.forget_all(group.group_id, member_id)
    context.groups[group.group_id] = classic
    for member in classic.members.values():
        context.rebalancer.extend_session(classic, member)


def _take_back_if_refused(
    context: Context, group: ConsumerGroup, classic: ClassicGroup, outcome: Outcome
) -> None:
    """Not in the log: the group is what it was, and its members have their full time again."""

    def refused(code: ErrorCode) -> Outcome:
        context.groups[group.group_id] = group
        for member_id in classic.members:
            context.rebalancer.forget_session(classic, member_id)
        for member in group.members.values():
            context.watch_session(group.group_id, member)
        for ticket, _ in outcome.answers:
            ticket.refuse(code)
        return Outcome()

    outcome.refused = refused


def replacing(groups: dict[str, Group], group: ConsumerGroup, outcome: Outcome) -> Outcome:
    """What a JoinGroup decided in the place of an empty consumer group, which is written off with it."""
    take_back = outcome.refused
    outcome.entries[:0] = group.tombstones()

    def refused(code: ErrorCode) -> Outcome:
        refusal = take_back(code) if take_back is not None else Outcome()
        groups[group.group_id] = group
        return refusal

    outcome.refused = refused
    return outcome
