"""The data pipeline in PySpark: positions become speeds and stops, and speeds a summary of the fleet.

Expressions only: streams in, streams out. `stream.py` reads and writes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - everybody calls them so
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from barnabas.cli.barnabas.demo.geography import Degrees
from barnabas.cli.barnabas.demo.motion import Memory, follow
from barnabas.cli.barnabas.demo.topics import SPEEDS, STOPS

if TYPE_CHECKING:
    import pandas as pd

WINDOW = "5 minutes"
_POSITION = "truck string, number int, latitude double, longitude double"
_SPEED = "time timestamp, distance_m long, speed_kmh double, standing boolean"
_MEMORY = "time_ms long, latitude double, longitude double, standing_since_ms long"
_MOVE = (
    "truck string, number int, time_ms long, latitude double, longitude double, "
    "distance_m long, speed_kmh double, standing boolean, "
    "stop_since_ms long, stop_seconds long, stop_latitude double, stop_longitude double"
)
_COLUMNS = [field.split()[0] for field in _MOVE.split(", ")]
_NO_STOP = (None,) * 4


def positions(records: DataFrame) -> DataFrame:
    """What the trucks sent, as columns; a position's time is its record's timestamp."""
    value = F.from_json(F.col("value").cast("string"), _POSITION)
    return records.select(value.alias("position"), F.unix_millis("timestamp").alias("time_ms")).select(
        "position.*", "time_ms"
    )


def moves(positions: DataFrame) -> DataFrame:
    """How each truck came to each position. The last one of every truck waits in the checkpoint."""
    return positions.groupBy("truck").applyInPandasWithState(
        _follow_truck, _MOVE, _MEMORY, "append", GroupStateTimeout.NoTimeout
    )


def _follow_truck(
    key: tuple[str], frames: Iterator[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    import pandas as pd

    columns = ["number", "time_ms", "latitude", "longitude"]
    rows_of = (zip(*(frame[name].tolist() for name in columns), strict=True) for frame in frames)
    seen = sorted(chain.from_iterable(rows_of))
    memory = Memory(*state.get) if state.exists else None
    steps = list(follow(memory, ((time_ms, Degrees(*place)) for _, time_ms, *place in seen)))
    state.update(steps[-1].memory)  # Spark calls for trucks that have reported
    rows = [
        (*key, *report, *move, *(stop or _NO_STOP))
        for report, (_, move, stop) in zip(seen, steps, strict=True)
    ]
    yield pd.DataFrame(rows, columns=_COLUMNS)


def speed_and_stop_records(moves: DataFrame) -> DataFrame:
    """A record to one topic for every position, and one to another where a stop has ended."""
    speed = F.struct(
        "truck", "number", F.timestamp_millis("time_ms").alias("time"),
        "latitude", "longitude", "distance_m", "speed_kmh", "standing",
    )  # fmt: skip
    stop = F.struct(
        "truck",
        F.timestamp_millis("stop_since_ms").alias("since"),
        F.col("stop_seconds").alias("seconds"),
        F.col("stop_latitude").alias("latitude"),
        F.col("stop_longitude").alias("longitude"),
    )
    records = F.array(
        F.struct(F.lit(SPEEDS).alias("topic"), F.to_json(speed).alias("value")),
        F.when(
            F.col("stop_seconds").isNotNull(),
            F.struct(F.lit(STOPS).alias("topic"), F.to_json(stop).alias("value")),
        ),
    )
    return moves.select(F.col("truck").alias("key"), F.inline(F.array_compact(records)))


def summary_records(speeds: DataFrame) -> DataFrame:
    """The fleet in each window of time. A window that grows is written again: its last record counts."""
    speed = speeds.select(F.from_json(F.col("value").cast("string"), _SPEED).alias("move")).select("move.*")
    driving = F.col("speed_kmh") >= 0  # the first position of a truck has no speed
    windows = (
        speed.withWatermark("time", "1 hour")
        .groupBy(F.window("time", WINDOW))
        .agg(
            F.count("*").alias("positions"),
            F.sum("distance_m").alias("distance_m"),
            F.count_if(driving & ~F.col("standing")).alias("moving"),
            F.count_if(F.col("standing")).alias("standing"),
            F.round(F.avg(F.when(~F.col("standing"), F.col("speed_kmh"))), 1).alias("mean_speed_kmh"),
            F.max("speed_kmh").alias("fastest_kmh"),
        )
    )
    named = windows.withColumn("since", F.col("window.start")).drop("window")
    return named.select(F.col("since").cast("string").alias("key"), F.to_json(F.struct("*")).alias("value"))
