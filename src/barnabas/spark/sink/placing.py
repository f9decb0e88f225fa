"""Which partition a row goes to: the one it names, else the one of its key, else any."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from barnabas.records.arrow.murmur import partitions_of
from barnabas.spark.errors import PipelineError
from barnabas.spark.sink.targets import Targets

# Rows without key that go to one partition before the next one has its turn: full batches, even tasks.
STICKY_ROWS = 1024

Ints = npt.NDArray[np.int64]


def place(named: pa.Array | None, keys: pa.Array | None, without_key: Ints, partition_count: int) -> pa.Array:
    """As int32. `without_key` is any number per row, for rows that neither name a partition nor have a
    key."""
    placed = pa.array((without_key % partition_count).astype(np.int32))
    if keys is not None:
        placed = pc.coalesce(partitions_of(keys, partition_count), placed)
    return placed if named is None else pc.coalesce(named.cast(pa.int32()), placed)


def place_by_topic(
    topics: pa.Array, named: pa.Array | None, keys: pa.Array | None, without_key: Ints, targets: Targets
) -> pa.Array:
    """The same where every row has a topic of its own; null where there is no such topic."""
    names = topics.dictionary_encode()
    placed = pa.nulls(len(topics), pa.int32())
    for index, name in enumerate(names.dictionary.to_pylist()):
        try:
            partition_count = targets.partition_count(name)
        except PipelineError:
            continue
        is_here = pc.fill_null(pc.equal(names.indices, index), False)
        placed = pc.if_else(is_here, place(named, keys, without_key, partition_count), placed)
    return placed
