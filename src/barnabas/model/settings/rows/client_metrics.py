"""What a client metrics subscription says."""

from __future__ import annotations

from barnabas.model.settings import checks
from barnabas.model.settings.row import Setting
from barnabas.model.settings.rows.words import CLUSTER_WIDE, INT, LIST, MEDIUM

# fmt: off
ROWS: tuple[Setting, ...] = (
    Setting("metrics", LIST, "", checks.ANY_LIST, MEDIUM, CLUSTER_WIDE,
        "Prefixes of the names of the metrics that matching clients push."),
    Setting("interval.ms", INT, "300000", None, MEDIUM, CLUSTER_WIDE,
        "How often they push."),
    Setting("match", LIST, "", checks.ANY_LIST, MEDIUM, CLUSTER_WIDE,
        "Which clients are meant, as `selector=pattern` pairs."),
)
