"""`barnabas doctor`: what this machine has, what it lacks, and what to type about it.

Exit code 0 when everything that is installed can work, 1 when something it needs is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import socket
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from barnabas import java
from barnabas.cli.parts.doctor_findings import (
    PURPOSES,
    Finding,
    Verdict,
    check_packages,
    is_wanted,
    parse_requirements,
)

PYTHON_MIN = (3, 11)
FREE_BYTES_MIN = 1 << 30
OPEN_FILES_MIN = 10_000  # a partition keeps up to three files open, a client one
_MARKS = {Verdict.FINE: ("✓", "green"), Verdict.NOTE: ("·", "yellow"), Verdict.MISSING: ("✗", "red")}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="barnabas doctor", description="What this machine has, and what it lacks."
    )
    parser.add_argument("--data", default="./data", help="where records would be kept (default: ./data)")
    parser.add_argument("--port", type=int, default=9092, help="where a broker would listen (default: 9092)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    asked = parser.parse_args(list(arguments))
    findings = list(examine(Path(asked.data), asked.port))
    if asked.json:
        rows = [finding._asdict() | {"verdict": finding.verdict.value} for finding in findings]
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        show(findings)
    return 1 if any(finding.verdict is Verdict.MISSING for finding in findings) else 0


def examine(data: Path, port: int) -> Iterator[Finding]:
    requirements = parse_requirements(metadata.requires("barnabas") or [])
    yield check_python()
    yield check_packages(requirements, None, installed)
    yield check_native()
    for extra in PURPOSES:
        yield check_packages(requirements, extra, installed)
    yield check_java(is_wanted("spark", installed), is_wanted("cluster", installed))
    yield check_disk(data)
    yield check_open_files()
    yield check_port(port)


def installed(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def check_python() -> Finding:
    found = f"{platform.python_version()} at {sys.executable}"
    if sys.platform != "linux":
        return Finding(
            Verdict.MISSING, "Python", f"{found}, on {sys.platform}", "use Linux: the broker needs epoll"
        )
    if sys.version_info < PYTHON_MIN:
        return Finding(Verdict.MISSING, "Python", found, "apt-get install python3.11")
    return Finding(Verdict.FINE, "Python", found)


def check_native() -> Finding:
    from barnabas.hot import is_native

    if is_native:
        return Finding(Verdict.FINE, "C module", "built")
    if os.environ.get("BARNABAS_NATIVE") == "off":
        return Finding(Verdict.NOTE, "C module", "switched off", "unset BARNABAS_NATIVE")
    advice = "apt-get install gcc python3-dev, then install barnabas again"
    return Finding(Verdict.NOTE, "C module", "not built: the broker works the same, and is slower", advice)


def check_java(wants_spark: bool, wants_cluster: bool) -> Finding:
    """Spark is pickier than ZooKeeper, which is the only other one that needs it."""
    only_zookeeper = wants_cluster and not wants_spark
    try:
        if only_zookeeper:
            found = java.require(needed_by="ZooKeeper")
        else:
            found = java.require(java.SPARK_MODULES, needed_by="Spark")
    except java.JavaError as missing:
        verdict = Verdict.MISSING if wants_spark or wants_cluster else Verdict.NOTE
        reason, _, advice = str(missing).rpartition(": ")
        return Finding(verdict, "Java", reason, advice)
    return Finding(Verdict.FINE, "Java", f"{found.version} at {found.home}")


def check_disk(data: Path) -> Finding:
    folder = data.absolute()
    while not folder.exists():
        folder = folder.parent
    free_bytes = shutil.disk_usage(folder).free
    found = f"{free_bytes / (1 << 30):.1f} GiB free at {folder}"
    if free_bytes < FREE_BYTES_MIN:
        return Finding(
            Verdict.NOTE, "disk", found, "free some, or name another folder: barnabas run --data DIR"
        )
    return Finding(Verdict.FINE, "disk", found)


def check_open_files() -> Finding:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]  # a broker raises its own limit as far as it may
    if hard == resource.RLIM_INFINITY or hard >= OPEN_FILES_MIN:
        return Finding(
            Verdict.FINE, "open files", "no limit" if hard == resource.RLIM_INFINITY else f"{hard:,}"
        )
    advice = f"raise the hard limit of nofile in /etc/security/limits.conf to {OPEN_FILES_MIN} or more"
    return Finding(Verdict.NOTE, "open files", f"at most {hard:,}, which many partitions exceed", advice)


def check_port(port: int) -> Finding:
    subject = f"port {port}"
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as error:
            advice = f"if that is no broker of yours: barnabas run --port {port + 1}"
            return Finding(Verdict.NOTE, subject, error.strerror or str(error), advice)
    return Finding(Verdict.FINE, subject, "free")


def show(findings: Sequence[Finding]) -> None:
    try:
        _show_table(findings)
    except ImportError:  # rich is one of the packages that may be missing
        for finding in findings:
            print(_MARKS[finding.verdict][0], finding.subject, finding.found, sep="  ")
    advised = [finding for finding in findings if finding.advice]
    print("\nWhat to type:" if advised else "\nNothing is missing.")
    for finding in advised:  # below the table, where no command is broken in two
        print(f"  {finding.subject + ':':<14} {finding.advice}")


def _show_table(findings: Sequence[Finding]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(header_style="bold", box=None, pad_edge=False)
    for column in ("", "what", "found"):
        table.add_column(column, overflow="fold")
    for finding in findings:
        mark, style = _MARKS[finding.verdict]
        table.add_row(Text(mark, style), Text(finding.subject), Text(finding.found))
    Console().print(table)
