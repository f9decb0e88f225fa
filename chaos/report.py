"""The findings as tables."""

from __future__ import annotations

from collections import defaultdict

from rich.console import Console
from rich.table import Table

from chaos.faults import Kind
from chaos.outages import percentile
from chaos.run import Findings
from chaos.transactional import Outcome


def show(console: Console, findings: Findings) -> None:
    console.print(_events(findings))
    console.print(_faults(findings))
    console.print(_records(findings))
    for problem in findings.problems:
        console.print(f"✗ {problem}", style="red", markup=False)
    if not findings.problems:
        console.print("✓ every acknowledged record is there, once and in order", style="green")


def _events(findings: Findings) -> Table:
    table = Table("at", "what happened", "broker", "led; written again after", title_justify="left")
    table.title = "what happened, and each leader election: partition and seconds until it was written again"
    for event in findings.events:
        has_victim = event.fault.kind is not Kind.ZOOKEEPER_LEADER
        elections = ", ".join(f"{one.partition}: {one.seconds:.2f} s" for one in event.elections)
        victim = str(event.fault.broker) if has_victim else ""
        table.add_row(f"{event.at_s:.0f} s", event.fault.kind.value, victim, elections)
    return table


def _faults(findings: Findings) -> Table:
    table = Table(
        "fault", title="faults, and seconds until the partitions that the victim led were written again",
        title_justify="left",
    )  # fmt: skip
    for column in ("times", "elections", "median s", "worst s"):
        table.add_column(column, justify="right")
    seconds: dict[Kind, list[float]] = defaultdict(list)
    for event in findings.events:
        seconds[event.fault.kind] += [election.seconds for election in event.elections]
    for kind in Kind:
        times = str(findings.fault_counts[kind])
        if findings.skipped[kind]:
            times += f" (+{findings.skipped[kind]} impossible)"
        took = seconds[kind]
        figures = [f"{percentile(took, 0.5):.2f}", f"{max(took):.2f}"] if took else ["", ""]
        table.add_row(kind.value, times, str(len(took) or ""), *figures)
    table.add_row("all", str(findings.fault_counts.total()), str(sum(map(len, seconds.values()))), "", "")
    return table


def _records(findings: Findings) -> Table:
    table = Table(show_header=False, title="load", title_justify="left")
    table.add_column()
    table.add_column(justify="right")
    outages = findings.outages.values()
    worst = max((outage.longest_s for outage in outages), default=0.0)
    mean = sum(outage.seconds for outage in outages) / max(1, len(outages))
    rows = {
        "seconds under faults": f"{findings.lasted_s:.0f}",
        "acknowledged records (idempotent, acks=all)": f"{findings.acknowledged:,}",
        "transactions committed": f"{findings.transactions[Outcome.COMMITTED]:,}",
        "transactions aborted": f"{findings.transactions[Outcome.ABORTED]:,}",
        "transactions whose end was not heard": f"{findings.transactions[Outcome.UNKNOWN]:,}",
        "transactional producers made anew": _counted(findings),
        "records read by the group": f"{findings.read_by_group:,}",
        "unavailable seconds, mean of the partitions": f"{mean:.1f}",
        "longest time a partition was not written": f"{worst:.1f} s",
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def _counted(findings: Findings) -> str:
    return ", ".join(f"{count} × {name}" for name, count in findings.new_producers.items()) or "0"
