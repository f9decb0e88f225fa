"""Subscriptions by pattern, in RE2."""

from __future__ import annotations

import pytest
from tests.support.consumer_group import Consumer, Scene, settle

from barnabas.groups.consumer.patterns import PATTERN_MAX_BYTES, compile_pattern
from barnabas.groups.consumer.regexes import MATCHES_PER_STEP
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.internal import groups as stored


def _by_regex(scene: Scene, member_id: str, regex: str) -> Consumer:
    return Consumer(scene, member_id, subscribed_topic_regex=regex)


def test_a_pattern_is_resolved_apart_from_the_heartbeat_that_brought_it() -> None:
    scene = Scene(a1=1, a2=2, b=3)
    one = _by_regex(scene, "one", "a.*")
    assert (one.epoch, one.partitions) == (1, [])
    scene.host.pass_ms(0)
    one.beat()
    assert (one.epoch, one.partitions) == (2, [("a1", 0), ("a2", 0), ("a2", 1)])


def test_what_a_pattern_matched_is_written_down() -> None:
    scene = Scene(a1=1, b=3)
    _by_regex(scene, "one", "a.*")
    scene.host.pass_ms(0)
    entry = next(
        each for each in scene.written() if isinstance(each.key, stored.ConsumerGroupRegularExpressionKey)
    )
    assert entry.key == stored.ConsumerGroupRegularExpressionKey("g", "a.*")
    assert entry.value == stored.ConsumerGroupRegularExpressionValue(["a1"], 1, scene.host.wall_ms)


def test_a_pattern_must_match_the_whole_name() -> None:
    scene = Scene(ab=1, a=1)
    one = _by_regex(scene, "one", "a")
    settle(scene, one)
    assert one.partitions == [("a", 0)]


def test_new_topics_are_found_but_not_more_often_than_every_ten_seconds() -> None:
    scene = Scene(a1=1)
    one = _by_regex(scene, "one", "a.*")
    settle(scene, one)
    scene.change_topics(a1=1, a2=1)
    settle(scene, one)
    assert one.partitions == [("a1", 0)]
    scene.host.pass_ms(10_000)
    settle(scene, one)
    settle(scene, one)
    assert one.partitions == [("a1", 0), ("a2", 0)]


def test_a_topic_that_goes_is_missed_at_once() -> None:
    scene = Scene(a1=1, a2=1)
    one = _by_regex(scene, "one", "a.*")
    settle(scene, one)
    scene.change_topics(a1=1)
    settle(scene, one)
    assert one.partitions == [("a1", 0)]


def test_a_second_member_with_the_same_pattern_needs_no_second_look() -> None:
    scene = Scene(a1=2)
    one = _by_regex(scene, "one", "a.*")
    settle(scene, one)
    two = _by_regex(scene, "two", "a.*")
    settle(scene, one, two)
    assert sorted(one.partitions + two.partitions) == [("a1", 0), ("a1", 1)]


def test_names_and_a_pattern_add_up() -> None:
    scene = Scene(a1=1, b=1)
    one = Consumer(scene, "one", "b", subscribed_topic_regex="a.*")
    settle(scene, one)
    settle(scene, one)
    assert one.partitions == [("a1", 0), ("b", 0)]


def test_the_last_member_takes_its_pattern_with_it() -> None:
    scene = Scene(a1=1)
    one = _by_regex(scene, "one", "a.*")
    settle(scene, one)
    one.leave()
    assert not scene.group.subscriptions.resolved
    assert not scene.group.subscriptions.by_regex


def test_a_member_that_changes_from_a_pattern_to_names_gives_up_the_rest() -> None:
    scene = Scene(a1=1, a2=1)
    one = _by_regex(scene, "one", "a.*")
    settle(scene, one)
    one.beat(subscribed_topic_names=["a1"], subscribed_topic_regex="")
    settle(scene, one)
    assert one.partitions == [("a1", 0)]
    assert not scene.group.subscriptions.resolved


def test_after_a_restart_patterns_are_known_and_looked_at_again() -> None:
    scene = Scene(a1=1)
    one = _by_regex(scene, "one", "a.*")
    settle(scene, one)
    scene.restart()
    assert scene.group.subscriptions.topics() == {"a1"}
    scene.change_topics(a1=1, a2=1)
    one.beat()
    settle(scene, one)
    settle(scene, one)
    assert one.partitions == [("a1", 0), ("a2", 0)]


def test_many_topics_are_matched_piece_by_piece() -> None:
    scene = Scene(None, **{f"a{number}": 1 for number in range(MATCHES_PER_STEP + 1)})
    _by_regex(scene, "one", "a.*")
    key = ("regex", "g")
    due = scene.host.timers.next(scene.host.now_ms)
    assert due is not None
    scene.host.apply(due[1]())
    assert scene.host.timers.is_scheduled(key), "one piece does not do"
    assert not scene.group.subscriptions.resolved
    scene.host.pass_ms(0)
    assert len(scene.group.subscriptions.resolved["a.*"].topics) == MATCHES_PER_STEP + 1


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(", "missing closing )"),
        ("[a", "missing closing ]"),
        ("a**", "invalid nested repetition operator"),
        ("*", "missing argument to repetition operator"),
        ("a\\", "trailing backslash at end of expression"),
        ("(?=a)", "invalid or unsupported Perl syntax"),
        ("a)", "regexp/syntax: internal error"),
        ("a{1001}", "invalid repeat count"),
        ("[z-a]", "invalid character class range"),
        ("\\y", "invalid escape sequence"),
        ("(?P<n", "invalid named capture"),
        ("[[:x:]]", "invalid character class range"),
    ],
)
def test_a_bad_pattern_is_refused_in_kafkas_words(pattern: str, why: str) -> None:
    scene = Scene(a=1)
    answer = _by_regex(scene, "one", pattern).answer
    assert answer.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert (
        answer.error_message == f"SubscribedTopicRegex `{pattern}` is not a valid regular expression: {why}."
    )
    assert not scene.shard.groups


@pytest.mark.parametrize("pattern", ["a" * (PATTERN_MAX_BYTES + 1), "((a{100}){100}){100}"])
def test_a_pattern_that_would_take_too_much_memory_is_refused(pattern: str) -> None:
    with pytest.raises(ApiError) as refused:
        compile_pattern(pattern)
    assert refused.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION


def test_a_pattern_that_hangs_other_engines_does_not_hang_us() -> None:
    assert not compile_pattern("(a*)*(a|aa)+b")("a" * 249)
