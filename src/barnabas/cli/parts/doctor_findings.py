"""What `barnabas doctor` can find: a line each, and pure rules for the packages.

Nothing here imports a dependency: the doctor must come also when one is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import NamedTuple

Installed = Callable[[str], str | None]  # package → version, None where it is not installed

_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?([^;]*)(?:;.*extra == ['\"]([^'\"]+)['\"])?")
# An extra counts as wanted once these are all there: numpy, or PySpark, may have come with another.
PURPOSES = {
    "spark": ("pyspark", "pyarrow"),
    "demo": ("matplotlib",),
    "cluster": ("kazoo",),
    "security": ("cryptography",),
}
_BOUND = re.compile(r"(>=|<|==)\s*([\d.]+)")


class Verdict(Enum):
    FINE = "fine"
    NOTE = "note"  # works without; worth a thought
    MISSING = "missing"  # something that is installed will not work


class Finding(NamedTuple):
    verdict: Verdict
    subject: str
    found: str
    advice: str = ""  # what to type; never empty unless all is fine


class Requirement(NamedTuple):
    package: str
    bounds: str
    extra: str | None


def parse_requirements(lines: Iterable[str]) -> list[Requirement]:
    """`Requires-Dist` lines as our own wheel has them: a name, bounds, at most one extra."""
    parsed = []
    for line in lines:
        matched = _REQUIREMENT.match(line)
        assert matched is not None, line
        parsed.append(Requirement(matched[1], matched[2].strip(), matched[3]))
    return parsed


def within(version: str, bounds: str) -> bool:
    """Whether a version is within bounds such as `>=4.2,<5`; anything but its leading numbers is ignored."""
    have = _numbers(version)
    for relation, bound in _BOUND.findall(bounds):
        limit = _numbers(bound)
        fits = {">=": have >= limit, "<": have < limit, "==": have == limit}[relation]
        if not fits:
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    """Without trailing zeros, so that 4.2 and 4.2.0 are the same."""
    leading = re.match(r"\d+(\.\d+)*", version)
    numbers = [int(number) for number in leading[0].split(".")] if leading else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def check_packages(requirements: Sequence[Requirement], extra: str | None, installed: Installed) -> Finding:
    """The packages of one extra, or of Barnabas itself, in one line."""
    wanted = [row for row in requirements if row.extra == extra]
    if extra == "demo":  # it has all of the other one, which has a line of its own
        shown = {row.package for row in requirements if row.extra == "spark"}
        wanted = [row for row in wanted if row.package not in shown]
    versions = {row.package: installed(row.package) for row in wanted}
    subject, name = ("packages", "barnabas") if extra is None else (f"extra {extra}", f"barnabas[{extra}]")
    install = f"pip install '{name}'"
    absent = [package for package, version in versions.items() if version is None]
    outside = [
        f"{row.package} {version} is not {row.bounds}"
        for row in wanted
        if (version := versions[row.package]) is not None and not within(version, row.bounds)
    ]
    wrong = [f"{package} is missing" for package in absent] + outside
    if not wrong:
        return Finding(
            Verdict.FINE, subject, ", ".join(f"{name} {version}" for name, version in versions.items())
        )
    if extra is not None and not is_wanted(extra, installed):
        return Finding(Verdict.NOTE, subject, "not installed", install)
    return Finding(Verdict.MISSING, subject, ", ".join(wrong), install)


def is_wanted(extra: str, installed: Installed) -> bool:
    return all(installed(package) is not None for package in PURPOSES[extra])
