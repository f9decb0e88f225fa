"""The real disk: `ports.Filesystem` on file descriptors.

A file has one writer, so its size is known without asking the kernel; positions are explicit (pwritev,
pread), so a reader on another thread never moves the writer's place. Failures are OSError, untouched.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Sequence

from barnabas.ports import Buffer

# Linux refuses more parts than this in one pwritev.
_PARTS_MAX = 1024


class RealFile:
    __slots__ = ("_path", "_size", "fd", "fd_ahead", "is_probed")

    def __init__(self, path: str, fd: int) -> None:
        self._path = path
        self.fd = fd
        self.fd_ahead = -1
        self._size = os.fstat(fd).st_size
        self.is_probed = False

    def may_be_probed(self) -> None:
        """From now on a read brings in what it asks for and nothing ahead of that. A probe that finds nothing
        would otherwise have the kernel begin to fetch half a megabyte, at the expense of the loop."""
        if not self.is_probed:
            os.posix_fadvise(self.fd, 0, 0, os.POSIX_FADV_RANDOM)
            self.is_probed = True

    def open_ahead(self) -> None:
        """Once more, under a descriptor in which the kernel reads ahead, in large pages: for workers."""
        if self.fd_ahead < 0:
            with contextlib.suppress(OSError):  # no descriptor left: they use the first one, at its pace
                self.fd_ahead = os.open(f"/proc/self/fd/{self.fd}", os.O_RDONLY | os.O_CLOEXEC)

    @property
    def path(self) -> str:
        return self._path

    def fileno(self) -> int:
        return self.fd

    def size(self) -> int:
        return self._size

    def append(self, parts: Sequence[Buffer]) -> int:
        start = self._size
        total = _byte_count(parts[0]) if len(parts) == 1 else sum(map(_byte_count, parts))
        try:
            written = os.pwritev(self.fd, parts, start) if len(parts) <= _PARTS_MAX else 0
            if written != total:
                _write_rest(self.fd, parts, start, written)
        except OSError:
            # Half a batch must not be found by the next reader or by recovery. If the disk refuses even
            # this, the next append starts at the same place and overwrites the rest.
            with contextlib.suppress(OSError):
                os.ftruncate(self.fd, start)
            raise
        self._size = start + total
        return total

    def read(self, position: int, size: int) -> bytes:
        data = os.pread(self.fd, size, position)
        if len(data) == size or not data:
            return data
        return self._read_rest(data, position, size)

    def _read_rest(self, data: bytes, position: int, size: int) -> bytes:
        pieces = [data]
        got = len(data)
        while got < size:
            piece = os.pread(self.fd, size - got, position + got)
            if not piece:
                break
            pieces.append(piece)
            got += len(piece)
        return b"".join(pieces)

    def write_at(self, position: int, data: Buffer) -> None:
        view = memoryview(data).cast("B")
        done = 0
        while done < len(view):
            done += os.pwrite(self.fd, view[done:], position + done)
        self._size = max(self._size, position + len(view))

    def truncate(self, size: int) -> None:
        os.ftruncate(self.fd, size)
        self._size = size

    def sync(self) -> None:
        os.fdatasync(self.fd)

    def close(self) -> None:
        descriptors, self.fd, self.fd_ahead = (self.fd, self.fd_ahead), -1, -1
        for fd in descriptors:
            if fd >= 0:
                os.close(fd)

    def __del__(self) -> None:
        # A slice may be on its way to a socket when its segment lets go of the file: whoever holds the last
        # reference keeps the descriptor open.
        self.close()


def _byte_count(part: Buffer) -> int:
    return part.nbytes if isinstance(part, memoryview) else len(part)


def _write_rest(fd: int, parts: Sequence[Buffer], position: int, skip: int) -> None:
    """Complete a short write: `skip` bytes of `parts` are already at `position`."""
    for part in parts:
        view = memoryview(part).cast("B")
        if skip >= len(view):
            skip -= len(view)
            position += len(view)
            continue
        while skip < len(view):
            skip += os.pwrite(fd, view[skip:], position + skip)
        position += len(view)
        skip = 0


class RealFilesystem:
    """`ports.Filesystem` on the machine's own directories."""

    def open(self, path: str, *, create: bool = False) -> RealFile:
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        return RealFile(path, os.open(path, flags, 0o644))

    def absolute(self, path: str) -> str:
        return os.path.abspath(path)

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(path)

    def list(self, path: str) -> list[str]:
        return sorted(os.listdir(path))

    def make_directories(self, path: str) -> None:
        os.makedirs(path, exist_ok=True)

    def rename(self, source: str, target: str) -> None:
        os.replace(source, target)

    def remove(self, path: str) -> None:
        os.remove(path)

    def remove_tree(self, path: str) -> None:
        shutil.rmtree(path)

    def read_bytes(self, path: str) -> bytes:
        with open(path, "rb") as file:
            return file.read()

    def write_bytes_durably(self, path: str, data: bytes) -> None:
        temporary = f"{path}.tmp"
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            # Before the rename: otherwise a crash could leave the new name with no content.
            os.fsync(file.fileno())
        os.replace(temporary, path)
        self.sync_directory(os.path.dirname(path) or ".")

    def sync_directory(self, path: str) -> None:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def modified_ms(self, path: str) -> int:
        return os.stat(path).st_mtime_ns // 1_000_000

    def space(self, path: str) -> tuple[int, int]:
        volume = os.statvfs(path)
        return volume.f_blocks * volume.f_frsize, volume.f_bavail * volume.f_frsize
