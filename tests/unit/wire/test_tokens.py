from __future__ import annotations

import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.certificates import Authority
from tests.support.token_issuer import Issuer

from barnabas.model.errors import ApiError, ErrorCode
from barnabas.security.oauthbearer import Token
from barnabas.wire import NetworkError, Settings, TlsError
from barnabas.wire.sasl import bearer
from barnabas.wire.tokens import TokenSource


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with Issuer("id", "s e:cret") as running:
        yield running


def _token(url: str, jaas: str, **more: str) -> str:
    properties = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": jaas,
        "sasl.oauthbearer.token.endpoint.url": url,
        "sasl.login.read.timeout.ms": "60000",
        **{name.replace("_", "."): value for name, value in more.items()},
    }
    settings = Settings.from_properties(properties).sasl
    assert settings is not None
    token, _ = bearer(settings)()
    return token.text


def test_an_issuer_is_asked_with_the_clients_id_and_secret(issuer: Issuer) -> None:
    assert _token(issuer.url, issuer.jaas("s e:cret", scope="a b")).endswith(".")
    assert issuer.asked == [{"grant_type": ["client_credentials"], "scope": ["a b"]}]


def test_a_refusal_is_an_authentication_that_failed_and_keeps_the_secret(issuer: Issuer) -> None:
    with pytest.raises(ApiError, match=r"refuses with 401.*invalid_client") as caught:
        _token(issuer.url, issuer.jaas("wrong"))
    assert caught.value.code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert "wrong" not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((200, b"hello"), "not JSON"),
        ((200, b"[]"), "no access_token"),
        ((200, b'{"access_token":7}'), "no access_token"),
        ((200, b'{"access_token":"two words"}'), "cannot have"),
        ((302, b""), "refuses with 302"),
    ],
)
def test_an_answer_without_a_token_is_told(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch, answer: tuple[int, bytes], said: str
) -> None:
    monkeypatch.setattr(issuer, "answer", lambda _: answer)
    with pytest.raises(ApiError, match=said):
        _token(issuer.url, issuer.jaas("s e:cret"))
    assert len(issuer.asked) == 1


def test_an_issuer_in_trouble_may_be_asked_again(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(issuer, "answer", lambda _: (503, b"later"))
    with pytest.raises(NetworkError, match="503: later"):
        _token(issuer.url, issuer.jaas("s e:cret"))


def test_an_issuer_that_is_not_there_may_be_asked_again(issuer: Issuer) -> None:
    with pytest.raises(NetworkError, match="cannot be reached"):
        _token("http://127.0.0.1:1/token", issuer.jaas("s e:cret"))


def test_an_issuer_is_believed_by_the_login_modules_own_trust_store(tmp_path: Path) -> None:
    authority = Authority()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.issue("issuer").write(tmp_path / "issuer.pem"))
    (tmp_path / "ca.pem").write_text(authority.pem)
    trust = {"ssl.truststore.location": str(tmp_path / "ca.pem"), "ssl.truststore.type": "PEM"}
    with Issuer("id", "secret", context) as issuer:
        assert _token(issuer.url, issuer.jaas("secret", **trust))
        with pytest.raises(TlsError, match="CERTIFICATE_VERIFY_FAILED"):
            _token(issuer.url, issuer.jaas("secret"))


def test_a_token_is_read_from_a_file_each_time(tmp_path: Path, issuer: Issuer) -> None:
    path = tmp_path / "token"
    path.write_text("first\n")
    assert _token(path.as_uri(), issuer.jaas("")) == "first"
    with pytest.raises(ApiError, match="cannot be read"):
        _token((tmp_path / "none").as_uri(), issuer.jaas(""))


@pytest.mark.parametrize(("lifetime_s", "fetched"), [(100.0, 1), (None, 2), (-1.0, 2)])
def test_a_token_is_kept_while_it_is_good(lifetime_s: float | None, fetched: int) -> None:
    asked: list[int] = []

    def retrieve() -> Token:
        asked.append(1)
        return Token("t", None if lifetime_s is None else int((time.time() + lifetime_s) * 1000))

    source = TokenSource(retrieve)
    assert [source.token().text, source.token().text] == ["t", "t"]
    assert len(asked) == fetched
