"""The page of settings is fresh, and the package stays cheap to import."""

from __future__ import annotations

import subprocess
import sys

from tools import settings_docs


def test_docs_page_is_what_the_rows_say() -> None:
    assert settings_docs.TARGET.read_text(encoding="utf-8") == settings_docs.page(), (
        "run: python tools/settings_docs.py"
    )


MEASURE = """
import tracemalloc
tracemalloc.start()
import barnabas.model.settings.resolve
import barnabas.model.settings.alter
import sys
print(tracemalloc.get_traced_memory()[0])
print([name for name in ("dataclasses", "asyncio", "inspect", "json") if name in sys.modules])
"""


def test_settings_cost_little_memory_and_no_heavy_imports() -> None:
    result = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True)
    size, heavy = result.stdout.splitlines()
    assert int(size) < 4_000_000
    assert heavy == "[]"
