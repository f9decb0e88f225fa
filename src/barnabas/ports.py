"""The only doors out of the broker: clock, chance, files, workers, other brokers, and the metadata store.

Everything below `runtime/` talks to the world through these protocols, so that `sim/` can run the same
node on a seeded clock, a disk that tears pages and a store that loses its session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from barnabas.model.endpoint import Endpoint

Buffer: TypeAlias = bytes | bytearray | memoryview


class Clock(Protocol):
    """Two clocks: the wall for what is stored, the monotonic one for what is waited for."""

    def wall_ms(self) -> int: ...

    def monotonic_ms(self) -> int: ...


class Random(Protocol):
    """Chance: topic ids, roll jitter, session ids. Seeded in the simulation."""

    def bytes(self, count: int) -> bytes: ...

    def below(self, bound: int) -> int:
        """A whole number in [0, bound)."""
        ...


# --- files -----------------------------------------------------------------------------------------------


class File(Protocol):
    """One open file. Failures are OSError; whoever owns the log directory decides what they mean."""

    @property
    def path(self) -> str: ...

    def size(self) -> int: ...

    def append(self, parts: Sequence[Buffer]) -> int:
        """Write all parts at the end in one call, whole or not at all as far as the caller can tell:
        a short write is completed or raised, never returned. Returns the number of bytes."""
        ...

    def read(self, position: int, size: int) -> bytes:
        """Up to `size` bytes; fewer only at the end of the file."""
        ...

    def write_at(self, position: int, data: Buffer) -> None: ...

    def truncate(self, size: int) -> None: ...

    def sync(self) -> None:
        """Block until the content is durable. Slow: the loop calls it through `Workers` only."""
        ...

    def close(self) -> None: ...


@dataclass(slots=True)  # not frozen: one is made per fetch, and freezing costs more than the rest of it
class FileSlice:
    """Bytes that leave with sendfile: they never enter Python. Has a length, as bytes do."""

    file: File
    position: int
    size: int

    def __len__(self) -> int:
        return self.size


class Filesystem(Protocol):
    def open(self, path: str, *, create: bool = False) -> File:
        """Open for reading and appending. FileNotFoundError unless `create`."""
        ...

    def absolute(self, path: str) -> str:
        """The whole path, without a slash at the end."""
        ...

    def exists(self, path: str) -> bool: ...

    def is_directory(self, path: str) -> bool: ...

    def list(self, path: str) -> list[str]:
        """Names (not paths) inside a directory, sorted."""
        ...

    def make_directories(self, path: str) -> None: ...

    def rename(self, source: str, target: str) -> None:
        """Atomic; replaces the target."""
        ...

    def remove(self, path: str) -> None: ...

    def remove_tree(self, path: str) -> None: ...

    def read_bytes(self, path: str) -> bytes: ...

    def write_bytes_durably(self, path: str, data: bytes) -> None:
        """Write to `path`.tmp, sync, rename over `path`, sync the directory: after a crash the file is
        either the old one or the new one."""
        ...

    def sync_directory(self, path: str) -> None: ...

    def modified_ms(self, path: str) -> int: ...

    def space(self, path: str) -> tuple[int, int]:
        """(total, usable) bytes of the volume that holds `path`."""
        ...


# --- workers ---------------------------------------------------------------------------------------------


class Workers(Protocol):
    """Calls that block but release the GIL (fsync, cold reads, native compression). The result comes back
    on the loop's thread, as an event: `done(result, None)` or `done(None, error)`."""

    def submit(
        self, work: Callable[[], object], done: Callable[[object, BaseException | None], None]
    ) -> None: ...


# --- other brokers -----------------------------------------------------------------------------------------


class Caller(Protocol):
    """Whoever opened a line to another broker; called on the loop's thread."""

    def received(self, frame: bytearray) -> None:
        """One whole response, without its length in front. The buffer is the caller's from now on."""
        ...

    def disconnected(self) -> None:
        """The line is dead, or never came about. Called once, and not after `close`."""
        ...


class Line(Protocol):
    """A connection that we opened. Frames arrive whole and in order, or the line dies."""

    was_refused: bool
    """The other machine said that nobody listens there: more than silence tells."""

    def send(self, frame: bytes) -> None:
        """One whole request, its length in front. Before the line stands, frames wait."""
        ...

    def close(self) -> None: ...


class Network(Protocol):
    def connect(self, endpoint: Endpoint, caller: Caller) -> Line:
        """Returns at once, whoever answers there; a refusal comes as `disconnected`, later."""
        ...


# --- the metadata store: a tree of small versioned values, with ZooKeeper's shape --------------------------


@dataclass(frozen=True, slots=True)
class Create:
    """Parents must exist unless `make_parents`. With `sequential`, a ten-digit counter of the parent is
    appended to the path."""

    path: str
    value: bytes = b""
    ephemeral: bool = False
    sequential: bool = False
    make_parents: bool = False


@dataclass(frozen=True, slots=True)
class Set:
    path: str
    value: bytes
    version: int = -1  # -1: whatever version is there


@dataclass(frozen=True, slots=True)
class Delete:
    """With `recursive`, everything below goes too. With `missing_ok`, a missing node is no error."""

    path: str
    version: int = -1
    recursive: bool = False
    missing_ok: bool = False


@dataclass(frozen=True, slots=True)
class Put:
    """Create or Set, whichever fits, whatever version is there; missing parents are made."""

    path: str
    value: bytes


@dataclass(frozen=True, slots=True)
class Check:
    path: str
    version: int = -1


Write: TypeAlias = Create | Set | Put | Delete | Check


@dataclass(frozen=True, slots=True)
class Get:
    """With `watch`, one `Changed` event follows when the value changes or the node comes or goes."""

    path: str
    watch: bool = False


@dataclass(frozen=True, slots=True)
class Children:
    """With `watch`, one `Changed` event follows when a child, or the node itself, comes or goes. A missing
    node is answered with None and cannot be watched this way: watch it with Get."""

    path: str
    watch: bool = False


@dataclass(frozen=True, slots=True)
class Subtree:
    """The node and everything below it: how a controller learns the cluster. Not a snapshot in every home;
    whoever needs one holds the controller's node, so that nobody else writes meanwhile."""

    path: str


Read: TypeAlias = Get | Children | Subtree


@dataclass(frozen=True, slots=True)
class Stat:
    version: int
    czxid: int
    mzxid: int
    ephemeral_owner: int  # session id; 0 for persistent nodes


@dataclass(frozen=True, slots=True)
class Value:
    """Answer to Get (None stands for a missing node) and to Create, Set and Put (`data` is what was written,
    `path` has the number of a sequential node). Delete and Check answer None."""

    path: str
    data: bytes
    stat: Stat


@dataclass(frozen=True, slots=True)
class ChildNames:
    path: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Values:
    """Answer to Subtree, sorted by path; empty when the node is missing."""

    path: str
    values: tuple[Value, ...]


Answer: TypeAlias = Value | ChildNames | Values | None


class StoreError(Exception):
    """The store refused a submission; nothing of it was applied. `path` is the operation that failed."""

    def __init__(self, path: str = "") -> None:
        super().__init__(f"{type(self).__name__}: {path}")
        self.path = path


class NodeExistsError(StoreError): ...


class NoNodeError(StoreError): ...


class BadVersionError(StoreError): ...


class NotEmptyError(StoreError): ...


class EphemeralParentError(StoreError):
    """An ephemeral node cannot have children."""


class TooLargeError(StoreError):
    """More than the home takes at once. `path` is the operation with the most bytes."""


class DeniedError(StoreError):
    """The home's own rules forbid it: an access list, a quota, an identity that is missing."""


class StoreLostError(StoreError):
    """The connection or the session is gone: the writes may or may not have happened."""


@dataclass(frozen=True, slots=True)
class Completed:
    """One answer per operation of the ticket, in order; or the error, and nothing was applied."""

    ticket: int
    answers: tuple[Answer, ...] = ()
    error: StoreError | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """A watch fired (once). Read again to learn what is there now."""

    path: str


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """Every ephemeral node of this session is gone; a new session has begun or is being sought."""


@dataclass(frozen=True, slots=True)
class SessionBegan:
    session_id: int


StoreEvent: TypeAlias = Completed | Changed | SessionBegan | SessionEnded


class MetadataStore(Protocol):
    """Asynchronous: `submit` returns a ticket at once, what happened comes back through `events`.

    The writes of one submission are one atomic multi. A submission holds only reads or only writes.
    Submissions are carried out in order, and answered in that order. A `Changed` event comes before the first
    answer that shows the change. After `close` a submission is answered with StoreLostError.
    """

    def start(self, notify: Callable[[], None]) -> None:
        """Begin a session. `notify` may be called from any thread when `events` has something."""
        ...

    def submit(self, operations: Sequence[Read] | Sequence[Write]) -> int: ...

    def events(self) -> list[StoreEvent]:
        """Take what has happened since the last call, oldest first."""
        ...

    def close(self) -> None:
        """Carry out what was submitted, then end the session: its ephemeral nodes disappear. Answers are
        still there to be taken with `events`."""
        ...
