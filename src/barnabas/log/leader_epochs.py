"""Which leader wrote which offsets: the cache that decides where a follower truncates (KIP-101, KIP-279).

Changes may reach the file later (`flush`, or `unflushed` for a worker): entries that outlive the log's end
are cut again when the log is loaded, and those past the recovery point are read back from the records.
"""

from __future__ import annotations

from typing import NamedTuple

from barnabas.log.checkpoints import LEADER_EPOCHS_FILE, EpochEntry, epochs_text, read_epochs, write_epochs
from barnabas.ports import Filesystem

UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1


class EpochEnd(NamedTuple):
    """The largest epoch not above the requested one, and the offset at which it ended."""

    epoch: int
    end_offset: int


class EpochsWrite(NamedTuple):
    path: str
    content: bytes
    version: int


UNDEFINED_END = EpochEnd(UNDEFINED_EPOCH, UNDEFINED_OFFSET)


class LeaderEpochs:
    """Entries rise strictly in both epoch and start offset."""

    def __init__(self, fs: Filesystem, directory: str) -> None:
        self._fs = fs
        self._path = f"{directory}/{LEADER_EPOCHS_FILE}"
        self._entries: list[EpochEntry] = []
        self._latest_epoch = UNDEFINED_EPOCH
        self._version = self._durable_version = 0
        self._not_durable_from: int | None = None
        checkpoint = read_epochs(fs, self._path)
        self.problem = checkpoint.problem
        for entry in checkpoint.entries:
            self._insert(entry)

    @property
    def entries(self) -> tuple[EpochEntry, ...]:
        return tuple(self._entries)

    @property
    def latest_epoch(self) -> int | None:
        return self._entries[-1].epoch if self._entries else None

    @property
    def latest(self) -> EpochEntry | None:
        return self._entries[-1] if self._entries else None

    @property
    def earliest(self) -> EpochEntry | None:
        return self._entries[0] if self._entries else None

    def assign(self, epoch: int, start_offset: int, *, durable: bool = True) -> bool:
        """The next record, at `start_offset`, is written in `epoch`. False if that was known. Who passes
        `durable=False` makes the file durable together with the records."""
        if epoch == self._latest_epoch and start_offset >= self._entries[-1].start_offset:
            return False
        assert epoch >= 0, epoch
        assert start_offset >= 0, start_offset
        self._insert(EpochEntry(epoch, start_offset))
        if durable:
            self._write()
        else:
            self._version += 1
            if self._not_durable_from is None or start_offset < self._not_durable_from:
                self._not_durable_from = start_offset
        return True

    def _insert(self, entry: EpochEntry) -> None:
        if entry.epoch == self._latest_epoch and entry.start_offset >= self._entries[-1].start_offset:
            return
        while self._entries and (
            self._entries[-1].epoch >= entry.epoch or self._entries[-1].start_offset >= entry.start_offset
        ):
            self._entries.pop()
        self._entries.append(entry)
        self._latest_epoch = entry.epoch

    def end_offset_for(self, requested_epoch: int, log_end_offset: int) -> EpochEnd:
        if requested_epoch == UNDEFINED_EPOCH or not self._entries:
            return UNDEFINED_END
        if requested_epoch == self._latest_epoch:
            return EpochEnd(requested_epoch, log_end_offset)
        floor = requested_epoch
        for entry in self._entries:
            if entry.epoch > requested_epoch:
                # Below the first known epoch, `floor` is still the requested one: its data is gone, and
                # the follower starts where our log starts.
                return EpochEnd(floor, entry.start_offset)
            floor = entry.epoch
        return UNDEFINED_END

    def epoch_for_offset(self, offset: int) -> int | None:
        found = None
        for entry in self._entries:
            if entry.start_offset > offset:
                break
            found = entry.epoch
        return found

    def truncate_from_end(self, end_offset: int) -> None:
        """Forget epochs that start at `end_offset` or later."""
        kept = [entry for entry in self._entries if entry.start_offset < end_offset]
        self._replace(kept)

    def found(self, epoch: int, offset: int) -> None:
        """A record at `offset` is of `epoch`, whatever we wrote down: after a crash records may be back that
        had been cut, and with them the leader before."""
        if epoch < self._latest_epoch:
            later = [entry for entry in self._entries if entry.epoch > epoch and entry.start_offset <= offset]
            if later:
                self.truncate_from_end(later[0].start_offset)
        elif epoch > self._latest_epoch:
            self.assign(epoch, offset)

    def truncate_from_start(self, start_offset: int) -> None:
        """Forget epochs that ended before `start_offset`; the one that holds it begins there now."""
        earlier = [entry for entry in self._entries if entry.start_offset <= start_offset]
        if earlier:
            later = self._entries[len(earlier) :]
            self._replace([EpochEntry(earlier[-1].epoch, start_offset), *later])

    def clear(self) -> None:
        self._replace([])

    def _replace(self, entries: list[EpochEntry]) -> None:
        if entries != self._entries:
            self._entries = entries
            self._latest_epoch = entries[-1].epoch if entries else UNDEFINED_EPOCH
            self._version += 1

    def flush(self) -> None:
        """Bring every change to the file."""
        if self._durable_version < self._version:
            self._write()

    def unflushed(self) -> EpochsWrite | None:
        """What somebody else is to write durably and then report to `mark_durable`, if the file is behind."""
        if self._durable_version == self._version:
            return None
        return EpochsWrite(self._path, epochs_text(self._entries), self._version)

    def mark_durable(self, version: int) -> None:
        self._durable_version = max(self._durable_version, version)
        if self._durable_version == self._version:
            self._not_durable_from = None

    @property
    def not_durable_from(self) -> int | None:
        """From here on, epochs are known only from the records: the recovery point must not pass it."""
        return self._not_durable_from

    def move_to(self, directory: str) -> None:
        """The log's directory was renamed."""
        self._path = f"{directory}/{LEADER_EPOCHS_FILE}"

    def _write(self) -> None:
        self._version += 1
        write_epochs(self._fs, self._path, self._entries)
        self.mark_durable(self._version)
