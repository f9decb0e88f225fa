"""barnabas cluster balance: move replicas so that brokers carry alike, as much as is worth it.

It looks at disk, leaders, traffic and the number of replicas, keeps replicas in as many racks as they are in,
and works on any Kafka that --server names, Apache's too."""

from __future__ import annotations

import argparse
import json
import re

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from barnabas.cli.barnabas.cluster import local
from barnabas.cli.barnabas.common import Cell, file_properties, show
from barnabas.cli.parts.balance_carrying import Carrying
from barnabas.cli.parts.balance_reading import Reading, read
from barnabas.controller.balancing import Balanced, Load, Situation, balance
from barnabas.wire import Cluster
from barnabas.wire.admin import elections

TEXT = "move replicas so that the brokers carry alike"

_KEYS = {
    Load.DISK: "disk_bytes",
    Load.LEADERS: "leaders",
    Load.TRAFFIC: "traffic_bytes_per_s",
    Load.REPLICAS: "replicas",
}
_THROTTLE = "50MB"
_UNITS = {"": 1, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000}
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([KMG]?)B?", re.IGNORECASE)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--server", metavar="HOST:PORT", help="a broker of another cluster than --data's")
    parser.add_argument("--command-config", metavar="FILE", help="a properties file for the connection")
    parser.add_argument("--dry-run", action="store_true", help="only show what would be moved")
    parser.add_argument(
        "--throttle",
        type=amount,
        default=amount(_THROTTLE),
        metavar="BYTES",
        help=f"what each broker may send or take for it per second; 0: no limit (default: {_THROTTLE})",
    )
    parser.add_argument(
        "--sample",
        type=float,
        default=3.0,
        metavar="SECONDS",
        help="how long to look at traffic (default: 3)",
    )
    parser.add_argument(
        "--moves", type=int, default=1000, metavar="COUNT", help="move no more than this (default: 1000)"
    )
    parser.add_argument(
        "--at-once", type=int, default=10, metavar="COUNT", help="partitions on the move (default: 10)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def amount(text: str) -> int:
    """'50MB', '50M', '50000000' → bytes."""
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of bytes: write 50MB, or 50000000")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def act(asked: argparse.Namespace) -> int:
    if asked.server is None:
        asked.server = local.directory_of(asked).read_plan().bootstrap
    properties = file_properties(asked) | {"client.id": "barnabas"}
    with Cluster.connect(asked.server, properties) as cluster:
        found = read(cluster, asked.sample)
        plan = balance(found.situation, asked.moves)
        if asked.json:
            print(json.dumps(_facts(found, plan), indent=2))
        else:
            _show(asked, found, plan)
        if not asked.dry_run:
            _carry_out(cluster, asked, found, plan)
    return 0


def _carry_out(cluster: Cluster, asked: argparse.Namespace, found: Reading, plan: Balanced) -> None:
    console = Console(stderr=True, highlight=False)
    changed = plan.changed
    if changed:
        columns = (TextColumn("moving"), BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"))
        with Progress(*columns, TimeRemainingColumn(), console=console) as bar:
            task = bar.add_task(f"0 of {len(changed)} partitions", total=plan.bytes_to_move or len(changed))

            def told(arrived_bytes: int, arrived_count: int) -> None:
                text = f"{arrived_count} of {len(changed)} partitions"
                done = arrived_bytes if plan.bytes_to_move else arrived_count
                bar.update(task, completed=done, description=text)

            Carrying(cluster, plan, asked.throttle, asked.timeout, told).run(max(1, asked.at_once))
    wanted = sorted({*changed, *found.misled})
    if wanted:
        elections.elect(cluster, elections.PREFERRED, wanted)
    if not asked.json:
        print(f"Moved {_counted(len(changed), 'partition')}." if changed else "Nothing was moved.")


# --- what is shown ---------------------------------------------------------------------------------------


def _show(asked: argparse.Namespace, found: Reading, plan: Balanced) -> None:
    before, after = found.as_led.loads(), plan.after.loads()
    rows = [
        (
            broker,
            rack,
            *(f"{_shown(load, before[load][broker])} → {_shown(load, after[load][broker])}" for load in Load),
        )
        for broker, rack in sorted(plan.before.racks.items())
    ]
    show(asked, ("broker", "rack", *(str(load) for load in Load)), rows)
    print()
    if plan.changed:
        show(asked, ("partition", "replicas", "", "size"), _move_rows(plan))
        print()
    print(_summary(found, plan))


def _move_rows(plan: Balanced) -> list[tuple[Cell, ...]]:
    return [
        (
            str(place),
            ",".join(map(str, plan.before.partitions[place].replicas)),
            "→ " + ",".join(map(str, partition.replicas)),
            _bytes_text(partition.size_bytes),
        )
        for place, partition in sorted(plan.changed.items())
    ]


def _summary(found: Reading, plan: Balanced) -> str:
    now = f"Brokers differ from the average by up to {_imbalance(found.as_led):.0%} now"
    if plan.changed:
        moved = f"{_counted(len(plan.changed), 'partition')} to move, {_bytes_text(plan.bytes_to_move)}."
        sentences = [f"{moved} {now}, and by {_imbalance(plan.after):.0%} then."]
    else:
        sentences = [f"Nothing is worth moving. {now}."]
    if found.misled:
        sentences.append(
            f"To go back to their preferred leaders: {_counted(len(found.misled), 'partition')}."
        )
    apart = sum(map(plan.before.rack_deficit, plan.before.partitions.values()))
    if apart:
        left = sum(map(plan.after.rack_deficit, plan.after.partitions.values()))
        sentences.append(f"Of {_counted(apart, 'replica')} that need not share a rack, {left} still do then.")
    if found.left_alone:
        sentences.append(f"Left alone, not whole or on the move: {_counted(found.left_alone, 'partition')}.")
    return " ".join(sentences)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _imbalance(situation: Situation) -> float:
    """How far the worst broker is from the average, in the load that is worst."""
    worst = 0.0
    for amounts in situation.loads().values():
        average = sum(amounts.values()) / len(amounts) if amounts else 0.0
        if average > 0:
            worst = max(worst, *(abs(value / average - 1) for value in amounts.values()))
    return worst


def _facts(found: Reading, plan: Balanced) -> dict[str, object]:
    return {
        "before": _load_facts(found.as_led),
        "after": _load_facts(plan.after),
        "bytes_to_move": plan.bytes_to_move,
        "left_alone": found.left_alone,
        "moves": [
            {
                "topic": place.topic,
                "partition": place.partition,
                "from": list(plan.before.partitions[place].replicas),
                "to": list(partition.replicas),
                "size_bytes": partition.size_bytes,
            }
            for place, partition in sorted(plan.changed.items())
        ],
    }


def _load_facts(situation: Situation) -> list[dict[str, Cell]]:
    loads = situation.loads()
    return [
        {"broker": broker, "rack": rack, **{_KEYS[load]: round(loads[load][broker]) for load in Load}}
        for broker, rack in sorted(situation.racks.items())
    ]


def _shown(load: Load, value: float) -> str:
    if load is Load.DISK:
        return _bytes_text(value)
    return f"{_bytes_text(value)}/s" if load is Load.TRAFFIC else f"{value:.0f}"


def _bytes_text(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.5:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"
