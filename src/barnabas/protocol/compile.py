"""From a message's rows to two flat functions per version: decode(buffer, position) and encode(message).

Written as Python source and compiled once, on the first use of a (message, version). Neighbouring fields of
fixed size share one `struct` call; strings, arrays and tags are spelled out. Decoding trusts nothing: a read
past the end raises, and the caller (`codec.py`) turns that into `MalformedError`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from barnabas.ports import Buffer
from barnabas.protocol.schema import Field, Message
from barnabas.protocol.varint import read_unsigned, skip_tags, unsigned

Decode = Callable[[Buffer, int], tuple[Any, int]]
Encode = Callable[[Any, Callable[[Any], None]], None]

FIXED = {
    "bool": "?", "int8": "b", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q",
    "float64": "d", "uuid": "16s",
}  # fmt: skip


# Also where the length could say more, as in Kafka; and counted again after what is no UTF-8 was replaced:
# what was read in one version or record can be written in every other.
STRING_BYTES_MAX = 32767


class MalformedError(Exception):
    """The peer sent bytes that are no message of this version."""


_decoders: dict[tuple[type[Message], int], Decode] = {}
_encoders: dict[tuple[type[Message], int], Encode] = {}


def decoder(message: type[Message], version: int) -> Decode:
    found = _decoders.get((message, version))
    if found is None:
        found = _decoders[message, version] = _Decoder(message, version).build()
    return found


def encoder(message: type[Message], version: int) -> Encode:
    found = _encoders.get((message, version))
    if found is None:
        found = _encoders[message, version] = _Encoder(message, version).build()
    return found


class _Writer:
    """Collects the lines of one function and the constants they use."""

    def __init__(self, message: type[Message], version: int) -> None:
        self.message = message
        self.version = version
        self.flexible = version >= message.FLEXIBLE_SINCE
        self.names: dict[str, Any] = {
            "uv": read_unsigned, "skip_tags": skip_tags, "unsigned": unsigned, "Malformed": MalformedError,
        }  # fmt: skip
        self.lines: list[str] = []
        fields = [field for field in message.FIELDS if field.carried(version)]
        self.plain = [field for field in fields if not field.tagged(version)]
        self.tagged = sorted((f for f in fields if f.tagged(version)), key=lambda f: f.tag)

    def constant(self, value: Any) -> str:
        for name, known in self.names.items():
            if known is value:
                return name
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def add(self, text: str, depth: int = 1) -> None:
        self.lines += ["    " * depth + line for line in text.split("\n")]

    def runs(self) -> list[list[Field]]:
        """Split into runs of fixed-size fields and single others."""
        result: list[list[Field]] = []
        for field in self.plain:
            if _is_fixed(field) and result and _is_fixed(result[-1][-1]):
                result[-1].append(field)
            else:
                result.append([field])
        return result

    def function(self, head: str) -> Any:
        source = head + "\n" + "\n".join(self.lines)
        # The source is made of our own rows alone, never of anything a peer sent.
        exec(compile(source, f"<{self.message.__name__} v{self.version}>", "exec"), self.names)
        return self.names["f"]


def _is_fixed(field: Field) -> bool:
    return not field.array and field.kind in FIXED


def _format(fields: list[Field]) -> str:
    return ">" + "".join(FIXED[field.kind] for field in fields)


class _Decoder(_Writer):
    def build(self) -> Any:
        for field in self.tagged:
            self.add(f"{field.name} = {self.constant(field.default)}")
        for run in self.runs():
            if _is_fixed(run[0]):
                self.fixed(run)
            else:
                self.one(run[0], run[0].nullable(self.version), 1)
        if self.flexible:
            self.tags()
        arguments = ", ".join(f"{f.name}={f.name}" for f in (*self.plain, *self.tagged))
        self.add(f"return {self.constant(self.message)}({arguments}), p")
        return self.function("def f(b, p):")

    def fixed(self, run: list[Field], depth: int = 1) -> None:
        layout = struct.Struct(_format(run))
        names = ", ".join(field.name for field in run)
        self.add(f"{names}, = {self.constant(layout.unpack_from)}(b, p)\np += {layout.size}", depth)

    def one(self, field: Field, nullable: bool, depth: int) -> None:
        if field.array:
            self.array(field, nullable, depth)
        elif field.kind == "struct":
            self.struct(field, nullable, depth)
        elif _is_fixed(field):
            self.fixed([field], depth)
        else:
            self.blob(field.name, field.kind, nullable, depth)

    def length(self, wide: str, depth: int) -> None:
        """Leaves the length in `n`; -1 is null."""
        if self.flexible:
            self.add("n = b[p]\np += 1\nif n > 127:\n    n, p = uv(b, p - 1)", depth)
            if wide == "h":  # only here: most strings have a length of one byte
                self.add(f"if n > {STRING_BYTES_MAX + 1}:\n    raise Malformed('long string')", depth + 1)
            self.add("n -= 1", depth)
        else:
            layout = struct.Struct(">" + wide)
            self.add(f"n, = {self.constant(layout.unpack_from)}(b, p)\np += {layout.size}", depth)

    def null(self, name: str, nullable: bool, depth: int) -> None:
        if nullable:
            self.add(f"if n < 0:\n    {name} = None\nelse:", depth)
        else:
            self.add(f"if n < 0:\n    raise Malformed('null {name}')", depth)

    def blob(self, name: str, kind: str, nullable: bool, depth: int) -> None:
        self.length("h" if kind == "string" else "i", depth)
        self.null(name, nullable, depth)
        inner = depth + 1 if nullable else depth
        self.add("e = p + n\nif e > len(b):\n    raise Malformed('past the end')", inner)
        read = {
            # As Java does: what is no UTF-8 is replaced, not refused.
            "string": "str(b[p:e], 'utf-8', 'replace')",
            "bytes": "bytes(b[p:e])",
            "records": "b[p:e]",
        }[kind]
        self.add(f"{name} = {read}\np = e", inner)
        if kind == "string":
            self.add(f"if n > {STRING_BYTES_MAX // 3} and len({name}.encode()) > {STRING_BYTES_MAX}:", inner)
            self.add("raise Malformed('long string')", inner + 1)

    def array(self, field: Field, nullable: bool, depth: int) -> None:
        name = field.name
        self.length("i", depth)
        self.null(name, nullable, depth)
        inner = depth + 1 if nullable else depth
        # Every element takes at least one byte: a count beyond that is a lie that would cost memory.
        self.add("if n > len(b) - p:\n    raise Malformed('absurd count')", inner)
        if field.kind == "struct":
            assert field.struct is not None
            read = self.constant(decoder(field.struct, self.version))
            self.add(f"{name} = []\nfor _ in range(n):\n    v, p = {read}(b, p)\n    {name}.append(v)", inner)
        elif field.kind in FIXED:
            size = struct.calcsize(">" + FIXED[field.kind])
            count = "n"
            unpack = self.constant(struct.unpack_from)
            self.add(f"{name} = list({unpack}(f'>' + '{FIXED[field.kind]}' * {count}, b, p))", inner)
            self.add(f"p += {size} * n", inner)
        else:
            self.add(f"{name} = []\nfor _ in range(n):", inner)
            self.blob("v", field.kind, False, inner + 1)
            self.add(f"{name}.append(v)", inner + 1)

    def struct(self, field: Field, nullable: bool, depth: int) -> None:
        assert field.struct is not None
        read = self.constant(decoder(field.struct, self.version))
        if not nullable:
            self.add(f"{field.name}, p = {read}(b, p)", depth)
            return
        # In a tag a null structure is 0, elsewhere it is -1.
        null = "n == 0" if field.tag >= 0 else "n > 127"
        self.add(f"n = b[p]\np += 1\nif {null}:\n    {field.name} = None\nelse:", depth)
        self.add(f"{field.name}, p = {read}(b, p)", depth + 1)

    def tags(self) -> None:
        if not self.tagged:
            self.add("if b[p]:\n    p = skip_tags(b, p)\nelse:\n    p += 1")
            return
        self.add("count, p = uv(b, p)\nfor _ in range(count):")
        self.add("tag, p = uv(b, p)\nsize, p = uv(b, p)\nend = p + size", 2)
        self.add("if end > len(b):\n    raise Malformed('tag past the end')", 2)
        for index, field in enumerate(self.tagged):
            self.add(f"{'if' if index == 0 else 'elif'} tag == {field.tag}:", 2)
            self.one(field, field.nullable(self.version), 3)
        self.add("p = end", 2)


class _Encoder(_Writer):
    def build(self) -> Any:
        runs = self.runs()
        for run in runs:
            if _is_fixed(run[0]):
                self.fixed(run, 1)
            else:
                self.one(run[0], run[0].nullable(self.version), f"m.{run[0].name}", 1)
        if self.flexible:
            self.tags()
        if not self.lines:
            self.add("pass")
        return self.function("def f(m, w):")

    def fixed(self, run: list[Field], depth: int) -> None:
        values = ", ".join(f"m.{field.name}" for field in run)
        self.add(f"w({self.constant(struct.Struct(_format(run)).pack)}({values}))", depth)

    def one(self, field: Field, nullable: bool, value: str, depth: int) -> None:
        self.add(f"v = {value}", depth)
        if field.kind == "struct" and not field.array:
            self.struct(field, nullable, depth)
            return
        if nullable:
            null = b"\0" if self.flexible else _null(field)
            self.add(f"if v is None:\n    w({null!r})\nelse:", depth)
            depth += 1
        if field.array:
            self.array(field, depth)
        elif _is_fixed(field):
            self.add(f"w({self.constant(struct.Struct('>' + FIXED[field.kind]).pack)}(v))", depth)
        else:
            self.blob(field.kind, depth)

    def length(self, wide: str, depth: int) -> None:
        if self.flexible:
            self.add("w(unsigned(len(v) + 1))", depth)
        else:
            self.add(f"w({self.constant(struct.Struct('>' + wide).pack)}(len(v)))", depth)

    def blob(self, kind: str, depth: int) -> None:
        if kind == "string":
            self.add("v = v.encode()", depth)
        self.length("h" if kind == "string" else "i", depth)
        self.add("w(v)", depth)

    def array(self, field: Field, depth: int) -> None:
        self.length("i", depth)
        if field.kind == "struct":
            assert field.struct is not None
            write = self.constant(encoder(field.struct, self.version))
            # An element that was encoded before (a cached topic of Metadata) passes as it is.
            self.add(f"for x in v:\n    w(x) if x.__class__ is bytes else {write}(x, w)", depth)
        elif field.kind in FIXED:
            pack = self.constant(struct.pack)
            self.add(f"w({pack}('>' + '{FIXED[field.kind]}' * len(v), *v))", depth)
        else:
            self.add("for v in v:", depth)
            self.blob(field.kind, depth + 1)

    def struct(self, field: Field, nullable: bool, depth: int) -> None:
        assert field.struct is not None
        write = self.constant(encoder(field.struct, self.version))
        if not nullable:
            default = self.constant(field.struct())
            self.add(f"{write}({default} if v is None else v, w)", depth)
            return
        null = b"\0" if field.tag >= 0 else b"\xff"
        self.add(f"if v is None:\n    w({null!r})\nelse:\n    w(b'\\x01')\n    {write}(v, w)", depth)

    def tags(self) -> None:
        if not self.tagged:
            self.add("w(b'\\0')")
            return
        self.add("tags = []")
        for field in self.tagged:
            self.tag(field)
        self.add("w(unsigned(len(tags)))\nfor tag, data in tags:")
        self.add("w(unsigned(tag))\nw(unsigned(len(data)))\nw(data)", 2)

    def tag(self, field: Field) -> None:
        """A tagged field travels only when it differs from its default."""
        default = self.constant(_tag_default(field))
        self.add(f"if {self.differs(field, default)}:\n    outer, parts = w, []\n    w = parts.append")
        self.one(field, field.nullable(self.version), f"m.{field.name}", 2)
        self.add(f"w = outer\ntags.append(({field.tag}, b''.join(parts)))", 2)

    def differs(self, field: Field, default: str) -> str:
        name = f"m.{field.name}"
        nullable = field.nullable(self.version)
        if field.array:
            return f"{name} is not None" if nullable and field.default is None else f"len({name}) != 0"
        if field.kind == "struct" and not nullable:
            return f"{name} is not None and {name} != {default}"
        # Kafka's default is an empty structure: a null one has to be said.
        return f"{name} != {default}"


def _tag_default(field: Field) -> Any:
    if field.kind == "struct" and field.struct is not None and not field.array:
        return field.struct()
    return field.default


def _null(field: Field) -> bytes:
    return b"\xff\xff" if field.kind == "string" and not field.array else b"\xff\xff\xff\xff"
