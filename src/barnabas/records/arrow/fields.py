"""Where the fields of every record lie, found in C where that was built, in Python otherwise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from barnabas.ports import Buffer
from barnabas.records.arrow import fields_reference, native
from barnabas.records.arrow.fields_reference import Fields
from barnabas.records.arrow.selection import Region

__all__ = ["Fields", "find_fields"]


def find_fields(data: Buffer, regions: Sequence[Region]) -> Fields:
    """As strict as `records/walk.py`, which says what a record looks like."""
    if native.find_fields is None:
        return fields_reference.find_fields(data, regions)
    rows = [(start, end, header.count, header.last_offset_delta) for start, end, header in regions]
    table = np.array(rows, np.int64)
    columns = np.empty((len(Fields._fields), int(table[:, 2].sum())), np.int64)
    if not native.find_fields(data, table, columns):
        fields_reference.find_fields(data, regions)  # knows why
        raise AssertionError("records were refused without a reason")
    return Fields(*columns)
