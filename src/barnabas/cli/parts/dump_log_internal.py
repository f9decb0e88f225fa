"""Records of the coordinators' topics as JSON, in the words of Kafka's DumpLogSegments."""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

from barnabas.cli.parts.dump_log_batches import Contents, Parse
from barnabas.model.ids import uuid_text
from barnabas.protocol import codec
from barnabas.protocol.codec import MalformedError
from barnabas.protocol.internal.entries import decode_entry
from barnabas.protocol.internal.groups import GroupMetadataValue
from barnabas.protocol.messages.consumer_protocol_assignment import ConsumerProtocolAssignment
from barnabas.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from barnabas.protocol.schema import Field, Message
from barnabas.records.walk import Record

_VERSION = struct.Struct(">h")
_EMBEDDED = {"subscription": ConsumerProtocolSubscription, "assignment": ConsumerProtocolAssignment}


def parser_of(topic: str) -> Parse:
    """For records of `__consumer_offsets` or `__transaction_state`."""
    return lambda record: _contents(topic, record)


def _contents(topic: str, record: Record) -> Contents:
    where = f"at offset {record.offset}"
    if record.key is None:
        why = "using the specified decoder (message had a missing key)"
        return f"Failed to decode message {where} {why}", None
    try:
        return _json(topic, bytes(record.key), None if record.value is None else bytes(record.value), where)
    except MalformedError as error:
        return f"Error {where}, skipping. {error}", None


def _json(topic: str, key_bytes: bytes, value_bytes: bytes | None, where: str) -> Contents:
    entry = decode_entry(topic, key_bytes, value_bytes)
    (type_id,) = _VERSION.unpack_from(key_bytes)
    if entry is None:
        return f"Unknown record type {type_id} {where}, skipping.", None
    key, value = entry
    key_text = _text({"type": str(type_id), "data": fields_of(key, 0)})
    if value is None or value_bytes is None:
        return key_text, "<DELETE>"
    (version,) = _VERSION.unpack_from(value_bytes)
    data = fields_of(value, version)
    if isinstance(value, GroupMetadataValue) and value.protocol_type == "consumer":
        _open_embedded(value, data)
    return key_text, _text({"version": str(version), "data": data})


def _open_embedded(value: GroupMetadataValue, data: dict[str, Any]) -> None:
    """Consumers put messages of their own into what the group remembers of them; what cannot be read stays
    as it is."""
    for member, shown in zip(value.members, data["members"], strict=True):
        for name, kind in _EMBEDDED.items():
            raw = bytes(getattr(member, name))
            try:
                (version,) = _VERSION.unpack_from(raw)
                shown[name] = fields_of(codec.decode(kind, version, raw, _VERSION.size), version)
            except (struct.error, MalformedError):
                continue


def fields_of(message: Message, version: int) -> dict[str, Any]:
    """A message as a JSON object: Kafka's names, optional fields only where they say something."""
    found = {}
    for field in message.FIELDS:
        value = getattr(message, field.name)
        if field.carried(version) and not _goes_without_saying(field, value):
            found[_camel(field.name)] = _value(field, value, version)
    return found


def _goes_without_saying(field: Field, value: Any) -> bool:
    """A tagged field with its default is not there; a structure's default is an empty one, not null."""
    is_structure = field.struct is not None and not field.array
    return field.tag >= 0 and not is_structure and value == field.default


def _value(field: Field, value: Any, version: int) -> Any:
    if value is None:
        return None
    if field.array:
        return [_element(field, one, version) for one in value]
    return _element(field, value, version)


def _element(field: Field, value: Any, version: int) -> Any:
    if field.struct is not None:
        return fields_of(value, version)
    if field.kind == "uuid":
        return uuid_text(bytes(value))
    if field.kind in {"bytes", "records"}:
        return base64.b64encode(bytes(value)).decode()
    return value


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _text(document: dict[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))
