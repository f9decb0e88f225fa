"""Kafka's releases and feature levels."""

from __future__ import annotations

import pytest

from barnabas.cli.feature_levels import (
    UnknownFeatureError,
    check_feature,
    feature_dependencies,
    release_level,
    version_mapping,
)


def test_a_release_without_a_suffix_is_its_last_step() -> None:
    assert release_level("3.9") == release_level("3.9-IV0") == 21
    assert release_level("3.7") == release_level("3.7-IV4") == 19


def test_the_latest_release_has_every_feature() -> None:
    assert version_mapping("4.3-IV0") == [
        "metadata.version=30 (4.3-IV0)",
        "kraft.version=1",
        "transaction.version=2",
        "group.version=1",
        "eligible.leader.replicas.version=1",
        "share.version=1",
        "streams.version=1",
    ]


def test_an_old_release_has_none() -> None:
    assert [line.rpartition("=")[2] for line in version_mapping("3.8-IV0")[1:]] == ["0"] * 6


def test_dependencies_are_named() -> None:
    assert feature_dependencies("group.version=1") == ["group.version=1 has no dependencies."]
    assert feature_dependencies("eligible.leader.replicas.version=1") == [
        "eligible.leader.replicas.version=1 requires:",
        "    metadata.version=23 (4.0-IV1)",
    ]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ("foo=1", "Unknown feature: foo"),
        ("group.version=x", "Invalid version format: x for feature group.version"),
        ("metadata.version=99", "Unknown metadata.version 99"),
        ("transaction.version=3", "Feature level 3 is not supported for feature transaction.version"),
    ],
)
def test_what_does_not_exist_is_refused_in_kafkas_words(asked: str, sentence: str) -> None:
    with pytest.raises(UnknownFeatureError, match=f"^{sentence}$"):
        feature_dependencies(asked)


@pytest.mark.parametrize(
    "asked", ["foo=1", "transaction.version=9", "foo", "group.version=x", "metadata.version=1"]
)
def test_formatting_with_an_impossible_feature_is_refused(asked: str) -> None:
    with pytest.raises(UnknownFeatureError):
        check_feature(asked)
    check_feature("transaction.version=1")
