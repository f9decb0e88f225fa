"""Who subscribes to what: counts that follow the members, so that no heartbeat has to look at all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from barnabas.groups.consumer.member import Member


@dataclass(frozen=True, slots=True)
class ResolvedRegex:
    """The topics a pattern matched, when it was looked at last."""

    topics: frozenset[str]
    image_version: int = -1
    resolved_wall_ms: int = -1


@dataclass(slots=True)
class Subscriptions:
    by_name: Counter[str] = field(default_factory=Counter)
    by_regex: Counter[str] = field(default_factory=Counter)  # members of each pattern
    resolved: dict[str, ResolvedRegex] = field(default_factory=dict)
    assignors: Counter[str] = field(default_factory=Counter)
    classic_protocols: Counter[str] = field(default_factory=Counter)  # members that support each
    classic_members: int = 0

    def add(self, member: Member) -> None:
        self.by_name.update(member.topics)
        if member.topic_regex:
            self.by_regex[member.topic_regex] += 1
        if member.assignor is not None:
            self.assignors[member.assignor] += 1
        if member.speaks_classic:
            self.classic_members += 1
            self.classic_protocols.update(protocol.name for protocol in member.classic_protocols)

    def remove(self, member: Member) -> None:
        _take(self.by_name, member.topics)
        if member.topic_regex:
            _take(self.by_regex, (member.topic_regex,))
        if member.assignor is not None:
            _take(self.assignors, (member.assignor,))
        if member.speaks_classic:
            self.classic_members -= 1
            _take(self.classic_protocols, (protocol.name for protocol in member.classic_protocols))

    def topics(self, without: Iterable[Member] = (), with_: Member | None = None) -> set[str]:
        """Every topic somebody subscribes to in any way, once these have gone and this one has come."""
        names, regexes = self.by_name, self.by_regex
        leaving = list(without)
        if leaving or with_ is not None:
            names, regexes = names.copy(), regexes.copy()
            for member in leaving:
                _take(names, member.topics)
                _take(regexes, (member.topic_regex,) if member.topic_regex else ())
            if with_ is not None:
                names.update(with_.topics)
                regexes.update((with_.topic_regex,) if with_.topic_regex else ())
        topics = set(names)
        for regex in regexes:
            topics |= self.topics_of_regex(regex)
        return topics

    def topics_of(self, member: Member) -> frozenset[str]:
        return member.topics | self.topics_of_regex(member.topic_regex)

    def topics_of_regex(self, regex: str) -> frozenset[str]:
        """A pattern that was not looked at yet matches nothing."""
        resolved = self.resolved.get(regex)
        return resolved.topics if resolved is not None else frozenset()

    def preferred_assignor(self, old: Member | None, new: Member) -> str | None:
        """The one most members ask for."""
        counts = self.assignors.copy()
        if old is not None and old.assignor is not None:
            _take(counts, (old.assignor,))
        if new.assignor is not None:
            counts[new.assignor] += 1
        return most_wanted(counts)


def most_wanted(counts: Mapping[str, int]) -> str | None:
    return max(counts, key=lambda name: counts[name], default=None)


def _take(counts: Counter[str], keys: Iterable[str]) -> None:
    for key in keys:
        counts[key] -= 1
        if counts[key] <= 0:
            del counts[key]
