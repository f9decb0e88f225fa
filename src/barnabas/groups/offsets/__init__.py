"""Committed offsets of every kind of group, and those of transactions that have not ended."""
