"""What a simulated disk holds: files and directories that know which part of them is durable."""

from __future__ import annotations

from barnabas.ports import Random

PAGE_SIZE = 4096
_SECTOR_SIZE = 512


class Inode:
    """Content as the process sees it, and as the platter has it; pages that differ are dirty."""

    def __init__(self, now_ms: int) -> None:
        self.content = bytearray()
        self.modified_ms = now_ms
        self._durable = bytearray()
        self._dirty_pages: set[int] = set()

    def write(self, position: int, data: bytes, now_ms: int) -> None:
        gap = position - len(self.content)
        if gap > 0:
            self.content += bytes(gap)
        self.content[position : position + len(data)] = data
        if data:
            self._touch(min(position, position - max(gap, 0)), position + len(data))
        self.modified_ms = now_ms

    def truncate(self, size: int, now_ms: int) -> None:
        before = len(self.content)
        if size < before:
            del self.content[size:]
        else:
            self.content += bytes(size - before)
        if size != before:
            self._touch(min(size, before), max(size, before))
        self.modified_ms = now_ms

    def _touch(self, start: int, end: int) -> None:
        self._dirty_pages.update(range(start // PAGE_SIZE, (end - 1) // PAGE_SIZE + 1))

    def sync(self) -> None:
        _resize(self._durable, len(self.content))
        for page in self._dirty_pages:
            place = slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE)
            self._durable[place] = self.content[place]
        self._dirty_pages.clear()

    def crash(self, random: Random | None) -> None:
        """Back to what is durable; with `random`, some of the dirty pages made it out, whole or torn."""
        survived = bytearray(self._durable)
        if random is not None:
            _resize(survived, _size_between(len(self._durable), len(self.content), random))
            for page in sorted(self._dirty_pages):
                self._maybe_write_back(survived, page, random)
        self.content = survived
        self._durable = bytearray(survived)
        self._dirty_pages.clear()

    def _maybe_write_back(self, survived: bytearray, page: int, random: Random) -> None:
        start = page * PAGE_SIZE
        length = (0, PAGE_SIZE, _SECTOR_SIZE * random.below(PAGE_SIZE // _SECTOR_SIZE))[random.below(3)]
        end = min(start + length, len(survived), len(self.content))
        if end > start:
            survived[start:end] = self.content[start:end]


def _resize(content: bytearray, size: int) -> None:
    if size < len(content):
        del content[size:]
    else:
        content += bytes(size - len(content))


def _size_between(one: int, other: int, random: Random) -> int:
    low, high = sorted((one, other))
    return (one, other, low + random.below(high - low + 1))[random.below(3)]


class Directory:
    """Names as the process sees them, the names that are durable, and the changes between the two."""

    def __init__(self) -> None:
        self.children: dict[str, Directory | Inode] = {}
        self._durable: dict[str, Directory | Inode] = {}
        # What each change made of the directory; a crash keeps some prefix of them, as a journal does.
        self._states: list[dict[str, Directory | Inode]] = []

    def put(self, name: str, node: Directory | Inode) -> None:
        self.children[name] = node
        self._states.append(dict(self.children))

    def move(self, name: str, target: str) -> None:
        self.children[target] = self.children.pop(name)
        self._states.append(dict(self.children))

    def discard(self, name: str) -> None:
        del self.children[name]
        self._states.append(dict(self.children))

    def sync(self) -> None:
        self._durable = dict(self.children)
        self._states.clear()

    def crash(self, random: Random | None) -> None:
        survivors = [self._durable, *self._states]
        self.children = survivors[random.below(len(survivors)) if random is not None else 0]
        self._durable = dict(self.children)
        self._states.clear()
        for node in self.children.values():
            node.crash(random)

    def byte_count(self) -> int:
        return sum(
            node.byte_count() if isinstance(node, Directory) else len(node.content)
            for node in self.children.values()
        )
