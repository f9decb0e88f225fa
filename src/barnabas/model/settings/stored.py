"""Settings as the store holds them: a shell can write there what no broker would have accepted."""

from __future__ import annotations

from collections.abc import Mapping

from barnabas.model.settings.broker import base_row
from barnabas.model.settings.row import Scope
from barnabas.model.settings.table import SETTINGS
from barnabas.model.settings.values import SettingError


def readable(scope: Scope, values: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """What of them can be obeyed, and a sentence for each that cannot. Names that nobody knows mean nothing,
    and stay."""
    kept: dict[str, str] = {}
    problems: list[str] = []
    for name, text in values.items():
        row = base_row(name) if scope is Scope.BROKER else SETTINGS[scope].get(name)
        try:
            if row is not None:
                row.parse(text)
        except SettingError as problem:
            problems.append(str(problem))
        else:
            kept[name] = text
    return kept, problems
