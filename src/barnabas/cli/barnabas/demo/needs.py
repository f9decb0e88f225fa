"""What the pipeline needs and this machine may lack. Asked before anything of it is imported."""

from __future__ import annotations

import importlib.util

from barnabas import java


def missing() -> str | None:
    """What the pipeline lacks on this machine, and how to get it."""
    if importlib.util.find_spec("pyspark") is None or importlib.util.find_spec("matplotlib") is None:
        return "The pipeline needs PySpark and matplotlib: pip install 'barnabas[demo]'"
    try:
        java.require(java.SPARK_MODULES, needed_by="The pipeline runs on Spark, which")
    except java.JavaError as lack:
        return str(lack)
    return None
