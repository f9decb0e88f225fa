"""The words rows are written in, spelled once so that a row fits on a line."""

from __future__ import annotations

from barnabas.model.settings.checks import Range
from barnabas.model.settings.row import Importance, Mode
from barnabas.model.settings.values import Type

BOOLEAN, STRING, INT, SHORT, LONG = Type.BOOLEAN, Type.STRING, Type.INT, Type.SHORT, Type.LONG
DOUBLE, LIST, CLASS, PASSWORD = Type.DOUBLE, Type.LIST, Type.CLASS, Type.PASSWORD
HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
READ_ONLY, PER_BROKER, CLUSTER_WIDE = Mode.READ_ONLY, Mode.PER_BROKER, Mode.CLUSTER_WIDE
AT_LEAST_0, AT_LEAST_1 = Range(0), Range(1)
