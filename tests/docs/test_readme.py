"""The README keeps its word: its example runs, and its tables say what the code says."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

from tests.docs.pages import CHECKOUT, blocks

from barnabas import Admin, Consumer, Producer
from barnabas.protocol.served import SERVED
from barnabas.testing.plugin import StartBroker

README = CHECKOUT / "README.md"
_API = re.compile("\\| (\\w+)(\\*?) \\| (\\d+)\N{EN DASH}(\\d+) ")


def _between(mark: str) -> str:
    return README.read_text().partition(f"<!-- {mark}:begin -->")[2].partition(f"<!-- {mark}:end -->")[0]


def _run(program: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", program]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_the_five_lines_run_as_they_stand_and_print_what_is_shown(start_broker: StartBroker) -> None:
    example = blocks(README, "python")[0]
    assert len(list(filter(None, example.splitlines()))) == 5
    program = example.replace("localhost:9092", start_broker().bootstrap)
    ran = _run(program)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == blocks(README, "text")[0]


def test_read_transform_write_is_ten_lines_and_exact_although_it_is_killed(start_broker: StartBroker) -> None:
    example = blocks(README, "python")[1]
    assert len(list(filter(None, example.splitlines()))) <= 10
    bootstrap = start_broker({"group.initial.rebalance.delay.ms": 0}).bootstrap
    for topic in ("greetings", "shouts"):
        Admin(bootstrap).create_topic(topic)
    # A name of its own, so that its successor need not wait for its session to end.
    named = example.replace("start=", 'group_instance_id="one", start=')
    command = [sys.executable, "-W", "error", "-c", named.replace("localhost:9092", bootstrap)]
    greetings = [f"hello {number}" for number in range(40)]
    shouts = Consumer(bootstrap, "shouts", start="earliest", isolation_level="read_committed")
    heard: list[str] = []
    for part in (greetings[:20], greetings[20:]):
        with Producer(bootstrap) as producer:
            for greeting in part:
                producer.send("greetings", greeting)
        with subprocess.Popen(command) as shouter:
            while len(heard) < greetings.index(part[-1]) + 1:
                record = shouts.poll()
                heard += [] if record is None else [record.value.decode()]
            shouter.kill()
    shouts.close()
    assert heard == [greeting.upper() for greeting in greetings]


def test_the_broker_for_your_own_tests_starts_as_shown() -> None:
    (example,) = (block for block in blocks(README, "python") if "barnabas.testing" in block)
    ran = _run(example)
    assert ran.returncode == 0, ran.stderr
    assert re.fullmatch(r"127\.0\.0\.1:\d+\n", ran.stdout)


def test_the_table_of_apis_is_the_table_of_what_we_serve() -> None:
    shown = {name: (int(oldest), int(newest)) for name, _, oldest, newest in _API.findall(_between("apis"))}
    assert shown == {row.name: (row.advertised_oldest, row.newest) for row in SERVED.values()}


def test_every_tool_is_named() -> None:
    scripts = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["scripts"]
    text = README.read_text()
    for name in scripts:
        assert f"`{name.removesuffix('.sh')}" in text


def test_the_two_commands_and_the_rest_are_targets_of_the_makefile() -> None:
    makefile = (CHECKOUT / "Makefile").read_text()
    for target in re.findall(r"(?:^|`)make (\w+)", README.read_text(), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_place_for_measurements_is_marked() -> None:
    assert README.read_text().count("<!-- bench:begin -->") == 1
    assert README.read_text().count("<!-- bench:end -->") == 1
