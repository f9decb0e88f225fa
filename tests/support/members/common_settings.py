"""What kafka-python and aiokafka call by the same names."""

from __future__ import annotations

from typing import Any

from tests.support.members.face import Joining


def common_settings(bootstrap: str, joining: Joining) -> dict[str, Any]:
    return {
        "bootstrap_servers": bootstrap,
        "client_id": joining.client_id,
        "group_id": joining.group,
        "group_instance_id": joining.instance_id,
        "enable_auto_commit": False,
        "auto_offset_reset": joining.start,
        "isolation_level": joining.isolation,
        "fetch_max_wait_ms": 50,
        "metadata_max_age_ms": joining.metadata_max_age_ms,
        "session_timeout_ms": joining.session_timeout_ms,
        "heartbeat_interval_ms": 100,
        "retry_backoff_ms": 20,
    }
