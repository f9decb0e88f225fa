"""Retention removes segments while the machine crashes."""

from __future__ import annotations

from tests.simulation.seeds import blocks, hold

from barnabas.sim.promises import RETENTION


@blocks(200)
def test_retention_removes_only_the_beginning_of_a_log_whatever_crashes(first_seed: int) -> None:
    hold(RETENTION, first_seed)
