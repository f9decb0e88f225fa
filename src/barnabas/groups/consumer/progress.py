"""One member's turn: it changed its wishes, or just reports. Step by step this becomes records: the member,
its pattern, the group's epoch, the target, and how far the member gets towards it."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from barnabas.coordination.outcome import Entry
from barnabas.groups.assignors import Partitions
from barnabas.groups.consumer import records
from barnabas.groups.consumer.context import Context
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.consumer.member import Member
from barnabas.groups.consumer.reconciliation import Reconciliation
from barnabas.groups.consumer.regexes import RegexChange, note_regex
from barnabas.groups.consumer.target import compute_target, may_assign_again, topic_ids


@dataclass(slots=True)
class Progress:
    context: Context
    group: ConsumerGroup
    old: Member  # as it was, or as new as it can be
    new: Member  # as it asks to be
    entries: list[Entry] = field(default_factory=list)
    group_epoch: int = field(init=False)

    def __post_init__(self) -> None:
        self.group_epoch = self.group.epoch

    def note_member(self) -> bool:
        """True when it subscribes to other names."""
        if self.new == self.old:
            return False
        self.entries.append(records.member_entry(self.group.group_id, self.new))
        return self.new.topics != self.old.topics

    def note_regex(self) -> RegexChange:
        return note_regex(self.context, self.group, self.old, self.new, self.entries)

    def look_at_topics(self, bump: bool) -> None:
        """A new epoch starts when somebody wants other topics, or when topics are not what they were."""
        if not bump and not self.group.topics_may_have_changed:
            return
        topics = self.group.subscriptions.topics([self.old], self.new)
        metadata_hash = self.context.topic_hashes.of_topics(topics, self.context.host.image)
        if bump or metadata_hash != self.group.metadata_hash:
            self.group_epoch += 1
            self.entries.append(records.epoch_entry(self.group.group_id, self.group_epoch, metadata_hash))
        self.group.looked_at_topics_in_epoch = self.group_epoch
        if self.group.has_partition_metadata:
            self.entries.append(records.partition_metadata_tombstone(self.group.group_id))

    def find_target(self) -> tuple[int, Partitions]:
        """The epoch to go to, and what the member shall own there."""
        group, host = self.group, self.context.host
        last = (
            group.assignment_epoch,
            group.target_of(self.new.member_id, self.new.instance_id),
        )
        if self.group_epoch <= group.assignment_epoch:
            return last
        interval_ms = self.context.setting(group.group_id, "assignment.interval.ms")
        if not may_assign_again(group, interval_ms, host.wall_ms):
            return last
        assignor = group.subscriptions.preferred_assignor(self.old, self.new)
        target, entries = compute_target(
            group,
            self.new,
            assignor or host.settings.names("group.consumer.assignors")[0],
            self.group_epoch,
            host.image,
            host.wall_ms,
        )
        self.entries += entries
        return self.group_epoch, target

    def reconcile(
        self,
        target_epoch: int,
        target: Partitions,
        owned: Mapping[bytes, Set[int]] | None,
        subscription_changed: bool,
    ) -> Member:
        if not subscription_changed and self.new.is_reconciled_to(target_epoch):
            return self.new
        member = Reconciliation(
            target_epoch,
            target,
            owned,
            topic_ids(self.group, self.new, self.context.host.image),
            self.group.is_taken,
            subscription_changed,
        ).next_state(self.new)
        if member != self.new:
            self.entries.append(records.current_entry(self.group.group_id, member))
            if not member.speaks_classic:
                self.context.watch_revocation(self.group.group_id, member)
        return member
