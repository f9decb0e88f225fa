"""Compaction: of every key, the last value stays; offsets never change.

    choose.py        which log is filthiest, and which part of it may be cleaned (pure)
    job.py           that decision as data, so that it can cross to a child process
    offset_map.py    key → last offset, in a fixed amount of memory
    transactions.py  which batches were aborted, which markers are no longer needed
    retention.py     what stays of one batch
    rewrite.py       the work: read segments, write `.cleaned` ones; knows files, not the live log
    swap.py          `.cleaned` → `.swap` → final, in an order that survives a crash at any step
    compaction.py    the live logs' side of it: hands out jobs, swaps results in, keeps the checkpoint

`Compaction.next_job` on the loop, `rewrite.run` in the child process, `Compaction.apply` on the loop again.
"""
