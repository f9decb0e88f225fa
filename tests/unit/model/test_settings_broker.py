"""What a properties file means to a broker, and which ones stop it."""

from __future__ import annotations

import pytest

from barnabas.model.endpoint import Endpoint, SecurityProtocol
from barnabas.model.settings import SettingError
from barnabas.model.settings.broker import BrokerSettings
from barnabas.model.settings.topic import TopicSettings
from barnabas.model.settings.values import Password

KRAFT = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "1@h:9093",
    "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
}
SECURE = {"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SSL:SSL,CONTROLLER:PLAINTEXT"}
THREE = "PLAINTEXT://{},SSL://{},CONTROLLER://{}"


def problem(settings: dict[str, str]) -> str:
    with pytest.raises(SettingError) as caught:
        BrokerSettings.parse({**KRAFT, **settings})
    return str(caught.value)


def test_an_empty_file_is_a_broker_with_kafkas_defaults() -> None:
    settings, warnings = BrokerSettings.parse({})
    assert warnings == ()
    assert settings.broker_id is None
    assert settings.listeners == {"PLAINTEXT": Endpoint("", 9092, SecurityProtocol.PLAINTEXT)}
    assert settings.log_dirs == ("/tmp/kafka-logs",)
    assert settings.zookeeper_connect is None
    assert settings.integer("socket.request.max.bytes") == 104857600
    assert settings.boolean("auto.create.topics.enable") is True
    assert settings.real("log.cleaner.min.cleanable.ratio") == 0.5
    assert settings.text("compression.type") == "producer"
    assert settings.names("log.cleanup.policy") == ("delete",)
    assert settings.optional_integer("log.retention.ms") is None


def test_a_kraft_file_that_names_only_this_node_is_accepted() -> None:
    settings, warnings = BrokerSettings.parse(KRAFT)
    assert warnings == ()
    assert settings.broker_id == 1
    assert list(settings.listeners) == ["PLAINTEXT"]
    assert [each.port for each in settings.controller_listeners.values()] == [9093]


@pytest.mark.parametrize(
    "settings",
    [
        {"controller.quorum.voters": "1@h:9093,2@i:9093"},
        {"controller.quorum.voters": "2@i:9093"},
        {"controller.quorum.voters": "", "controller.quorum.bootstrap.servers": "h:9093,i:9093"},
        {"controller.quorum.voters": "", "controller.quorum.bootstrap.servers": "h:9999"},
    ],
)
def test_naming_other_controllers_stops_with_advice(settings: dict[str, str]) -> None:
    assert "names other nodes" in problem(settings)
    assert "set zookeeper.connect" in problem(settings)


def test_own_controller_may_be_named_by_bootstrap_server() -> None:
    own = {"controller.quorum.voters": "", "controller.quorum.bootstrap.servers": "h:9093"}
    assert BrokerSettings.parse({**KRAFT, **own})[0].broker_id == 1


ANY_IP_VERSION = (
    "Each listener must have a different port unless exactly one listener has an IPv4 address and the other "
    "IPv6 address"
)
BOTH_IP_VERSIONS = "If you have two listeners on the same port then one needs to be IPv4 and the other IPv6"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"listeners": "foo"}, "Unable to parse a listener name from foo"),
        (
            {"listeners": "PLAINTEXT://h,CONTROLLER://:9093"},
            "Error creating broker listeners from '[PLAINTEXT://h, CONTROLLER://:9093]': "
            "Unable to parse PLAINTEXT://h to a broker endpoint",
        ),
        (
            {"listeners": "A://:1,CONTROLLER://:9093"},
            "Error creating broker listeners from '[A://:1, CONTROLLER://:9093]': "
            "No security protocol defined for listener A",
        ),
        (
            {"advertised.listeners": "PLAINTEXT://h:1,plaintext://h:2"},
            "Error creating broker listeners from '[PLAINTEXT://h:1, plaintext://h:2]': "
            "Each listener must have a different name, listeners: [PLAINTEXT://h:1, plaintext://h:2]",
        ),
        (
            {"listeners": ""},
            "Configuration 'listeners' must not be empty. Valid values include: any non-empty value",
        ),
        (
            {"listeners": "PLAINTEXT://0.0.0.0:9092,CONTROLLER://:9093"},
            "advertised.listeners cannot use the nonroutable meta-address 0.0.0.0. "
            "Use a routable IP address. Clients on other machines would be sent to themselves.",
        ),
        (
            {"advertised.listeners": "CONTROLLER://h:9092"},
            "There must be at least one broker advertised listener. "
            "Perhaps all listeners appear in controller.listener.names? "
            "Clients would be told of no address at all.",
        ),
        (
            {"advertised.listeners": "PLAINTEXT://h:9092,SSL://h:9093"},
            "advertised.listeners listener names must be equal to or a subset of the ones defined in "
            "listeners. Found PLAINTEXT,SSL. The valid options based on the current configuration are "
            "PLAINTEXT,CONTROLLER. Clients would be sent where this broker does not listen.",
        ),
        (
            {"inter.broker.listener.name": "PLAINTEXT", "security.inter.broker.protocol": "PLAINTEXT"},
            "Only one of inter.broker.listener.name and security.inter.broker.protocol should be set.",
        ),
        (
            {"inter.broker.listener.name": "nope"},
            "Listener with name NOPE defined in inter.broker.listener.name not found in "
            "listener.security.protocol.map.",
        ),
        (
            {"security.inter.broker.protocol": "SSL"},
            "inter.broker.listener.name must be a listener name defined in advertised.listeners. "
            "The valid options based on currently configured listeners are PLAINTEXT. The other brokers "
            "would find no address of this one, and clients would see partitions that never have all "
            "replicas in sync.",
        ),
        (
            {"listener.security.protocol.map": "A:B"},
            "Invalid security protocol `B` defined in listener.security.protocol.map",
        ),
        ({"broker.id": "2"}, "You must set `node.id` to the same value as `broker.id`."),
        (
            {"log.retention.minutes": "0"},
            "log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
        ),
        ({"log.roll.ms": "0"}, "log.roll.ms must be greater than or equal to 1"),
        ({"log.roll.jitter.ms": "-1"}, "log.roll.jitter.ms must be greater than or equal to 0"),
        ({"log.dirs": "/a,,/b"}, "Configuration 'log.dirs' values must not be empty."),
        (
            {"log.cleaner.dedupe.buffer.size": "1000"},
            "log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.",
        ),
        (
            {"replica.fetch.wait.max.ms": "40000"},
            "replica.socket.timeout.ms should always be at least replica.fetch.wait.max.ms "
            "to prevent unnecessary socket timeouts",
        ),
        (
            {"queued.max.request.bytes": "5"},
            "queued.max.request.bytes must be larger or equal to socket.request.max.bytes",
        ),
        (
            {"max.connections.per.ip": "0"},
            "max.connections.per.ip can be set to zero only if max.connections.per.ip.overrides property "
            "is set.",
        ),
        (
            {"max.connections.per.ip.overrides": "a b:5"},
            "max.connections.per.ip.overrides contains invalid addresses : a b",
        ),
        (
            {"connection.failed.authentication.delay.ms": "600000"},
            "connection.failed.authentication.delay.ms=600000 should always be less than "
            "connections.max.idle.ms=600000 to prevent failed authentication responses from timing out",
        ),
        (
            {"group.consumer.session.timeout.ms": "1"},
            "group.consumer.session.timeout.ms must be greater than or equal to "
            "group.consumer.min.session.timeout.ms",
        ),
        (
            {"group.coordinator.rebalance.protocols": "consumer"},
            "Disabling the 'classic' protocol is not supported.",
        ),
        ({"group.consumer.assignors": "mine"}, "Class mine cannot be found"),
        ({"offsets.topic.compression.codec": "9"}, "Unknown compression type id: 9"),
        (
            {"cordoned.log.dirs": "/zzz"},
            "All entries in cordoned.log.dirs must be present in log.dirs or log.dir. Missing entries : /zzz",
        ),
        (
            {"early.start.listeners": "FOO"},
            "early.start.listeners contains listener FOO, but this is not contained in listeners or "
            "controller.listener.names",
        ),
        (
            {"num.partitions": "many"},
            "Invalid value many for configuration num.partitions: Not a number of type INT",
        ),
    ],
)
def test_bad_files_stop_the_start_in_kafkas_words(settings: dict[str, str], sentence: str) -> None:
    assert problem(settings) == sentence


@pytest.mark.parametrize(
    ("addresses", "sentence"),
    [
        ((":9092", ":9092", ":9093"), "Each listener must have a different port"),
        (("127.0.0.1:9092", "127.0.0.1:9092", ":9093"), BOTH_IP_VERSIONS),
        (("127.0.0.1:9092", "[::1]:9092", ":9092"), BOTH_IP_VERSIONS),
        (("127.0.0.1:9092", "[::1]:9092", "127.0.0.2:9092"), ANY_IP_VERSION),
        (("127.0.0.1:9092", "h:9092", ":9093"), ANY_IP_VERSION),
    ],
)
def test_listeners_may_not_share_a_port(addresses: tuple[str, str, str], sentence: str) -> None:
    assert f": {sentence}, listeners: [" in problem({**SECURE, "listeners": THREE.format(*addresses)})


def test_ipv4_and_ipv6_listeners_may_share_a_port() -> None:
    listeners = THREE.format("127.0.0.1:9092", "[::1]:9092", ":9093")
    settings = BrokerSettings({**KRAFT, **SECURE, "listeners": listeners})
    assert [(each.host, each.port) for each in settings.listeners.values()] == [
        ("127.0.0.1", 9092),
        ("::1", 9092),
    ]


@pytest.mark.parametrize("name", ["host.name", "port", "advertised.host.name", "advertised.port"])
def test_addresses_of_old_files_stop_with_the_new_spelling(name: str) -> None:
    with pytest.raises(SettingError, match=r"is no longer a setting: write (advertised\.)?listeners="):
        BrokerSettings.parse({name: "9092"})


def test_unknown_key_is_a_warning_that_names_the_nearest() -> None:
    _, warnings = BrokerSettings.parse({"log.retention.hour": "5", "zzz": "1"})
    assert warnings == (
        "log.retention.hour is not a known setting and has no effect; did you mean log.retention.hours?",
        "zzz is not a known setting and has no effect.",
    )


def test_keys_of_older_versions_are_accepted_with_a_reason() -> None:
    _, warnings = BrokerSettings.parse({"inter.broker.protocol.version": "2.8"})
    assert warnings == (
        "inter.broker.protocol.version is a setting of older versions; "
        "it has no effect: there is one protocol between brokers.",
    )


def test_renamed_key_is_used_under_its_new_name() -> None:
    settings, warnings = BrokerSettings.parse({"delegation.token.master.key": "k"})
    assert settings.password("delegation.token.secret.key") == Password("k")
    assert warnings == (
        "delegation.token.master.key is now called delegation.token.secret.key; its value is used.",
    )


def test_a_guard_that_cannot_be_loaded_stops_the_start() -> None:
    assert "Class com.example.Guard could not be found." in problem(
        {"authorizer.class.name": "com.example.Guard"}
    )


def test_a_reporter_that_cannot_be_loaded_is_a_warning() -> None:
    _, warnings = BrokerSettings.parse({"metric.reporters": "com.example.Reporter"})
    assert warnings == (
        "metric.reporters=com.example.Reporter is a Java class, which cannot be loaded here; "
        "it has no effect.",
    )


@pytest.mark.parametrize(
    ("settings", "retention_ms"),
    [
        ({}, 604_800_000),
        ({"log.retention.hours": "1"}, 3_600_000),
        ({"log.retention.hours": "1", "log.retention.minutes": "2"}, 120_000),
        ({"log.retention.hours": "1", "log.retention.minutes": "2", "log.retention.ms": "3"}, 3),
        ({"log.retention.minutes": "-1", "log.retention.hours": "5"}, -1),
        ({"log.retention.hours": "-5"}, -1),
    ],
)
def test_finest_unit_of_retention_wins(settings: dict[str, str], retention_ms: int) -> None:
    broker = BrokerSettings(settings)
    assert broker.log_retention_ms == retention_ms
    assert TopicSettings({}, broker).integer("retention.ms") == retention_ms


def test_roll_and_flush_follow_their_coarser_settings() -> None:
    broker = BrokerSettings(
        {"log.roll.hours": "2", "log.roll.jitter.hours": "1", "log.flush.scheduler.interval.ms": "9"}
    )
    assert (broker.log_roll_ms, broker.log_roll_jitter_ms, broker.log_flush_interval_ms) == (
        7_200_000,
        3_600_000,
        9,
    )
    topic = TopicSettings({}, broker)
    assert [topic.integer(name) for name in ("segment.ms", "segment.jitter.ms", "flush.ms")] == [
        7_200_000,
        3_600_000,
        9,
    ]


def test_topics_own_settings_win_over_the_brokers() -> None:
    broker = BrokerSettings({"log.cleanup.policy": "compact", "log.segment.bytes": "2097152"})
    assert TopicSettings({}, broker).compacted
    assert TopicSettings({}, broker).segment_bytes == 2097152
    assert TopicSettings({"cleanup.policy": "delete"}, broker).deleting
    assert TopicSettings({"internal.segment.bytes": "10"}, broker).segment_bytes == 10


def test_dynamic_layers_win_over_the_file_and_the_own_one_over_the_clusters() -> None:
    broker = BrokerSettings({"max.connections": "1"})
    assert broker.with_dynamic({"max.connections": "2"}, {}).integer("max.connections") == 2
    assert (
        broker.with_dynamic({"max.connections": "2"}, {"max.connections": "3"}).integer("max.connections")
        == 3
    )


def test_listener_has_values_of_its_own() -> None:
    broker = BrokerSettings(
        {
            "max.connections": "9",
            "listener.name.plaintext.max.connections": "5",
            "listener.name.plaintext.plain.sasl.jaas.config": "x required;",
        }
    )
    assert broker.listener_value("PLAINTEXT", "max.connections") == 5
    assert broker.listener_value("OTHER", "max.connections") == 9
    assert broker.listener_value("PLAINTEXT", "plain.sasl.jaas.config") == Password("x required;")


def test_connections_per_ip_are_read_for_every_address() -> None:
    broker = BrokerSettings({"max.connections.per.ip.overrides": "127.0.0.1:5, ::1:6"})
    assert broker.connections_per_ip_overrides == {"127.0.0.1": 5, "::1": 6}


def test_zookeeper_files_work_as_they_are() -> None:
    settings, warnings = BrokerSettings.parse(
        {
            "broker.id": "0",
            "zookeeper.connect": "a:2181,b:2181/kafka",
            "zookeeper.connection.timeout.ms": "18000",
        }
    )
    assert (settings.broker_id, settings.zookeeper_connect, warnings) == (0, "a:2181,b:2181/kafka", ())


def test_chosen_ids_stay_below_generated_ones() -> None:
    with pytest.raises(SettingError, match=r"not greater than reserved\.broker\.max\.id"):
        BrokerSettings({"broker.id": "1001", "zookeeper.connect": "a:2181"})
    assert BrokerSettings({"broker.id": "-1", "zookeeper.connect": "a:2181"}).broker_id is None


def test_passwords_do_not_print_themselves() -> None:
    secret = BrokerSettings({"ssl.key.password": "hush"}).password("ssl.key.password")
    assert secret is not None
    assert (secret.secret, repr(secret), str(secret)) == ("hush", "[hidden]", "[hidden]")


def test_a_placeholder_is_not_taken_for_a_value() -> None:
    file = {"config.providers": "vault", "ssl.key.password": "${vault:path:key}"}
    with pytest.raises(SettingError, match=r"ssl\.key\.password takes its value from the provider vault"):
        BrokerSettings(file)


def test_bad_value_of_one_listener_stops_the_start() -> None:
    with pytest.raises(SettingError, match=r"Invalid value x for configuration max\.connections"):
        BrokerSettings({"listener.name.plaintext.max.connections": "x"})


def test_settings_cannot_be_changed_behind_the_brokers_back() -> None:
    settings = BrokerSettings({"node.id": "1"})
    with pytest.raises(TypeError):
        settings.static["node.id"] = "2"  # type: ignore[index]
