"""Everything a shard does with its consumer groups: what `GroupShard` calls."""

from __future__ import annotations

from barnabas.coordination.outcome import Entry, Outcome, ShardHost, Ticket
from barnabas.groups.classic.rebalance import Rebalancer
from barnabas.groups.consumer.context import Context
from barnabas.groups.consumer.describing import describe
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.consumer.heartbeat import heartbeat
from barnabas.groups.consumer.leaving import fence
from barnabas.groups.consumer.replaying import REPLAYS
from barnabas.groups.group import Caller, Group
from barnabas.model.errors import ApiError
from barnabas.model.image import ClusterImage, TopicImage
from barnabas.protocol.messages.consumer_group_describe import DescribedGroup
from barnabas.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest


class ConsumerGroups:
    def __init__(self, host: ShardHost, groups: dict[str, Group], rebalancer: Rebalancer) -> None:
        self.context = Context(host, groups, rebalancer, lambda *who: fence(self.context, *who))

    # --- the shard's life ----------------------------------------------------------------------------------

    def replays(self, entry: Entry) -> bool:
        """False: the record is not of a consumer group."""
        replay = REPLAYS.get(type(entry.key))
        if replay is None:
            return False
        replay(self.context.groups, entry.key, entry.value)
        return True

    def loaded(self, group: ConsumerGroup) -> None:
        """Every member has its full time again: nobody knows how long it was silent."""
        for member in group.members.values():
            self.context.watch_session(group.group_id, member)
            if not member.speaks_classic:
                self.context.watch_revocation(group.group_id, member)

    def image_changed(self, old: ClusterImage) -> None:
        """The group's next heartbeat looks at its topics again; until then nothing is written."""
        new = self.context.host.image
        groups = [group for group in self.context.groups.values() if isinstance(group, ConsumerGroup)]
        for group in groups:
            topics = group.subscriptions.topics()
            if any(_differs(old.topics.get(name), new.topics.get(name)) for name in topics):
                group.looked_at_topics_in_epoch = None
        if any(group.subscriptions.by_regex for group in groups) and new.topics.keys() - old.topics.keys():
            self.context.topic_arrivals += 1

    # --- requests ------------------------------------------------------------------------------------------

    def heartbeat(self, request: ConsumerGroupHeartbeatRequest, caller: Caller, ticket: Ticket) -> Outcome:
        return heartbeat(self.context, request, caller, ticket)

    def describe(self, group_id: str) -> DescribedGroup:
        """A refusal comes with its sentence, so it is a description like any other."""
        host = self.context.host
        try:
            group = self.context.find(group_id)
        except ApiError as error:
            return DescribedGroup(error.code, error.message, group_id)
        default_assignor = host.settings.names("group.consumer.assignors")[0]
        return describe(group, default_assignor, host.image)


def _differs(old: TopicImage | None, new: TopicImage | None) -> bool:
    if old is new:
        return False
    if old is None or new is None or old.id != new.id or len(old.partitions) != len(new.partitions):
        return True
    return any(
        before.replicas != after.replicas
        for before, after in zip(old.partitions, new.partitions, strict=True)
    )
