"""The pages name things that exist: files, settings, packages, decisions."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from tests.docs.pages import CHECKOUT, PAGES, headings, links

from barnabas.model.settings.table import SETTINGS

ARCHITECTURE = CHECKOUT / "docs" / "architecture.md"
DECISIONS = CHECKOUT / "docs" / "decisions"
SOURCE = CHECKOUT / "src" / "barnabas"

# Words with dots that are no settings of ours: files, and the clients' own settings.
_NO_SETTINGS = re.compile(r".*\.(py|md|sh|log|properties|db|lock|toml|tmp|metadata|testing|out|checkpoint)$")
MODULES = {"java", "ports"}  # rooms of the map that are one file


def _words_in_backticks(page: Path) -> set[str]:
    return set(re.findall(r"`([a-z]+(?:\.[a-z]+)+)`", page.read_text()))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(CHECKOUT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for target in links(page):
        path, _, heading = target.partition("#")
        place = page.parent / path if path else page
        if not place.exists() or (heading and heading not in headings(place)):
            broken.append(target)
    assert broken == []


def test_the_life_of_a_record_has_eight_numbers_and_each_a_file() -> None:
    life = ARCHITECTURE.read_text().partition("## The life of a record")[2].partition("\n## ")[0]
    numbered = re.findall(r"^(\d)\. \[\S+\]\(\.\./src/barnabas/\S+\.py\):", life, re.MULTILINE)
    assert numbered == list("12345678")
    assert set(re.findall(r"\((\d)\)", life)) == set(numbered)


def test_every_package_is_on_the_map_in_the_order_of_the_layers() -> None:
    rooms = ARCHITECTURE.read_text().partition("| package |")[2].partition("\n\n")[0]
    shown = [re.findall(r"`(\w+)`", line.split("|")[1]) for line in rooms.splitlines()[2:]]
    contracts = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = [re.findall(r"barnabas\.(\w+)", layer) for layer in contracts[0]["layers"]]
    depth = {package: number for number, layer in enumerate(layers) for package in layer}
    order = [depth[package] for row in shown for package in row]
    assert order == sorted(order)
    assert {package for row in shown for package in row} == set(depth)
    packages = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    assert packages | MODULES == set(depth)


def test_what_the_map_calls_empty_is_empty_and_the_rest_is_not() -> None:
    rooms = ARCHITECTURE.read_text().partition("| package |")[2].partition("\n\n")[0]
    for line in rooms.splitlines()[2:]:
        for package in re.findall(r"`(\w+)`", line.split("|")[1]):
            lines = sum(path.read_text().count("\n") for path in (SOURCE / package).rglob("*.py"))
            assert (lines == 0) == ("empty:" in line) or package in MODULES, package


def test_bounds_and_operations_name_settings_that_exist() -> None:
    known = {name for table in SETTINGS.values() for name in table}
    for page in (ARCHITECTURE, CHECKOUT / "docs" / "operating.md"):
        named = {word for word in _words_in_backticks(page) if not _NO_SETTINGS.match(word) or word in known}
        assert named - known == set(), page.name


def test_decisions_are_numbered_without_gaps_and_have_four_parts() -> None:
    pages = sorted(DECISIONS.glob("*.md"))
    numbers = [int(page.name[:4]) for page in pages]
    assert numbers == list(range(1, len(pages) + 1))
    for page in pages:
        text = page.read_text()
        assert text.startswith(f"# {page.name[:4]} ")
        assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["Context", "Choice", "Why", "Consequence"]
