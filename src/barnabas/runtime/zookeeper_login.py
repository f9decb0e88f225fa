"""The name and password for ZooKeeper, from where Kafka's users have them: the JAAS file in KAFKA_OPTS."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from barnabas.security.jaas import JaasError, parse
from barnabas.store.zookeeper_errors import ZookeeperError
from barnabas.store.zookeeper_options import Login

_FILE = "-Djava.security.auth.login.config="
_SECTION = "-Dzookeeper.sasl.clientconfig="
_WANTED = "-Dzookeeper.sasl.client="
_DIGEST = "DigestLoginModule"


def login_of(environment: Mapping[str, str]) -> Login | None:
    """None without a file, or without a section for ZooKeeper in it: then the connection has no name."""
    options = shlex.split(environment.get("KAFKA_OPTS", ""))
    path = _last(options, _FILE)
    if path is None or _last(options, _WANTED) == "false":
        return None
    name = _last(options, _SECTION) or "Client"
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ZookeeperError(f"KAFKA_OPTS names {path}, which cannot be read: {error}.") from error
    section = re.search(rf"^\s*{re.escape(name)}\s*\{{(.*?)^\s*\}}\s*;", text, re.MULTILINE | re.DOTALL)
    return None if section is None else _login(path, name, section[1])


def _login(path: str, section: str, text: str) -> Login:
    try:
        module = parse(text)
    except JaasError as error:
        raise ZookeeperError(f"The section {section} of {path} cannot be read: {error}") from error
    if module.short_name != _DIGEST:
        raise ZookeeperError(
            f"The section {section} of {path} asks for {module.short_name}; ZooKeeper is logged in to with "
            f"org.apache.zookeeper.server.auth.{_DIGEST} here."
        )
    username, password = module.options.get("username"), module.options.get("password")
    if username is None or password is None:
        raise ZookeeperError(f"The section {section} of {path} needs a username and a password.")
    return Login(username, password)


def _last(options: list[str], name: str) -> str | None:
    found = [option.removeprefix(name) for option in options if option.startswith(name)]
    return found[-1] if found else None
