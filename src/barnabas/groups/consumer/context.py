"""What the operations on consumer groups share: the host, the groups, the clocks of their members."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from barnabas.coordination.outcome import Outcome, ShardHost
from barnabas.groups.classic.rebalance import Rebalancer
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.consumer.member import Member, MemberState
from barnabas.groups.consumer.topic_hash import TopicHashes
from barnabas.groups.group import Group
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.model.ids import uuid_text
from barnabas.model.image import ConfigKind

# Takes a member out of its group: a timer is over.
Fence: TypeAlias = Callable[[str, str], Outcome]


class Context:
    def __init__(
        self, host: ShardHost, groups: dict[str, Group], rebalancer: Rebalancer, fence: Fence
    ) -> None:
        self.host = host
        self.rebalancer = rebalancer  # of classic groups
        self.groups = groups
        self.topic_hashes = TopicHashes()
        self.topic_arrivals = 0  # how many times topics have come: patterns must be looked at again
        self.fence = fence

    def find(self, group_id: str) -> ConsumerGroup:
        group = self.groups.get(group_id)
        if group is None:
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        if not isinstance(group, ConsumerGroup):
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
        return group

    def new_member_id(self) -> str:
        """A random UUID as Kafka prints one; none starts with a dash, as an option of a tool does."""
        while True:
            raw = bytearray(self.host.random_bytes(16))
            raw[6] = raw[6] & 0x0F | 0x40
            raw[8] = raw[8] & 0x3F | 0x80
            text = uuid_text(bytes(raw))
            if not text.startswith("-"):
                return text

    # --- settings, of the group if it has its own ----------------------------------------------------------

    def setting(self, group: str, name: str) -> int:
        """A group's own wish counts within the bounds the broker sets."""
        own = self.host.image.config(ConfigKind.GROUP, group).get(f"consumer.{name}", "")
        settings = self.host.settings
        if not own.isdecimal():
            return settings.integer(f"group.consumer.{name}")
        least = settings.integer(f"group.consumer.min.{name}")
        return min(max(int(own), least), settings.integer(f"group.consumer.max.{name}"))

    # --- clocks --------------------------------------------------------------------------------------------

    def watch_session(self, group_id: str, member: Member) -> None:
        """A member that is silent for this long is out."""
        if member.classic is not None:
            timeout_ms = member.classic.session_timeout_ms
        else:
            timeout_ms = self.setting(group_id, "session.timeout.ms")
        self._watch("session", group_id, member.member_id, timeout_ms)

    def watch_revocation(self, group_id: str, member: Member) -> None:
        """A member that does not give up what it must within its rebalance timeout is out."""
        key = ("revoke", group_id, member.member_id)
        if member.state is not MemberState.UNREVOKED_PARTITIONS:
            self.host.timers.cancel(key)
            return

        def due() -> Outcome:
            group = self.groups.get(group_id)
            current = group.members.get(member.member_id) if isinstance(group, ConsumerGroup) else None
            if current is None or current.epoch != member.epoch:
                return Outcome()
            return self.fence(group_id, member.member_id)

        self.host.timers.schedule(key, member.rebalance_timeout_ms, due)

    def watch_join(self, group_id: str, member: Member) -> None:
        """A classic member that was told to rejoin; being told again gives it no more time."""
        if not self.host.timers.is_scheduled(("rejoin", group_id, member.member_id)):
            self._watch("rejoin", group_id, member.member_id, member.rebalance_timeout_ms)

    def watch_sync(self, group_id: str, member: Member) -> None:
        self._watch("resync", group_id, member.member_id, member.rebalance_timeout_ms)

    def forget(self, what: str, group_id: str, member_id: str) -> None:
        self.host.timers.cancel((what, group_id, member_id))

    def forget_all(self, group_id: str, member_id: str) -> None:
        for what in ("session", "revoke", "rejoin", "resync"):
            self.forget(what, group_id, member_id)

    def _watch(self, what: str, group_id: str, member_id: str, timeout_ms: int) -> None:
        self.host.timers.schedule(
            (what, group_id, member_id), timeout_ms, lambda: self.fence(group_id, member_id)
        )
