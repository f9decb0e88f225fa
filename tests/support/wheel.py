"""Barnabas as users get it: a wheel, in an environment that knows nothing of the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
_TIMEOUT_S = 120


def build_wheel(folder: Path) -> Path:
    """From a copy: building compiles the C module in place, under the feet of brokers that start now."""
    copy = folder / "checkout"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(CHECKOUT / name, copy)
    for name in ("src", "tools"):
        shutil.copytree(CHECKOUT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], copy)
    (wheel,) = folder.glob("*.whl")
    return wheel


def make_environment(folder: Path, wheel: Path) -> Path:
    """The Python of a new environment that has the wheel.

    Its dependencies are borrowed from this environment, since installing Spark again takes a minute. A folder
    named in a `.pth` file is searched for packages, but its own `.pth` files are not read: the one that makes
    this environment see the checkout stays without effect there.
    """
    _run([sys.executable, "-m", "venv", "--without-pip", str(folder)], folder.parent)
    python = folder / "bin" / "python"
    (site_packages,) = folder.glob("lib/python*/site-packages")
    (site_packages / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    install = ["install", "--quiet", "--no-deps", "--no-index", "--ignore-installed", str(wheel)]
    _run([sys.executable, "-m", "pip", "--python", str(python), *install], folder.parent)
    return python


def clean_environment(python: Path) -> dict[str, str]:
    """The variables of a process that is to find Barnabas in that environment or not at all."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK"))}
    return kept | {"PYSPARK_PYTHON": str(python), "SPARK_LOCAL_IP": "127.0.0.1"}


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
