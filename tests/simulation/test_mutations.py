"""Each checker can fail: a broker broken on purpose, in one place, is caught within a few seeds.

What a mutation does is a bug that somebody could write, and some that somebody did.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest
from tests.simulation.seeds import first_broken_seed

from barnabas.broker import boot
from barnabas.broker.cluster.controller_host import ControllerHost
from barnabas.broker.replication.partition import Partition
from barnabas.broker.topic_config import log_config
from barnabas.log import loading, manager, recovery, replay
from barnabas.log.cleaning import retention
from barnabas.log.directory import LogDirectory
from barnabas.log.flushing import Unflushed
from barnabas.log.log import Log
from barnabas.log.manager import LogManager
from barnabas.log.segment import Segment
from barnabas.model.ids import TopicPartition
from barnabas.sim.faults import Kind
from barnabas.sim.producers import Style
from barnabas.sim.promise import Promise
from barnabas.sim.promises import (
    CLEAN_PREFIX,
    COMPACTION,
    FAILING_DIRECTORY,
    KILL,
    POWER_LOSS,
)

_SEEDS = 150


def reply_before_the_fsync(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Partition, "is_committed", lambda self, _last_offset, _acks: self.log is not None)


def high_watermark_before_the_fsync(patch: pytest.MonkeyPatch) -> None:
    has_appended = Partition._has_appended

    def hasty(self: Partition, log: Log, now_ms: int) -> None:
        has_appended(self, log, now_ms)
        self._advance(log, log.log_end_offset)

    patch.setattr(Partition, "_has_appended", hasty)


def fetch_above_the_high_watermark(patch: pytest.MonkeyPatch) -> None:
    read = Log.read

    def greedy(self: Log, offset: int, max_bytes: int, *, upper_offset: int, **rest: Any) -> Any:
        return read(self, offset, max_bytes, upper_offset=self.log_end_offset, **rest)

    patch.setattr(Log, "read", greedy)


def names_are_not_synced(patch: pytest.MonkeyPatch) -> None:
    sync = Unflushed.sync

    def forgetful(self: Unflushed) -> None:
        self.directories = ()
        sync(self)

    patch.setattr(Unflushed, "sync", forgetful)


def torn_tail_stays(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Segment, "cut_bytes", lambda self, _size: 0)


def checksums_are_not_looked_at(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(recovery, "crc_matches", lambda *_arguments: True)


def every_stop_counts_as_clean(patch: pytest.MonkeyPatch) -> None:
    read_contents = LogDirectory.read_contents
    patch.setattr(
        LogDirectory,
        "read_contents",
        lambda self, filesystem: replace(read_contents(self, filesystem), clean=True),
    )


def producers_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(loading, "rebuild_producers", lambda *_arguments: None)


def only_the_last_batch_is_remembered(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(replay, "_recall_recent", lambda *_arguments: None)


def the_page_cache_is_trusted(patch: pytest.MonkeyPatch) -> None:
    """Nothing is synced at a start: neither at once, nor with the new leader epoch a little later."""

    def begin(self: Log, epoch: int) -> None:
        self.leader_epochs.assign(epoch, self.log_end_offset, durable=False)

    patch.setattr(manager, "_make_durable", lambda *_arguments: None)
    patch.setattr(Log, "begin_leader_epoch", begin)


def topic_settings_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(boot, "log_config", lambda settings, _overrides: log_config(settings, {}))
    patch.setattr(Partition, "update_config", lambda _self, _config: None)


def answer_before_the_store(patch: pytest.MonkeyPatch) -> None:
    def hasty(self: ControllerHost, made: Any, parts: deque[Any], done: Callable[..., None]) -> None:
        while parts:
            self._store.submit(parts.popleft(), lambda _completed: None)
        self._busy = False
        self._publish(made.deltas)
        done(made.results, None)

    patch.setattr(ControllerHost, "_write", hasty)


def new_logs_hide_the_failed_ones(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(LogManager, "presume_offline", lambda _self, _expected: None)


def failed_disks_go_unnoticed(patch: pytest.MonkeyPatch) -> None:
    def deaf(self: LogManager, _directory: LogDirectory, _failure: OSError) -> list[Any]:
        return []

    patch.setattr(LogManager, "fail", deaf)


def compaction_drops_what_is_new(patch: pytest.MonkeyPatch) -> None:
    surviving = retention._surviving

    def careless(payload: bytes, *rest: Any) -> Any:
        kept: Iterable[Any] = surviving(payload, *rest)
        return list(kept)[:-1]

    patch.setattr(retention, "_surviving", careless)


def partitions_share_a_log(patch: pytest.MonkeyPatch) -> None:
    create = LogManager.create

    def shared(self: LogManager, partition: TopicPartition, *rest: Any) -> Log:
        return create(self, partition._replace(partition=0), *rest)

    patch.setattr(LogManager, "create", shared)


_KILLED = replace(KILL, kinds=(Kind.KILL, Kind.KILL_INSIDE), styles=(Style(batches=40),))
_KILLED_THEN_DARK = replace(POWER_LOSS, kinds=(Kind.KILL_THEN_POWER_LOSS,))


@pytest.mark.parametrize(
    ("mutate", "promise", "checker"),
    [
        (reply_before_the_fsync, POWER_LOSS, "NoLostWrite"),
        (reply_before_the_fsync, POWER_LOSS, "OneValuePerOffset"),
        (high_watermark_before_the_fsync, POWER_LOSS, "HighWatermarkRises"),
        (fetch_above_the_high_watermark, POWER_LOSS, "HighWatermarkRises"),
        (names_are_not_synced, POWER_LOSS, "NoLostWrite"),
        (names_are_not_synced, POWER_LOSS, "ReadersKeepTheirPlace"),
        (the_page_cache_is_trusted, _KILLED_THEN_DARK, "HighWatermarkRises"),
        (topic_settings_are_forgotten, POWER_LOSS, "NoLostWrite"),
        (answer_before_the_store, _KILLED, "CreatedTopicsExist"),
        (torn_tail_stays, CLEAN_PREFIX, "WholeReads"),
        (checksums_are_not_looked_at, CLEAN_PREFIX, "WholeReads"),
        (every_stop_counts_as_clean, CLEAN_PREFIX, "WholeReads"),
        (producers_are_forgotten, KILL, "NoDuplicate"),
        (producers_are_forgotten, KILL, "InOrder"),
        (partitions_share_a_log, KILL, "NothingInvented"),
        (only_the_last_batch_is_remembered, _KILLED, "NothingBroke"),
        (new_logs_hide_the_failed_ones, FAILING_DIRECTORY, "NoLostWrite"),
        (failed_disks_go_unnoticed, FAILING_DIRECTORY, "NoLostWrite"),
        (compaction_drops_what_is_new, COMPACTION, "LastValueOfKey"),
    ],
)
def test_a_broken_broker_is_caught(
    mutate: Callable[[pytest.MonkeyPatch], None],
    promise: Promise,
    checker: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mutate(monkeypatch)
    assert first_broken_seed(promise, checker, _SEEDS) is not None, f"{checker} saw nothing wrong"
