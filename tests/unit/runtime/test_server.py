"""What stops a start, and with which sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CASES = {
    "an encrypted listener": (
        {"listeners": "PLAINTEXT://127.0.0.1:0,SSL://127.0.0.2:0"},
        "asks for SSL",
    ),
    "a ZooKeeper that is not there": (
        {"zookeeper.connect": "127.0.0.1:9", "zookeeper.connection.timeout.ms": "200"},
        "No connection to ZooKeeper at 127.0.0.1:9 within 0.2 s",
    ),
    "a bad value": ({"num.partitions": "many"}, "Invalid value many for configuration num.partitions"),
    "a port in use": ({"listeners": "PLAINTEXT://127.0.0.1:1"}, "failed to bind to 127.0.0.1:1"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_start_that_cannot_be_says_why_in_one_line(case: str, tmp_path: Path) -> None:
    settings, sentence = CASES[case]
    if case == "a port in use":
        import socket

        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            settings = {"listeners": f"PLAINTEXT://127.0.0.1:{port}"}
            output = start(tmp_path, settings)
        sentence = f"failed to bind to 127.0.0.1:{port}"
    else:
        output = start(tmp_path, settings)
    fatal = [line for line in output.splitlines() if " FATAL " in line]
    assert len(fatal) == 1
    assert sentence in fatal[0]
    assert "Traceback" not in output


def start(directory: Path, settings: dict[str, str]) -> str:
    properties = {"node.id": "1", "listeners": "PLAINTEXT://127.0.0.1:0", "log.dirs": str(directory / "data")}
    file = directory / "server.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in (properties | settings).items()))
    done = subprocess.run(
        [sys.executable, "-m", "barnabas.runtime.server", str(file)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    return done.stdout
