"""Apart from the rest, so that a broker without ZooKeeper can name what it will never meet."""

from __future__ import annotations


class ZookeeperError(Exception):
    """The ensemble cannot be used as asked: one sentence that says what to do."""
