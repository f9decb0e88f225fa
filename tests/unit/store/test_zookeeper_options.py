from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.model.settings.broker import BrokerSettings
from barnabas.store.zookeeper_errors import ZookeeperError
from barnabas.store.zookeeper_options import (
    Login,
    ZookeeperOptions,
    check_connect,
    is_open,
    is_sensitive,
    options_of,
)


def settings(**more: str) -> BrokerSettings:
    return BrokerSettings({"broker.id": "0", "zookeeper.connect": "a:2181,b:2182/kafka"} | more)


def test_kafkas_defaults() -> None:
    options = options_of(settings())
    assert (options.hosts, options.chroot) == ("a:2181,b:2182", "/kafka")
    assert (options.session_timeout_ms, options.connection_timeout_ms) == (18_000, 18_000)
    assert (options.in_flight_max, options.set_acl, options.tls) == (10, False, None)


def test_a_start_waits_as_long_as_a_session_unless_told_otherwise() -> None:
    short = options_of(settings(**{"zookeeper.session.timeout.ms": "6000"}))
    assert short.connection_timeout_ms == 6000
    other = options_of(settings(**{"zookeeper.connection.timeout.ms": "1000"}))
    assert (other.session_timeout_ms, other.connection_timeout_ms) == (18_000, 1000)


@pytest.mark.parametrize(
    ("connect", "hosts", "chroot"),
    [
        ("a:1", "a:1", ""),
        ("a:1/", "a:1", ""),
        ("a,b:2/x/y/", "a,b:2", "/x/y"),
        ("[::1]:2181/k", "[::1]:2181", "/k"),
    ],
)
def test_a_connect_string_has_servers_and_a_place(connect: str, hosts: str, chroot: str) -> None:
    check_connect(connect)
    options = ZookeeperOptions(connect)
    assert (options.hosts, options.chroot) == (hosts, chroot)


def test_access_lists_need_an_identity() -> None:
    with pytest.raises(ZookeeperError, match="needs an identity"):
        options_of(settings(**{"zookeeper.set.acl": "true"}))
    assert options_of(settings(**{"zookeeper.set.acl": "true"}), Login("a", "b")).set_acl


def test_a_file_that_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.pem")
    with pytest.raises(ZookeeperError, match=r"truststore\.location=.*missing\.pem: No such file"):
        options_of(
            settings(**{"zookeeper.ssl.client.enable": "true", "zookeeper.ssl.truststore.location": missing})
        )


def test_secrets_are_below_three_nodes_and_old_consumers_write_below_one() -> None:
    assert [is_sensitive(path) for path in ("/config/users/a", "/config/topics/a", "/brokers/ids")] == [
        True,
        False,
        False,
    ]
    assert is_open("/consumers")
    assert not is_open("/consumers/group")
