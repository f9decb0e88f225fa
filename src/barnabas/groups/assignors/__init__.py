"""Who gets which partition: `uniform` and `range`, decided on the broker (KIP-848). Racks play no part."""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.groups.assignors.range_assignor import RangeAssignor
from barnabas.groups.assignors.spec import NO_PARTITIONS, Assignor, GroupSpec, MemberSpec, Partitions
from barnabas.groups.assignors.uniform import UniformAssignor

ASSIGNORS: Mapping[str, Assignor] = {"uniform": UniformAssignor(), "range": RangeAssignor()}

__all__ = ["ASSIGNORS", "NO_PARTITIONS", "Assignor", "GroupSpec", "MemberSpec", "Partitions"]
