"""Subscriptions by pattern. Which topics a pattern matches is found out apart from the heartbeat that brought
it, a piece at a time, at most every ten seconds, and written down; members then get the new epoch."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto

from barnabas.coordination.outcome import NOTHING, Entry, Outcome
from barnabas.groups.consumer import records
from barnabas.groups.consumer.context import Context
from barnabas.groups.consumer.group import ConsumerGroup
from barnabas.groups.consumer.member import Member
from barnabas.groups.consumer.patterns import Matches, compile_pattern
from barnabas.groups.consumer.subscriptions import ResolvedRegex
from barnabas.model.errors import ApiError
from barnabas.model.image import ClusterImage

REFRESH_INTERVAL_MIN_MS = 10_000
MATCHES_PER_STEP = 1_000  # a few milliseconds of the broker's only thread


class RegexChange(Enum):
    NONE = auto()
    UNRESOLVED = auto()  # the epoch moves once we know what it matches
    RESOLVED = auto()


def note_regex(
    context: Context, group: ConsumerGroup, old: Member, new: Member, entries: list[Entry]
) -> RegexChange:
    change, is_new = RegexChange.NONE, False
    if new.topic_regex != old.topic_regex:
        change, is_new = _change(group, old, new, entries)
    if is_new or _must_refresh(context, group, old, new):
        _begin(context, group)
    return change


def _change(group: ConsumerGroup, old: Member, new: Member, entries: list[Entry]) -> tuple[RegexChange, bool]:
    """What the change means, and whether the pattern was never seen before."""
    subscriptions = group.subscriptions
    if old.topic_regex and subscriptions.by_regex[old.topic_regex] == 1:
        entries.append(records.regex_tombstone(group.group_id, old.topic_regex))
    if not new.topic_regex:
        return RegexChange.RESOLVED, False
    if new.topic_regex not in subscriptions.by_regex:
        compile_pattern(new.topic_regex)
        return RegexChange.UNRESOLVED, True
    known = new.topic_regex in subscriptions.resolved
    return (RegexChange.RESOLVED if known else RegexChange.UNRESOLVED), False


def _must_refresh(context: Context, group: ConsumerGroup, old: Member, new: Member) -> bool:
    subscriptions = group.subscriptions
    if not subscriptions.by_regex:
        return False
    if group.regexes_resolved_ms is None:
        return True
    wanted = subscriptions.by_regex.keys() | ({new.topic_regex} if new.topic_regex else set())
    if (
        old.topic_regex
        and old.topic_regex != new.topic_regex
        and subscriptions.by_regex[old.topic_regex] == 1
    ):
        wanted -= {old.topic_regex}
    if not wanted:
        return False
    age_ms = context.host.now_ms - group.regexes_resolved_ms
    refresh_ms = context.host.settings.integer("group.consumer.regex.refresh.interval.ms")
    return (
        wanted != subscriptions.resolved.keys()
        or group.regexes_resolved_at_arrival != context.topic_arrivals
        or age_ms > refresh_ms
    )


def _begin(context: Context, group: ConsumerGroup) -> None:
    """Not while it is under way, and not within ten seconds of the last time."""
    key = ("regex", group.group_id)
    if context.host.timers.is_scheduled(key):
        return
    last_ms = group.regexes_resolved_ms if group.subscriptions.resolved else None
    if last_ms is not None and context.host.now_ms <= last_ms + REFRESH_INTERVAL_MIN_MS:
        return
    context.host.timers.schedule(key, 0, lambda: _resolve(context, group.group_id))


def _resolve(context: Context, group_id: str) -> Outcome:
    group = context.groups.get(group_id)
    if not isinstance(group, ConsumerGroup):
        return NOTHING
    return _step(context, _Search(group, context))


def _step(context: Context, search: _Search) -> Outcome:
    if search.advance():
        return _found(context, search)
    context.host.timers.schedule(("regex", search.group_id), 0, lambda: _step(context, search))
    return NOTHING


class _Search:
    """Every pattern of a group against every topic there was when it began."""

    def __init__(self, group: ConsumerGroup, context: Context) -> None:
        self.group_id = group.group_id
        self.image_version = context.host.image.version
        self.begun_ms = context.host.now_ms
        self.arrivals = context.topic_arrivals
        self.found: dict[str, set[str]] = {regex: set() for regex in group.subscriptions.by_regex}
        self._pairs = self._all_pairs(context.host.image)

    def _all_pairs(self, image: ClusterImage) -> Iterator[tuple[str, Matches, str]]:
        names = tuple(image.topics)
        for regex in self.found:
            try:
                matches = compile_pattern(regex)
            except ApiError:
                continue  # RE2/J took it when the log was another broker's: it matches nothing here
            for name in names:
                yield regex, matches, name

    def advance(self) -> bool:
        """True when it is done."""
        for _ in range(MATCHES_PER_STEP):
            pair = next(self._pairs, None)
            if pair is None:
                return True
            regex, matches, name = pair
            if matches(name):
                self.found[regex].add(name)
        return False


def _found(context: Context, search: _Search) -> Outcome:
    group = context.groups.get(search.group_id)
    if not isinstance(group, ConsumerGroup):
        return NOTHING
    subscriptions, outcome = group.subscriptions, Outcome()
    changed: dict[str, frozenset[str]] = {}
    for regex, topics in search.found.items():
        if regex not in subscriptions.by_regex:
            continue
        if subscriptions.topics_of_regex(regex) != topics:
            changed[regex] = frozenset(topics)
        resolved = ResolvedRegex(frozenset(topics), search.image_version, context.host.wall_ms)
        outcome.entries.append(records.regex_entry(group.group_id, regex, resolved))
    _bump(context, group, changed, outcome)
    group.regexes_resolved_ms = search.begun_ms
    group.regexes_resolved_at_arrival = search.arrivals
    return outcome


def _bump(
    context: Context, group: ConsumerGroup, changed: dict[str, frozenset[str]], outcome: Outcome
) -> None:
    subscriptions = group.subscriptions
    topics = set(subscriptions.by_name)
    for regex in subscriptions.by_regex:
        topics |= changed.get(regex, subscriptions.topics_of_regex(regex))
    metadata_hash = context.topic_hashes.of_topics(topics, context.host.image)
    if changed or metadata_hash != group.metadata_hash:
        epoch = group.epoch + 1
        outcome.entries.append(records.epoch_entry(group.group_id, epoch, metadata_hash))
        group.looked_at_topics_in_epoch = epoch
