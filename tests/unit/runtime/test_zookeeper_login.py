from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.runtime.zookeeper_login import login_of
from barnabas.store.zookeeper_errors import ZookeeperError
from barnabas.store.zookeeper_options import Login

DIGEST = "org.apache.zookeeper.server.auth.DigestLoginModule required"


def options(path: Path, text: str, *more: str) -> dict[str, str]:
    path.write_text(text)
    return {"KAFKA_OPTS": " ".join((f"-Xmx1G -Djava.security.auth.login.config={path}", *more))}


def test_without_a_file_or_a_section_there_is_no_login(tmp_path: Path) -> None:
    assert login_of({}) is None
    assert login_of(options(tmp_path / "a", f'KafkaServer {{ {DIGEST} username="x";\n}};')) is None


def test_the_section_client_has_the_login(tmp_path: Path) -> None:
    other = "KafkaServer {\n x required;\n};\n"
    text = f'{other}Client {{\n {DIGEST}\n username="me"\n password="pa;ss}}";\n}};\n'
    assert login_of(options(tmp_path / "a", text)) == Login("me", "pa;ss}")


def test_another_section_may_be_named_and_sasl_turned_off(tmp_path: Path) -> None:
    text = f'Zoo {{\n {DIGEST} username="me" password="p";\n}};\n'
    section = "-Dzookeeper.sasl.clientconfig=Zoo"
    assert login_of(options(tmp_path / "a", text, section)) == Login("me", "p")
    assert login_of(options(tmp_path / "a", text, section, "-Dzookeeper.sasl.client=false")) is None


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("com.sun.security.auth.module.Krb5LoginModule required;", "asks for Krb5LoginModule"),
        (f'{DIGEST} username="me";', "needs a username and a password"),
        (f"{DIGEST} username", "cannot be read"),
    ],
)
def test_what_cannot_be_used_is_a_sentence(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(ZookeeperError, match=said):
        login_of(options(tmp_path / "a", f"Client {{\n {body}\n}};\n"))


def test_a_file_that_is_missing_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ZookeeperError, match="cannot be read"):
        login_of({"KAFKA_OPTS": f"-Djava.security.auth.login.config={tmp_path / 'missing'}"})
