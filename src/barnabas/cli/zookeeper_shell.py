"""zookeeper-shell: ZooKeeper's own shell on the nodes of an ensemble; with a command, that one alone.

`-zk-tls-config-file` takes the file that Kafka's shell takes, with Kafka's names in it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence

from barnabas.cli.support.properties import properties_file
from barnabas.cli.support.running import run
from barnabas.java import JavaError
from barnabas.model import properties as java_properties
from barnabas.runtime import zookeeper

_TLS_FILE = "-zk-tls-config-file"
# Kafka's name of a setting → ZooKeeper's.
_NAMES = {
    "zookeeper.ssl.client.enable": "zookeeper.client.secure",
    "zookeeper.clientCnxnSocket": "zookeeper.clientCnxnSocket",
    "zookeeper.ssl.keystore.location": "zookeeper.ssl.keyStore.location",
    "zookeeper.ssl.keystore.password": "zookeeper.ssl.keyStore.password",
    "zookeeper.ssl.keystore.type": "zookeeper.ssl.keyStore.type",
    "zookeeper.ssl.truststore.location": "zookeeper.ssl.trustStore.location",
    "zookeeper.ssl.truststore.password": "zookeeper.ssl.trustStore.password",
    "zookeeper.ssl.truststore.type": "zookeeper.ssl.trustStore.type",
    "zookeeper.ssl.protocol": "zookeeper.ssl.protocol",
    "zookeeper.ssl.enabled.protocols": "zookeeper.ssl.enabledProtocols",
    "zookeeper.ssl.cipher.suites": "zookeeper.ssl.ciphersuites",
    "zookeeper.ssl.endpoint.identification.algorithm": "zookeeper.ssl.hostnameVerification",
    "zookeeper.ssl.crl.enable": "zookeeper.ssl.crl",
    "zookeeper.ssl.ocsp.enable": "zookeeper.ssl.ocsp",
}


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_tool, arguments)


def _tool(arguments: Sequence[str]) -> int:
    words = list(arguments)
    if words[:1] == ["-server"]:  # the class by its own name, through kafka-run-class
        del words[0]
    if not words:
        print(f"USAGE: {sys.argv[0]} zookeeper_host:port[/path] [{_TLS_FILE} file] [args...]")
        return 1
    tls_file = None
    if _TLS_FILE in words[:-1]:
        at = words.index(_TLS_FILE)
        tls_file = words[at + 1]
        del words[at : at + 2]
    try:
        return _run(words, client_settings(properties_file(tls_file)))
    except (JavaError, zookeeper.ZookeeperUnavailableError) as error:
        print(error, file=sys.stderr)
        return 1


def client_settings(properties: Mapping[str, str]) -> dict[str, str]:
    """With ZooKeeper's names. Whether a host's name must match is a word there, and a yes or no here."""
    found = {_NAMES[name]: value for name, value in properties.items() if name in _NAMES}
    if "zookeeper.ssl.hostnameVerification" in found:
        matches = found["zookeeper.ssl.hostnameVerification"].upper() == "HTTPS"
        found["zookeeper.ssl.hostnameVerification"] = str(matches).lower()
    return found


def _run(words: list[str], settings: Mapping[str, str]) -> int:
    if not settings:
        return _call(words)
    # In a file for our eyes only, and not on a command line that everybody can see: there are passwords.
    with tempfile.NamedTemporaryFile("w", suffix=".properties") as file:
        file.write(java_properties.dump(settings))
        file.flush()
        return _call([words[0], "-client-configuration", file.name, *words[1:]])


def _call(words: list[str]) -> int:
    command = zookeeper.shell_command(words)
    try:
        return subprocess.run(command, check=False, env=os.environ).returncode
    except KeyboardInterrupt:
        return 130
