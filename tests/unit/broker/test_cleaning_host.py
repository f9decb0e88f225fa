"""The cleaner's host: a directory that cannot be read any more goes offline, and nothing else happens."""

from __future__ import annotations

import errno

from tests.support.node import SmallNode

from barnabas.sim.disk import SimulatedDisk


def test_a_directory_whose_cleaner_offsets_cannot_be_read_goes_offline() -> None:
    small = SmallNode(log_cleaner_enable="true")
    small.create_topic("t", cleanup_policy="compact")
    disk = small.node.filesystem
    assert isinstance(disk, SimulatedDisk)
    disk.fail("/data", errno.EIO)
    small.node.cleaning.start()
    assert not small.node.logs.directories[0].online
