"""The doctor says what is missing, what to type, and by its exit code whether anything has to be done."""

from __future__ import annotations

import json
import socket
import sys
import tomllib
from pathlib import Path

import pytest

from barnabas import java
from barnabas.cli.barnabas import doctor
from barnabas.cli.parts.doctor_findings import (
    PURPOSES,
    Verdict,
    check_packages,
    parse_requirements,
    within,
)
from barnabas.testing import free_port

REQUIREMENTS = parse_requirements(
    [
        "rich>=13",
        "zstandard>=0.23",
        "numpy>=1.26; extra == 'spark'",
        "pandas<3,>=2.2; extra == 'spark'",
        "pyarrow>=18; extra == 'spark'",
        "pyspark[connect]<5,>=4.2; extra == 'spark'",
        "matplotlib>=3.9; extra == 'demo'",
        "numpy>=1.26; extra == 'demo'",
    ]
)
ALL = {
    "rich": "15.0.0",
    "zstandard": "0.25.0",
    "numpy": "2.4.6",
    "pandas": "2.3.3",
    "pyspark": "4.3.0",
    "pyarrow": "26.0",
}


@pytest.mark.parametrize(
    ("version", "bounds", "fits"),
    [
        ("4.2", ">=4.2.0,<5", True),
        ("4.10.1", ">=4.2,<5", True),
        ("5.0.0.dev2", "<5,>=4.2", False),
        ("4.1.9", ">=4.2,<5", False),
        ("2.9.post0", ">=2.7", True),
        ("0.6.5", "==0.6.5", True),
        ("1", "", True),
    ],
)
def test_versions_are_compared_as_numbers(version: str, bounds: str, fits: bool) -> None:
    assert within(version, bounds) is fits


def test_a_complete_extra_is_fine_and_shows_its_versions() -> None:
    finding = check_packages(REQUIREMENTS, "spark", ALL.get)
    assert finding == (
        Verdict.FINE,
        "extra spark",
        "numpy 2.4.6, pandas 2.3.3, pyarrow 26.0, pyspark 4.3.0",
        "",
    )


def test_an_extra_nobody_asked_for_is_no_fault() -> None:
    without = {name: version for name, version in ALL.items() if name != "pyspark"}
    finding = check_packages(REQUIREMENTS, "spark", without.get)
    assert finding == (Verdict.NOTE, "extra spark", "not installed", "pip install 'barnabas[spark]'")


def test_half_an_extra_is_a_fault_that_names_the_half() -> None:
    found = check_packages(REQUIREMENTS, "spark", (ALL | {"pandas": "3.0.1"}).get)
    assert (found.verdict, found.found) == (Verdict.MISSING, "pandas 3.0.1 is not <3,>=2.2")
    missing = check_packages(REQUIREMENTS, None, {"rich": "15"}.get)
    assert missing == (Verdict.MISSING, "packages", "zstandard is missing", "pip install 'barnabas'")


def test_java_is_a_fault_only_for_who_has_spark_or_zookeeper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "candidates", lambda: iter(()))
    needed = doctor.check_java(wants_spark=True, wants_cluster=False)
    assert needed.verdict is Verdict.MISSING
    assert needed.advice == "apt-get install default-jre-headless"
    assert doctor.check_java(wants_spark=False, wants_cluster=True).verdict is Verdict.MISSING
    assert doctor.check_java(wants_spark=False, wants_cluster=False).verdict is Verdict.NOTE


def test_zookeeper_alone_is_content_with_a_java_that_spark_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    small = java.Java(Path("/small"), "25.0.2", frozenset({"java.base"}))
    monkeypatch.setattr(java, "candidates", lambda: iter((small,)))
    assert doctor.check_java(wants_spark=False, wants_cluster=True).verdict is Verdict.FINE
    assert doctor.check_java(wants_spark=True, wants_cluster=True).verdict is Verdict.MISSING


def test_every_extra_that_users_can_ask_for_has_a_line() -> None:
    with (Path(__file__).parents[3] / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    assert set(PURPOSES) == set(extras) - {"dev"}


def test_the_pyspark_of_another_extra_is_no_wish_for_pipelines() -> None:
    finding = check_packages(REQUIREMENTS, "spark", {"pyspark": "4.3.0", "kazoo": "2.10"}.get)
    assert finding.verdict is Verdict.NOTE


def test_a_missing_java_is_exit_code_one_and_a_line_that_says_what_to_type(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    java_17 = java.Java(tmp_path, "17.0.1", None)
    monkeypatch.setattr(java, "candidates", lambda: iter((java_17,)))
    assert doctor.main(["--data", str(tmp_path)]) == 0
    monkeypatch.setattr(java, "candidates", lambda: iter(()))
    assert doctor.main(["--data", str(tmp_path)]) == 1
    assert "  Java:          apt-get install default-jre-headless\n" in capsys.readouterr().out


def test_a_taken_port_names_another(tmp_path: Path) -> None:
    port = free_port(2)
    with socket.create_server(("127.0.0.1", port)):
        finding = doctor.check_port(port)
    assert finding.verdict is Verdict.NOTE
    assert finding.advice.endswith(f"barnabas run --port {port + 1}")
    assert doctor.check_port(port).verdict is Verdict.FINE


def test_a_folder_that_is_not_there_yet_is_measured_by_its_parent(tmp_path: Path) -> None:
    assert doctor.check_disk(tmp_path / "not" / "yet").found.endswith(f"free at {tmp_path}")


def test_programs_get_json_and_every_line_that_is_not_fine_has_advice(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code = doctor.main(["--json", "--data", str(tmp_path)])
    rows = json.loads(capsys.readouterr().out)
    assert code == any(row["verdict"] == "missing" for row in rows)
    assert {"Python", "packages", "extra spark", "Java"} <= {row["subject"] for row in rows}
    assert [row for row in rows if (row["verdict"] == "fine") != (row["advice"] == "")] == []


def test_it_still_speaks_when_its_own_table_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    doctor.show([check_packages(REQUIREMENTS, None, {"zstandard": "0.25"}.get)])
    assert capsys.readouterr().out == (
        "✗  packages  rich is missing\n\nWhat to type:\n  packages:      pip install 'barnabas'\n"
    )
