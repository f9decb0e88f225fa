"""Our client against an Apache Kafka that asks for TLS and SASL, in every way that it has."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import pkcs12
from tests.docs.pages import CHECKOUT, blocks
from tests.support.certificates import Authority
from tests.support.secure_kafka import SESSION_MS, SecureKafka
from tests.support.token_issuer import Issuer

from barnabas import Consumer, Producer
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.protocol.messages.metadata import MetadataRequest, MetadataResponse
from barnabas.security.jaas import quoted
from barnabas.wire import Cluster, NetworkError, TlsError

pytestmark = pytest.mark.java

STORE_PASSWORD = "for this run only"
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")


@pytest.fixture(scope="module")
def kafka(apache_kafka_libraries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureKafka]:
    with SecureKafka(tmp_path_factory.mktemp("secure")).running() as running:
        yield running


@pytest.fixture(scope="module")
def keytool() -> str:
    found = shutil.which("keytool")
    if found is None:
        pytest.skip("keytool is missing: install a JDK (apt-get install default-jdk-headless)")
    return found


def _answers(cluster: Cluster) -> bool:
    with cluster:
        return len(cluster.brokers()) == 1


def _keytool(keytool: str, *words: object) -> None:
    subprocess.run([keytool, "-J-XX:TieredStopAtLevel=1", *map(str, words)], check=True, capture_output=True)


# --- who we are ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("listener", ["SASL", "BOTH"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_gets_in(kafka: SecureKafka, listener: str, mechanism: str) -> None:
    assert _answers(kafka.connect(listener, kafka.client(listener, mechanism)))


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_a_wrong_password_is_said_once_and_at_once(kafka: SecureKafka, mechanism: str) -> None:
    warnings: list[str] = []
    wrong = {"sasl.mechanism": mechanism, "sasl.username": "alice", "sasl.password": "wrong"}
    properties = {"security.protocol": "SASL_PLAINTEXT", **wrong}
    with pytest.raises(ApiError, match="Authentication failed") as caught:
        Cluster.connect(kafka.bootstrap("SASL"), properties, warnings.append).brokers()
    assert caught.value.code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert warnings == []


def test_a_session_goes_on_when_its_time_is_over(kafka: SecureKafka) -> None:
    """The same connection, authenticated again; one that does not care is closed by the broker."""
    asked = MetadataRequest([])
    with kafka.connect("BRIEF") as careful, kafka.connect("BRIEF") as careless:
        held, dropped = careful.connection(), careless.connection()
        assert held._session_until_s is not None
        dropped._session_until_s = None
        time.sleep(SESSION_MS / 1000 + 0.3)
        assert held.call(asked, MetadataResponse).brokers
        with pytest.raises(NetworkError):
            dropped.call(asked, MetadataResponse)


def test_a_token_may_come_from_an_issuer_or_a_file(
    kafka: SecureKafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Issuer("id", "secret") as issuer:
        properties = kafka.client("SASL", "OAUTHBEARER") | {
            "sasl.jaas.config": issuer.jaas("secret"),
            "sasl.oauthbearer.token.endpoint.url": issuer.url,
        }
        assert _answers(kafka.connect("SASL", properties))
        (tmp_path / "token").write_text(issuer.token())
    from_file = {"sasl.oauthbearer.token.endpoint.url": (tmp_path / "token").as_uri()}
    assert _answers(kafka.connect("SASL", properties | from_file))


# --- whom we believe -------------------------------------------------------------------------------------


def test_every_kind_of_trust_store_is_read(kafka: SecureKafka, keytool: str, tmp_path: Path) -> None:
    stores = [
        {"ssl.truststore.certificates": kafka.authority.pem},
        {"ssl.ca.location": str(kafka.authority_file)},
    ]
    for kind in ("JKS", "PKCS12"):
        path = tmp_path / f"trust.{kind.lower()}"
        made = ["-importcert", "-noprompt", "-alias", "ca", "-file", kafka.authority_file, "-keystore", path]
        _keytool(keytool, *made, "-storetype", kind, "-storepass", STORE_PASSWORD)
        stores.append({"ssl.truststore.location": str(path), "ssl.truststore.password": STORE_PASSWORD})
    for store in stores:
        assert _answers(kafka.connect("TLS", {"security.protocol": "SSL", **store}))


def test_every_kind_of_key_store_is_shown(kafka: SecureKafka, keytool: str, tmp_path: Path) -> None:
    client = kafka.authority.issue("client")
    client.write(tmp_path / "key.pem", STORE_PASSWORD)
    locked = serialization.BestAvailableEncryption(STORE_PASSWORD.encode())
    packed = pkcs12.serialize_key_and_certificates(
        b"me", client.key, client.certificate, [kafka.authority.certificate], locked
    )
    (tmp_path / "key.p12").write_bytes(packed)
    moved = ["-importkeystore", "-srckeystore", tmp_path / "key.p12", "-srcstorepass", STORE_PASSWORD]
    _keytool(
        keytool, *moved, "-destkeystore", tmp_path / "key.jks", "-deststoretype", "JKS",
        "-deststorepass", STORE_PASSWORD,
    )  # fmt: skip
    for name, password in {
        "key.pem": "ssl.key",
        "key.p12": "ssl.keystore",
        "key.jks": "ssl.keystore",
    }.items():
        store = {"ssl.keystore.location": str(tmp_path / name), f"{password}.password": STORE_PASSWORD}
        assert _answers(kafka.connect("MUTUAL", kafka.client("MUTUAL") | store)), name


def test_a_broker_that_wants_our_certificate_says_so(kafka: SecureKafka) -> None:
    with pytest.raises(TlsError, match=r"does not accept our certificate.*ssl\.keystore\.location"):
        kafka.connect("MUTUAL").brokers()


@pytest.mark.parametrize(
    ("listener", "said"),
    [("EXPIRED", "certificate has expired"), ("ELSEWHERE", r"certificate is not for 127\.0\.0\.1")],
)
def test_a_certificate_that_is_not_good_is_refused(kafka: SecureKafka, listener: str, said: str) -> None:
    with pytest.raises(TlsError, match=said):
        kafka.connect(listener).brokers()


def test_any_host_is_good_when_nobody_asks(kafka: SecureKafka) -> None:
    trusting = {"ssl.endpoint.identification.algorithm": ""}
    assert _answers(kafka.connect("ELSEWHERE", kafka.client("ELSEWHERE") | trusting))


@pytest.mark.parametrize("name", [Authority().name, "Somebody else"])
def test_a_stranger_is_not_believed(kafka: SecureKafka, name: str) -> None:
    stranger = {"security.protocol": "SSL", "ssl.truststore.certificates": Authority(name).pem}
    with pytest.raises(TlsError, match="nobody we trust has signed"):
        kafka.connect("TLS", stranger).brokers()


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_versions_may_be_chosen(kafka: SecureKafka, version: str) -> None:
    assert _answers(kafka.connect("TLS", kafka.client("TLS") | {"ssl.enabled.protocols": version}))


# --- the wrong door --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("listener", "meant", "said"),
    [
        ("PLAINTEXT", "TLS", "does not speak TLS"),
        ("SASL", "BOTH", "does not speak TLS"),
        ("TLS", "PLAINTEXT", "speaks TLS on this port"),
        ("BOTH", "SASL", "speaks TLS on this port"),
    ],
)
def test_tls_and_plain_text_are_told_apart(kafka: SecureKafka, listener: str, meant: str, said: str) -> None:
    with pytest.raises(TlsError, match=said):
        kafka.connect(listener, kafka.client(meant)).brokers()


@pytest.mark.parametrize(
    ("listener", "meant", "said"),
    [
        ("PLAINTEXT", "SASL", "asks nobody on this port"),
        ("TLS", "BOTH", "asks nobody on this port"),
        ("SASL", "PLAINTEXT", "wants to know who you are.*SCRAM-SHA-512"),
        ("BOTH", "TLS", "wants to know who you are.*SCRAM-SHA-512"),
    ],
)
def test_who_logs_in_where_nobody_asks_is_told(
    kafka: SecureKafka, listener: str, meant: str, said: str
) -> None:
    with pytest.raises(ApiError, match=said):
        kafka.connect(listener, kafka.client(meant)).brokers()


# --- the same settings for librdkafka --------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_producer_and_consumer_take_the_same_settings(kafka: SecureKafka, topic: str, mechanism: str) -> None:
    properties: dict[str, Any] = dict(kafka.client("BOTH", mechanism))
    with Producer(kafka.bootstrap("BOTH"), **properties) as producer:
        producer.send(topic, b"hello")
    with Consumer(kafka.bootstrap("BOTH"), topic, start="earliest", **properties) as consumer:
        assert next(iter(consumer)).value == b"hello"


# --- the tools -------------------------------------------------------------------------------------------


WRONG = """\
security.protocol=SASL_PLAINTEXT
sasl.mechanism=PLAIN
sasl.username=alice
sasl.password=wrong
"""


def _tool(name: str, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / name), *words]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=60, check=False)


def _written(text: str, path: Path) -> str:
    """As a file of Java's: a backslash escapes, and what is not ASCII is escaped."""
    escaped = text.replace("\\", "\\\\")
    path.write_text("".join(one if one.isascii() else f"\\u{ord(one):04x}" for one in escaped))
    return str(path)


def test_the_tools_get_in_with_a_command_config(kafka: SecureKafka, topic: str, tmp_path: Path) -> None:
    """The file is the one that docs/connecting.md shows, with our own paths and passwords in it."""
    entry = pkcs12.PKCS12Certificate(kafka.authority.certificate, b"ca")
    locked = serialization.BestAvailableEncryption(b"changeit")
    (tmp_path / "truststore.jks").write_bytes(pkcs12.serialize_java_truststore([entry], locked))
    (shown,) = blocks(CHECKOUT / "docs" / "connecting.md", "properties")
    ours = shown.replace("/etc/kafka", str(tmp_path)).replace('"secret"', quoted(kafka.scram_password))
    assert ours.count(str(tmp_path)) == ours.count(quoted(kafka.scram_password)) == 1
    server = ["--bootstrap-server", kafka.bootstrap("BOTH")]
    config = ["--command-config", _written(ours, tmp_path / "client.properties")]
    made = _tool("kafka-topics", *server, *config, "--create", "--topic", topic)
    assert made.stdout == f"Created topic {topic}.\n", made.stderr
    sent = _tool("kafka-console-producer", *server, *config, "--topic", topic, stdin="hello\n")
    assert sent.returncode == 0, sent.stderr
    end = ["--from-beginning", "--max-messages", "1", "--timeout-ms", "30000"]
    assert _tool("kafka-console-consumer", *server, *config, "--topic", topic, *end).stdout == "hello\n"
    options = ["--server", kafka.bootstrap("BOTH"), *config]
    assert _tool("barnabas", "produce", topic, *options, stdin="again\n").returncode == 0
    read = _tool("barnabas", "consume", topic, *options)
    assert "hello" in read.stdout, read.stderr
    assert "again" in read.stdout


def test_a_tool_says_that_the_password_is_wrong_and_ends(kafka: SecureKafka, tmp_path: Path) -> None:
    config = ["--command-config", _written(WRONG, tmp_path / "wrong.properties")]
    ended = _tool("kafka-topics", "--bootstrap-server", kafka.bootstrap("SASL"), *config, "--list")
    assert ended.returncode == 1
    assert "Authentication failed: Invalid username or password" in ended.stdout
    assert "SaslAuthenticationException" in ended.stderr


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("kafka-console-producer", "Error when sending message to topic"),
        ("kafka-console-consumer", "Error processing message, terminating consumer process"),
    ],
)
def test_the_console_tools_end_as_javas_do_when_they_are_refused(
    kafka: SecureKafka, topic: str, tmp_path: Path, name: str, head: str
) -> None:
    config = ["--command-config", _written(WRONG, tmp_path / "wrong.properties")]
    ended = _tool(name, "--bootstrap-server", kafka.bootstrap("SASL"), *config, "--topic", topic, stdin="x\n")
    assert ended.returncode == 0
    said = [line for line in ended.stderr.splitlines() if "INFO" not in line and "KIP-848" not in line]
    assert "failed authentication due to: Authentication failed" in said[0]
    assert head in said[1]
    assert said[2].endswith(
        "SaslAuthenticationException: Authentication failed: Invalid username or password"
    )
