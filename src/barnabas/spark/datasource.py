"""The data source as PySpark sees it. Every hook runs in some Python worker, never in the user's process."""

from __future__ import annotations

from pyspark.sql.datasource import DataSource

from barnabas.spark.options import Options


class BarnabasDataSource(DataSource):
    """Hooks import what they need when they are called: looking the source up must stay cheap."""

    @classmethod
    def name(cls) -> str:
        return "barnabas"

    def schema(self) -> str:
        from barnabas.spark.source.schema import schema_of

        return schema_of(Options(self.options))
