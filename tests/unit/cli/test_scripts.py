from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

from barnabas.cli.kafka_run_class import CLASSES

ROOT = Path(__file__).parents[3]
SCRIPTS: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
TOOLS = ("kafka-", "zookeeper-")


def test_every_tool_comes_with_and_without_its_suffix() -> None:
    plain = {name for name in SCRIPTS if name.startswith(TOOLS) and not name.endswith(".sh")}
    suffixed = {name.removesuffix(".sh") for name in SCRIPTS if name.endswith(".sh")}
    assert plain == suffixed
    assert all(SCRIPTS[name] == SCRIPTS[f"{name}.sh"] for name in plain)


def test_every_tool_is_the_module_of_its_name() -> None:
    for name, target in SCRIPTS.items():
        if name.startswith(TOOLS):
            assert target == f"barnabas.cli.{name.removesuffix('.sh').replace('-', '_')}:main"


def test_every_java_class_leads_to_a_tool_and_every_tool_has_one() -> None:
    modules = {target.removeprefix("barnabas.cli.").removesuffix(":main") for target in SCRIPTS.values()}
    scripts_without_class = {"barnabas", "kafka_run_class", "kafka_server_stop", "zookeeper_server_stop"}
    assert set(CLASSES.values()) == modules - scripts_without_class


def test_the_command_itself_loads_neither_rich_nor_librdkafka() -> None:
    code = (
        "import sys; from barnabas.cli.barnabas import main; main(['--help']); "
        "print(sorted({'rich', 'confluent_kafka', 'argparse'} & set(sys.modules)))"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stdout.splitlines()[-1] == "[]"
