"""What a message class says of itself: rows that `compile.py` turns into encoders and decoders.

`messages/` holds one class per struct of the protocol with the fields of *every* version, so that handlers
never branch on a version's type; `FIELDS` says which versions carry which field.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

NEVER = 32767  # a version no message reaches


class Field(NamedTuple):
    """`kind` is a primitive's name, or "struct"; `array` makes it a list of them."""

    name: str
    kind: str
    default: Any = None
    array: bool = False
    struct: type[Message] | None = None
    since: int = 0
    until: int = NEVER
    nullable_since: int = NEVER
    tag: int = -1
    tag_since: int = 0

    def carried(self, version: int) -> bool:
        return self.since <= version <= self.until

    def tagged(self, version: int) -> bool:
        return self.tag >= 0 and version >= self.tag_since

    def nullable(self, version: int) -> bool:
        return version >= self.nullable_since


class Message:  # noqa: PLW1641  # mutable data has no hash
    """Base of every generated class: plain data with `__slots__`, compared and printed by its fields."""

    __slots__: ClassVar[tuple[str, ...]] = ()
    FIELDS: ClassVar[tuple[Field, ...]] = ()
    API_KEY: ClassVar[int] = -1
    FLEXIBLE_SINCE: ClassVar[int] = NEVER

    def _values(self) -> Iterable[tuple[str, Any]]:
        return ((name, getattr(self, name)) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(_same(value, getattr(other, name)) for name, value in self._values())

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self._values())
        return f"{type(self).__name__}({inside})"


def _same(one: object, other: object) -> bool:
    """A list read from the wire equals the tuple it was written from."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other
