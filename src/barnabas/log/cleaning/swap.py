"""Put a cleaned segment in the place of the old ones, so that a crash at any point leaves one or the other.

1. `.cleaned` → `.swap`, all files of the segment. Until the last of them is renamed, recovery still finds a
   `.cleaned` file and throws both away: the old segments are untouched.
2. The old files → `.deleted`. From here recovery goes forward.
3. `.swap` → the final names, then the directory is synced.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable

from barnabas.log.cleaning.cleaned_segment import CLEANED, LOG, SEGMENT_SUFFIXES, segment_path
from barnabas.log.cleaning.rewrite import batches_of
from barnabas.ports import Filesystem
from barnabas.records.errors import RecordsError

SWAP = ".swap"
DELETED = ".deleted"
_OFFSET_NAME = re.compile(r"(\d{20})\.[a-z]+(\.cleaned|\.swap|\.deleted)?")


def swap_in(fs: Filesystem, directory: str, base_offset: int, old_segments: Iterable[int]) -> list[str]:
    """Returns the `.deleted` paths, to be removed after file.delete.delay.ms. Old segments that are gone
    already are passed over."""
    _rename_all(fs, directory, base_offset, CLEANED, SWAP)
    deleted = []
    for old in sorted(old_segments):
        for suffix in SEGMENT_SUFFIXES:
            path = segment_path(directory, old, suffix)
            if fs.exists(path):
                fs.rename(path, path + DELETED)
                deleted.append(path + DELETED)
    _rename_all(fs, directory, base_offset, SWAP, "")
    fs.sync_directory(directory)
    return deleted


def _rename_all(fs: Filesystem, directory: str, base_offset: int, old: str, new: str) -> None:
    for suffix in SEGMENT_SUFFIXES:
        path = segment_path(directory, base_offset, suffix)
        if fs.exists(path + old):
            fs.rename(path + old, path + new)


def discard_cleaned(fs: Filesystem, directory: str) -> None:
    """Remove what an abandoned cleaning has written."""
    for name in fs.list(directory):
        if name.endswith(CLEANED):
            with contextlib.suppress(FileNotFoundError):
                fs.remove(f"{directory}/{name}")


def recover_swaps(fs: Filesystem, directory: str) -> None:
    """Before a log is loaded: finish the swaps that a crash interrupted, undo those that had not begun, and
    remove files that were about to be removed."""
    by_state: dict[str, list[tuple[int, str]]] = {CLEANED: [], SWAP: [], DELETED: [], "": []}
    for name in fs.list(directory):
        if match := _OFFSET_NAME.fullmatch(name):
            by_state[match[2] or ""].append((int(match[1]), f"{directory}/{name}"))
    first_cleaned = min((offset for offset, _ in by_state[CLEANED]), default=None)
    undone = [one for one in by_state[SWAP] if first_cleaned is not None and one[0] >= first_cleaned]
    # The swaps first: once the `.cleaned` files are gone nothing tells that these are not complete.
    for _, path in [*undone, *by_state[CLEANED], *by_state[DELETED]]:
        fs.remove(path)
    swaps = [one for one in by_state[SWAP] if one not in undone]
    _finish(fs, swaps, by_state[""])
    if undone or swaps or by_state[CLEANED] or by_state[DELETED]:
        fs.sync_directory(directory)


def _finish(fs: Filesystem, swaps: list[tuple[int, str]], live: list[tuple[int, str]]) -> None:
    logs = [(offset, path) for offset, path in swaps if path.endswith(LOG + SWAP)]
    if logs:
        start = min(offset for offset, _ in logs)
        # At least the old segment of the same name, even if nothing was left of it.
        end = max(_next_offset(fs, offset, path) for offset, path in logs)
        end = max(end, start + 1)
        for offset, path in live:
            if start <= offset < end and path.removesuffix(".snapshot") == path:
                fs.remove(path)
    for _, path in swaps:
        fs.rename(path, path.removesuffix(SWAP))


def _next_offset(fs: Filesystem, base_offset: int, path: str) -> int:
    following = base_offset
    with contextlib.suppress(RecordsError):  # the loader judges the content
        for _, header in batches_of(fs, path, lambda _bytes: None):
            following = header.next_offset
    return following
