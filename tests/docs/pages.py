"""What a page promises: its fenced blocks, its links, and its console sessions as commands and their lines.

`python -m tests.docs.pages` runs the session of docs/tools.md and writes what was printed into the page.
"""

from __future__ import annotations

import fcntl
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from barnabas.testing import free_port
from barnabas.testing.process import answers_api_versions

CHECKOUT = Path(__file__).resolve().parents[2]
TOOLS_PAGE = CHECKOUT / "docs" / "tools.md"
PAGES = sorted(
    [*CHECKOUT.glob("*.md"), *(CHECKOUT / "examples").glob("*.md"), *(CHECKOUT / "docs").rglob("*.md")]
)

ANY_LINES = "…"
HOME = "/home/you"  # where the page pretends to be
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE_NAME = re.compile(r"\A# (\w+\.py)\n")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_ID = re.compile(r"\b[\w-]{22}\b(?=$|[\s,}])")
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE]-?\d+)?")
_FILLING = re.compile(r"([ ─━-])\1+")
_COMMAND_TIMEOUT_S = 120


@dataclass(frozen=True, slots=True)
class Example:
    """One line somebody types, with what it prints."""

    command: str
    output: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    output: tuple[str, ...]


def blocks(page: Path, language: str) -> list[str]:
    return [text for found, text in _BLOCK.findall(page.read_text()) if found == language]


def write_programs(page: Path, directory: Path, bootstrap: str) -> None:
    """Each of its programs as the file that its first line names, with a broker of its own."""
    for program in blocks(page, "python"):
        (name,) = _FILE_NAME.findall(program)
        (directory / name).write_text(program.replace("localhost:9092", bootstrap))


def links(page: Path) -> list[str]:
    """Targets inside the repository."""
    text = _BLOCK.sub("", page.read_text())
    return [target for target in _LINK.findall(text) if "://" not in target]


def headings(page: Path) -> set[str]:
    """As a link names them: small letters, words joined by hyphens."""
    found = re.findall(r"^#+ (.*)$", _BLOCK.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in found}


def examples(page: Path) -> list[Example]:
    found: list[Example] = []
    for block in blocks(page, "console"):
        for typed in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *output = typed.rstrip("\n").split("\n")
            while command.endswith("\\"):
                command = command[:-1].rstrip() + " " + output.pop(0).strip()
            found.append(Example(command, tuple(output)))
    return found


def shape(line: str) -> str:
    """The line without what differs from run to run: numbers, ids, the width of a column."""
    return _FILLING.sub(r"\1", _NUMBER.sub("0", _ID.sub("ID", line))).strip(" ")


def same_shape(expected: tuple[str, ...], printed: tuple[str, ...]) -> bool:
    """Line by line; a line with only an ellipsis stands for any number of lines."""
    pattern = "".join(
        r"(?:.*\n)*" if line.strip() == ANY_LINES else re.escape(shape(line)) + "\n" for line in expected
    )
    return re.fullmatch(pattern, "".join(shape(line) + "\n" for line in printed)) is not None


class Session:
    """A folder in which the page's lines are typed, one after the other."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = free_port()
        # Nobody else's broker may have this number: the page also stops a broker by it.
        self.node_id = str(100_000 + self.port)
        self.zookeeper_port = free_port()
        self._here: Mapping[str, str] = {
            HOME: str(folder),
            "localhost:2181": f"localhost:{self.zookeeper_port}",
            "clientPort=2181": f"clientPort={self.zookeeper_port}",
            "localhost:9092": f"localhost:{self.port}",
            "node.id=1": f"node.id={self.node_id}",
            "--node-id=1": f"--node-id={self.node_id}",
            "--broker-list 1": f"--broker-list {self.node_id}",
        }

    def run(self, example: Example) -> Ran:
        if example.command.startswith("cat "):
            text = self._placed("\n".join(example.output) + "\n")
            (self._folder / example.command.removeprefix("cat ")).write_text(text)
        ran = subprocess.run(
            self._placed(example.command),
            shell=True,
            cwd=self._folder,
            env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(self._folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_COMMAND_TIMEOUT_S,
            check=False,
        )
        if example.command.startswith("kafka-server-start "):
            self._wait_until(self.answers)
        elif example.command.startswith("zookeeper-server-start ") and ran.returncode == 0:
            self._wait_until(self.has_zookeeper)
        return Ran(ran.returncode, tuple(self._told(ran.stdout).rstrip("\n").splitlines()))

    def _placed(self, text: str) -> str:
        for ours, here in self._here.items():
            text = text.replace(ours, here)
        return text

    def _told(self, text: str) -> str:
        for ours, here in self._here.items():
            text = text.replace(here, ours)
        return text.replace(self.node_id, "1")

    def _wait_until(self, serving: Callable[[], bool]) -> None:
        """A person takes longer to type the next line than a server to start."""
        deadline = time.monotonic() + _COMMAND_TIMEOUT_S
        while not serving() and time.monotonic() < deadline:
            time.sleep(0.02)

    def answers(self) -> bool:
        return answers_api_versions(self.port)

    def has_zookeeper(self) -> bool:
        try:
            socket.create_connection(("localhost", self.zookeeper_port), 5).close()
        except OSError:
            return False
        return True


@contextmanager
def session() -> Iterator[Session]:
    with tempfile.TemporaryDirectory(prefix="barnabas-docs-") as folder:
        opened = Session(Path(folder))
        try:
            yield opened
        finally:
            # Also when a line in the middle failed: no broker stays behind.
            opened.run(Example("kafka-server-stop --node-id=1", ()))
            opened.run(Example("zookeeper-server-stop zookeeper.properties", ()))
            while opened.answers() or opened.has_zookeeper():
                time.sleep(0.02)
            _await_end(Path(folder))


def _await_end(folder: Path) -> None:
    """A broker that has closed its port still closes its logs; it holds the lock until it is done."""
    for path in folder.glob("*/.lock"):
        with path.open("r+b") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)


def rewrite(page: Path) -> None:
    """Keeps the page's own words; outputs become what was printed, except where an ellipsis shortens them."""
    text = page.read_text()
    with session() as opened:
        for example in examples(page):
            ran = opened.run(example)
            if ran.code != 0:
                sys.exit(f"{example.command}\nended with {ran.code}:\n" + "\n".join(ran.output))
            if not same_shape(example.output, ran.output):
                text = _with_output(text, example, ran)
    page.write_text(text)


def _with_output(text: str, example: Example, ran: Ran) -> str:
    words = map(re.escape, example.command.split(" "))
    command = re.search(r"^\$ " + r"\s*(?:\\\n)?\s*".join(words) + r"$", text, re.MULTILINE)
    assert command is not None, example.command
    before, after = text[: command.end()], text[command.end() :]
    old, new = ("".join(f"\n{line}" for line in lines) for lines in (example.output, ran.output))
    return before + new + after.removeprefix(old)


if __name__ == "__main__":
    rewrite(TOOLS_PAGE)
