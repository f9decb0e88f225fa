"""Java's kafka-clients as members of groups, and as the groups' administrator."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from tests.support.java_client import JavaDriver
from tests.support.members.face import (
    CLASSIC,
    Committed,
    DescribedGroup,
    DescribedMember,
    Joining,
    Place,
    Received,
)

_numbers = itertools.count(1)
_PACKAGE = "org.apache.kafka.clients.consumer."
_ASSIGNORS = {
    "range": _PACKAGE + "RangeAssignor",
    "cooperative-sticky": _PACKAGE + "CooperativeStickyAssignor",
}


def settings_of(joining: Joining) -> dict[str, str]:
    settings = {
        "client.id": joining.client_id,
        "group.id": joining.group,
        "group.protocol": joining.protocol,
        "enable.auto.commit": "false",
        "auto.offset.reset": joining.start,
        "isolation.level": joining.isolation,
        "fetch.max.wait.ms": "50",
        "metadata.max.age.ms": str(joining.metadata_max_age_ms),
        "retry.backoff.ms": "20",
    }
    if joining.instance_id is not None:
        settings["group.instance.id"] = joining.instance_id
    if joining.protocol == CLASSIC:
        settings["session.timeout.ms"] = str(joining.session_timeout_ms)
        settings["heartbeat.interval.ms"] = "100"
        settings["partition.assignment.strategy"] = _ASSIGNORS[joining.assignor or "range"]
    elif joining.assignor is not None:
        settings["group.remote.assignor"] = joining.assignor
    return settings


class JavaMember:
    def __init__(self, bootstrap: str, joining: Joining, driver: JavaDriver) -> None:
        self._driver = driver
        self.name = f"member-{next(_numbers)}"
        self._received: list[Received] = []
        self._closed = False
        self._ask(
            "open",
            bootstrap=bootstrap,
            settings=settings_of(joining),
            topics=joining.topics,
            pattern=joining.pattern,
        )

    def _ask(self, what: str, **arguments: Any) -> Any:
        return self._driver.ask({"do": f"member_{what}", "member": self.name, **arguments})

    def assignment(self) -> frozenset[Place]:
        return frozenset() if self._closed else places(self._ask("state")["assignment"])

    def received(self) -> list[Received]:
        if not self._closed:
            for topic, partition, offset, value in self._ask("received", **{"from": len(self._received)}):
                decoded = None if value is None else base64.b64decode(value)
                self._received.append(Received(topic, partition, offset, decoded))
        return list(self._received)

    def error(self) -> int | None:
        code: int | None = self._ask("state").get("error")
        return code

    def commit(self, offsets: Mapping[Place, Committed] | None = None) -> None:
        self._ask("commit", offsets=None if offsets is None else rows(offsets))

    def committed(self, place: Place) -> Committed | None:
        found = self._ask("committed", place=place)
        return None if found is None else Committed(*found)

    def seek(self, place: Place, offset: int) -> None:
        self._ask("seek", place=place, offset=offset)

    def offset_for_time(self, place: Place, timestamp_ms: int) -> int:
        return int(self._ask("offset_for_time", place=place, timestamp_ms=timestamp_ms))

    def close(self) -> None:
        if not self._closed:
            self.received()
            self._closed = True
            self._ask("close")


class MortalJavaMember(JavaMember):
    """Has a process to itself, which can be killed."""

    def __init__(self, bootstrap: str, joining: Joining) -> None:
        super().__init__(bootstrap, joining, JavaDriver())

    def vanish(self) -> None:
        if not self._closed:
            self._closed = True
            self._driver.kill()

    close = vanish


class JavaGroupAdmin:
    def __init__(self, bootstrap: str, driver: JavaDriver) -> None:
        self._bootstrap = bootstrap
        self._driver = driver

    def _ask(self, what: str, **arguments: Any) -> Any:
        return self._driver.ask({"do": f"groups_{what}", "bootstrap": self._bootstrap, **arguments})

    def groups(self) -> set[str]:
        return set(self.listing())

    def listing(self, *, states: Iterable[str] = (), types: Iterable[str] = ()) -> dict[str, tuple[str, str]]:
        """(type, state) of the groups that pass the filters."""
        found = self._ask("list", states=list(states), types=list(types))
        return {group: (kind, state) for group, (kind, state) in found.items()}

    def describe(self, group: str) -> DescribedGroup:
        found = self._ask("describe", group=group)
        members = [DescribedMember(row[0], row[1], row[2], places(row[3])) for row in found["members"]]
        return DescribedGroup(found["state"].lower(), tuple(members))

    def type_and_assignor(self, group: str) -> tuple[str, str]:
        found = self._ask("describe", group=group)
        return found["type"], found["assignor"]

    def offsets(self, group: str) -> dict[Place, Committed]:
        found = self._ask("offsets", group=group)
        return {(topic, partition): Committed(*row) for topic, partition, row in found if row is not None}

    def alter_offsets(self, group: str, offsets: Mapping[Place, int]) -> None:
        wanted = {place: Committed(offset) for place, offset in offsets.items()}
        self._ask("alter_offsets", group=group, offsets=rows(wanted))

    def delete_offsets(self, group: str, places: Iterable[Place]) -> None:
        self._ask("delete_offsets", group=group, places=list(places))

    def delete_group(self, group: str) -> None:
        self._ask("delete", group=group)

    def remove_member(self, group: str, instance_id: str) -> None:
        self._ask("remove_member", group=group, instance_id=instance_id)


def places(found: Iterable[Iterable[Any]]) -> frozenset[Place]:
    return frozenset((topic, partition) for topic, partition in found)


def rows(offsets: Mapping[Place, Committed]) -> list[list[Any]]:
    return [[*place, one.offset, one.metadata, one.leader_epoch] for place, one in offsets.items()]
