"""How the programs of this folder are built and run; a missing toolchain is a reason to skip."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BUILD_TIMEOUT_S = 600


def go_program(name: str, directory: Path) -> list[str]:
    """The command that runs `go/<name>`."""
    _need("go", "Go")
    _fetch(["go", "mod", "download"], HERE / "go")
    target = directory / name
    built = _run(["go", "build", "-mod=readonly", "-o", str(target), f"./{name}"], HERE / "go")
    assert built.returncode == 0, built.stderr
    return [str(target)]


def node_program(name: str, directory: Path) -> list[str]:
    """The command that runs `node/<name>.js`, with its packages beside a copy of it."""
    _need("node", "Node.js")
    _need("npm", "npm")
    copy = directory / "node"
    shutil.copytree(HERE / "node", copy, ignore=shutil.ignore_patterns("node_modules"))
    _fetch(["npm", "ci", "--no-audit", "--no-fund"], copy)
    return ["node", str(copy / f"{name}.js")]


def _need(tool: str, name: str) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{name} is not installed")


def _fetch(command: list[str], directory: Path) -> None:
    """What is pinned, from a registry. Without one there is nothing to test with: the skip says why."""
    fetched = _run(command, directory)
    if fetched.returncode:
        pytest.skip(f"{' '.join(command)} failed: {fetched.stderr.strip()[-300:]}")


def _run(command: list[str], directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=directory, capture_output=True, text=True, timeout=BUILD_TIMEOUT_S, check=False
    )
