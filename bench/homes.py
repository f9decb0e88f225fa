"""Where the brokers under measurement keep their data, and what becomes of it when they are done.

Nothing is removed before the whole bench ends. For some minutes after a file was removed, ext4 does not use
its inode again, and looks for another one each time: creating a file then costs 0.5 ms of CPU instead of
0.01, and whoever comes next would pay for what the one before has left. Only the space is given back.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

_WORTH_GIVING_BACK_BYTES = 1 << 20


@contextlib.contextmanager
def home(directory: Path, name: str) -> Iterator[Path]:
    """A directory of its own for as long as the block lasts; its large files are empty afterwards."""
    directory.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f"{name.replace(' ', '-').lower()}-", dir=directory))
    try:
        yield made
    finally:
        give_back_space(made)


def give_back_space(directory: Path) -> None:
    for parent, _, names in os.walk(directory):
        for name in names:
            path = Path(parent, name)
            with contextlib.suppress(FileNotFoundError):  # a process that was killed may still tidy up
                if path.stat().st_size >= _WORTH_GIVING_BACK_BYTES:
                    os.truncate(path, 0)
