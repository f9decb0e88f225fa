"""How PySpark finds the data source: it imports every `pyspark_*` package and asks for this name."""

from barnabas.spark.datasource import BarnabasDataSource as DefaultSource

__all__ = ["DefaultSource"]
