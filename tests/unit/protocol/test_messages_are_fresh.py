"""`make messages` has been run: what is committed is what the installed kio yields."""

from __future__ import annotations

from tools import messages


def test_generated_modules_match_the_generator() -> None:
    files = messages.texts()
    assert len(files) > 70
    for name, text in files.items():
        assert (messages.TARGET / name).read_text() == text, f"{name} is stale: run `make messages`"
