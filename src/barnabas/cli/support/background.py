"""Going on without a terminal: what `-daemon` means."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def become_daemon(output_name: str) -> bool:
    """True in the process that goes on in the background, False in the one the shell waits for. What it
    prints goes to the named file in $LOG_DIR, or in ./logs.

    Forked twice: it has no terminal, and nobody has to wait for it."""
    log_directory = Path(os.environ.get("LOG_DIR", "logs"))
    log_directory.mkdir(parents=True, exist_ok=True)
    output = os.open(log_directory / output_name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        os.close(output)
        os.waitpid(child, 0)
        return False
    os.setsid()
    if os.fork():
        os._exit(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(nothing)
    os.close(output)
    return True
