"""In which order a cluster is taken down."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from barnabas.runtime import supervisor as module
from barnabas.runtime.cluster_plan import ZOOKEEPER, BrokerPlan, ClusterDirectory, Plan
from barnabas.runtime.supervisor import Supervisor

PLAN = Plan(2181, tuple(BrokerPlan(number, 9092 + number) for number in range(3)), replicas=3)
NAMES = [ZOOKEEPER, "broker-0", "broker-1", "broker-2"]


@pytest.mark.parametrize(
    ("controller", "expected"),
    [
        (0, ["broker-2", "broker-1", "broker-0", ZOOKEEPER]),
        (2, ["broker-1", "broker-0", "broker-2", ZOOKEEPER]),
        (None, ["broker-2", "broker-1", "broker-0", ZOOKEEPER]),
    ],
)
def test_others_hand_over_through_the_controller_before_it_stops(
    controller: int | None, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "find_controller", lambda _ports: controller)
    supervisor = Supervisor(ClusterDirectory(tmp_path), only_to_stop=True)
    running = {name: SimpleNamespace(pid=1) for name in NAMES}
    supervisor.processes = running  # type: ignore[assignment]
    stopped: list[str] = []
    while len(stopped) < len(NAMES):
        turn = [name for name in NAMES if running[name].pid and not supervisor._is_wanted(PLAN, name)]
        assert len(turn) == 1, "one after the other"
        stopped += turn
        running[turn[0]].pid = None
    assert stopped == expected
    for end in (supervisor._bell, supervisor._ringer):
        end.close()
