"""A ZooKeeper server's properties, looked at before it starts: its own complaints come as stack traces, or as
a member that never joins."""

from __future__ import annotations

import errno
import os
import re
import socket
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import NamedTuple

_SERVER = re.compile(r"server\.(\d+)")
_ENSEMBLE_MIN = 2  # a single line is ignored by ZooKeeper, which then runs alone


class ZookeeperConfigError(Exception):
    """ZooKeeper would not start with these properties, or not join; one sentence that says what to write."""


class Member(NamedTuple):
    number: int
    host: str
    line: str


def check(file: str, properties: Mapping[str, str], is_here: Callable[[str], bool]) -> list[str]:
    """What is worth a warning; ZookeeperConfigError for what is wrong. `is_here`: whether a host's name is an
    address of this machine."""
    for name, example in (("dataDir", "/var/lib/zookeeper"), ("clientPort", "2181")):
        if not _has(properties, name):
            raise ZookeeperConfigError(f"{file} has no {name}: add a line such as {name}={example}.")
    members = _members(file, properties)
    warnings = _page_warning(properties)
    if len(members) < _ENSEMBLE_MIN:
        return warnings
    for name, example in (("initLimit", "10"), ("syncLimit", "5")):
        if name not in properties:
            raise ZookeeperConfigError(
                f"{file} lists {len(members)} servers and has no {name}: add a line such as {name}={example}."
            )
    myid = os.path.join(properties["dataDir"], "myid")
    own = _own(file, myid, members)
    on_all_addresses = properties.get("quorumListenOnAllIPs", "false").lower() == "true"
    if not on_all_addresses and not is_here(own.host):
        raise ZookeeperConfigError(
            f"{myid} says {own.number}, and {file} says {own.line}, but {own.host} is no address of this "
            f"machine: the numbers of the server lines must be those in the myid files{_shift(members)}."
        )
    if min(members) == 0:
        warnings.append(
            f"{file} counts its servers from server.0; where the myid files count from 1, each server takes "
            "its neighbour's line for its own."
        )
    return warnings


def check_machine(file: str, properties: Mapping[str, str]) -> None:
    """What can only be told by trying: whether the directory can be written and the client port is free."""
    directory = properties["dataDir"]
    try:
        os.makedirs(directory, exist_ok=True)
    except OSError as error:
        raise ZookeeperConfigError(f"{file} says dataDir={directory}: {error.strerror}.") from error
    if not os.access(directory, os.W_OK):
        raise ZookeeperConfigError(f"{file} says dataDir={directory}, where we may not write.")
    host, port = properties.get("clientPortAddress", ""), properties.get("clientPort", "")
    if port.isdecimal() and not _can_listen(host, int(port)):
        raise ZookeeperConfigError(
            f"{file} says clientPort={port}, and somebody listens there already: stop it, or choose another."
        )


def _can_listen(host: str, port: int) -> bool:
    try:
        socket.create_server((host, port)).close()
    except OSError as error:
        return error.errno != errno.EADDRINUSE
    return True


def _has(properties: Mapping[str, str], name: str) -> bool:
    """A client port may stand in the server's own line, or be one for TLS only."""
    if properties.get(name):
        return True
    return name == "clientPort" and (
        "secureClientPort" in properties or any(";" in value for value in properties.values())
    )


def _members(file: str, properties: Mapping[str, str]) -> dict[int, Member]:
    members = {}
    for name, value in properties.items():
        found = _SERVER.fullmatch(name)
        if found is None:
            continue
        line = f"{name}={value}"
        address = value.split(";")[0].split("|")[0].strip()
        host, *ports = re.split(r":(?![^\[]*\])", address)
        if not host or len(ports) < 2 or not all(port.isdecimal() for port in ports[:2]):
            raise ZookeeperConfigError(
                f"{file} says {line}: a server is written server.N=host:2888:3888, with the ports of its "
                "followers and of the election."
            )
        members[int(found[1])] = Member(int(found[1]), host.strip("[]"), line)
    return members


def _own(file: str, path: str, members: Mapping[int, Member]) -> Member:
    numbers = _enumeration(sorted(members))
    try:
        with open(path, encoding="utf-8") as handle:
            text = handle.read().strip()
    except FileNotFoundError:
        raise ZookeeperConfigError(
            f"{file} lists the servers {numbers}, and {path}, which says which of them this one is, does not "
            f"exist: echo {min(members)} > {path}"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ZookeeperConfigError(f"{path} cannot be read: {error}.") from error
    if not text.isdecimal():
        raise ZookeeperConfigError(f"{path} says {text!r}, and should be one of the numbers {numbers}.")
    if int(text) not in members:
        raise ZookeeperConfigError(
            f"{path} says {int(text)}, but {file} lists the servers {numbers}: the numbers of the server "
            f"lines must be those in the myid files{_shift(members)}."
        )
    return members[int(text)]


def _shift(members: Mapping[int, Member]) -> str:
    """The commonest slip: one list counts from 0, the other from 1."""
    if min(members) != 0:
        return ""
    renamed = (
        member.line.replace(f".{member.number}=", f".{member.number + 1}=", 1) for member in members.values()
    )
    return f"; if those count from 1, write {_enumeration(list(renamed))}"


def _page_warning(properties: Mapping[str, str]) -> list[str]:
    if properties.get("admin.enableServer", "false").lower() != "true":
        return []
    port = properties.get("admin.serverPort", "8080")
    return [
        f"The admin page on port {port} is left out: the jars that ZooKeeper is started from have no web "
        "server. The commands of four letters answer the same questions (4lw.commands.whitelist=*)."
    ]


def _enumeration(items: list[int] | list[str]) -> str:
    words = [str(item) for item in items]
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def is_address_of_this_machine(host: str) -> bool:
    """A socket can be bound to it. A name that nobody knows is none."""
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    for family, kind, protocol, _, address in found:
        try:
            with closing(socket.socket(family, kind, protocol)) as trial:
                trial.bind(address)
                return True
        except OSError:
            continue
    return False
