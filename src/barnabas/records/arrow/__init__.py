"""Records as columns: batches to Arrow and back, without a Python object per record.

Needs numpy and pyarrow, which come with the extra `spark`; nothing else in `records` imports this package,
but for `native`, the C module, which needs neither.
"""
