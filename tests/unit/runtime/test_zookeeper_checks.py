from __future__ import annotations

import socket
from pathlib import Path

import pytest

from barnabas.runtime.zookeeper_checks import (
    ZookeeperConfigError,
    check,
    check_machine,
    is_address_of_this_machine,
)

FILE = "zookeeper.properties"
# As in the notes that this project grew from: numbered from 0, and without dataDir and clientPort.
SEEDS = {
    "tickTime": "2000",
    "initLimit": "10",
    "syncLimit": "5",
    "server.0": "kafka1.local:2888:3888",
    "server.1": "kafka2.local:2888:3888",
    "server.2": "kafka3.local:2888:3888",
}


def sentence(properties: dict[str, str], here: str = "kafka1.local") -> str:
    with pytest.raises(ZookeeperConfigError) as raised:
        check(FILE, properties, lambda host: host == here)
    return str(raised.value)


def ensemble(directory: Path, myid: str | None = None, **more: str) -> dict[str, str]:
    if myid is not None:
        (directory / "myid").write_text(myid)
    return SEEDS | {"dataDir": str(directory), "clientPort": "2181"} | more


def test_a_server_alone_needs_a_directory_and_a_port_and_nothing_else() -> None:
    assert check(FILE, {"dataDir": "/d", "clientPort": "2181"}, is_address_of_this_machine) == []


def test_a_missing_directory_or_port_is_named_with_an_example() -> None:
    assert sentence(SEEDS) == f"{FILE} has no dataDir: add a line such as dataDir=/var/lib/zookeeper."
    assert "clientPort=2181" in sentence(SEEDS | {"dataDir": "/d"})


def test_the_port_may_be_one_for_tls_or_stand_in_the_servers_line() -> None:
    assert check(FILE, {"dataDir": "/d", "secureClientPort": "2182"}, lambda _: True) == []
    assert check(FILE, {"dataDir": "/d", "server.1": "h:2888:3888;2181"}, lambda _: True) == []


def test_a_missing_myid_comes_with_what_to_type(tmp_path: Path) -> None:
    said = sentence(ensemble(tmp_path))
    assert "servers 0, 1 and 2" in said
    assert said.endswith(f"does not exist: echo 0 > {tmp_path}/myid")


def test_a_myid_that_no_line_has_is_answered_with_the_lines_renumbered(tmp_path: Path) -> None:
    said = sentence(ensemble(tmp_path, "3\n"))
    assert "myid says 3, but zookeeper.properties lists the servers 0, 1 and 2" in said
    assert "write server.1=kafka1.local:2888:3888, server.2=kafka2.local:2888:3888 and server.3=" in said


def test_a_myid_with_the_neighbours_line_is_found_by_the_host(tmp_path: Path) -> None:
    said = sentence(ensemble(tmp_path, "1\n"))
    assert "myid says 1" in said
    assert "server.1=kafka2.local:2888:3888, but kafka2.local is no address of this machine" in said


def test_a_server_behind_other_addresses_may_listen_on_all_of_its_own(tmp_path: Path) -> None:
    properties = ensemble(tmp_path, "1", quorumListenOnAllIPs="true")
    assert check(FILE, properties, lambda _: False) != []


def test_a_myid_that_is_no_number_is_shown(tmp_path: Path) -> None:
    assert "myid says 'one'" in sentence(ensemble(tmp_path, "one"))


@pytest.mark.parametrize("address", ["kafka1.local", "kafka1.local:2888", ":2888:3888", "h:a:b"])
def test_a_line_that_is_no_server_is_shown(tmp_path: Path, address: str) -> None:
    assert f"server.0={address}" in sentence(ensemble(tmp_path, "0", **{"server.0": address}))


def test_limits_that_an_ensemble_needs_are_named(tmp_path: Path) -> None:
    properties = ensemble(tmp_path, "0")
    del properties["syncLimit"]
    assert "syncLimit=5" in sentence(properties)


def test_counting_from_zero_and_asking_for_the_page_are_worth_a_word(tmp_path: Path) -> None:
    properties = ensemble(tmp_path, "0", **{"admin.enableServer": "true"})
    page, counting = check(FILE, properties, lambda _: True)
    assert "port 8080" in page
    assert "server.0" in counting


def test_a_port_in_use_and_a_directory_that_cannot_be_are_sentences(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        properties = {"dataDir": f"{tmp_path}/new", "clientPort": str(port), "clientPortAddress": "127.0.0.1"}
        with pytest.raises(ZookeeperConfigError, match=f"clientPort={port}, and somebody listens there"):
            check_machine(FILE, properties)
    (tmp_path / "file").write_text("")
    with pytest.raises(ZookeeperConfigError, match="Not a directory"):
        check_machine(FILE, properties | {"dataDir": f"{tmp_path}/file/data"})


def test_the_loopback_is_here_and_documentation_is_not() -> None:
    assert is_address_of_this_machine("127.0.0.1")
    assert not is_address_of_this_machine("192.0.2.1")
    assert not is_address_of_this_machine("no.such.host.invalid")
