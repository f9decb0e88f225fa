"""Kafka's releases and the feature levels that go with them, as rows."""

from __future__ import annotations

from typing import NamedTuple

METADATA_VERSION = "metadata.version"
LATEST = "4.3-IV0"

# Level → name of every metadata.version a Kafka 4.3 can be formatted with.
RELEASES: dict[int, str] = {
    7: "3.3-IV3",
    8: "3.4-IV0",
    9: "3.5-IV0",
    10: "3.5-IV1",
    11: "3.5-IV2",
    12: "3.6-IV0",
    13: "3.6-IV1",
    14: "3.6-IV2",
    15: "3.7-IV0",
    16: "3.7-IV1",
    17: "3.7-IV2",
    18: "3.7-IV3",
    19: "3.7-IV4",
    20: "3.8-IV0",
    21: "3.9-IV0",
    22: "4.0-IV0",
    23: "4.0-IV1",
    24: "4.0-IV2",
    25: "4.0-IV3",
    26: "4.1-IV0",
    27: "4.1-IV1",
    28: "4.2-IV0",
    29: "4.2-IV1",
    30: "4.3-IV0",
}


class Feature(NamedTuple):
    """`level` is on by default from metadata version `since`; `needs` is what the top level requires."""

    name: str
    level: int
    since: int
    needs: int | None = None


FEATURES = (
    Feature("kraft.version", 1, 21),
    Feature("transaction.version", 2, 24),
    Feature("group.version", 1, 22),
    Feature("eligible.leader.replicas.version", 1, 26, needs=23),
    Feature("share.version", 1, 28),
    Feature("streams.version", 1, 29),
)


_UNSTABLE = "4.4-IV0"  # Kafka 4.3 names it and does not take it


class UnknownFeatureError(Exception):
    """No such release, feature or level; the sentence is Kafka's."""


def release_level(text: str) -> int:
    """ "4.3-IV0", or "4.3" for the last of that release."""
    found = [level for level, name in RELEASES.items() if text in (name, name.split("-")[0])]
    if not found:
        raise UnknownFeatureError(
            f"Unknown metadata.version '{text}'. "
            f"Supported metadata.version are: {', '.join([*RELEASES.values(), _UNSTABLE])}"
        )
    return found[-1]


def version_mapping(text: str) -> list[str]:
    level = release_level(text)
    lines = [f"{METADATA_VERSION}={level} ({text})"]
    return lines + [f"{row.name}={row.level if level >= row.since else 0}" for row in FEATURES]


def feature_dependencies(text: str) -> list[str]:
    name, equals, version = text.partition("=")
    if not equals:
        raise UnknownFeatureError(
            f"Invalid feature format: {text}. Expected format: 'feature=version' (e.g. 'group.version=1')"
        )
    if not version.isdecimal():
        raise UnknownFeatureError(f"Invalid version format: {version} for feature {name}")
    level = int(version)
    if name == METADATA_VERSION:
        if level not in RELEASES:
            raise UnknownFeatureError(f"Unknown {METADATA_VERSION} {level}")
        return [f"{name}={level} ({RELEASES[level]}) has no dependencies."]
    row = _feature(name, f"Unknown feature: {name}")
    if level > row.level:
        raise UnknownFeatureError(f"Feature level {level} is not supported for feature {name}")
    if level == row.level and row.needs is not None:
        return [f"{name}={level} requires:", f"    {METADATA_VERSION}={row.needs} ({RELEASES[row.needs]})"]
    return [f"{name}={level} has no dependencies."]


def check_feature(text: str) -> None:
    """What `format --feature` accepts."""
    name, equals, version = text.partition("=")
    if not equals:
        raise UnknownFeatureError(f"Can't parse feature=level string {text}: equals sign not found.")
    if not version.isdecimal():
        raise UnknownFeatureError(
            f"Can't parse feature=level string {text}: unable to parse {version} as a short."
        )
    if name == METADATA_VERSION:
        if int(version) not in RELEASES:
            raise UnknownFeatureError(f"No MetadataVersion with feature level {version}")
        return
    supported = ", ".join(sorted(row.name for row in FEATURES))
    row = _feature(name, f"Unsupported feature: {name}. Supported features are: {supported}")
    if int(version) > row.level:
        raise UnknownFeatureError(f"No feature:{name} with feature level {version}")


def _feature(name: str, complaint: str) -> Feature:
    for row in FEATURES:
        if row.name == name:
            return row
    raise UnknownFeatureError(complaint)
