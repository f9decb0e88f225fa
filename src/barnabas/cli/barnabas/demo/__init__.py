"""`barnabas demo`: a fleet of trucks, two readers of its positions, and a data pipeline in PySpark.

Spark's workers import modules of this package: it loads nothing by itself.
"""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    from barnabas.cli.barnabas.demo.command import run_command

    return run_command(arguments)
