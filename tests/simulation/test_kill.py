"""kill -9 keeps the page cache: nothing acknowledged may be lost, whatever the settings."""

from __future__ import annotations

from tests.simulation.seeds import blocks, hold

from barnabas.sim.promises import KILL


@blocks(500)
def test_nothing_acknowledged_is_lost_when_the_process_is_killed(first_seed: int) -> None:
    hold(KILL, first_seed)
