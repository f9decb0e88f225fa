"""What a broker's settings must satisfy together.

The sentences are Kafka's, except for what only concerns this broker.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from barnabas.model.settings.checks import split_host_port
from barnabas.model.settings.values import SettingError, require

if TYPE_CHECKING:
    from barnabas.model.settings.broker import BrokerSettings

_CODEC_MAX = 4
_DEDUPE_BYTES_MIN = 1024 * 1024


def check(settings: BrokerSettings) -> None:
    _check_identity(settings)
    _check_log(settings)
    _check_replication(settings)
    _check_network(settings)
    _check_groups(settings)


def _check_identity(settings: BrokerSettings) -> None:
    broker_id = settings.integer("broker.id")
    if settings.broker_id not in {None, broker_id}:
        raise SettingError("You must set `node.id` to the same value as `broker.id`.")
    generated = settings.boolean("broker.id.generation.enable")
    if settings.zookeeper_connect and generated:
        require(
            -1 <= broker_id <= settings.integer("reserved.broker.max.id"),
            "broker.id must be greater than or equal to -1 and not greater than reserved.broker.max.id",
        )
    else:
        require(broker_id >= (-1 if generated else 0), "broker.id must be greater than or equal to 0")
    if settings.names("process.roles") and broker_id < 0:
        raise SettingError('Missing required configuration "node.id" which has no default value.')
    if settings.names("process.roles") == ("controller",):
        raise SettingError(
            "process.roles=controller asks for a node that is no broker; here every node is one. "
            "Use process.roles=broker,controller, or zookeeper.connect for a cluster."
        )
    _check_quorum(settings)


def _check_quorum(settings: BrokerSettings) -> None:
    """A broker alone is its own controller; a cluster's metadata lives in ZooKeeper, not in a quorum."""
    advice = "a cluster's metadata lives in ZooKeeper here: set zookeeper.connect, no controller.* keys."
    voters = settings.names("controller.quorum.voters")
    others = [voter for voter in voters if int(voter.partition("@")[0]) != settings.broker_id]
    if others:
        raise SettingError(f"controller.quorum.voters names other nodes ({', '.join(others)}); {advice}")
    ports = {endpoint.port for endpoint in settings.controller_listeners.values()}
    servers = settings.names("controller.quorum.bootstrap.servers")
    strangers = [server for server in servers if not _listens_on(server, ports)]
    if strangers or len(servers) > 1:
        named = ", ".join(strangers or servers)
        raise SettingError(f"controller.quorum.bootstrap.servers names other nodes ({named}); {advice}")


def _listens_on(server: str, ports: set[int]) -> bool:
    address = split_host_port(server)
    return address is not None and address[1] in ports


def _check_log(settings: BrokerSettings) -> None:
    require(settings.log_roll_ms >= 1, "log.roll.ms must be greater than or equal to 1")
    require(settings.log_roll_jitter_ms >= 0, "log.roll.jitter.ms must be greater than or equal to 0")
    require(
        settings.log_retention_ms != 0,
        "log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
    )
    threads = settings.integer("log.cleaner.threads")
    if threads == 0:
        raise SettingError("/ by zero")  # the whole of what Kafka has to say about it
    require(
        settings.integer("log.cleaner.dedupe.buffer.size") // threads > _DEDUPE_BYTES_MIN,
        "log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.",
    )
    cordoned = settings.names("cordoned.log.dirs")
    require(
        "*" not in cordoned or len(cordoned) == 1,
        "When cordoned.log.dirs is set to *, it must not contain other values",
    )
    missing = [path for path in cordoned if path != "*" and path not in settings.log_dirs]
    require(
        not missing,
        "All entries in cordoned.log.dirs must be present in log.dirs or log.dir. "
        f"Missing entries : {', '.join(missing)}",
    )
    if settings.boolean("remote.log.storage.system.enable"):
        raise SettingError(
            "remote.log.storage.system.enable=true: tiered storage needs a Java plug-in, "
            "which cannot be loaded here; set it to false."
        )


def _check_replication(settings: BrokerSettings) -> None:
    wait_ms = settings.integer("replica.fetch.wait.max.ms")
    require(
        wait_ms <= settings.integer("replica.socket.timeout.ms"),
        "replica.socket.timeout.ms should always be at least replica.fetch.wait.max.ms "
        "to prevent unnecessary socket timeouts",
    )
    require(
        wait_ms <= settings.integer("replica.lag.time.max.ms"),
        "replica.fetch.wait.max.ms should always be less than or equal to replica.lag.time.max.ms "
        "to prevent frequent changes in ISR",
    )
    if settings.inter_broker_protocol.authenticated:
        enabled = settings.listener_value(settings.inter_broker_listener, "sasl.enabled.mechanisms")
        require(
            isinstance(enabled, tuple) and settings.text("sasl.mechanism.inter.broker.protocol") in enabled,
            "sasl.mechanism.inter.broker.protocol must be included in sasl.enabled.mechanisms "
            "when SASL is used for inter-broker communication",
        )


def _check_network(settings: BrokerSettings) -> None:
    queued = settings.integer("queued.max.request.bytes")
    require(
        queued <= 0 or queued >= settings.integer("socket.request.max.bytes"),
        "queued.max.request.bytes must be larger or equal to socket.request.max.bytes",
    )
    overrides = settings.connections_per_ip_overrides
    require(
        settings.integer("max.connections.per.ip") > 0 or bool(overrides),
        "max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides property is set.",
    )
    invalid = [host for host in overrides if re.fullmatch(r"[0-9a-zA-Z\-%._:]*", host) is None]
    if invalid:
        raise SettingError(
            f"max.connections.per.ip.overrides contains invalid addresses : {','.join(invalid)}"
        )
    idle_ms = settings.integer("connections.max.idle.ms")
    delay_ms = settings.integer("connection.failed.authentication.delay.ms")
    require(
        idle_ms < 0 or delay_ms < idle_ms,
        f"connection.failed.authentication.delay.ms={delay_ms} should always be less than "
        f"connections.max.idle.ms={idle_ms} to prevent failed authentication responses from timing out",
    )
    names = {*settings.listeners, *settings.controller_listeners}
    for name in settings.names("early.start.listeners"):
        if name.upper() not in names:
            raise SettingError(
                f"early.start.listeners contains listener {name}, but this is not contained in "
                "listeners or controller.listener.names"
            )


# A group may choose within bounds, and the broker's own choice must lie within them.
_BOUNDED = (
    "group.{kind}.{edge}heartbeat.interval.ms",
    "group.{kind}.{edge}session.timeout.ms",
    "group.{kind}.{edge}assignment.interval.ms",
)
_BOUNDED_SHARES = (
    "group.{kind}.{edge}delivery.count.limit",
    "group.{kind}.{edge}record.lock.duration.ms",
    "group.{kind}.{edge}partition.max.record.locks",
)


def _check_groups(settings: BrokerSettings) -> None:
    if "classic" not in settings.names("group.coordinator.rebalance.protocols"):
        raise SettingError("Disabling the 'classic' protocol is not supported.")
    for kind in ("consumer", "share", "streams"):
        for pattern in _BOUNDED + (_BOUNDED_SHARES if kind == "share" else ()):
            _check_bounds(settings, kind, pattern)
        heartbeat, session = f"group.{kind}.heartbeat.interval.ms", f"group.{kind}.session.timeout.ms"
        if settings.integer(heartbeat) >= settings.integer(session):
            raise SettingError(f"{heartbeat} must be less than {session}")
    standby, most = "group.streams.num.standby.replicas", "group.streams.max.standby.replicas"
    if settings.integer(standby) > settings.integer(most):
        raise SettingError(f"{standby} must be less than or equal to {most}")
    for name in ("offsets.topic.compression.codec", "share.coordinator.state.topic.compression.codec"):
        if not 0 <= settings.integer(name) <= _CODEC_MAX:
            raise SettingError(f"Unknown compression type id: {settings.integer(name)}")


def _check_bounds(settings: BrokerSettings, kind: str, pattern: str) -> None:
    value, least, most = (pattern.format(kind=kind, edge=edge) for edge in ("", "min.", "max."))
    if settings.integer(most) < settings.integer(least):
        raise SettingError(f"{most} must be greater than or equal to {least}")
    if settings.integer(value) < settings.integer(least):
        raise SettingError(f"{value} must be greater than or equal to {least}")
    if settings.integer(value) > settings.integer(most):
        raise SettingError(f"{value} must be less than or equal to {most}")
