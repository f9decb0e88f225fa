"""Put a cleaned segment in the place of the old ones, so that a crash at any point leaves one or the other.

1. `.cleaned` → `.swap`, all files of the segment. Until the last of them is renamed, recovery still finds a
   `.cleaned` file and throws both away: the old segments are untouched.
2. The old files → `.deleted`. From here recovery goes forward.
3. `.swap` → the final names.

`leftovers.settle` is the recovery. The directory is synced before the cleaner's checkpoint says how far the
log is clean, not here: the loop waits for no disk, and whatever prefix of the steps a crash leaves is sound.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from barnabas.log.cleaning.cleaned_segment import segment_path
from barnabas.log.names import CLEANED, DELETED, SEGMENT_SUFFIXES, SWAP
from barnabas.ports import Filesystem


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
