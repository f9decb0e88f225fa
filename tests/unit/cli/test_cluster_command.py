"""`barnabas cluster` where nothing runs: what is wrong is one sentence."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from barnabas.cli.barnabas import main
from barnabas.cli.barnabas.cluster.local import free_ports, is_free
from barnabas.cli.support.failures import ToolError
from barnabas.runtime.supervised import is_process
from barnabas.testing import free_port


@pytest.mark.parametrize(
    "words", [["status"], ["stop"], ["add-broker"], ["kill", "--broker", "1"], ["kill", "1"]]
)
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


def test_a_port_that_is_taken_is_passed_over() -> None:
    first = free_port(5)
    with socket.create_server(("127.0.0.1", first)):
        assert not is_free(first)
        found = free_ports(first, 3, but=[first + 1])
    assert len(set(found)) == 3
    assert min(found) > first + 1


def test_where_there_are_no_ports_left_that_is_said() -> None:
    with pytest.raises(ToolError, match="no 5 free ports from 65534 on"):
        free_ports(65_534, 5)


def test_a_process_is_known_by_its_number_and_a_word_of_its_command_line() -> None:
    program = "print(flush=True); input()"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", program, "the-mark"], stdin=pipe, stdout=pipe) as child:
        assert child.stdout is not None
        child.stdout.readline()  # on its way into its program it has no command line yet
        assert is_process(child.pid, "the-mark")
        assert not is_process(child.pid, "another-mark")
        child.kill()
    assert not is_process(child.pid, "the-mark")
