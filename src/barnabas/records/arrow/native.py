"""The C module, where it was built and is wanted: `BARNABAS_NATIVE=off` asks for Python.

docs/decisions/0016 says what it is for.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

find_fields: Callable[[Any, Any, Any], bool] | None
gather: Callable[[Any, Any, Any, Any, Any], bool] | None
lay_out: Callable[..., tuple[int, int]] | None
summarise: Callable[[Any, int, int], tuple[int, int, int] | None] | None

try:
    if os.environ.get("BARNABAS_NATIVE") == "off":
        raise ImportError("not wanted")
    from barnabas.records.arrow._native import find_fields, gather, lay_out, summarise
except ImportError:  # built without a compiler
    find_fields = gather = lay_out = summarise = None
