"""Our encoders and decoders are byte-equal to kio's, for every message and version of the protocol."""

from __future__ import annotations

import dataclasses
import importlib
import io
import random
from typing import Any

import pytest
from kio.schema.errors import ErrorCode
from kio.schema.index import schema_name_map
from kio.serial import entity_reader, entity_writer
from kio.static.constants import EntityType

from barnabas.protocol import codec
from barnabas.protocol.messages import APIS
from barnabas.protocol.schema import Field, Message

CODES = [int(code) for code in ErrorCode]
CASES = [
    pytest.param(api.key, version, kind, id=f"{api.name}{kind}-v{version}")
    for api in APIS.values()
    for version in range(api.oldest, api.newest + 1)
    for kind in ("Request", "Response")
]


@pytest.mark.parametrize(("key", "version", "kind"), CASES)
def test_bytes_are_what_kio_writes(key: int, version: int, kind: str) -> None:
    ours = codec.request_class(key) if kind == "Request" else codec.response_class(key)
    theirs = kio_class(APIS[key].module, version, kind)
    for seed in range(6):
        chance = random.Random(f"{key}-{version}-{kind}-{seed}")
        message = make(ours, version, chance, kio_kinds(theirs))
        data = codec.encode(message, version)
        parsed, size = entity_reader(theirs)(data, 0)
        assert size == len(data)
        buffer = io.BytesIO()
        entity_writer(theirs)(buffer, parsed)
        assert buffer.getvalue() == data
        again = codec.decode(ours, version, data)
        assert codec.encode(again, version) == data
        assert again == message


def kio_class(module: str, version: int, kind: str) -> Any:
    paths = schema_name_map[module][version]
    path, _, name = paths[EntityType.request if kind == "Request" else EntityType.response].partition(":")
    return getattr(importlib.import_module(path), name)


def kio_kinds(entity: Any) -> dict[str, str]:
    """Which names are error codes and dates: only these have fewer values than their integers."""
    found: dict[str, str] = {}
    stack = [entity]
    while stack:
        for field in dataclasses.fields(stack.pop()):
            if "kafka_type" in field.metadata:
                found.setdefault(field.name, field.metadata["kafka_type"])
            for part in (field.type, *getattr(field.type, "__args__", ())):
                if dataclasses.is_dataclass(part):
                    stack.append(part)
    return found


def make(kind: type[Message], version: int, chance: random.Random, kinds: dict[str, str]) -> Message:
    values = {f.name: value(f, version, chance, kinds) for f in kind.FIELDS if f.carried(version)}
    return kind(**values)


def value(field: Field, version: int, chance: random.Random, kinds: dict[str, str]) -> Any:
    if field.nullable(version) and chance.random() < 0.3:
        return None
    if field.array:
        return [single(field, version, chance, kinds) for _ in range(chance.choice((0, 1, 3)))]
    return single(field, version, chance, kinds)


def single(field: Field, version: int, chance: random.Random, kinds: dict[str, str]) -> Any:
    match field.kind:
        case "struct":
            assert field.struct is not None
            return make(field.struct, version, chance, kinds)
        case "bool":
            return chance.random() < 0.5
        case "string":
            return chance.choice(("", "a", "käfka", "x" * 200))
        case "bytes" | "records":
            return chance.randbytes(chance.choice((0, 1, 130)))
        case "uuid":
            return chance.choice((bytes(16), chance.randbytes(16)))
        case "float64":
            return chance.random() * 1000
        case "int16" if kinds.get(field.name) == "error_code":
            return chance.choice(CODES)
        case "uint16":
            return chance.randrange(65536)
    bits = int(field.kind.removeprefix("int"))
    plain = field.name.removesuffix("_ms")
    if kinds.get(plain, "").startswith(("timedelta", "datetime")) or plain != field.name:
        return chance.randrange(0, 2**31)
    return chance.randrange(-(2 ** (bits - 1)), 2 ** (bits - 1))
