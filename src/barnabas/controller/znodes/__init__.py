"""Kafka's JSON inside the tree (ZooKeeper mode), both ways.

People and old tools look into this tree and write there, so the names, the versions and the types (some
numbers are strings) are Kafka's. What a decoder cannot read is a MalformedNodeError: a tool's
mistake, never a crash.
"""
