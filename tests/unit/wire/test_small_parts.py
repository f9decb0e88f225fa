from __future__ import annotations

import subprocess
import sys

import pytest

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.wire import NetworkError, Settings, SettingsError, VersionError
from barnabas.wire.address import Address, parse_bootstrap
from barnabas.wire.codes import check, known
from barnabas.wire.retry import backoff_ms, may_retry


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("localhost:9092", [Address("localhost", 9092)]),
        (" a:1 , b:2,", [Address("a", 1), Address("b", 2)]),
        ("[::1]:9092", [Address("::1", 9092)]),
        ("PLAINTEXT://h:1", [Address("h", 1)]),
    ],
)
def test_addresses_are_read_as_people_write_them(text: str, expected: list[Address]) -> None:
    assert list(parse_bootstrap(text)) == expected


@pytest.mark.parametrize("text", ["host", "host:", "host:x", "", " , ", "a b:1"])
def test_an_address_that_makes_no_sense_is_named(text: str) -> None:
    with pytest.raises(SettingsError, match="bootstrap"):
        parse_bootstrap(text)


def test_settings_come_from_kafkas_names_and_ignore_others() -> None:
    settings = Settings.from_properties({"request.timeout.ms": "5", "client.id": "me", "acks": "all"})
    assert (settings.request_timeout_ms, settings.client_id) == (5, "me")
    assert settings.default_api_timeout_ms == 60_000


def test_a_setting_that_is_no_number_is_refused_in_kafkas_words() -> None:
    with pytest.raises(SettingsError, match="Invalid value x for configuration request"):
        Settings.from_properties({"request.timeout.ms": "x"})


def test_a_protocol_we_do_not_speak_is_not_silently_plaintext() -> None:
    with pytest.raises(SettingsError, match="SASL_SSL"):
        Settings.from_properties({"security.protocol": "SASL_TLS"})


def test_backoff_doubles_to_a_limit() -> None:
    settings = Settings(retry_backoff_ms=100, retry_backoff_max_ms=1000)
    assert [backoff_ms(attempt, settings) for attempt in range(6)] == [100, 200, 400, 800, 1000, 1000]
    assert backoff_ms(10**6, settings) == 1000


def test_only_what_a_retry_may_cure_is_retried() -> None:
    assert may_retry(NetworkError("gone"))
    assert may_retry(ApiError(ErrorCode.NOT_CONTROLLER))
    assert not may_retry(ApiError(ErrorCode.TOPIC_ALREADY_EXISTS))
    assert not may_retry(VersionError("old"))


def test_error_codes_become_exceptions_with_the_brokers_words() -> None:
    check(0, "ignored")
    with pytest.raises(ApiError, match="no such thing"):
        check(3, "no such thing")
    assert known(31000) is ErrorCode.UNKNOWN_SERVER_ERROR


def test_importing_the_client_loads_neither_librdkafka_nor_rich_nor_asyncio() -> None:
    heavy = "{'confluent_kafka', 'rich', 'asyncio', 'argparse', 'ssl', 'secrets', 'urllib.request'}"
    code = f"import sys, barnabas.wire, barnabas.wire.admin.topics; print(sorted({heavy} & set(sys.modules)))"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stdout.strip() == "[]"
