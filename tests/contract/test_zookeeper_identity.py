"""Who a broker is to ZooKeeper: a certificate, or a name with a password, as Kafka's settings have them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.certificates import Authority
from tests.support.store import Harness
from tests.support.zookeeper import ZookeeperServer

from barnabas.model.settings.broker import BrokerSettings
from barnabas.ports import DeniedError, Get, Put
from barnabas.runtime.zookeeper_login import login_of
from barnabas.store.zookeeper import ZookeeperStore
from barnabas.store.zookeeper_errors import ZookeeperError
from barnabas.store.zookeeper_options import ZookeeperOptions, options_of
from barnabas.testing import free_port

OpenStore = Callable[[ZookeeperOptions], Harness]
StartZookeeper = Callable[..., ZookeeperServer]

JAAS = """
Server {
  org.apache.zookeeper.server.auth.DigestLoginModule required
  user_barnabas="secret";
};
Client {
  org.apache.zookeeper.server.auth.DigestLoginModule required
  username="barnabas"
  password="%s";
};
"""


def settings(connect: str, **more: str) -> BrokerSettings:
    names = {name.replace("_", "."): value for name, value in more.items()}
    return BrokerSettings(
        {"broker.id": "0", "zookeeper.connect": connect, "zookeeper.connection.timeout.ms": "60000"} | names
    )


def tls_server(start: StartZookeeper, authority: Authority, directory: Path) -> tuple[ZookeeperServer, int]:
    port = free_port()
    own = authority.issue("zookeeper").write(directory / "server.pem")
    (directory / "authority.pem").write_text(authority.pem)
    server = start(
        extra=f"secureClientPort={port}\nssl.keyStore.location={own}\nssl.keyStore.type=PEM\n"
        f"ssl.trustStore.location={directory / 'authority.pem'}\nssl.trustStore.type=PEM\n"
        "serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\n"
        "authProvider.x509=org.apache.zookeeper.server.auth.X509AuthenticationProvider\n"
    )
    server.wait()
    return server, port


def test_a_certificate_is_an_identity_and_the_connection_is_encrypted(
    start_zookeeper: StartZookeeper, open_store: OpenStore, tmp_path: Path
) -> None:
    authority = Authority()
    server, port = tls_server(start_zookeeper, authority, tmp_path)
    secure = settings(
        f"127.0.0.1:{port}/kafka",
        zookeeper_ssl_client_enable="true",
        zookeeper_clientCnxnSocket="org.apache.zookeeper.ClientCnxnSocketNetty",
        zookeeper_ssl_truststore_location=str(tmp_path / "authority.pem"),
        zookeeper_ssl_keystore_location=str(authority.issue("broker").write(tmp_path / "broker.pem")),
        zookeeper_set_acl="true",
    )
    home = open_store(options_of(secure))
    home.run(Put("/config/users/alice", b"hash"))
    assert home.data("/config/users/alice") == b"hash"
    stranger = open_store(ZookeeperOptions(f"{server.connect}/kafka"))
    assert isinstance(stranger.error(Get("/config/users/alice")), DeniedError)


def test_a_server_that_nobody_we_trust_has_signed_is_not_talked_to(
    start_zookeeper: StartZookeeper, tmp_path: Path
) -> None:
    _, port = tls_server(start_zookeeper, Authority(), tmp_path)
    (tmp_path / "other.pem").write_text(Authority("another").pem)
    secure = settings(
        f"127.0.0.1:{port}",
        zookeeper_ssl_client_enable="true",
        zookeeper_ssl_truststore_location=str(tmp_path / "other.pem"),
        zookeeper_connection_timeout_ms="5000",
    )
    with pytest.raises(ZookeeperError, match="certificate verify failed"):
        ZookeeperStore(options_of(secure)).start(lambda: None)


def test_the_login_of_the_jaas_file_is_an_identity(
    start_zookeeper: StartZookeeper, open_store: OpenStore, tmp_path: Path
) -> None:
    (tmp_path / "jaas.conf").write_text(JAAS % "secret")
    option = f"-Djava.security.auth.login.config={tmp_path / 'jaas.conf'}"
    server = start_zookeeper(
        extra="authProvider.sasl=org.apache.zookeeper.server.auth.SASLAuthenticationProvider\n",
        java_options=[option],
    )
    server.wait()
    login = login_of({"KAFKA_OPTS": option})
    home = open_store(options_of(settings(f"{server.connect}/kafka", zookeeper_set_acl="true"), login))
    home.run(Put("/config/users/alice", b"hash"))
    assert home.data("/config/users/alice") == b"hash"
    stranger = open_store(ZookeeperOptions(f"{server.connect}/kafka"))
    assert isinstance(stranger.error(Get("/config/users/alice")), DeniedError)
    (tmp_path / "wrong.conf").write_text(JAAS % "guess")
    wrong = login_of({"KAFKA_OPTS": f"-Djava.security.auth.login.config={tmp_path / 'wrong.conf'}"})
    with pytest.raises(ZookeeperError, match="does not accept the login"):
        ZookeeperStore(options_of(settings(server.connect), wrong)).start(lambda: None)
