"""Replicas move while brokers die, sleep, forget and lose each other: nothing acknowledged is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.simulation.seeds import blocks, first_broken_seed, hold

from barnabas.controller import reassignment
from barnabas.model.image import ClusterImage, PartitionImage
from barnabas.sim.cluster.promises import MOVED


@blocks(175)
def test_nothing_is_lost_on_the_way(first_seed: int) -> None:
    hold(MOVED, first_seed)


def test_a_move_that_ends_before_its_replicas_are_in_sync_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_early(_image: ClusterImage, partition: PartitionImage) -> PartitionImage | None:
        if not reassignment.is_moving(partition):
            return None
        target = tuple(broker for broker in partition.replicas if broker not in partition.removing)
        return replace(partition, replicas=target, isr=target, adding=(), removing=())

    monkeypatch.setattr(reassignment, "_arrived", too_early)
    assert first_broken_seed(MOVED, "NoLostWrite", 60) is not None


def test_a_move_that_never_ends_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reassignment, "_arrived", lambda _image, _partition: None)
    assert first_broken_seed(MOVED, "MovesEnd", 20) is not None
