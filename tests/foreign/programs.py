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
    target = directory / name
    _build(["go", "build", "-mod=readonly", "-o", str(target), f"./{name}"], HERE / "go")
    return [str(target)]


def node_program(name: str, directory: Path) -> list[str]:
    """The command that runs `node/<name>.js`, with its packages beside a copy of it."""
    _need("node", "Node.js")
    _need("npm", "npm")
    copy = directory / "node"
    shutil.copytree(HERE / "node", copy, ignore=shutil.ignore_patterns("node_modules"))
    _build(["npm", "ci", "--no-audit", "--no-fund"], copy)
    return ["node", str(copy / f"{name}.js")]


def _need(tool: str, name: str) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{name} is not installed")


def _build(command: list[str], directory: Path) -> None:
    built = subprocess.run(
        command, cwd=directory, capture_output=True, text=True, timeout=BUILD_TIMEOUT_S, check=False
    )
    if built.returncode:
        # Without a package registry there is nothing to build with; the reason is printed with the skip.
        pytest.skip(f"{' '.join(command[:2])} failed: {built.stderr.strip()[-300:]}")
