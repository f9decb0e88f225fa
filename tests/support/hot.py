"""Both forms of the hot steps: tests run over each that is here."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest

from barnabas.hot import reference


def native() -> ModuleType | None:
    try:
        return importlib.import_module("barnabas.hot._native")
    except ImportError:
        return None


NATIVE = native()
needs_native = pytest.mark.skipif(
    NATIVE is None, reason="the C module was not built: no C compiler at `make setup`"
)
BOTH = [
    pytest.param(reference, id="python"),
    pytest.param(NATIVE, id="native", marks=needs_native),
]
