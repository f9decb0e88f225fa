"""`--zookeeper host:2181/chroot` of Kafka 2.x's tools: the brokers registered there are asked instead."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from barnabas.cli.support.options import OptionError

_FLAG = "--zookeeper"
_BOOTSTRAP = "--bootstrap-server"


def asks_zookeeper(arguments: Sequence[str]) -> bool:
    return any(word == _FLAG or word.startswith(f"{_FLAG}=") for word in arguments)


def found_in_zookeeper(arguments: Sequence[str]) -> list[str]:
    """The same command line with `--bootstrap-server` in place of `--zookeeper`."""
    words = list(arguments)
    if not asks_zookeeper(words):
        return words
    if any(word.split("=")[0] == _BOOTSTRAP for word in words):
        raise OptionError(f"Only one of {_BOOTSTRAP} or {_FLAG} must be specified")
    at = next(index for index, word in enumerate(words) if word.split("=")[0] == _FLAG)
    _, separator, connect = words[at].partition("=")
    if not separator:
        if at + 1 == len(words):
            raise OptionError("Option zookeeper requires an argument")
        connect = words[at + 1]
    from barnabas.cli.support.registered_brokers import bootstrap_of  # few ask, and it takes a while

    print(f"Warning: {_FLAG} is deprecated; use {_BOOTSTRAP} to name a broker.", file=sys.stderr)
    words[at : at + (1 if separator else 2)] = [_BOOTSTRAP, bootstrap_of(connect)]
    return words
