"""Build hook: compile the optional C module where there is a compiler; leave it out, silently, where not.

hatchling calls it for wheels and for `pip install --editable`, which is how `make setup` gets the module.
The module uses Python's stable ABI, so one wheel serves every Python from 3.11 on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = Path("src/barnabas/hot/_native.c")
MODULE = SOURCE.with_suffix(".abi3.so")
FLAGS = ("-std=c11", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra")


def build(root: Path) -> bool:
    """Whether the module is there now, made from the source as it is."""
    module = root / MODULE
    module.unlink(missing_ok=True)
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or os.environ.get("BARNABAS_NATIVE") == "off":
        return False
    # Under another name first: a broker that starts meanwhile must not find half a module.
    unfinished = module.with_suffix(".tmp")
    command = [*compiler.split(), *FLAGS, f"-I{sysconfig.get_path('include')}", "-o", str(unfinished)]
    try:
        done = subprocess.run([*command, str(root / SOURCE)], capture_output=True, check=False)
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
        if self.target_name != "wheel" or not build(Path(self.root)) or version == "editable":
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"cp311-abi3-{platform}"
        build_data["pure_python"] = False
        build_data["artifacts"].append(str(MODULE))
