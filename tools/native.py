"""Build hook: compile the optional C modules where there is a compiler; leave them out, silently, where not.

hatchling calls it for wheels and for `pip install --editable`, which is how `make setup` gets the modules.
They use Python's stable ABI, so one wheel serves every Python from 3.11 on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCES = tuple(Path("src/barnabas", package, "_native.c") for package in ("hot", "records/arrow", "runtime"))
FLAGS = ("-std=c11", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra")


def build(root: Path) -> list[Path]:
    """The modules that are there now, made from the sources as they are."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    is_wanted = compiler is not None and os.environ.get("BARNABAS_NATIVE") != "off"
    return [
        _module_of(source) for source in SOURCES if _build_one(root, source, compiler if is_wanted else None)
    ]


def _module_of(source: Path) -> Path:
    return source.with_suffix(".abi3.so")


def _build_one(root: Path, source: Path, compiler: str | None) -> bool:
    module = root / _module_of(source)
    module.unlink(missing_ok=True)
    if compiler is None:
        return False
    # Under another name first: a broker that starts meanwhile must not find half a module.
    unfinished = module.with_suffix(".tmp")
    command = [*compiler.split(), *FLAGS, f"-I{sysconfig.get_path('include')}", "-o", str(unfinished)]
    try:
        done = subprocess.run([*command, str(root / source)], capture_output=True, check=False)
    except OSError:
        return False
    if done.returncode != 0:
        unfinished.unlink(missing_ok=True)
        return False
    unfinished.replace(module)
    return True


class NativeBuildHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        modules = build(Path(self.root)) if self.target_name == "wheel" else []
        if not modules or version == "editable":
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"cp311-abi3-{platform}"
        build_data["pure_python"] = False
        build_data["artifacts"] += map(str, modules)
