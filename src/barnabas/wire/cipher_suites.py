"""`ssl.cipher.suites` has Java's names; OpenSSL has others for TLS 1.2, and takes no choice for TLS 1.3."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_WITH = "_WITH_"
_SIZED = re.compile(r"(AES|CAMELLIA|ARIA)-(\d+)")


class Chosen(NamedTuple):
    openssl_names: tuple[str, ...]  # for TLS 1.2
    versions: frozenset[str]  # those with a suite in the list; empty: nothing was chosen

    def allows(self, version: str) -> bool:
        return not self.versions or version in self.versions


def choose(suites: Sequence[str]) -> Chosen:
    """A list of suites also chooses versions: with none of TLS 1.3 in it, Java does not speak TLS 1.3."""
    old = tuple(_openssl_name(suite) for suite in suites if not _is_newest(suite))
    versions = {"TLSv1.3" if _is_newest(suite) else "TLSv1.2" for suite in suites}
    return Chosen(old, frozenset(versions))


def _is_newest(suite: str) -> bool:
    return suite.startswith("TLS_") and _WITH not in suite


def _openssl_name(suite: str) -> str:
    if _WITH not in suite:
        return suite  # OpenSSL's own name
    exchange, _, cipher = suite.removeprefix("TLS_").partition(_WITH)
    name = _SIZED.sub(r"\1\2", cipher.replace("_", "-")).replace("-CBC", "")
    name = name.replace("CHACHA20-POLY1305-SHA256", "CHACHA20-POLY1305")
    return name if exchange == "RSA" else f"{exchange.replace('_', '-')}-{name}"
