"""What `pip install barnabas[spark]` brings, seen from an environment that has the wheel and no checkout."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

from tests.support.wheel import clean_environment

# What a Spark worker must not pay for when it only looks the data source up.
NOT_FOR_LOOKING = {
    "asyncio",
    "barnabas.broker",
    "barnabas.client",
    "barnabas.runtime",
    "barnabas.store",
    "confluent_kafka",
    "cramjam",
    "numpy",
    "pandas",
    "pyarrow",
    "re2",
    "rich",
    "sqlite3",
    "subprocess",
}
# What no part of a pipeline may load, however much it reads or writes.
NOT_FOR_PIPELINES = {
    "barnabas.broker",
    "barnabas.client",
    "barnabas.store",
    "confluent_kafka",
    "rich",
    "sqlite3",
}


def loaded_after(python: Path, statement: str, folder: Path) -> set[str]:
    """The modules that a statement loads, beside those that PySpark needs for its own data source API."""
    program = (
        "import json, sys, pyspark.sql.datasource\nbefore = set(sys.modules)\n"
        f"{statement}\nprint(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [str(python), "-c", program],
        cwd=folder,
        env=clean_environment(python),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_looking_the_data_source_up_is_cheap(wheel_python: Path, tmp_path: Path) -> None:
    loaded = loaded_after(wheel_python, "from pyspark_barnabas import DefaultSource", tmp_path)
    assert "barnabas.spark.datasource" in loaded
    assert loaded & NOT_FOR_LOOKING == set()


def test_pipelines_need_nothing_of_the_broker(wheel_python: Path, tmp_path: Path) -> None:
    every_module = (
        "import importlib, pkgutil, barnabas.spark\n"
        "for module in pkgutil.walk_packages(barnabas.spark.__path__, 'barnabas.spark.'):\n"
        "    importlib.import_module(module.name)"
    )
    loaded = loaded_after(wheel_python, every_module, tmp_path)
    assert {"barnabas.spark.source", "barnabas.spark.sink", "barnabas.wire"} <= loaded
    assert loaded & NOT_FOR_PIPELINES == set()


def test_the_wheel_has_both_packages_and_what_they_read(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {"pyspark_barnabas/__init__.py", "barnabas/spark/quiet.properties"} <= set(names)
    folders = {name.partition("/")[0] for name in names}
    assert {folder for folder in folders if not folder.endswith(".dist-info")} == {
        "barnabas",
        "pyspark_barnabas",
    }
