"""`python -m barnabas.sim`: what a failing seed tells people to type."""

from __future__ import annotations

import pytest
from tests.simulation.test_mutations import reply_before_the_fsync

from barnabas.sim.__main__ import main


def test_one_seed_can_be_replayed_in_every_detail(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--promise", "power_loss", "--seed", "1", "--verbose"]) == 0
    told = capsys.readouterr().out
    assert "*** power loss" in told
    assert "acknowledged at" in told
    assert "power_loss holds." in told


def test_many_seeds_end_with_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--promise", "kill", "--seeds", "3"]) == 0
    assert "Simulated schedules" in capsys.readouterr().out


def test_a_broken_promise_prints_the_command_that_replays_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reply_before_the_fsync(monkeypatch)
    assert main(["--promise", "power_loss", "--seeds", "100"]) == 1
    told = capsys.readouterr().out
    assert "NoLostWrite: lost: " in told
    assert "replay: python -m barnabas.sim --promise power_loss --seed " in told
