"""A real ZooKeeper out of the jars that come with PySpark: its class path and its command line."""

from __future__ import annotations

import fnmatch
import importlib.util
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from barnabas import java

SERVER_CLASS = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
SHELL_CLASS = "org.apache.zookeeper.ZooKeeperMain"
# On the command line of every server that we start: by this word it is found again, and no other.
MARK = "-Dbarnabas.zookeeper="

_INSTALL = "pip install 'barnabas[cluster]'"
_PATTERNS = (
    "commons-cli-*.jar",
    "commons-io-*.jar",
    "log4j-api-*.jar",
    "log4j-core-*.jar",
    "log4j-slf4j2-impl-*.jar",
    "metrics-core-*.jar",
    "netty-*.jar",
    "slf4j-api-*.jar",
    "snappy-java-*.jar",
    "zookeeper-*.jar",
)
_NEEDED = ("zookeeper-[0-9]*.jar", "zookeeper-jute-*.jar")
# Machine code, without which Java's own sockets and TLS are used.
_LEFT_OUT = (
    "netty-all-*",
    "netty-tcnative-*",
    "netty-transport-native-epoll-*",
    "netty-transport-native-kqueue-*",
)
_SERVER_HEAP = "-Xmx512M -Xms512M"
_SHELL_HEAP = "-Xmx256M"
_LOGGING = Path(__file__).with_name("zookeeper")


class ZookeeperUnavailableError(Exception):
    """There is nothing to start ZooKeeper from, in one sentence that says what to type."""


def class_path(needed_by: str) -> str:
    """Of all that PySpark brings, the few jars that ZooKeeper needs: half the memory, and a faster start."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise ZookeeperUnavailableError(f"{needed_by} takes ZooKeeper from PySpark's jars: {_INSTALL}")
    directory = Path(spec.origin).parent / "jars"
    names = sorted(path.name for path in directory.glob("*.jar"))
    if not all(fnmatch.filter(names, pattern) for pattern in _NEEDED):
        message = f"{needed_by} finds no ZooKeeper among PySpark's jars in {directory}: {_INSTALL}"
        raise ZookeeperUnavailableError(message)
    return os.pathsep.join(str(directory / name) for name in names if _belongs(name))


def server_command(properties_file: str, mark: str) -> list[str]:
    """JavaError or ZookeeperUnavailableError where it cannot be made. Kafka's own variables are obeyed."""
    name = "zookeeper-server-start"
    # The admin page needs jetty, which is not among the jars; a file that asks for it is answered beforehand.
    options = ["-Dzookeeper.admin.enableServer=false", f"{MARK}{mark}"]
    return _command(name, "server", SERVER_CLASS, _SERVER_HEAP, options, [properties_file])


def shell_command(words: Sequence[str]) -> list[str]:
    return _command("zookeeper-shell", "shell", SHELL_CLASS, _SHELL_HEAP, [], ["-server", *words])


def _command(
    name: str, logging: str, main: str, heap: str, options: Sequence[str], words: Sequence[str]
) -> list[str]:
    classes = class_path(name)
    return [
        java.require(needed_by=name).command,
        *shlex.split(os.environ.get("KAFKA_HEAP_OPTS") or heap),
        # A small process that mostly waits: the simple collector and the quick compiler suit it.
        *shlex.split(
            os.environ.get("KAFKA_JVM_PERFORMANCE_OPTS") or "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
        ),
        f"-Dlog4j2.configurationFile={_LOGGING}-{logging}.properties",
        *options,
        *shlex.split(os.environ.get("KAFKA_OPTS") or ""),
        "-cp",
        classes,
        main,
        *words,
    ]


def is_server(words: Sequence[str]) -> bool:
    """Whether this command line is one of ours. An editor that has it among its arguments is none."""
    return (
        len(words) > 1
        and os.path.basename(words[0]) == "java"
        and SERVER_CLASS in words
        and any(word.startswith(MARK) for word in words[: words.index(SERVER_CLASS)])
    )


def _belongs(name: str) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in _PATTERNS) and not any(
        fnmatch.fnmatch(name, pattern) for pattern in _LEFT_OUT
    )


def become(command: list[str]) -> NoReturn:
    """The process becomes ZooKeeper: signals, exit code and terminal are its own."""
    sys.stdout.flush()
    os.execv(command[0], command)


def main() -> int:
    """`python -m barnabas.runtime.zookeeper zookeeper.properties`: unchecked, for who wrote the file."""
    try:
        become(server_command(sys.argv[1], os.path.abspath(sys.argv[1])))
    except (java.JavaError, ZookeeperUnavailableError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
