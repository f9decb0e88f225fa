"""`barnabas demo` where there is no Java, no broker, or something wrong with what was read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.support.demo import demo

from barnabas.cli.barnabas import main
from barnabas.cli.barnabas.demo import fleet, traffic
from barnabas.testing import BrokerProcess, free_port


def test_without_java_the_demo_says_what_to_install_and_shows_the_rest() -> None:
    without = {"PATH": "/nowhere", "JAVA_HOME": ""}
    advice = "needs Java 17 or newer, and none was found: apt-get install default-jre-headless"
    ran = demo("--trucks", "5", "--reports", "3", **without)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Both readers saw all 15 positions" in ran.stdout
    assert advice in " ".join(ran.stdout.split())
    insisted = demo("--trucks", "5", "--reports", "3", "--pipeline", **without)
    assert insisted.returncode == 1
    assert advice in " ".join(insisted.stdout.split())
    assert "trucks report" not in insisted.stdout  # it says so before it starts


def test_a_broker_that_is_not_there_is_one_sentence() -> None:
    server = f"127.0.0.1:{free_port()}"
    ran = demo("--bootstrap-server", server, "--no-pipeline")
    assert (ran.returncode, ran.stderr) == (1, "")
    assert ran.stdout == f"No broker answers at {server}: start one with `barnabas run`.\n"


def test_positions_that_come_twice_or_not_at_all_are_a_failure(
    target: BrokerProcess, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def faulty(drive: traffic.Drive) -> Iterator[fleet.Report]:
        reports = list(fleet.reports(drive.truck_count, drive.report_count, drive.start_ms))
        return iter([*reports[:-1], reports[0]])

    monkeypatch.setattr(traffic.Drive, "reports", faulty)
    words = ["--trucks", "5", "--reports", "3", "--seconds", "0", "--no-pipeline"]
    assert main(["demo", "--bootstrap-server", target.bootstrap, *words]) == 1
    shown = capsys.readouterr().out
    assert "location-dashboard saw 1 positions twice or out of order." in shown
    assert "notification-service saw 1 positions twice or out of order." in shown
    assert "Both readers" not in shown


@pytest.mark.parametrize(
    "words", [["--trucks", "0"], ["--minutes", "x"], ["--minutes", "3", "--reports", "9"]]
)
def test_what_cannot_be_meant_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["demo", *words])
    assert refused.value.code == 2
    assert "barnabas demo: error: argument" in capsys.readouterr().err
