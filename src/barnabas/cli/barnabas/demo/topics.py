"""Who writes what and who reads it: the names, and the JSON inside."""

from __future__ import annotations

from typing import Any

from barnabas.cli.barnabas.demo.fleet import Report
from barnabas.cli.barnabas.demo.geography import Degrees

POSITIONS = "trucks_gps"
SPEEDS = "trucks_speed"
STOPS = "trucks_stops"
SUMMARY = "fleet_summary"
PARTITIONS = {POSITIONS: 10, SPEEDS: 10, STOPS: 3, SUMMARY: 1}

# Consumer groups: each reads all of its topic, at its own pace.
DASHBOARD = "location-dashboard"
NOTIFICATIONS = "notification-service"
SPEED_PIPELINE = "speed-pipeline"
SUMMARY_PIPELINE = "summary-pipeline"
READS = {
    DASHBOARD: POSITIONS,
    NOTIFICATIONS: POSITIONS,
    SPEED_PIPELINE: POSITIONS,
    SUMMARY_PIPELINE: SPEEDS,
}
IN_SPARK = (SPEED_PIPELINE, SUMMARY_PIPELINE)


def value_of(report: Report) -> dict[str, Any]:
    """A position's time is its record's timestamp."""
    return {
        "truck": report.truck,
        "number": report.number,
        "latitude": report.position.latitude,
        "longitude": report.position.longitude,
    }


def report_of(value: dict[str, Any], timestamp_ms: int) -> Report:
    where = Degrees(value["latitude"], value["longitude"])
    return Report(value["truck"], value["number"], timestamp_ms, where)
