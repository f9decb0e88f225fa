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


@pytest.mark.parametrize("scope", SCOPES)
def test_rows_have_kafkas_type_default_check_importance_and_mode(scope: str) -> None:
    for golden_scope, name, *expected in GOLDEN["rows"]:
        if golden_scope == scope:
            row = row_of(scope, name)
            valid = row.check.describe() if row.check else None
            mode = row.mode.value if scope == "broker" else None
            facts = [row.type.value, row.default, valid, row.importance.value, row.internal, mode]
            assert facts == expected, name


def test_values_are_accepted_or_refused_in_kafkas_words() -> None:
    assert len(GOLDEN["outcomes"]) > 50
    for golden in GOLDEN["outcomes"]:
        compare_outcomes(golden)


def compare_outcomes(golden: dict[str, Any]) -> None:
    refused = {value: sentence for sentence, values in golden["refused"].items() for value in values}
    for path in golden["of"]:
        scope, name = path.split("/")
        for text in GOLDEN["values"]:
            expected: tuple[bool, str] = (True, golden["shown"].get(text, text))
            if text in refused:
                expected = (False, refused[text].replace("{name}", name).replace("{value}", text))
            assert outcome(row_of(scope, name), text) == expected, (name, text)


def test_every_row_says_what_it_is_for() -> None:
    silent = [row.name for rows in SETTINGS.values() for row in rows.values() if not row.doc.endswith(".")]
    assert silent == []


def test_defaults_print_as_they_are_written() -> None:
    rows = [row for rows in SETTINGS.values() for row in rows.values() if row.default is not None]
    assert [row.name for row in rows if to_text(row.default_value) != row.default] == []


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (1e-05, "1.0E-5"),
        (123456789.5, "1.234567895E8"),
        (-0.00025, "-2.5E-4"),
        (1e7, "1.0E7"),
        (0.001, "0.001"),
    ],
)
def test_doubles_print_as_java_prints_them(number: float, shown: str) -> None:
    assert to_text(number) == shown
