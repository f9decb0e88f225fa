"""Operations that need a producer id nobody ever had: they go on at once, or when it comes."""

from __future__ import annotations

from collections.abc import Callable

from barnabas.coordination.outcome import NOTHING, Outcome, Ticket
from barnabas.model.errors import ApiError, ErrorCode
from barnabas.transactions.host import TransactionHost


class NewIds:
    """A transactional id waits for one producer id at a time; meanwhile nothing else may change it."""

    def __init__(self, host: TransactionHost) -> None:
        self._host = host
        self._awaited: dict[str, Ticket | None] = {}

    def __contains__(self, transactional_id: object) -> bool:
        return transactional_id in self._awaited

    def check_not_awaited(self, transactional_id: str) -> None:
        if transactional_id in self._awaited:
            raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)

    def get(self, transactional_id: str, ticket: Ticket | None, then: Callable[[int], Outcome]) -> Outcome:
        given: list[int | None] = []
        is_late = False

        def done(producer_id: int | None) -> None:
            if not is_late:
                given.append(producer_id)
            elif transactional_id in self._awaited:
                del self._awaited[transactional_id]
                self._host.run(lambda: _go_on(producer_id, ticket, then))

        self._host.next_producer_id(done)
        is_late = True
        if not given:
            self._awaited[transactional_id] = ticket
            return NOTHING
        if given[0] is None:
            raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        return then(given[0])

    def abandon(self) -> None:
        """Somebody else coordinates now: whoever still waits asks there."""
        awaited, self._awaited = self._awaited, {}
        for ticket in awaited.values():
            if ticket is not None:
                ticket.refuse(ErrorCode.NOT_COORDINATOR)


def _go_on(producer_id: int | None, ticket: Ticket | None, then: Callable[[int], Outcome]) -> Outcome:
    if producer_id is not None:
        return then(producer_id)
    if ticket is not None:
        ticket.refuse(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    return NOTHING
