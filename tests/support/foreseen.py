"""Both ways to send a reply when it is asked for: in C, where that was built, and in Python."""

from __future__ import annotations

import importlib
from collections.abc import Callable

import pytest

from barnabas.runtime.foreseen import reply_when_asked_in_python

Way = Callable[..., int]


def _native() -> Way | None:
    try:
        way: Way = importlib.import_module("barnabas.runtime._native").reply_when_asked
    except ImportError:
        return None
    return way


_NATIVE = _native()
WAYS = (
    pytest.param(
        _NATIVE, id="C", marks=pytest.mark.skipif(_NATIVE is None, reason="the C module is not built")
    ),
    pytest.param(reply_when_asked_in_python, id="Python"),
)
