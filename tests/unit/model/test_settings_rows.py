"""Every row against what Apache Kafka 4.3.1's own definitions say (the golden file beside this one)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from barnabas.model.settings import SETTINGS, Scope, Setting, SettingError, Type, to_text

GOLDEN = json.loads((Path(__file__).parent / "test_settings_golden.json").read_text())
SCOPES = {
    "broker": Scope.BROKER,
    "topic": Scope.TOPIC,
    "group": Scope.GROUP,
    "client-metrics": Scope.CLIENT_METRICS,
}


def row_of(scope: str, name: str) -> Setting:
    return SETTINGS[SCOPES[scope]][name]


def outcome(setting: Setting, text: str) -> tuple[bool, str | None]:
    try:
        value = setting.parse(text)
    except SettingError as error:
        return False, str(error)
    return True, text if setting.type is Type.PASSWORD else to_text(value)


@pytest.mark.parametrize("golden", GOLDEN["rows"], ids=lambda golden: f"{golden[0]}-{golden[1]}")
def test_row_has_kafkas_type_default_check_importance_and_mode(golden: list[Any]) -> None:
    scope, name, kind, default, valid, importance, internal, mode, has_default = golden
    row = row_of(scope, name)
    assert row.type.value == kind
    assert (row.check.describe() if row.check else None) == valid
    assert row.importance.value == importance
    assert row.internal == internal
    if scope == "broker":
        assert row.mode.value == mode
    assert row.default == (default if has_default else None)


@pytest.mark.parametrize("golden", GOLDEN["outcomes"], ids=lambda golden: str(golden["of"][0][1]))
def test_values_are_accepted_or_refused_in_kafkas_words(golden: dict[str, Any]) -> None:
    for scope, name in golden["of"]:
        row = row_of(scope, name)
        for text, shown in golden["accepted"].items():
            assert outcome(row, text) == (True, shown.replace("{name}", name))
        for text, sentence in golden["refused"].items():
            assert outcome(row, text) == (False, sentence.replace("{name}", name))


def test_every_row_says_what_it_is_for() -> None:
    silent = [row.name for rows in SETTINGS.values() for row in rows.values() if not row.doc.endswith(".")]
    assert silent == []


def test_defaults_print_as_they_are_written() -> None:
    rows = [row for rows in SETTINGS.values() for row in rows.values() if row.default is not None]
    assert [row.name for row in rows if to_text(row.default_value) != row.default] == []
