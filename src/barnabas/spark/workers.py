"""What makes Spark's Python workers cheap to use again."""

from __future__ import annotations

import gc
import sys

_module_count = 0


def settle() -> None:
    """Called in a worker by whatever Spark runs there, before it does anything else. Spark has a worker look
    for garbage after every task, and with all that is imported by then this takes longer than a small task
    itself. What is there now is there to stay, so it is looked at no more. Once, and again when something
    else was imported: what is garbage by chance at that moment is never found."""
    global _module_count  # noqa: PLW0603 - of the process
    if len(sys.modules) != _module_count:
        _module_count = len(sys.modules)
        gc.freeze()
