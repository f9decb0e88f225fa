"""Compaction in a child process, on real files."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.log.compaction import START_MS, Partition

from barnabas.log.cleaning.job import CleaningJob, JobDone, JobFailed, Outcome
from barnabas.runtime.cleaner import CleanerProcess
from barnabas.runtime.files import RealFilesystem

WAIT_S = 60


@pytest.fixture
def cleaner() -> Iterator[CleanerProcess]:
    process = CleanerProcess()
    yield process
    process.close()


@pytest.fixture
def partition(tmp_path: Path) -> Partition:
    partition = Partition(RealFilesystem(), f"{tmp_path}/t-0")
    for value in range(40):
        for key in range(10):
            partition.write((b"key-%d" % key, b"value-%d" % value))
        if value % 10 == 9:
            partition.roll()
    partition.store()
    return partition


def results(cleaner: CleanerProcess) -> list[Outcome]:
    """Wait as the loop would, until the job has ended."""
    outcomes: list[Outcome] = []
    while not any(isinstance(one, JobDone | JobFailed) for one in outcomes):
        readable, _, _ = select.select([cleaner], [], [], WAIT_S)
        assert readable, "the cleaner is silent"
        outcomes += cleaner.read_results()
    return outcomes


def test_a_log_is_cleaned_by_the_child_and_the_child_is_kept(
    cleaner: CleanerProcess, partition: Partition
) -> None:
    def in_child(job: CleaningJob) -> Sequence[Outcome]:
        cleaner.submit(job)
        assert cleaner.busy
        return results(cleaner)

    *_, last = partition.compact(START_MS, in_child)
    assert last == JobDone(1, 400)
    assert not cleaner.busy
    assert [record.value for record in partition.records()] == [b"value-39"] * 10
    file = cleaner.fileno()
    partition.clean_offset = 0
    partition.compact(START_MS, in_child)
    assert cleaner.fileno() == file
    assert cleaner.read_results() == []


def test_a_bad_batch_does_not_end_the_child(cleaner: CleanerProcess, partition: Partition) -> None:
    path = f"{partition.directory}/00000000000000000100.log"
    data = bytearray(Path(path).read_bytes())
    data[70] ^= 1
    Path(path).write_bytes(data)
    cleaner.submit(partition.job())
    (failed,) = results(cleaner)
    assert isinstance(failed, JobFailed)
    assert failed.uncleanable
    cleaner.submit(replace(partition.job(), job_id=2, segments=(0,), first_uncleanable_offset=100))
    assert results(cleaner)[-1] == JobDone(2, 100)


def test_a_child_that_dies_fails_its_job_and_is_replaced(
    cleaner: CleanerProcess, partition: Partition
) -> None:
    slow = replace(partition.job(), bytes_per_second_max=1.0)
    cleaner.submit(slow)
    assert cleaner._child is not None
    os.kill(cleaner._child.pid, signal.SIGKILL)
    (failed,) = results(cleaner)
    assert isinstance(failed, JobFailed)
    assert failed.uncleanable
    assert not cleaner.busy
    cleaner.submit(partition.job())
    assert results(cleaner)[-1] == JobDone(1, 400)


def test_an_aborted_job_reports_nothing(cleaner: CleanerProcess, partition: Partition) -> None:
    cleaner.submit(replace(partition.job(), bytes_per_second_max=1.0))
    cleaner.abort()
    assert not cleaner.busy
    assert cleaner.read_results() == []
    assert cleaner.fileno() == -1


def test_a_job_with_very_many_producers_crosses_the_pipe(
    cleaner: CleanerProcess, partition: Partition
) -> None:
    producers = tuple((producer_id, -1, 0) for producer_id in range(20_000))
    cleaner.submit(replace(partition.job(), producers=producers))
    assert results(cleaner)[-1] == JobDone(1, 400)


_PARENT = """
import sys
from barnabas.log.cleaning.job import CleaningJob
from barnabas.runtime.cleaner import CleanerProcess
cleaner = CleanerProcess()
cleaner.submit(CleaningJob.from_line(sys.stdin.buffer.readline()))
print(cleaner._child.pid, flush=True)
sys.stdin.read()
"""


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_child_whose_broker_was_killed_stops_by_itself(partition: Partition) -> None:
    job = replace(partition.job(), bytes_per_second_max=1.0)
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        parent.stdin.write(job.to_line())
        parent.stdin.flush()
        child = int(parent.stdout.readline())
        assert _runs(child)
        parent.kill()
    deadline = time.monotonic() + WAIT_S
    while _runs(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(child)
