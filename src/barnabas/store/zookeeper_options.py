"""How to reach an ensemble, who we are there, who may read what we write: Kafka's `zookeeper.*` settings."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from typing import NamedTuple

from barnabas.model.settings.broker import BrokerSettings
from barnabas.store.tree import check_path
from barnabas.store.zookeeper_errors import ZookeeperError
from barnabas.wire.errors import SettingsError
from barnabas.wire.security_settings import StoreFile, TlsSettings
from barnabas.wire.tls import context_of

DEFAULT_PORT = 2181
SETTING = "zookeeper.connect"
# Passwords and tokens live below these: not for everybody's eyes, even where the rest of the tree is.
_SENSITIVE = ("/config/users", "/config/brokers", "/delegation_token/tokens")
_CONSUMERS = "/consumers"  # old consumers, who are somebody else, write below this node


class Login(NamedTuple):
    """A name and its password: for ZooKeeper's `digest` scheme, or for SASL's DIGEST-MD5."""

    username: str
    password: str


@dataclass(frozen=True, slots=True)
class ZookeeperOptions:
    connect: str
    session_timeout_ms: int = 18_000
    connection_timeout_ms: int = 18_000
    in_flight_max: int = 10
    set_acl: bool = False
    digest: Login | None = None
    sasl: Login | None = None
    tls: ssl.SSLContext | None = field(default=None, compare=False)
    make_chroot: bool = True  # whoever only looks makes nothing
    setting: str = SETTING  # what its author calls `connect`, for sentences
    # ZooKeeper's jute.maxbuffer, from which on a server hangs up without a word.
    request_bytes_max: int = 0xFFFFF

    @property
    def hosts(self) -> str:
        return self.connect.partition("/")[0]

    @property
    def chroot(self) -> str:
        """Empty, or a path without a slash at its end."""
        return "/" + path if (path := self.connect.partition("/")[2].strip("/")) else ""


def check_connect(connect: str, setting: str = SETTING) -> None:
    """ZookeeperError unless it reads `host:port,host:port/chroot`."""
    hosts, _, chroot = connect.partition("/")
    for entry in hosts.split(","):
        host, separator, port = entry.strip().rpartition(":")
        if not separator or entry.strip().endswith("]"):
            host, port = entry.strip(), str(DEFAULT_PORT)
        if not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise ZookeeperError(
                f"{setting}={connect} is no list of servers: write host:port,host:port/chroot "
                f"({entry.strip() or 'an empty entry'} is none)."
            )
    if chroot.strip("/"):
        try:
            check_path("/" + chroot.strip("/"))
        except ValueError:
            message = f"{setting}={connect} ends in /{chroot}, which is no path of ZooKeeper."
            raise ZookeeperError(message) from None


def options_of(settings: BrokerSettings, login: Login | None = None) -> ZookeeperOptions:
    """`login`: of the JAAS file's section `Client`, where Kafka's users have their ZooKeeper password."""
    connect = settings.zookeeper_connect
    assert connect is not None
    check_connect(connect)
    session_timeout_ms = settings.integer("zookeeper.session.timeout.ms")
    connection_timeout_ms = settings.optional_integer("zookeeper.connection.timeout.ms")
    options = ZookeeperOptions(
        connect,
        session_timeout_ms,
        session_timeout_ms if connection_timeout_ms is None else connection_timeout_ms,
        settings.integer("zookeeper.max.in.flight.requests"),
        settings.boolean("zookeeper.set.acl"),
        sasl=login,
        tls=_tls(settings) if settings.boolean("zookeeper.ssl.client.enable") else None,
    )
    has_key = options.tls is not None and settings.optional_text("zookeeper.ssl.keystore.location")
    if options.set_acl and login is None and not has_key:
        raise ZookeeperError(
            "zookeeper.set.acl=true needs an identity at ZooKeeper: set zookeeper.ssl.client.enable=true and "
            "zookeeper.ssl.keystore.location, or name a JAAS file with a section Client in KAFKA_OPTS "
            "(-Djava.security.auth.login.config=FILE)."
        )
    return options


def is_sensitive(path: str) -> bool:
    return path.startswith(_SENSITIVE)


def is_open(path: str) -> bool:
    """Whether everybody may write there although ACLs are set."""
    return path == _CONSUMERS


def _tls(settings: BrokerSettings) -> ssl.SSLContext:
    endpoint = settings.optional_text("zookeeper.ssl.endpoint.identification.algorithm") or ""
    keystore = _store(settings, "keystore")
    try:
        return context_of(
            TlsSettings(
                verify_hostname=endpoint.upper() == "HTTPS",
                protocols=_protocols(settings),
                cipher_suites=settings.names("zookeeper.ssl.cipher.suites"),
                truststore=_store(settings, "truststore"),
                keystore=keystore,
                key_password=keystore.password if keystore else None,
            )
        )
    except SettingsError as error:
        raise ZookeeperError(f"The connection to ZooKeeper cannot be encrypted: {error}.") from error


def _protocols(settings: BrokerSettings) -> tuple[str, ...]:
    """Kafka's default is TLSv1.2 alone, which today's ZooKeeper does not offer: unasked, both will do."""
    enabled = settings.names("zookeeper.ssl.enabled.protocols")
    if enabled or "zookeeper.ssl.protocol" not in settings.static:
        return enabled or ("TLSv1.2", "TLSv1.3")
    return (settings.text("zookeeper.ssl.protocol"),)


def _store(settings: BrokerSettings, name: str) -> StoreFile | None:
    setting = f"zookeeper.ssl.{name}"
    location = settings.optional_text(f"{setting}.location")
    if not location:
        return None
    password = settings.password(f"{setting}.password")
    is_pem = (settings.optional_text(f"{setting}.type") or "").upper() == "PEM"
    return StoreFile(f"{setting}.location", location, is_pem, password.secret if password else None)
