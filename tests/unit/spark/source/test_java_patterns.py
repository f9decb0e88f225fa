"""Patterns written for Java match the topics that Java would match."""

from __future__ import annotations

import pytest

from barnabas.spark.errors import PipelineError
from barnabas.spark.source.java_patterns import translate


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("orders.*", ["orders", "orders-1"], ["my-orders"]),
        (r"\Qa.b\E.*", ["a.b", "a.b-c"], ["axb"]),
        (r"\p{Alpha}+\p{Digit}", ["abc1"], ["1", "abc"]),
        (r"[\p{Lower}_]+", ["a_b"], ["A"]),
        (r"\P{Upper}+", ["abc-1"], ["Abc"]),
        (r"\p{L}+-\p{N}+", ["abc-12"], ["12-abc"]),
        (r"(?<kind>a|b)-\k<kind>", ["a-a", "b-b"], ["a-b"]),
        (r"(?i)ORDERS", ["orders", "Orders"], ["order"]),
        (r"(?!__).*", ["a"], ["__consumer"]),
        (r"a++b", ["aab"], ["b"]),
        (r"topic\.[0-9]{2}\z", ["topic.12"], ["topic.123", "topicx12"]),
        (r"\\Q", [], ["Q"]),
    ],
)
def test_a_java_pattern_matches_what_java_matches(
    pattern: str, matching: list[str], others: list[str]
) -> None:
    compiled = translate("subscribePattern", pattern)
    assert all(compiled.fullmatch(topic) for topic in matching)
    assert not any(compiled.fullmatch(topic) for topic in others)


@pytest.mark.parametrize("pattern", ["*a", "(", r"[a-z&&[^b]]", r"\p{IsGreek}+", r"[a[bc]]", r"[\P{Alpha}]"])
def test_what_cannot_be_rewritten_is_refused(pattern: str) -> None:
    with pytest.raises(PipelineError, match="Option subscribePattern is not a regular expression"):
        translate("subscribePattern", pattern)
