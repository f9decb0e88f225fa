"""A Python worker does not look through what stays there, whatever looks for garbage between tasks."""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Iterator

import pytest

from barnabas.spark import workers


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(workers, "_module_count", 0)
    yield
    gc.unfreeze()


def test_what_is_imported_before_the_first_task_is_looked_at_no_more() -> None:
    workers.settle()
    assert gc.get_freeze_count() > 1_000


def test_what_a_task_leaves_behind_is_looked_at() -> None:
    workers.settle()
    frozen = gc.get_freeze_count()
    leftovers = [[number] for number in range(1_000)]
    workers.settle()
    assert gc.get_freeze_count() <= frozen
    assert len(leftovers) == 1_000


def test_what_a_task_has_imported_is_looked_at_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    workers.settle()
    frozen = gc.get_freeze_count()
    module = types.ModuleType("imported_by_a_task")
    vars(module)["content"] = [[number] for number in range(1_000)]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    workers.settle()
    assert gc.get_freeze_count() > frozen + 1_000
