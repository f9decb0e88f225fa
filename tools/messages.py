"""Derive `src/barnabas/protocol/messages/` from kio's field metadata.

kio publishes, per API and version, typed classes generated from Kafka's own definitions. This folds the
versions of each struct into one class of ours with all their fields, and a row per field that says which
versions carry it. Run by `make messages`; a test checks that the result is fresh.
"""

from __future__ import annotations

import dataclasses
import graphlib
import importlib
import itertools
import sys
import uuid
from collections.abc import Iterator
from datetime import timedelta
from importlib import metadata
from pathlib import Path
from typing import Any

from kio.schema.index import api_key_map, schema_name_map
from kio.serial._introspect import EntityField, EntityTupleField, classify_field, is_optional
from kio.static.constants import EntityType

TARGET = Path(__file__).parent.parent / "src" / "barnabas" / "protocol" / "messages"
# Data structs that travel inside other messages' bytes fields.
EXTRA_SCHEMAS = ("consumer_protocol_assignment", "consumer_protocol_subscription")

# KRaft's own conversations: our brokers agree through the metadata store instead.
_CONTROLLER_ONLY = {52, 53, 54, 58, 59, 62, 63, 67, 70, 73, 82}

_KINDS = {"error_code": "int16", "timedelta_i32": "int32", "timedelta_i64": "int64", "datetime_i64": "int64"}
_PYTHON = {
    "bool": "bool", "string": "str", "bytes": "bytes", "records": "Buffer | FileSlice", "uuid": "bytes",
    "float64": "float",
}  # fmt: skip
_IMPLICIT = {"bool": False, "string": "", "bytes": b"", "records": None, "uuid": bytes(16), "float64": 0.0}


@dataclasses.dataclass
class FieldRow:
    name: str
    kind: str
    array: bool
    struct: str | None
    default: Any
    versions: list[int]
    nullable: list[int]
    tag: int
    tagged: list[int]


@dataclasses.dataclass
class StructRow:
    name: str
    fields: dict[str, FieldRow]
    sequences: dict[int, list[str]] = dataclasses.field(default_factory=dict)  # per version, in wire order

    def ordered(self) -> list[FieldRow]:
        """One order that agrees with every version's."""
        sorter: graphlib.TopologicalSorter[str] = graphlib.TopologicalSorter()
        for names in reversed(self.sequences.values()):
            for before, after in itertools.pairwise(names):
                sorter.add(after, before)
            for name in names[:1]:
                sorter.add(name)
        return [self.fields[name] for name in sorter.static_order()]


def main() -> int:
    TARGET.mkdir(exist_ok=True)
    for name, text in texts().items():
        (TARGET / name).write_text(text)
    return 0


def texts() -> dict[str, str]:
    """Every file of the package, by name."""
    keys = {key: schema for key, schema in sorted(api_key_map.items()) if key not in _CONTROLLER_ONLY}
    files = {f"{schema}.py": module_text(schema, key) for key, schema in keys.items()}
    files |= {f"{schema}.py": module_text(schema, -1) for schema in EXTRA_SCHEMAS}
    files["__init__.py"] = index_text([index_row(schema, key) for key, schema in keys.items()])
    return files


def load(schema: str, version: int, kind: Any) -> type | None:
    path = schema_name_map[schema][version].get(kind)
    if path is None:
        return None
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)  # type: ignore[no-any-return]


def module_text(schema: str, key: int) -> str:
    parts: list[str] = []
    taken: set[str] = set()
    for kind in (EntityType.request, EntityType.response, EntityType.data):
        roots = [(v, c) for v in sorted(schema_name_map[schema]) if (c := load(schema, v, kind)) is not None]
        if not roots:
            continue
        structs: dict[str, StructRow] = {}
        for version, root in roots:
            collect(root, version, structs)
        rename_taken(structs, taken)
        taken |= structs.keys()
        flexible = next((v for v, c in roots if c.__flexible__), None)  # type: ignore[attr-defined]
        root_name = roots[0][1].__name__
        last = roots[-1][0]
        parts += [
            class_text(row, last, key if row.name == root_name else None, flexible)
            for row in order(structs, root_name)
        ]
    head = f'"""Derived from kio {kio_version()} by tools/messages.py; do not edit."""\n\n'
    imports = "\n".join(
        (
            "from __future__ import annotations\n",
            "from collections.abc import Sequence",
            "from typing import ClassVar\n",
            "from barnabas.ports import Buffer, FileSlice",
            "from barnabas.protocol.schema import Field, Message\n",
            "_ZERO = bytes(16)\n",
        )
    )
    return head + imports + "\n\n" + "\n\n".join(parts)


def rename_taken(structs: dict[str, StructRow], taken: set[str]) -> None:
    """A request and its response may each have a struct of one name and two shapes."""
    for name in [name for name in structs if name in taken]:
        struct = structs.pop(name)
        struct.name = f"Response{name}"
        structs[struct.name] = struct
        for row in structs.values():
            for item in row.fields.values():
                if item.struct == name:
                    item.struct = f"Response{name}"


def kio_version() -> str:
    return metadata.version("kio")


def collect(entity: type, version: int, structs: dict[str, StructRow]) -> None:
    row = structs.setdefault(entity.__name__, StructRow(entity.__name__, {}))
    if version in row.sequences:
        return
    row.sequences[version] = []
    for item in dataclasses.fields(entity):
        shape = classify_field(item)
        nested = isinstance(shape, (EntityField, EntityTupleField))
        raw_kind = "struct" if nested else str(item.metadata["kafka_type"])
        kind = _KINDS.get(raw_kind, raw_kind)
        name = field_name(item.name, raw_kind)
        row.sequences[version].append(name)
        known = row.fields.get(name)
        if known is None:
            known = FieldRow(
                name, kind, shape.is_array, shape.type_.__name__ if nested else None, None, [], [], -1, []
            )
            row.fields[name] = known
        assert (known.kind, known.array) == (kind, shape.is_array), (entity, item)
        known.versions.append(version)
        known.default = default_of(item, kind, shape.is_array, nested)
        if (is_optional(item) and kind not in {"uuid", "int64", "int32"}) or (
            shape.is_array and kind == "int32" and "None" in str(item.type)
        ):
            known.nullable.append(version)
        if "tag" in item.metadata:
            known.tag = int(item.metadata["tag"])
            known.tagged.append(version)
        if nested:
            collect(shape.type_, version, structs)


def field_name(name: str, raw_kind: str) -> str:
    """kio drops the unit of what it types as a duration or a date; we keep units last."""
    if raw_kind.startswith(("timedelta", "datetime")) and not name.endswith("_ms"):
        return name + "_ms"
    return name


def default_of(item: Any, kind: str, array: bool, nested: bool) -> Any:
    value = item.default
    if value is dataclasses.MISSING:
        if array:
            return ()
        return None if nested else _IMPLICIT.get(kind, 0)
    if isinstance(value, timedelta):
        return round(value / timedelta(milliseconds=1))
    if kind == "uuid" and not array:
        return value.bytes if isinstance(value, uuid.UUID) else bytes(16)
    if nested and not array:
        return None
    if value is None and kind in {"int64", "int32"} and not array:
        return -1
    return value if value is None or isinstance(value, (bool, str, bytes, tuple, float)) else int(value)


def order(structs: dict[str, StructRow], root: str) -> Iterator[StructRow]:
    """Children before parents, so that a class body can name them."""
    done: set[str] = set()

    def visit(name: str) -> Iterator[StructRow]:
        if name in done:
            return
        done.add(name)
        for item in structs[name].fields.values():
            if item.struct is not None:
                yield from visit(item.struct)
        yield structs[name]

    yield from visit(root)


def class_text(row: StructRow, last: int, key: int | None, flexible: int | None) -> str:
    fields = row.ordered()
    names = [item.name for item in fields]
    lines = [f"class {row.name}(Message):", f"    __slots__ = {tuple(names)!r}"]
    if key is not None:
        lines.append(f"    API_KEY: ClassVar[int] = {key}")
    if flexible is not None:
        lines.append(f"    FLEXIBLE_SINCE: ClassVar[int] = {flexible}")
    lines.append("    FIELDS: ClassVar[tuple[Field, ...]] = (")
    lines += [f"        {row_text(item, last)}," for item in fields]
    lines += ["    )", ""]
    if names:
        lines += ["    def __init__(", "        self,"]
        lines += [f"        {i.name}: {annotation(i)} = {default_text(i)}," for i in fields]
        lines += ["    ) -> None:"]
        lines += [f"        self.{name} = {name}" for name in names]
    return "\n".join(lines) + "\n"


def row_text(item: FieldRow, last: int) -> str:
    words = [repr(item.name), repr(item.kind), default_text(item)]
    if item.array:
        words.append("array=True")
    if item.struct:
        words.append(f"struct={item.struct}")
    versions = item.versions
    assert versions == list(range(versions[0], versions[-1] + 1)), item
    if versions[0] > 0:
        words.append(f"since={versions[0]}")
    if versions[-1] < last:
        words.append(f"until={versions[-1]}")
    if item.nullable:
        assert item.nullable[-1] == versions[-1], item
        words.append(f"nullable_since={item.nullable[0]}")
    if item.tag >= 0:
        words += [f"tag={item.tag}", f"tag_since={item.tagged[0]}"]
    return f"Field({', '.join(words)})"


def default_text(item: FieldRow) -> str:
    if item.kind == "uuid" and not item.array:
        return "_ZERO"
    return repr(item.default)


def annotation(item: FieldRow) -> str:
    base = item.struct or _PYTHON.get(item.kind, "int")
    if item.array:
        base = f"Sequence[{base}]"
    may_be_none = bool(item.nullable) or item.default is None
    return f"{base} | None" if may_be_none else base


def index_row(schema: str, key: int) -> str:
    versions = sorted(schema_name_map[schema])
    request = load(schema, versions[-1], EntityType.request)
    response = load(schema, versions[-1], EntityType.response)
    assert request is not None
    assert response is not None
    flexible = next(
        (v for v in versions if load(schema, v, EntityType.request).__flexible__),  # type: ignore[union-attr]
        32767,
    )
    return (
        f"    {key}: Api({key}, {request.__name__.removesuffix('Request')!r}, {schema!r}, "
        f"{versions[0]}, {versions[-1]}, {flexible}),"
    )


def index_text(rows: list[str]) -> str:
    return (
        f'"""Derived from kio {kio_version()} by tools/messages.py; do not edit."""\n\n'
        "from __future__ import annotations\n\nfrom typing import NamedTuple\n\n\n"
        "class Api(NamedTuple):\n    key: int\n    name: str\n    module: str\n    oldest: int\n"
        "    newest: int\n    flexible_since: int\n\n\nAPIS: dict[int, Api] = {\n" + "\n".join(rows) + "\n}\n"
    )


if __name__ == "__main__":
    sys.exit(main())
