"""Every state of a transactional id, and from where each may be entered.

    EMPTY ──▶ ONGOING ──▶ PREPARE_COMMIT ──▶ COMPLETE_COMMIT ──┐
      ▲          └──────▶ PREPARE_ABORT  ──▶ COMPLETE_ABORT  ──┤
      └────────────────────────────────────────────────────────┘

Once PREPARE_* is committed the decision stands: markers follow, after a crash too. A transaction that added
nothing may still be aborted (transactions version 2), which is how its producer gets a new epoch.
DEAD is the tombstone of an expired id; PREPARE_EPOCH_FENCE exists in Kafka's records and lists, and is never
written: to fence is to enter PREPARE_ABORT with a higher epoch.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final


class TransactionState(IntEnum):
    """The numbers are those of the records."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def label(self) -> str:
        """As ListTransactions spells it: "PrepareCommit"."""
        return "".join(word.capitalize() for word in self.name.split("_"))


EMPTY: Final = TransactionState.EMPTY
ONGOING: Final = TransactionState.ONGOING
PREPARE_COMMIT: Final = TransactionState.PREPARE_COMMIT
PREPARE_ABORT: Final = TransactionState.PREPARE_ABORT
COMPLETE_COMMIT: Final = TransactionState.COMPLETE_COMMIT
COMPLETE_ABORT: Final = TransactionState.COMPLETE_ABORT
DEAD: Final = TransactionState.DEAD
PREPARE_EPOCH_FENCE: Final = TransactionState.PREPARE_EPOCH_FENCE

# Nothing is under way: the id may begin, be taken over, or expire.
AT_REST: Final = frozenset({EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT})
# Decided, and its markers are on their way.
ENDING: Final = frozenset({PREPARE_COMMIT, PREPARE_ABORT})

ENTERED_FROM: Final[Mapping[TransactionState, frozenset[TransactionState]]] = {
    EMPTY: AT_REST,
    ONGOING: AT_REST | {ONGOING},
    PREPARE_COMMIT: frozenset({ONGOING}),
    PREPARE_ABORT: AT_REST | {ONGOING, PREPARE_EPOCH_FENCE},
    COMPLETE_COMMIT: frozenset({PREPARE_COMMIT}),
    COMPLETE_ABORT: frozenset({PREPARE_ABORT}),
    DEAD: AT_REST,
    PREPARE_EPOCH_FENCE: frozenset({ONGOING}),
}

BY_LABEL: Final[Mapping[str, TransactionState]] = {state.label: state for state in TransactionState}
