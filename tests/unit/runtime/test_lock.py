from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from barnabas.runtime.lock import DirectoryLockedError, lock_directory

_HOLDER = """
import sys
from barnabas.runtime.lock import lock_directory
lock_directory(sys.argv[1])
print("locked", flush=True)
sys.stdin.read()
"""


def test_a_directory_belongs_to_one_process(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", _HOLDER, str(tmp_path)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"locked\n"
        with pytest.raises(DirectoryLockedError, match="is using this directory"):
            lock_directory(str(tmp_path))
        holder.kill()
    os.close(lock_directory(str(tmp_path)))
