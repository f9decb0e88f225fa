"""kafka-configs for users, clients and addresses: quotas and SCRAM credentials."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping, Sequence

from barnabas.cli.parts.configs_options import Entity
from barnabas.cli.support.failures import ToolError
from barnabas.protocol.messages.alter_user_scram_credentials import (
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from barnabas.wire import Cluster
from barnabas.wire.admin import quotas
from barnabas.wire.admin.quotas import ANY_NAME, DEFAULT, EXACT, Filter

QUOTAS = {"producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate"}
IP_QUOTAS = {"connection_creation_rate"}
MECHANISMS = {"SCRAM-SHA-256": (1, "sha256"), "SCRAM-SHA-512": (2, "sha512")}
ITERATIONS_MIN = 4096
_CREDENTIAL = re.compile(r"(?:iterations=(-?[0-9]*),)?password=(.*)", re.DOTALL)
_QUOTA_TYPES = {"users": "user", "clients": "client-id", "ips": "ip"}
_PRINTED = {"user": "user-principal", "client-id": "client-id", "ip": "ip"}


def describe(cluster: Cluster, entity: Entity) -> None:
    for found, values in quotas.describe(cluster, _filters(entity), strict=True):
        whom = ", ".join(_whom(kind, found[kind]) for kind in _PRINTED if kind in found)
        listed = ", ".join(f"{key}={java_double(value)}" for key, value in values.items())
        print(f"Quota configs for {whom} are {listed}")
    if entity.type == "ips" or "clients" in entity.types or "" in entity.names:
        return
    names = {code: name for name, (code, _) in MECHANISMS.items()}
    for user in quotas.scram_users(cluster, entity.names or None):
        listed = ", ".join(
            f"{names.get(info.mechanism, 'UNKNOWN')}=iterations={info.iterations}"
            for info in user.credential_infos
        )
        print(f"SCRAM credential configs for user-principal '{user.user}' are {listed}")


def _whom(kind: str, name: str | None) -> str:
    return f"the default {_PRINTED[kind]}" if name is None else f"{_PRINTED[kind]} '{name}'"


def _filters(entity: Entity) -> list[Filter]:
    if len(entity.names) > len(entity.types):
        raise ToolError("More entity names specified than entity types")
    filters = []
    for index, kind in enumerate(entity.types):
        name = entity.names[index] if index < len(entity.names) else None
        match = ANY_NAME if name is None else EXACT if name else DEFAULT
        filters.append(Filter(_QUOTA_TYPES[kind], match, name or None))
    return filters


def alter(cluster: Cluster, entity: Entity, added: Mapping[str, str], deleted: Sequence[str]) -> None:
    if entity.type == "ips":
        unknown = [name for name in (*added, *deleted) if name not in IP_QUOTAS]
        if unknown:
            raise ToolError(
                "Only connection quota configs can be added for 'ips' using --bootstrap-server. "
                f"Unexpected config names: {','.join(unknown)}"
            )
        _alter_quotas(cluster, entity, added, deleted)
        return
    _check_names(entity, added, deleted)
    if QUOTAS & {*added, *deleted}:
        _alter_quotas(cluster, entity, added, deleted)
    else:
        _alter_scram(cluster, entity.names[0], added, deleted)


def _check_names(entity: Entity, added: Mapping[str, str], deleted: Sequence[str]) -> None:
    only_quotas = entity.type == "clients" or len(entity.types) == 2
    known = QUOTAS if only_quotas else QUOTAS | set(MECHANISMS)
    what = "quota configs" if only_quotas else "quota and SCRAM credential configs"
    whose = "clients" if only_quotas else "users"
    for names, verb, shape in ((added, "added", "Set"), (deleted, "deleted", "ArrayBuffer")):
        unknown = [name for name in names if name not in known]
        if unknown:
            raise ToolError(
                f"Only {what} can be {verb} for '{whose}' using --bootstrap-server. "
                f"Unexpected config names: {shape}({', '.join(unknown)})"
            )
    if not only_quotas and set(MECHANISMS) & {*added, *deleted}:
        if "" in entity.names:
            raise ToolError(
                "The use of --entity-default or --user-defaults is not allowed with User SCRAM Credentials "
                "using --bootstrap-server."
            )
        if QUOTAS & {*added, *deleted}:
            raise ToolError(
                "Cannot alter both quota and SCRAM credential configs simultaneously for 'users' using "
                "--bootstrap-server."
            )


def _alter_quotas(cluster: Cluster, entity: Entity, added: Mapping[str, str], deleted: Sequence[str]) -> None:
    held = quotas.describe(cluster, _filters(entity), strict=True)
    missing = [name for name in deleted if not held or name not in held[0][1]]
    if missing:
        raise ToolError(f"Invalid config(s): {','.join(missing)}")
    changes: dict[str, float | None] = {name: _quota(name, text) for name, text in added.items()}
    changes.update(dict.fromkeys(deleted))
    whom = {_QUOTA_TYPES[kind]: name or None for kind, name in zip(entity.types, entity.names, strict=True)}
    quotas.alter(cluster, whom, changes)


def _quota(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ToolError(f"Cannot parse quota configuration value for {name}: {text}") from None


def _alter_scram(cluster: Cluster, user: str, added: Mapping[str, str], deleted: Sequence[str]) -> None:
    quotas.alter_scram(
        cluster,
        [ScramCredentialDeletion(user, MECHANISMS[name][0]) for name in deleted],
        [_upsertion(user, name, text) for name, text in added.items()],
    )


def _upsertion(user: str, mechanism: str, text: str) -> ScramCredentialUpsertion:
    matched = _CREDENTIAL.fullmatch(text)
    if matched is None:
        raise ToolError(f"Invalid credential property {mechanism.replace('-', '_')}={text}")
    iterations = int(matched[1]) if matched[1] not in {None, "", "-1"} else ITERATIONS_MIN
    if iterations < ITERATIONS_MIN:
        raise ToolError(
            f"Iterations {iterations} is less than the minimum {ITERATIONS_MIN} required for {mechanism}"
        )
    code, digest = MECHANISMS[mechanism]
    salt = secrets.token_bytes(32)
    salted = hashlib.pbkdf2_hmac(digest, matched[2].encode(), salt, iterations)
    return ScramCredentialUpsertion(user, code, iterations, salt, salted)


def java_double(value: float) -> str:
    """A number as Java prints it: 1024.0, but 1.0E7 from ten millions on."""
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(float(value))
    mantissa, _, exponent = f"{value:.17e}".partition("e")
    shortest = repr(float(value) / 10 ** int(exponent)) if abs(int(exponent)) < 300 else mantissa
    return f"{shortest}E{int(exponent)}"
