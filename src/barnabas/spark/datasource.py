"""The data source as PySpark sees it. Every hook runs in some Python worker, never in the user's process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

from barnabas.spark.options import Options
from barnabas.spark.planning_errors import plainly
from barnabas.spark.workers import settle

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from barnabas.spark.sink.unshuffled import StreamWriter
    from barnabas.spark.sink.whole import BatchWriter
    from barnabas.spark.source.batch import BatchReader
    from barnabas.spark.source.stream import StreamReader


class BarnabasDataSource(DataSource):
    """Hooks import what they need when they are called: looking the source up must stay cheap."""

    @classmethod
    def name(cls) -> str:
        return "barnabas"

    @plainly
    def schema(self) -> str:
        """Called by `load()`: the first chance to say what is wrong with the options."""
        from barnabas.spark.source.schema import schema_of
        from barnabas.spark.source.settings import check_options

        settle()
        options = Options(self.options)
        check_options(options)
        return schema_of(options)

    @plainly
    def reader(self, schema: StructType) -> BatchReader:
        from barnabas.spark.source.batch import BatchReader
        from barnabas.spark.source.schema import refuse_other_schema
        from barnabas.spark.source.settings import source_settings

        settle()
        options = Options(self.options)
        refuse_other_schema(options, schema)
        return BatchReader(options, source_settings(options, streaming=False))

    @plainly
    def streamReader(self, schema: StructType) -> StreamReader:
        from barnabas.spark.source.schema import refuse_other_schema
        from barnabas.spark.source.settings import source_settings
        from barnabas.spark.source.stream import StreamReader

        settle()
        options = Options(self.options)
        refuse_other_schema(options, schema)
        return StreamReader(options, source_settings(options, streaming=True))

    @plainly
    def streamWriter(self, schema: StructType, overwrite: bool) -> StreamWriter:  # noqa: ARG002
        from barnabas.spark.sink.planning import plan_stream

        settle()
        return plan_stream(Options(self.options), schema)

    @plainly
    def writer(self, schema: StructType, overwrite: bool) -> BatchWriter:
        from barnabas.spark.sink.planning import plan_batch

        settle()
        return plan_batch(Options(self.options), schema, overwrite)
