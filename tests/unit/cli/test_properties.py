from __future__ import annotations

from pathlib import Path

from barnabas.cli.support.properties import load_properties, parse_pairs


def test_a_file_is_read_as_java_reads_it(tmp_path: Path) -> None:
    (tmp_path / "a.properties").write_bytes(b"# one\na=1,\\\n  2\n")
    assert load_properties(tmp_path / "a.properties") == {"a": "1,2"}


def test_pairs_of_a_command_line() -> None:
    assert parse_pairs(["a=1", "b=x=y", "c"]) == {"a": "1", "b": "x=y", "c": ""}
