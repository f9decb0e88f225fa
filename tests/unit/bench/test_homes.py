"""What a broker under measurement leaves behind."""

from __future__ import annotations

import contextlib
from pathlib import Path

from bench.homes import home


def test_large_files_give_back_their_space_and_no_file_is_removed(tmp_path: Path) -> None:
    with home(tmp_path, "Apache Kafka") as place:
        segment, index = place / "data" / "topic-0" / "0.log", place / "data" / "topic-0" / "0.index"
        segment.parent.mkdir(parents=True)
        segment.write_bytes(bytes(1 << 20))
        index.write_bytes(b"small")
    assert segment.stat().st_size == 0
    assert index.read_bytes() == b"small"


def test_everybody_begins_in_an_empty_directory_of_their_own(tmp_path: Path) -> None:
    with home(tmp_path, "Barnabas") as first:
        (first / "leftover").touch()
    with home(tmp_path, "Barnabas") as second:
        assert second != first
        assert not list(second.iterdir())


def test_space_is_given_back_when_the_measurement_fails(tmp_path: Path) -> None:
    with contextlib.suppress(RuntimeError), home(tmp_path, "Barnabas") as place:
        (place / "0.log").write_bytes(bytes(1 << 20))
        raise RuntimeError
    (segment,) = tmp_path.glob("*/0.log")
    assert segment.stat().st_size == 0
