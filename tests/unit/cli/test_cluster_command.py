"""`barnabas cluster` where nothing runs: what is wrong is one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.cli.barnabas import main


@pytest.mark.parametrize("words", [["status"], ["stop"], ["add-broker"], ["kill", "--broker", "1"]])
def test_a_folder_without_a_cluster(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cluster", *words, "--data", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith(f"{tmp_path} holds no cluster")


@pytest.mark.parametrize("text", ["{", "{}", '{"brokers": [{"nobody": 1}]}', "[]"])
def test_a_plan_that_is_damaged(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cluster.json").write_text(text)
    assert main(["cluster", "status", "--data", str(tmp_path)]) == 1
    assert "cluster.json is damaged" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["cluster", "start", "--data", str(tmp_path / "file" / "data")]) == 1
    assert "Not a directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--port", "0"], "0 is no port"),
        (["--zookeeper-port", "70000"], "70000 is no port"),
        (["--brokers", "0"], "0 is less than 1"),
    ],
)
def test_numbers_that_make_no_sense(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["cluster", "start", *words])
    assert said in capsys.readouterr().err
