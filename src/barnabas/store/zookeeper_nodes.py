"""Nodes as the port sees them and as ZooKeeper does: paths below the chroot, stats, access lists, errors."""

from __future__ import annotations

from typing import Any

from kazoo import exceptions, security
from kazoo.protocol import serialization

from barnabas.ports import (
    Answer,
    BadVersionError,
    Check,
    Create,
    Delete,
    DeniedError,
    EphemeralParentError,
    NodeExistsError,
    NoNodeError,
    NotEmptyError,
    Set,
    Stat,
    StoreError,
    Value,
)
from barnabas.store.tree import ROOT
from barnabas.store.zookeeper_client import Operation, Result
from barnabas.store.zookeeper_options import is_open, is_sensitive

_EPHEMERAL, _SEQUENTIAL = 1, 2
_ERRORS = {
    exceptions.BadVersionError: BadVersionError,
    exceptions.NoChildrenForEphemeralsError: EphemeralParentError,
    exceptions.NodeExistsError: NodeExistsError,
    exceptions.NoNodeError: NoNodeError,
    exceptions.NotEmptyError: NotEmptyError,
}
# What the operations beside the refused one answer: they were undone, or not tried.
_BYSTANDERS = (exceptions.RolledBackError, exceptions.RuntimeInconsistency)


class Nodes:
    def __init__(self, chroot: str, *, set_acl: bool) -> None:
        self._chroot = chroot
        self._set_acl = set_acl

    def outside(self, path: str) -> str:
        return (self._chroot + path).rstrip("/") or ROOT

    def inside(self, path: str) -> str:
        return path[len(self._chroot) :] or ROOT

    def acl(self, path: str) -> list[Any]:
        """Ours alone to change, everybody's to read; passwords ours alone to read, too."""
        if not self._set_acl or is_open(path):
            return list(security.OPEN_ACL_UNSAFE)
        if is_sensitive(path):
            return list(security.CREATOR_ALL_ACL)
        return [*security.CREATOR_ALL_ACL, *security.READ_ACL_UNSAFE]

    def request(self, operation: Create | Set | Delete | Check) -> Operation:
        path = self.outside(operation.path)
        match operation:
            case Create(inside, value):
                flags = _EPHEMERAL * operation.ephemeral | _SEQUENTIAL * operation.sequential
                return serialization.Create2(path, value, self.acl(inside), flags)
            case Set(_, value, version):
                return serialization.SetData(path, value, version)
            case Delete(_, version):
                return serialization.Delete(path, version)
            case Check(_, version):
                return serialization.CheckVersion(path, version)

    def answer(self, operation: Create | Set | Delete | Check, result: Result) -> Answer:
        match operation:
            case Create(_, value):
                path, stat = result
                return Value(self.inside(path), value, stat_of(stat))
            case Set(path, value):
                return Value(path, value, stat_of(result))
        return None


def stat_of(stat: Result) -> Stat:
    return Stat(stat.version, stat.czxid, stat.mzxid, stat.ephemeralOwner)


def error_of(error: Exception, path: str) -> StoreError:
    return _ERRORS.get(type(error), DeniedError)(path)


def is_refusal(result: Result) -> bool:
    return isinstance(result, Exception) and not isinstance(result, _BYSTANDERS)
