"""A word typed wrong is answered with the nearest right one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant. Capitals, and dots and underscores for dashes, do not count."""
    plain = {_plain(name): name for name in known}
    found = get_close_matches(_plain(word), plain, n=1, cutoff=0.6)
    return plain[found[0]] if found else None


def _plain(word: str) -> str:
    return word.lower().replace("_", "-").replace(".", "-")
