"""Quotas of users, clients and addresses, and the SCRAM credentials of users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from barnabas.model.errors import ErrorCode
from barnabas.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    EntryData,
    OpData,
)
from barnabas.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from barnabas.protocol.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from barnabas.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
    UserName,
)
from barnabas.wire.cluster import Cluster
from barnabas.wire.codes import check
from barnabas.wire.routing import from_controller

Entity: TypeAlias = Mapping[str, str | None]  # entity type → name; None stands for the default

EXACT, DEFAULT, ANY_NAME = 0, 1, 2


class Filter(NamedTuple):
    entity_type: str
    match_type: int
    name: str | None = None


def describe(
    cluster: Cluster, filters: Sequence[Filter], strict: bool = False
) -> list[tuple[dict[str, str | None], dict[str, float]]]:
    """Entities that match every filter, with their quotas; `strict` refuses further entity types."""
    asked = [ComponentData(*row) for row in filters]
    answer = cluster.call(DescribeClientQuotasRequest(asked, strict), DescribeClientQuotasResponse)
    check(answer.error_code, answer.error_message)
    return [
        (
            {part.entity_type: part.entity_name for part in entry.entity},
            {row.key: row.value for row in entry.values},
        )
        for entry in answer.entries or ()
    ]


def alter(
    cluster: Cluster, entity: Entity, changes: Mapping[str, float | None], validate_only: bool = False
) -> None:
    """A value of None removes the quota."""
    operations = [OpData(key, value or 0.0, value is None) for key, value in changes.items()]
    entry = EntryData([EntityData(kind, name) for kind, name in entity.items()], operations)
    request = AlterClientQuotasRequest([entry], validate_only)
    answer = from_controller(
        cluster, request, AlterClientQuotasResponse, lambda got: [row.error_code for row in got.entries]
    )
    for result in answer.entries:
        check(result.error_code, result.error_message)


def scram_users(
    cluster: Cluster, users: Sequence[str] | None = None
) -> list[DescribeUserScramCredentialsResult]:
    """Users with credentials: all, or those of the given ones that have any."""
    asked = None if users is None else [UserName(name) for name in users]
    answer = cluster.call(DescribeUserScramCredentialsRequest(asked), DescribeUserScramCredentialsResponse)
    check(answer.error_code, answer.error_message)
    found = []
    for result in answer.results:
        if result.error_code != ErrorCode.RESOURCE_NOT_FOUND:
            check(result.error_code, result.error_message)
            found.append(result)
    return found


def alter_scram(
    cluster: Cluster,
    deletions: Sequence[ScramCredentialDeletion],
    upsertions: Sequence[ScramCredentialUpsertion],
) -> None:
    request = AlterUserScramCredentialsRequest(deletions, upsertions)
    answer = from_controller(
        cluster,
        request,
        AlterUserScramCredentialsResponse,
        lambda got: [row.error_code for row in got.results],
    )
    for result in answer.results:
        check(result.error_code, result.error_message)
