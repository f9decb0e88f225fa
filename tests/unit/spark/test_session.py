"""What a local session needs is checked, and said, before any JVM is started."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import barnabas.spark
from barnabas import java
from barnabas.java import Java
from barnabas.spark.errors import PipelineError
from barnabas.spark.session import prepare


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is set in a test is forgotten after it."""
    for name in ("JAVA_HOME", "SPARK_LOCAL_IP", "PYSPARK_PYTHON"):
        monkeypatch.setenv(name, "to be restored")
        monkeypatch.delenv(name)


def test_without_java_one_sentence_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "candidates", lambda: iter(()))
    with pytest.raises(PipelineError, match=r"^Spark needs Java 17 or newer, .*: apt-get install \S+$"):
        barnabas.spark.local_session("never")


def test_without_pyspark_one_sentence_says_what_to_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "candidates", lambda: iter((Java(Path("/java"), "21", None),)))
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(PipelineError, match=r"^PySpark is not installed: pip install 'barnabas\[spark\]'$"):
        barnabas.spark.local_session("never")


def test_the_java_that_will_do_is_the_one_that_spark_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = Java(Path("/old"), "1.8.0_392", None), Java(Path("/new"), "21", None)
    monkeypatch.setattr(java, "candidates", lambda: iter((old, new)))
    monkeypatch.setenv("JAVA_HOME", "/old")
    prepare()
    assert os.environ["JAVA_HOME"] == "/new"


def test_workers_get_this_python_unless_another_was_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "candidates", lambda: iter((Java(Path("/java"), "21", None),)))
    prepare()
    assert os.environ["PYSPARK_PYTHON"] == sys.executable
    assert os.environ["SPARK_LOCAL_IP"] == "127.0.0.1"
    monkeypatch.setenv("PYSPARK_PYTHON", "/another/python")
    prepare()
    assert os.environ["PYSPARK_PYTHON"] == "/another/python"
