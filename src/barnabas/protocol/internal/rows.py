"""How a record's class is written down: an annotation and a kind per field, read once into `FIELDS`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform

from barnabas.protocol.schema import NEVER, Field, Message

T = TypeVar("T", bound=type[Message])

_ROW = "row"


def row(
    kind: str | type[Message],
    *,
    default: Any,
    array: bool = False,
    since: int = 0,
    until: int = NEVER,
    nullable_since: int = NEVER,
    tag: int = -1,
) -> Any:
    """A field of the given primitive or struct."""
    struct = None if isinstance(kind, str) else kind
    described = Field(
        "", "struct" if struct else str(kind), default, array, struct, since, until, nullable_since, tag
    )
    return dataclasses.field(default=default, metadata={_ROW: described})


@dataclass_transform(field_specifiers=(row,))
def record(*, flexible_since: int = NEVER) -> Callable[[T], T]:
    def build(plain: T) -> T:
        built: Any = dataclasses.dataclass(slots=True, eq=False, repr=False)(plain)
        built.FLEXIBLE_SINCE = flexible_since
        built.FIELDS = tuple(
            field.metadata[_ROW]._replace(name=field.name) for field in dataclasses.fields(built)
        )
        return built  # type: ignore[no-any-return]

    return build
