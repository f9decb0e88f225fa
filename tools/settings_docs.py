"""Write `docs/settings.md` from the rows in `barnabas.model.settings`. Run: python tools/settings_docs.py"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from barnabas.model.settings import (
    CLIENT_METRICS_SETTINGS,
    GROUP_SETTINGS,
    GROUP_SYNONYMS,
    TOPIC_SETTINGS,
    TOPIC_SYNONYMS,
    Setting,
    Synonym,
)
from barnabas.model.settings.table import BROKER_AREAS

TARGET = Path(__file__).parent.parent / "docs" / "settings.md"

INTRODUCTION = """\
# Settings

Barnabas reads Kafka's `server.properties`. This page is written by `tools/settings_docs.py` from the rows in
`src/barnabas/model/settings/rows`; change those, not this page.

An unknown key is a warning that names the nearest known one. A bad value stops the start with one sentence.
*Changes* says how a broker setting may change while the broker runs: `read-only` (a restart), `per-broker`
(`kafka-configs --entity-type brokers --entity-name 1`) or `cluster-wide` (also `--entity-default`).
"""


def page() -> str:
    parts = [INTRODUCTION, "## Broker\n"]
    for title, rows in BROKER_AREAS.items():
        parts.append(f"### {title}\n\n{_broker_table(rows)}")
    parts.append(f"## Topics\n\n{_override_table(TOPIC_SETTINGS.values(), TOPIC_SYNONYMS)}")
    parts.append(f"## Groups\n\n{_override_table(GROUP_SETTINGS.values(), GROUP_SYNONYMS)}")
    parts.append(f"## Client metrics\n\n{_override_table(CLIENT_METRICS_SETTINGS.values(), {})}")
    return "\n".join(parts)


def _broker_table(rows: Iterable[Setting]) -> str:
    header = ("Name", "Type", "Default", "Valid values", "Importance", "Changes", "What it is for")
    cells = [
        (
            f"`{row.name}`",
            _type(row),
            _default(row),
            _valid(row),
            row.importance.value,
            row.mode.value,
            _doc(row),
        )
        for row in rows
        if row.retired or not row.internal
    ]
    return _table(header, cells)


def _override_table(rows: Iterable[Setting], synonyms: Mapping[str, tuple[Synonym, ...]]) -> str:
    header = ("Name", "Type", "Default", "Valid values", "Falls back on", "What it is for")
    cells = [
        (
            f"`{row.name}`",
            _type(row),
            _default(row),
            _valid(row),
            ", ".join(f"`{synonym.name}`" for synonym in synonyms.get(row.name, ())),
            _doc(row),
        )
        for row in rows
        if not row.internal
    ]
    return _table(header, cells)


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, tuple("---" for _ in header), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def _type(row: Setting) -> str:
    return row.type.value.lower()


def _default(row: Setting) -> str:
    if row.default is None:
        return ""
    return f"`{row.default}`" if row.default else "(empty)"


def _valid(row: Setting) -> str:
    text = row.check.describe() if row.check else ""
    return f"`{text}`" if text else ""


def _doc(row: Setting) -> str:
    return f"{row.doc} Accepted; {row.retired}." if row.retired else row.doc


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
