"""Waiting for quiet: as long as something happens, but not for ever."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from bench import quiet


class Machine:
    """Time passes only where a core's lateness is measured."""

    def __init__(self) -> None:
        self.now = 0.0
        self.stopped_until = 0.0
        self.telling_until = 0.0

    def lateness_s(self, core: int) -> float:
        self.now += 0.001
        return 0.02 if self.now < self.stopped_until else 0.0001

    def told_kib(self) -> int:
        return int(min(self.now, self.telling_until) / 2)  # every two seconds


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    fake = Machine()
    monkeypatch.setattr(quiet, "time", SimpleNamespace(monotonic=lambda: fake.now))
    monkeypatch.setattr(quiet, "_lateness_s", fake.lateness_s)
    monkeypatch.setattr(quiet, "_told_kib", fake.told_kib)
    return fake


def test_a_quiet_machine_is_believed_after_three_seconds(machine: Machine) -> None:
    quiet.wait_until_quiet()
    assert machine.now == pytest.approx(3, abs=0.1)


def test_it_waits_until_no_core_is_stopped_any_more(machine: Machine) -> None:
    machine.stopped_until = 5
    quiet.wait_until_quiet()
    assert machine.now == pytest.approx(8, abs=0.1)


def test_it_waits_while_the_host_is_told_of_free_memory(machine: Machine) -> None:
    machine.telling_until = 12
    quiet.wait_until_quiet()
    assert machine.now == pytest.approx(15, abs=0.1)


def test_it_does_not_wait_for_ever(machine: Machine) -> None:
    machine.stopped_until = 3_600
    quiet.wait_until_quiet()
    assert machine.now == pytest.approx(30, abs=0.1)


def test_a_kernel_that_does_not_say_has_told_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiet, "_TOLD_KIB", tmp_path / "reported_kib")
    assert quiet._told_kib() == 0
    (tmp_path / "reported_kib").write_text("2048\n")
    assert quiet._told_kib() == 2048
