"""A port that a test is given is nobody else's."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from barnabas.testing import ports

ROW = 3
ASKS_FOR_ONE_OF = """
import sys
from barnabas.testing import ports
ports._FIRST, ports._LAST = int(sys.argv[1]), int(sys.argv[2])
try:
    print(ports.free_port())
except ports.NoFreePortError as error:
    print(error)
"""


def test_no_other_process_is_given_what_one_has() -> None:
    first = ports.free_port(ROW)
    words = [sys.executable, "-c", ASKS_FOR_ONE_OF, str(first), str(first + ROW - 1)]
    asked = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "no 1 free ports" in asked.stdout


def test_one_process_is_given_a_port_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = ports.free_port(ROW)
    monkeypatch.setattr(ports, "_FIRST", first)
    monkeypatch.setattr(ports, "_LAST", first + ROW - 1)
    with pytest.raises(ports.NoFreePortError):
        ports.free_port()


def test_a_row_of_ports_can_be_listened_on() -> None:
    first = ports.free_port(ROW)
    for port in range(first, first + ROW):
        socket.create_server(("127.0.0.1", port)).close()
