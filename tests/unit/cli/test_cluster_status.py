"""What `barnabas cluster status` makes of the brokers' answers."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from barnabas.cli.barnabas.cluster import local
from barnabas.cli.barnabas.cluster.progress import last_words
from barnabas.cli.barnabas.cluster.status import (
    Load,
    controller_of,
    known_partitions,
    load_of,
    partition_problems,
)
from barnabas.protocol.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)


def partition(leader: int, replicas: list[int], isr: list[int]) -> MetadataResponsePartition:
    return MetadataResponsePartition(leader_id=leader, replica_nodes=replicas, isr_nodes=isr)


def answer(controller: int, *partitions: MetadataResponsePartition) -> MetadataResponse:
    return MetadataResponse(
        controller_id=controller, topics=[MetadataResponseTopic(partitions=list(partitions))]
    )


WHOLE = partition(0, [0, 1, 2], [0, 1, 2])
BEHIND = partition(1, [1, 0, 2], [1, 0])
LEADERLESS = partition(-1, [2], [2])


def test_a_broker_has_what_it_leads_and_holds() -> None:
    assert load_of(0, [WHOLE, BEHIND, LEADERLESS]) == Load(1, 2, 0)
    assert load_of(1, [WHOLE, BEHIND, LEADERLESS]) == Load(1, 2, 1)
    assert load_of(2, [WHOLE, BEHIND, LEADERLESS]) == Load(0, 3, 0)


def test_what_is_wrong_with_partitions_is_counted_once() -> None:
    assert partition_problems([WHOLE]) == []
    assert partition_problems([WHOLE, BEHIND, LEADERLESS]) == [
        "1 of 3 partitions without a leader",
        "1 of 3 partitions under-replicated",
    ]


def test_the_controller_is_whom_most_name_and_it_is_believed() -> None:
    answers = {0: answer(1), 1: answer(1, WHOLE, BEHIND), 2: answer(0, WHOLE), 3: None}
    assert controller_of(answers) == 1
    assert known_partitions(answers) == [WHOLE, BEHIND]
    assert controller_of({0: None, 1: answer(-1)}) is None
    assert known_partitions({0: None, 1: answer(-1, WHOLE)}) == [WHOLE]
    assert known_partitions({0: None}) == []


def test_a_dead_process_is_quoted_without_date_and_class(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    assert last_words(log) == "it left no log."
    log.write_text("Error: no such class\n")
    assert last_words(log) == "Error: no such class"
    log.write_text(
        "[2026-01-01 00:00:00,000] FATAL Exiting Kafka due to fatal exception: It is (too) late. (kafka)\n"
        "[2026-01-01 00:00:00,000] INFO bye (kafka.Server)\n"
    )
    assert last_words(log) == "It is (too) late."


def test_a_process_that_was_paused_is_told_from_one_that_runs() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        try:
            assert not local.is_paused(child.pid)
            assert local.age_s(child.pid) > 0
            child.send_signal(signal.SIGSTOP)
            os.waitpid(child.pid, os.WUNTRACED)
            assert local.is_paused(child.pid)
        finally:
            child.kill()
    assert not local.is_paused(child.pid)
    assert local.age_s(child.pid) == 0
