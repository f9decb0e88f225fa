"""Compaction: of every key, the last value stays; offsets never change.

    choose.py        which log is filthiest, and which part of it may be cleaned (pure)
    job.py           that decision as data, so that it can cross to a child process
    offset_map.py    key → last offset, in a fixed amount of memory
    transactions.py  which batches were aborted, which markers are no longer needed
    retention.py     what stays of one batch
    rewrite.py       the work: read segments, write `.cleaned` ones; knows files, not the live log
    swap.py          `.cleaned` → `.swap` → final, and what to do after a crash in between

`choose.filthiest` on the loop, `rewrite.clean` in the child, `swap.swap_in` on the loop again.
"""
