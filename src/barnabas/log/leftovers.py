"""What an interrupted compaction, split or deletion left behind, put right before a log is loaded.

`.deleted` goes. `.cleaned` was never finished, so it goes, and with it every `.swap` that may belong to the
same unfinished step. A remaining `.swap` was complete: the segments it replaces go, then it takes its name.
"""

from __future__ import annotations

import contextlib
import logging

from barnabas.log import names
from barnabas.log.scan import walk
from barnabas.ports import Filesystem

_LOG = logging.getLogger(__name__)


def settle(filesystem: Filesystem, directory: str) -> None:
    files = filesystem.list(directory)
    for name in files:
        if name.endswith(names.DELETED):
            _remove(filesystem, directory, name)
    swaps = _complete_swaps(filesystem, directory, files)
    if not swaps:
        return
    low, high = _replaced_range(filesystem, directory, swaps)
    for name in filesystem.list(directory):
        parsed = names.parse_offset_file(name)
        if parsed is not None and low <= parsed[0] < high:
            _LOG.info("Deleting %s/%s: a compacted segment replaces it", directory, name)
            _remove(filesystem, directory, name)
    for name in swaps:
        _LOG.info("Finishing the swap of %s/%s", directory, name)
        filesystem.rename(f"{directory}/{name}", f"{directory}/{name.removesuffix(names.SWAP)}")


def _complete_swaps(filesystem: Filesystem, directory: str, files: list[str]) -> list[str]:
    cleaned = [name for name in files if name.endswith(names.CLEANED)]
    swaps = [name for name in files if name.endswith(names.SWAP)]
    first_cleaned = min((offset for name in cleaned if (offset := _offset(name)) is not None), default=None)
    complete = []
    for name in swaps:
        offset = _offset(name)
        if offset is None or (first_cleaned is not None and offset >= first_cleaned):
            _remove(filesystem, directory, name)
        else:
            complete.append(name)
    # Only now: until the doubtful swaps are gone, `.cleaned` is what marks them as doubtful.
    for name in cleaned:
        _remove(filesystem, directory, name)
    return complete


def _replaced_range(filesystem: Filesystem, directory: str, swaps: list[str]) -> tuple[int, int]:
    low, high = 2**63, -1
    for name in swaps:
        offset = _offset(name)
        if offset is None or not name.endswith(names.LOG + names.SWAP):
            continue
        file = filesystem.open(f"{directory}/{name}")
        next_offset = offset
        for _, header in walk(file, 0, file.size()):
            next_offset = header.next_offset
        file.close()
        low, high = min(low, offset), max(high, next_offset)
    return low, high


def _offset(name: str) -> int | None:
    stem = name.partition(".")[0]
    return int(stem) if stem.isascii() and stem.isdigit() else None


def _remove(filesystem: Filesystem, directory: str, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        filesystem.remove(f"{directory}/{name}")
